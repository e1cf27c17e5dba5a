"""Table `failure`: URLs that gave no page, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from focuscrawl.store.part import Part

_ADD = "INSERT INTO failure (url_id, url, reason, via, failed_at) VALUES (?, ?, ?, ?, ?)"


class Failure(NamedTuple):
    """A request that gave no page."""

    number: int
    url: str
    reason: str
    #: The id of the link that led there; None for a seed.
    via: int | None
    failed_at: str


_FAILURE = "SELECT id, url, reason, via, failed_at FROM failure"


class Failures(Part):
    """The requests that gave no page."""

    def add(self, url_id: int | None, url: str, reason: str, via: int | None, when: str) -> None:
        """Record why a URL gave no page."""
        self.store.execute(_ADD, (url_id, url, reason, via, when))

    def count(self) -> int:
        """The number of failures."""
        number: int = self.store.execute("SELECT count(*) FROM failure").fetchone()[0]
        return number

    def each(self, after: int = 0) -> Iterator[Failure]:
        """The failures with a number above *after*, in order."""
        return map(Failure._make, self.store.execute(f"{_FAILURE} WHERE id > ? ORDER BY id", (after,)))

    def of_url(self, url_id: int) -> list[Failure]:
        """The failures of a URL, in order."""
        rows = self.store.execute(f"{_FAILURE} WHERE url_id = ? ORDER BY id", (url_id,))
        return [Failure(*row) for row in rows]

    def first(self) -> Failure | None:
        """The first failure of the crawl."""
        return next(self.each(), None)

    def by_reason(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent reasons, each cut at the first colon, with their counts."""
        return self.store.execute(
            "SELECT CASE WHEN instr(reason, ':') > 0 THEN substr(reason, 1, instr(reason, ':') - 1) ELSE reason END,"
            " count(*) FROM failure GROUP BY 1 ORDER BY 2 DESC LIMIT ?",
            (limit,),
        ).fetchall()
