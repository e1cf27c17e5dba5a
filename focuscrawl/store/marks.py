"""Table `mark`: what people say of pages. A mark overrules the judge.

Marks are only ever added, by any process, also while a crawl runs; the last one about a URL counts. A page is named by
the key of the URL that was requested for it, so a page may be marked before it is fetched.
"""

from __future__ import annotations

from typing import NamedTuple

from focuscrawl.store.part import Part

#: What a mark may say: relevant, not relevant, cannot tell; `none` takes back what was said before.
VERDICTS = ("yes", "no", "unsure", "none")

_COLUMNS = "id, key, url, verdict, note, marked_by, marked_at"
_LAST = f"SELECT {_COLUMNS} FROM mark WHERE id IN (SELECT max(id) FROM mark GROUP BY key) AND verdict != 'none'"


class Mark(NamedTuple):
    """What somebody said of a page, and when."""

    id: int
    key: int
    url: str
    verdict: str
    note: str
    marked_by: str
    marked_at: str


class Marks(Part):
    """The marks."""

    def add(self, key: int, url: str, verdict: str, *, note: str = "", by: str = "", at: str) -> None:
        """Add a mark. Call inside a transaction."""
        values = (key, url, verdict, note, by, at)
        self.store.execute(
            "INSERT INTO mark (key, url, verdict, note, marked_by, marked_at) VALUES (?, ?, ?, ?, ?, ?)", values
        )

    def all(self) -> list[Mark]:
        """The marks that count, in the order they were made."""
        return [Mark(*row) for row in self.store.execute(f"{_LAST} ORDER BY id")]

    def get(self, key: int) -> Mark | None:
        """The mark that counts for the URL with a key."""
        query = f"SELECT {_COLUMNS} FROM mark WHERE key = ? ORDER BY id DESC LIMIT 1"
        row = self.store.execute(query, (key,)).fetchone()
        return Mark(*row) if row and row[3] != "none" else None

    def after(self, number: int) -> list[Mark]:
        """All marks later than the one with this number, also those that were overruled and taken back."""
        rows = self.store.execute(f"SELECT {_COLUMNS} FROM mark WHERE id > ? ORDER BY id", (number,))
        return [Mark(*row) for row in rows]
