"""Table `unread`: linked files that the crawl does not read, such as images, archives, and PDFs if they are off.

Each URL has one row, with the first page that links to it. The table is made when a crawl is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from focuscrawl.page import Unread
from focuscrawl.store.part import Part

_UNREAD = (
    "CREATE TABLE unread (key INTEGER PRIMARY KEY, url TEXT, page INTEGER, position INTEGER, anchor TEXT, type TEXT,"
    " why TEXT)"
)
_ADD = "INSERT INTO unread VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
_FIND = "SELECT url, page, anchor, type, why FROM unread WHERE key IN (?, ?)"
#: The file may come from someone else, and these URLs are requested, so their values are checked.
_OF_TYPE = (
    "SELECT unread.url, page.id, anchor, depth, coalesce(relevance, 1.0), position, key FROM unread"
    " JOIN page ON page.id = unread.page WHERE type = ? AND coalesce(relevant, TRUE) AND depth < ?"
    " AND NOT (? AND ',' || robots || ',' LIKE '%,nofollow,%') AND typeof(unread.url) = 'text'"
    " AND unread.url LIKE 'http%://%' AND typeof(anchor) = 'text' AND typeof(position) = 'integer' AND position >= 0"
    " ORDER BY page.id, position"
)
_COUNTS = "SELECT type, count(*) FROM unread GROUP BY type ORDER BY 2 DESC, 1 LIMIT ?"


class UnreadFile(NamedTuple):
    """A linked file that is not read, and the number of the first page that links to it."""

    url: str
    page: int
    anchor: str
    type: str
    why: str


class UnreadLink(NamedTuple):
    """A link to a file that was not read, with the depth and the relevance of the page that it is on."""

    url: str
    page: int
    anchor: str
    depth: int
    relevance: float
    position: int
    key: int


class UnreadFiles(Part):
    """The linked files that are not read."""

    def make(self) -> None:
        """Create the table if it does not exist."""
        self.store.make(_UNREAD)

    def exists(self) -> bool:
        """Whether there is such a table; crawls of older versions that are only read have none."""
        return self.store.has(_UNREAD)

    def add(self, page: int, files: Sequence[Unread], keys: Iterable[int]) -> None:
        """Store the files that a page links to; those that are known already stay as they are."""
        rows = (
            (key, file.url, page, place, file.anchor, file.type, file.why)
            for place, (key, file) in enumerate(zip(keys, files, strict=True))
        )
        self.store.executemany(_ADD, rows)

    def find(self, key: int, other_key: int) -> UnreadFile | None:
        """The file with one of two keys."""
        row = self.store.execute(_FIND, (key, other_key)).fetchone() if self.exists() else None
        return UnreadFile(str(row[0]), int(row[1]), *map(str, row[2:])) if row else None

    def take(self, name: str, max_depth: int, *, obey_nofollow: bool) -> list[UnreadLink]:
        """The files of a type on relevant pages, which are forgotten: they are read from now on.

        Not those on pages at *max_depth* or deeper, or on pages that ask that no link be followed. Call inside a
        transaction.
        """
        found = [UnreadLink._make(row) for row in self.store.execute(_OF_TYPE, (name, max_depth, obey_nofollow))]
        self.store.executemany("DELETE FROM unread WHERE key = ?", [(file.key,) for file in found])
        return found

    def counts(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent types, with the number of files."""
        rows = self.store.execute(_COUNTS, (limit,)).fetchall() if self.exists() else []
        return [(str(name), int(count)) for name, count in rows]
