"""Table `frontier`: the waiting URLs.

A waiting URL is a row of `frontier` until its page is stored, in the transaction that deletes the row. A row marked
`cold` is on disk only: the best rows of each host are in memory too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from focuscrawl.page import Link
from focuscrawl.store.links import COLUMNS
from focuscrawl.store.part import TOGETHER, Columns, Part


class Entry(NamedTuple):
    """A waiting URL."""

    url_id: int
    url: str
    score: float
    rank: float
    depth: int
    via: int | None
    request: str | None
    damping: float = 1.0


#: A new row: URL id, URL, host id, score, rank, depth, id of the link it was found by, cold, request.
NewRow = tuple[int, str, int, float, float, int, int | None, bool, str | None]

_INDEX = "CREATE INDEX IF NOT EXISTS frontier_score ON frontier (score DESC, url_id)"
_LINKS = (
    f"SELECT frontier.url_id, page.relevance, frontier.url, {COLUMNS}, page.language"
    " FROM frontier JOIN link ON link.id = frontier.via JOIN page ON page.id = link.page"
    " ORDER BY frontier.url_id"
)
_PAGE = "SELECT link.page FROM frontier JOIN link ON link.id = via WHERE frontier.url_id = ?"


_ENTRY = ", ".join(Entry._fields)
_ADD = "INSERT INTO frontier VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"
_RAISE = "UPDATE frontier SET score = ?, rank = ?, cold = ?, depth = min(depth, ?), via = ? WHERE url_id = ?"
_RESCORE = "UPDATE frontier SET score = ?, rank = ?, cold = ?, damping = ? WHERE url_id = ?"
_REMOVE = "DELETE FROM frontier WHERE url_id = ?"
_ONE = f"SELECT {_ENTRY} FROM frontier WHERE url_id = ?"
_SOME = f"SELECT {_ENTRY} FROM frontier WHERE url_id > ? ORDER BY url_id LIMIT ?"


class Queue(Part):
    """Reads and writes the rows of the queue. Writing belongs inside a transaction."""

    def finish(self, url_ids: Iterable[int]) -> None:
        """Mark URLs as done: they leave the queue for good."""
        ids = [(url_id,) for url_id in url_ids]
        self.store.executemany(_REMOVE, ids)
        self.store.executemany("UPDATE url SET done = TRUE WHERE id = ?", ids)

    # ---- waiting URLs

    def each(self) -> Iterator[Columns]:
        """All waiting URLs, many at a time: URL id, host id, rank, cold."""
        cursor = self.store.execute("SELECT url_id, host, rank, cold FROM frontier")
        while rows := cursor.fetchmany(TOGETHER):
            yield np.fromiter(chain.from_iterable(rows), np.float64, 4 * len(rows)).reshape(-1, 4).T

    def damped(self) -> list[int]:
        """The waiting URLs whose rank is lowered by damping."""
        return [url_id for (url_id,) in self.store.execute("SELECT url_id FROM frontier WHERE damping < 1")]

    def tried(self) -> set[int]:
        """The waiting URLs that were tried before and got no answer."""
        query = "SELECT url_id FROM failure WHERE url_id IN (SELECT url_id FROM frontier)"
        return {url_id for (url_id,) in self.store.execute(query)}

    def entry(self, url_id: int) -> Entry | None:
        """A waiting URL; None if its row is gone."""
        row = self.store.execute(_ONE, (url_id,)).fetchone()
        return Entry(*row) if row else None

    def entries(self, after: int, limit: int) -> list[Entry]:
        """Waiting URLs, in the order of their ids."""
        return [Entry(*row) for row in self.store.execute(_SOME, (after, limit))]

    def score(self, url_id: int) -> tuple[float, float]:
        """Score and damping of a waiting URL."""
        row = self.store.execute("SELECT score, damping FROM frontier WHERE url_id = ?", (url_id,)).fetchone()
        return float(row[0]), float(row[1])

    def scores(self) -> dict[int, float]:
        """The scores of all waiting URLs, by URL id."""
        return dict(self.store.execute("SELECT url_id, score FROM frontier ORDER BY url_id"))

    def add(self, rows: Iterable[NewRow]) -> None:
        """Queue URLs."""
        self.store.executemany(_ADD, rows)

    def raise_scores(self, rows: Iterable[tuple[float, float, bool, int, int | None, int]]) -> None:
        """Update URLs that were found again: score, rank, cold, depth, link, URL id."""
        self.store.executemany(_RAISE, rows)

    def rescore(self, rows: Iterable[tuple[float, float, bool, float, int]]) -> None:
        """Change scores: score, rank, cold, damping, URL id."""
        self.store.executemany(_RESCORE, rows)

    def remove(self, url_ids: Iterable[int]) -> None:
        """Take URLs out of the queue."""
        self.store.executemany(_REMOVE, [(url_id,) for url_id in url_ids])

    def keep_request(self, url_id: int, request: str) -> None:
        """Store the request for a URL that is waiting as a plain link."""
        query = "UPDATE frontier SET request = ? WHERE url_id = ? AND request IS NULL"
        self.store.execute(query, (request, url_id))

    # ---- rows on disk only

    def freeze(self, url_ids: Sequence[int]) -> None:
        """Mark rows as being on disk only."""
        self.store.executemany("UPDATE frontier SET cold = TRUE WHERE url_id = ?", [(url_id,) for url_id in url_ids])

    def thaw(self, url_ids: Sequence[int]) -> None:
        """Mark rows as being in memory too."""
        self.store.executemany("UPDATE frontier SET cold = FALSE WHERE url_id = ?", [(url_id,) for url_id in url_ids])

    def best_cold(self, host_id: int, limit: int) -> list[tuple[int, float]]:
        """The best rows of a host that are on disk only: URL id, rank."""
        query = "SELECT url_id, rank FROM frontier WHERE cold AND host = ? ORDER BY rank DESC, url_id LIMIT ?"
        return self.store.execute(query, (host_id, limit)).fetchall()

    def cold(self, host_id: int) -> list[int]:
        """The URLs of a host that are on disk only."""
        query = "SELECT url_id FROM frontier WHERE cold AND host = ?"
        return [url_id for (url_id,) in self.store.execute(query, (host_id,))]

    # ---- for reports and strategies

    def count(self) -> int:
        """The number of waiting URLs."""
        number: int = self.store.execute("SELECT count(*) FROM frontier").fetchone()[0]
        return number

    def count_above(self, rank: float) -> int:
        """The number of URLs with a higher rank."""
        number: int = self.store.execute("SELECT count(*) FROM frontier WHERE rank > ?", (rank,)).fetchone()[0]
        return number

    def index_scores(self) -> None:
        """Create the index that keeps `best` fast with many waiting URLs."""
        self.store.execute(_INDEX)

    def best(self, limit: int) -> list[tuple[int, float]]:
        """The URLs with the highest scores: id and score, best first."""
        return self.store.execute(
            "SELECT url_id, score FROM frontier ORDER BY score DESC, url_id LIMIT ?", (limit,)
        ).fetchall()

    def pages(self, limit: int) -> list[int]:
        """The numbers of the pages with the best waiting links, best first."""
        rows = self.store.execute(
            "SELECT link.page FROM frontier JOIN link ON link.id = frontier.via GROUP BY link.page"
            " ORDER BY max(frontier.score) DESC, link.page LIMIT ?",
            (limit,),
        )
        return [page for (page,) in rows]

    def page_of(self, url_id: int) -> int | None:
        """The id of the page on which a waiting URL was found; None for a seed."""
        row = self.store.execute(_PAGE, (url_id,)).fetchone()
        return row[0] if row else None

    def links(self) -> Iterator[tuple[int, Link]]:
        """The links by which the waiting URLs were found, each with the id of its URL."""
        for url_id, relevance, *link in self.store.execute(_LINKS):
            found = self.store.links.as_link(*link)
            found.page_relevance = relevance
            yield url_id, found
