"""The waiting URLs of the hosts that a worker has leased: nothing here grows with the crawl.

The best URLs of each host are in memory, by id; the others are rows of the database only. They are all worse than the
host's `floor`, so they need no mark of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappush
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from focuscrawl.frontier.waiting import COLD, DONE, KNOWN, QUEUED, SECOND, HostQueue, Waiting

if TYPE_CHECKING:
    from focuscrawl.store.leases import WaitingRow
    from focuscrawl.store.postgres import PostgresStore


#: URLs that are read together when one is taken: so many of each host, of so many hosts.
UPCOMING, UPCOMING_HOSTS = 3, 32


class _States(dict[int, int]):
    """States by URL id; a URL that is not in memory is known at best."""

    def __missing__(self, url_id: int) -> int:
        return KNOWN


class _Ranks(dict[int, float]):
    def __missing__(self, url_id: int) -> float:
        return 0.0


class LeasedWaiting(Waiting):
    """State, rank and host of the URLs in memory, and the queues of the leased hosts."""

    store: PostgresStore
    state: _States  # type: ignore[assignment]
    rank: _Ranks  # type: ignore[assignment]
    host_of: dict[int, int]  # type: ignore[assignment]

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._seen = 0
        #: The number of the last failure before the present workers began.
        self.failures = 0
        #: URLs in memory whose rank is lowered by damping.
        self.damped: set[int] = set()
        #: Adds hosts that the crawl may not know, and leases those that are new; returns their ids.
        self.add_hosts: Callable[[set[str]], dict[str, int]]
        self.clear()

    def clear(self) -> None:
        """Forget everything that is in memory."""
        self.state = _States()
        self.rank = _Ranks()
        self.host_of = {}
        self.hosts, self.host_ids, self._second = {}, {}, {}
        self.queued = 0
        self.moved, self.visits, self._open, self._overfull = set(), {}, set(), set()
        self._worst = []
        #: URLs that are forgotten when the next page comes, unless they wait in memory by then.
        self.passing: list[int] = []

    @property
    def known(self) -> int:
        """About the number of URLs that the crawl has seen, and one more."""
        return self._seen + 1

    def has_open(self) -> bool:
        """Whether any URL of the leased hosts waits that is not held."""
        return super().has_open() or any(host.cold and -host.floor[0] >= self.floor for host in self.hosts.values())

    def saw(self, last_id: int) -> None:
        """Record the id of a URL that the crawl has seen."""
        self._seen = max(self._seen, last_id)

    # ---- hosts

    def add_host(self, host_id: int, name: str, pages: int) -> None:
        """Add a host that was leased."""
        if host_id not in self.hosts:
            self.hosts[host_id] = HostQueue(name, pages)
        self.hosts[host_id].pages = pages
        self.host_ids[name] = host_id

    def load_rows(self, rows: Iterable[WaitingRow], limit: int) -> list[int]:
        """Load the best URLs of hosts that were added; returns those to try when nothing else is left.

        A host with more than *limit* rows has others on disk only.
        """
        later: list[int] = []
        counts: dict[int, int] = {}
        for row in rows:
            host = self.hosts[row.host]
            counts[row.host] = counts.get(row.host, 0) + 1
            if counts[row.host] > limit:
                host.cold, host.floor = 1, min(host.floor, (-row.rank, row.url_id))
            elif not row.failed and self.state[row.url_id] in (KNOWN, COLD):
                self.host_of[row.url_id] = row.host
                self._load_row(row)
                if row.damping < 1:
                    self.damped.add(row.url_id)
                if row.tried:
                    later.append(row.url_id)
        for host_id in counts:
            heapify(self.hosts[host_id].heap)
        heapify(self._worst)
        return later

    def _load_row(self, row: WaitingRow) -> None:
        self.rank[row.url_id] = row.rank
        self.state[row.url_id] = QUEUED
        self.queued += 1
        if row.rank >= self.floor > -inf:
            self._open.add(row.url_id)
        if not row.tried:  # those stay out of the heaps until they are entered
            self.hosts[row.host].heap.append((-row.rank, row.url_id))
            if self.size:
                self._worst.append((row.rank, -row.url_id))

    def forget_host(self, host_id: int) -> None:
        """Forget a host that is not leased any more, and its URLs."""
        gone = {host_id, self._second.pop(host_id, host_id)}
        for queue in gone:
            host = self.hosts.pop(queue)
            self.host_ids.pop(host.name, None)
        for url_id in [url_id for url_id, queue in self.host_of.items() if queue in gone]:
            self.queued -= self.waits(url_id) and url_id not in self.visits
            self.forget_url(url_id)

    def forget_url(self, url_id: int) -> None:
        """Forget a URL."""
        self.state.pop(url_id, None)
        self.rank.pop(url_id, None)
        self.host_of.pop(url_id, None)
        self.moved.discard(url_id)
        self.damped.discard(url_id)

    def let_pass(self) -> None:
        """Forget the URLs of the page before that do not wait in memory."""
        for url_id in self.passing:
            if self.state[url_id] in (KNOWN, COLD, DONE) and url_id not in self.moved:
                self.forget_url(url_id)
        self.passing = []

    def host_id(self, name: str) -> int:
        """The id of a host; one that is not leased gets a queue without URLs."""
        host_id = self.host_ids.get(name)
        if host_id is None:
            host_id = self.add_hosts({name})[name]
            if host_id not in self.hosts:
                self.add_host(host_id, name, 0)
        return host_id

    def is_idle(self, host_id: int) -> bool:
        """Whether no request to a host is in flight, and no retry waits in memory."""
        queues = [self.hosts[host_id], *(self.hosts[second] for second in [self._second.get(host_id)] if second)]
        return not any(queue.in_flight for queue in queues) and not any(queue.heap for queue in queues[1:])

    def is_empty(self, host_id: int) -> bool:
        """Whether no URL of a host waits."""
        return self.head(host_id) is None

    def upcoming(self) -> list[int]:
        """The URLs at the top of the hosts that may be asked now or soon."""
        near = (host for host in self.hosts.values() if host.place == "ready" or host.soon)
        return [url_id for host in islice(near, UPCOMING_HOSTS) for _, url_id in host.heap[:UPCOMING]]

    # ---- in and out

    def push(self, url_id: int, rank: float) -> bool:
        """Queue a URL; True if it belongs on disk only."""
        host = self.hosts[self.host_of[url_id]]
        before = self.state[url_id]
        cold = super().push(url_id, rank)
        if cold:
            host.cold = 1
            self.queued -= before != COLD
            self.passing.append(url_id)
        elif before == COLD:
            self.queued += 1
        return cold

    def open_ranks(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The ranks of the waiting URLs in memory that are not held, in no order."""
        found = (self.rank[url_id] for url_id, how in self.state.items() if how == QUEUED)
        return np.array([rank for rank in found if rank >= self.floor])

    def _spill(self, host: HostQueue) -> None:
        entries = sorted({entry for entry in host.heap if self.holds(entry)})
        rest = [entry for entry in entries[self.hot :] if entry[1] not in self.moved]
        host.heap = sorted(set(entries).difference(rest))
        if rest:
            host.cold, host.floor = 1, min(host.floor, rest[0])
            self.queued -= len(rest)
            for _, url_id in rest:
                self.forget_url(url_id)

    def thaw(self, url_id: int) -> None:
        """Nothing: rows on disk only are not counted."""

    def leave(self, url_id: int, state: int) -> None:
        """Remove a waiting URL from the queue in memory; one that is on disk only does not count as queued."""
        self.queued += self.state[url_id] == COLD
        super().leave(url_id, state)

    def recall(self, url_ids: Iterable[int]) -> None:
        """Recall URLs of leased hosts that may be on disk only."""
        asked = [url_id for url_id in url_ids if url_id not in self.state and self._may_be_cold(url_id)]
        rows = self.store.leases.some(asked, self.failures) if asked else []
        for row in rows:
            self.state[row.url_id], self.rank[row.url_id] = COLD, row.rank
            if row.damping < 1:
                self.damped.add(row.url_id)

    def _may_be_cold(self, url_id: int) -> bool:
        host = self.hosts.get(self.host_of[url_id])
        return host is not None and host.cold > 0

    def load_cold(self) -> None:
        """Load all URLs of the leased hosts; `spill` puts them back."""
        for host_id, host in self.hosts.items():
            if host.cold:
                self._refill(host_id, host, 1 << 30)
                self._overfull.add(host_id)

    def _refill(self, host_id: int, host: HostQueue, limit: int = 0) -> None:
        limit = limit or self.hot
        rows = self.store.leases.below(host_id, host.floor, limit + 1, self.failures)
        host.cold, host.floor = 0, (inf, 0)
        for row in rows[:limit]:
            if not row.failed and self.state[row.url_id] in (KNOWN, COLD):
                self.host_of[row.url_id] = host_id
                self.rank[row.url_id] = row.rank
                self.state[row.url_id] = QUEUED
                self.queued += 1
                if row.damping < 1:
                    self.damped.add(row.url_id)
                heappush(host.heap, (-row.rank, row.url_id))
        if len(rows) > limit:
            host.cold, host.floor = 1, (-rows[-1].rank, rows[-1].url_id)

    def clear_host(self, host_id: int) -> list[int]:
        """Drop all waiting URLs of a host; returns them. They are still in the database."""
        host = self.hosts[host_id]
        dropped = [row.url_id for row in self.store.leases.rows([host_id], 1 << 30, self.failures)]
        dropped = [url_id for url_id in dropped if self.state[url_id] in (KNOWN, QUEUED, COLD)]
        for url_id in dropped:
            self.queued -= self.state[url_id] == QUEUED
            self.forget_url(url_id)
        host.heap, host.cold, host.place = [], 0, ""
        return dropped


def first_queue(queue: int) -> int:
    """The id of the host that a queue belongs to."""
    return queue - SECOND if queue >= SECOND else queue
