"""Tables `url` and `host`: every URL and host that the crawl has seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from focuscrawl.store.part import TOGETHER, Columns, Part

#: Numbers as text: SQLite writes them, and NumPy reads them, three times as fast as Python makes a tuple of each row.
_SOME = (
    "SELECT group_concat(id, ' '), group_concat(key, ' '), group_concat(host, ' '), group_concat(done, ' ')"
    " FROM url WHERE id > ? AND id <= ?"
)


class HostFigures(NamedTuple):
    """The figures of a host."""

    name: str
    pages: int
    relevant: int


class Urls(Part):
    """Every URL that the crawl has seen."""

    def each(self) -> Iterator[Columns]:
        """All URLs, many at a time: id, key, host id, whether they are done."""
        for start in range(0, self.last_id(), TOGETHER):
            row = self.store.execute(_SOME, (start, start + TOGETHER)).fetchone()
            if row[0] is not None:
                yield np.stack([np.fromstring(numbers, np.int64, sep=" ") for numbers in row])

    def add(self, rows: Iterable[tuple[int, int, str, int]]) -> None:
        """Add URLs: id, key, URL, host id. Call inside a transaction."""
        self.store.executemany("INSERT INTO url (id, key, url, host) VALUES (?, ?, ?, ?)", rows)

    def last_id(self) -> int:
        """The largest URL id; 0 if there is none. Ids assigned in a failed transaction are missing."""
        number: int = self.store.execute("SELECT coalesce(max(id), 0) FROM url").fetchone()[0]
        return number

    def url(self, url_id: int) -> str:
        """The URL with an id."""
        text: str = self.store.execute("SELECT url FROM url WHERE id = ?", (url_id,)).fetchone()[0]
        return text

    def key(self, url_id: int) -> int:
        """The key of the URL with an id."""
        number: int = self.store.execute("SELECT key FROM url WHERE id = ?", (url_id,)).fetchone()[0]
        return number

    def find(self, key: int, other_key: int) -> tuple[int, str] | None:
        """Id and URL of the row with one of two keys."""
        row: tuple[int, str] | None = self.store.execute(
            "SELECT id, url FROM url WHERE key IN (?, ?)", (key, other_key)
        ).fetchone()
        return row


class Hosts(Part):
    """The hosts that the crawl has seen."""

    def each(self) -> Iterator[tuple[int, str, int]]:
        """All hosts: id, name, pages stored."""
        return self.store.execute("SELECT id, name, pages FROM host")

    def add(self, host_id: int, name: str) -> None:
        """Add a host. Call inside a transaction."""
        self.store.execute("INSERT INTO host (id, name) VALUES (?, ?)", (host_id, name))

    def count_page(self, host_id: int) -> None:
        """Count one more page of a host. Call inside a transaction."""
        self.store.execute("UPDATE host SET pages = pages + 1 WHERE id = ?", (host_id,))

    def count(self) -> int:
        """The number of hosts with a stored page."""
        number: int = self.store.execute("SELECT count(*) FROM host WHERE pages > 0").fetchone()[0]
        return number

    def best(self, limit: int) -> list[HostFigures]:
        """The hosts with the most relevant pages, best first."""
        rows = self.store.execute(
            "SELECT host.name, count(*), total(relevant) FROM page JOIN url ON url.id = page.url_id"
            " JOIN host ON host.id = url.host GROUP BY host.id ORDER BY 3 DESC, 2 DESC LIMIT ?",
            (limit,),
        )
        return [HostFigures(name, pages, int(relevant)) for name, pages, relevant in rows]
