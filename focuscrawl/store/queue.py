"""The queue on disk: tables `frontier`, `url` and `host`.

A URL that waits is a row of `frontier` until the page it gave is stored, in the transaction that deletes the row. A row
marked `cold` is on disk only: the best rows of each host are in memory too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from focuscrawl.store.store import Store


class Entry(NamedTuple):
    """A URL that waits."""

    url_id: int
    url: str
    score: float
    rank: float
    depth: int
    via: int | None
    request: str | None
    damping: float = 1.0


#: A new row: URL id, URL, host id, score, rank, depth, link it was found by, cold, request.
NewRow = tuple[int, str, int, float, float, int, int | None, bool, str | None]

_ENTRY = ", ".join(Entry._fields)
_ADD = "INSERT INTO frontier VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"
_RAISE = "UPDATE frontier SET score = ?, rank = ?, cold = ?, depth = min(depth, ?), via = ? WHERE url_id = ?"
_RESCORE = "UPDATE frontier SET score = ?, rank = ?, cold = ?, damping = ? WHERE url_id = ?"
_REMOVE = "DELETE FROM frontier WHERE url_id = ?"
_ONE = f"SELECT {_ENTRY} FROM frontier WHERE url_id = ?"
_SOME = f"SELECT {_ENTRY} FROM frontier WHERE url_id > ? ORDER BY url_id LIMIT ?"


class Queue:
    """Reads and writes the rows of the queue. Writing belongs inside a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    # ---- hosts and URLs

    def hosts(self) -> Iterator[tuple[int, str, int]]:
        """All hosts: id, name, pages stored."""
        return self._store.execute("SELECT id, name, pages FROM host")

    def add_host(self, host_id: int, name: str) -> None:
        """Enter a host."""
        self._store.execute("INSERT INTO host (id, name) VALUES (?, ?)", (host_id, name))

    def count_page(self, host_id: int) -> None:
        """A host gave one more page."""
        self._store.execute("UPDATE host SET pages = pages + 1 WHERE id = ?", (host_id,))

    def last_url(self) -> int:
        """The highest URL id; ids may have gaps."""
        number: int = self._store.execute("SELECT ifnull(max(id), 0) FROM url").fetchone()[0]
        return number

    def urls(self) -> Iterator[tuple[int, int, int, int]]:
        """All URLs: id, key, host id, whether they are done."""
        return self._store.execute("SELECT id, key, host, done FROM url")

    def add_urls(self, rows: Iterable[tuple[int, int, str, int]]) -> None:
        """Enter URLs: id, key, URL, host id."""
        self._store.executemany("INSERT INTO url (id, key, url, host) VALUES (?, ?, ?, ?)", rows)

    def finish(self, url_ids: Iterable[int]) -> None:
        """These URLs are done: they leave the queue for good."""
        ids = [(url_id,) for url_id in url_ids]
        self._store.executemany(_REMOVE, ids)
        self._store.executemany("UPDATE url SET done = 1 WHERE id = ?", ids)

    # ---- what waits

    def waiting(self) -> Iterator[tuple[int, int, float, int, float]]:
        """All that waits: URL id, host id, rank, cold, damping."""
        return self._store.execute("SELECT url_id, host, rank, cold, damping FROM frontier")

    def tried(self) -> set[int]:
        """The URLs that wait although they were tried: they gave no answer."""
        query = "SELECT url_id FROM failure WHERE url_id IN (SELECT url_id FROM frontier)"
        return {url_id for (url_id,) in self._store.execute(query)}

    def entry(self, url_id: int) -> Entry | None:
        """A URL that waits; None if its row is gone."""
        row = self._store.execute(_ONE, (url_id,)).fetchone()
        return Entry(*row) if row else None

    def entries(self, after: int, limit: int) -> list[Entry]:
        """URLs that wait, in the order of their ids."""
        return [Entry(*row) for row in self._store.execute(_SOME, (after, limit))]

    def score(self, url_id: int) -> tuple[float, float]:
        """Score and damping of a URL that waits."""
        row = self._store.execute("SELECT score, damping FROM frontier WHERE url_id = ?", (url_id,)).fetchone()
        return float(row[0]), float(row[1])

    def add(self, rows: Iterable[NewRow]) -> None:
        """Queue URLs."""
        self._store.executemany(_ADD, rows)

    def raise_scores(self, rows: Iterable[tuple[float, float, bool, int, int | None, int]]) -> None:
        """URLs were found again: score, rank, cold, depth, link, URL id."""
        self._store.executemany(_RAISE, rows)

    def rescore(self, rows: Iterable[tuple[float, float, bool, float, int]]) -> None:
        """Change scores: score, rank, cold, damping, URL id."""
        self._store.executemany(_RESCORE, rows)

    def remove(self, url_ids: Iterable[int]) -> None:
        """Take URLs out of the queue."""
        self._store.executemany(_REMOVE, [(url_id,) for url_id in url_ids])

    def keep_request(self, url_id: int, request: str) -> None:
        """Store the request for a URL that waits as a plain link."""
        query = "UPDATE frontier SET request = ? WHERE url_id = ? AND request IS NULL"
        self._store.execute(query, (request, url_id))

    # ---- what is on disk only

    def freeze(self, url_ids: Sequence[int]) -> None:
        """Mark rows as being on disk only."""
        self._store.executemany("UPDATE frontier SET cold = 1 WHERE url_id = ?", [(url_id,) for url_id in url_ids])

    def thaw(self, url_ids: Sequence[int]) -> None:
        """Mark rows as being in memory too."""
        self._store.executemany("UPDATE frontier SET cold = 0 WHERE url_id = ?", [(url_id,) for url_id in url_ids])

    def best_cold(self, host_id: int, limit: int) -> list[tuple[int, float]]:
        """The best rows of a host that are on disk only: URL id, rank."""
        query = "SELECT url_id, rank FROM frontier WHERE cold AND host = ? ORDER BY rank DESC, url_id LIMIT ?"
        return self._store.execute(query, (host_id, limit)).fetchall()

    def cold(self, host_id: int) -> list[int]:
        """The URLs of a host that are on disk only."""
        query = "SELECT url_id FROM frontier WHERE cold AND host = ?"
        return [url_id for (url_id,) in self._store.execute(query, (host_id,))]
