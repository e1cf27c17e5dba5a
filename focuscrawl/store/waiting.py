"""Table `frontier`, as reports and strategies ask for it: the URLs that wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from focuscrawl.page import Link
from focuscrawl.store.links import as_link
from focuscrawl.store.part import Part

_INDEX = "CREATE INDEX IF NOT EXISTS frontier_score ON frontier (score DESC, url_id)"
_GET = "SELECT score, rank, damping, via FROM frontier WHERE url_id = ?"
_PAGE = "SELECT link.page FROM frontier JOIN link ON link.id = via WHERE frontier.url_id = ?"


class WaitingUrl(NamedTuple):
    """A URL that waits."""

    score: float
    #: What orders the queue: the score times the damping, less ageing.
    rank: float
    #: Below 1 in a trap.
    damping: float
    #: The id of the link that led there; None for a seed.
    via: int | None


class Waiting(Part):
    """The URLs that wait."""

    def get(self, url_id: int) -> WaitingUrl | None:
        """The entry of a URL; None if it does not wait."""
        row = self.store.execute(_GET, (url_id,)).fetchone()
        return WaitingUrl(*row) if row else None

    def count(self) -> int:
        """The number of URLs that wait."""
        number: int = self.store.execute("SELECT count(*) FROM frontier").fetchone()[0]
        return number

    def count_above(self, rank: float) -> int:
        """The number of URLs with a higher rank."""
        number: int = self.store.execute("SELECT count(*) FROM frontier WHERE rank > ?", (rank,)).fetchone()[0]
        return number

    def index_scores(self) -> None:
        """Make `best` fast however many URLs wait."""
        self.store.execute(_INDEX)

    def best(self, limit: int) -> list[tuple[int, float]]:
        """The URLs with the highest scores: id and score, best first."""
        return self.store.execute(
            "SELECT url_id, score FROM frontier ORDER BY score DESC, url_id LIMIT ?", (limit,)
        ).fetchall()

    def page_of(self, url_id: int) -> int | None:
        """The number of the page by whose link a waiting URL was found; None for a seed."""
        row = self.store.execute(_PAGE, (url_id,)).fetchone()
        return row[0] if row else None

    def links(self) -> Iterator[tuple[int, Link]]:
        """The links by which the waiting URLs were found, each with the id of its URL."""
        rows = self.store.execute(
            "SELECT frontier.url_id, frontier.url, anchor, before, after, position, link.score, nofollow, why"
            " FROM frontier JOIN link ON link.id = frontier.via"
        )
        return ((row[0], as_link(*row[1:])) for row in rows)
