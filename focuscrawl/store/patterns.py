"""Table `pattern`: groups of similar URLs, and how many of their latest pages had nothing new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from focuscrawl.store.part import Part, upsert

#: Longest pattern that is stored, in characters.
_LONGEST = 600
_SET = upsert("pattern", "pattern", "pages", "stale")


class Pattern(NamedTuple):
    """A URL pattern: its pages, and how many of the latest had nothing new."""

    pattern: str
    pages: int
    stale: int


class Patterns(Part):
    """The URL patterns of the crawl."""

    def each(self) -> Iterator[tuple[str, int, int]]:
        """All patterns: pattern, pages, how many of the latest had nothing new."""
        return self.store.execute("SELECT pattern, pages, stale FROM pattern")

    def set(self, rows: Iterable[tuple[str, int, int]]) -> None:
        """Store patterns, except very long ones, which an index could not hold."""
        self.store.executemany(_SET, [row for row in rows if len(row[0]) <= _LONGEST])

    def stalest(self, at_least: int, limit: int) -> list[Pattern]:
        """The patterns of which *at_least* that many of the latest pages had nothing new, worst first."""
        rows = self.store.execute(
            "SELECT pattern, pages, stale FROM pattern WHERE stale >= ? ORDER BY stale DESC LIMIT ?", (at_least, limit)
        )
        return [Pattern(*row) for row in rows]
