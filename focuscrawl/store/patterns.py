"""Table `pattern`: URLs that look alike, and how many of their last pages had nothing new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from focuscrawl.store.part import Part

_SET = "INSERT OR REPLACE INTO pattern VALUES (?, ?, ?)"


class Pattern(NamedTuple):
    """A pattern of URLs: its pages, and how many of the last of them had nothing new."""

    pattern: str
    pages: int
    stale: int


class Patterns(Part):
    """What patterns of URLs have given."""

    def each(self) -> Iterator[tuple[str, int, int]]:
        """All patterns: pattern, pages, how many of the last had nothing new."""
        return self.store.execute("SELECT pattern, pages, stale FROM pattern")

    def set(self, rows: Iterable[tuple[str, int, int]]) -> None:
        """Store what patterns have given."""
        self.store.executemany(_SET, rows)

    def stalest(self, at_least: int, limit: int) -> list[Pattern]:
        """The patterns whose last pages had nothing new, *at_least* that many of them; the worst first."""
        rows = self.store.execute(
            "SELECT pattern, pages, stale FROM pattern WHERE stale >= ? ORDER BY stale DESC LIMIT ?", (at_least, limit)
        )
        return [Pattern(*row) for row in rows]
