"""Table `mark`: what people say of pages. A mark overrules the judge.

Marks are only ever added, by any process, also while a crawl runs; the last one about a URL counts. A page is named by
the key of the URL that was requested for it, so a page may be marked before it is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from itertools import islice
from typing import NamedTuple

from focuscrawl.store.part import Part

#: What a mark may say: relevant, not relevant, cannot tell; `none` takes back what was said before.
VERDICTS = ("yes", "no", "unsure", "none")

_COLUMNS = "id, key, url, verdict, note, marked_by, marked_at"
#: The key under which `meta` has the number of the last mark that the verdicts on pages take into account.
APPLIED = "marks"
#: Keys in one query.
_TOGETHER = 500
_LATEST = f"SELECT {_COLUMNS} FROM mark WHERE id IN (SELECT max(id) FROM mark GROUP BY key) ORDER BY id"
#: The pages that were requested by some URLs, and those that redirects from elsewhere led to them.
_PAGES = (
    "SELECT url.key, page.id, 1 FROM url JOIN page ON page.url_id = url.id WHERE url.key IN ({0}) UNION ALL"
    " SELECT url.key, page.id, 0 FROM url JOIN page ON page.url = url.url WHERE url.key IN ({0})"
)
_PASSED = "SELECT id, url_id FROM page WHERE redirects IS NOT NULL AND instr(redirects, ?) > 0 ORDER BY id LIMIT 1"
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

    def latest(self) -> list[Mark]:
        """The last mark about each URL, also where it takes back the one before, in the order they were made."""
        return [Mark(*row) for row in self.store.execute(_LATEST)]

    def last_number(self) -> int:
        """The number of the last mark; 0 if there is none."""
        number: int = self.store.execute("SELECT coalesce(max(id), 0) FROM mark").fetchone()[0]
        return number

    def pages_of(self, keys: Collection[int]) -> dict[int, int]:
        """The numbers of the pages that URLs stand for, by the key of the URL: requested, or reached by a redirect."""
        found: dict[int, int] = {}
        rest = iter(keys)
        while some := list(islice(rest, _TOGETHER)):
            query = _PAGES.format(", ".join("?" * len(some)))
            for key, page, requested in self.store.execute(query, (*some, *some)):
                if requested or key not in found:
                    found[key] = page
        return found

    def page_through(self, url: str) -> int | None:
        """The number of the page that a redirect from a URL led to."""
        row = self.store.execute(_PASSED, (json.dumps(url),)).fetchone()
        return row[0] if row else None

    def after(self, number: int) -> list[Mark]:
        """All marks later than the one with this number, also those that were overruled and taken back."""
        rows = self.store.execute(f"SELECT {_COLUMNS} FROM mark WHERE id > ? ORDER BY id", (number,))
        return [Mark(*row) for row in rows]
