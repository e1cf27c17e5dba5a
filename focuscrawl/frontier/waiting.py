"""The waiting URLs by host: the best of each host in memory, the rest on disk only.

Each host has a heap of its best entries. Changing a rank pushes a second entry; the stale one is skipped when it
reaches the top. When a heap grows too long, all but its best entries are marked cold and kept in the file only; when it
runs low, the best cold entries are loaded again.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from focuscrawl.store.part import Columns
from focuscrawl.store.queue import Entry
from focuscrawl.store.store import Store

# States of a URL. KNOWN: seen, but not waiting (refused, or dropped from the queue): it may be queued again.
KNOWN, QUEUED, COLD, IN_FLIGHT, CLAIMED, DONE = range(6)

#: Added to a host's id for its second queue, which is in memory only: there are fewer hosts than this.
SECOND = 1 << 30


class HostQueue:
    """The waiting URLs of one host."""

    __slots__ = ("cold", "floor", "heap", "in_flight", "known", "name", "pages", "place", "shown", "soon", "until")

    def __init__(self, name: str, pages: int = 0) -> None:
        self.name = name
        self.pages = pages
        self.in_flight = 0
        #: Whether the host answered the last request.
        self.known = pages > 0
        #: (-rank, URL id) of the entries in memory; the number of entries on disk only, none better than `floor`.
        self.heap: list[tuple[float, int]] = []
        self.cold = 0
        self.floor: tuple[float, int] = (inf, 0)
        #: The host's state among the turns: "" without entries, else "ready", "waiting", "busy" or "benched".
        self.place = ""
        #: Its current entry among those of other hosts in the same state; others are stale.
        self.shown: tuple[float, int] | None = None
        #: If it is "waiting" or "busy": whether it counts as soon ready, and until when at most.
        self.soon = False
        self.until = 0.0


class Waiting:
    """State, rank and host of all URLs, and the queues of the hosts.

    *hot* entries per host stay in memory. *size* limits the number of waiting URLs; 0 means no limit. URLs that rank
    below *floor* are held: they wait, but are not open. *surfaced* is called when a URL enters the heap of its host.
    """

    def __init__(
        self, store: Store, *, hot: int, size: int, floor: float, surfaced: Callable[[int, tuple[float, int]], None]
    ) -> None:
        self.store = store
        self.hot = hot
        self.size = size
        self.floor = floor
        self.surfaced = surfaced
        self.queued = 0
        self.state = bytearray(1)  # by URL id; ids start at 1
        self.rank = array("d", [0.0])
        self.host_of = array("I", [0])
        self.hosts: dict[int, HostQueue] = {}  # by host id
        self.host_ids: dict[str, int] = {}
        self._last_host = 0
        #: URLs that are in memory only, or wait for a host other than their row's: retries, redirects, visits.
        self.moved: set[int] = set()
        #: Stored pages that are to be visited again, by URL id. They wait in memory only, and do not count as queued.
        self.visits: dict[int, Entry] = {}
        #: The second queues of hosts, which hold these URLs.
        self._second: dict[int, int] = {}
        #: URLs above the floor; may include some that were fetched or have fallen below it since.
        self._open: set[int] = set()
        self._worst: list[tuple[float, int]] = []  # (rank, -URL id), only with a size
        self._overfull: set[int] = set()  # hosts with too many entries in memory

    # ---- URLs and hosts

    @property
    def known(self) -> int:
        """The number of URLs that the crawl has seen, and one more."""
        return len(self.state)

    def load(self) -> Iterator[tuple[Columns, Columns]]:
        """Read hosts and URLs from the file; yields the keys and the ids of the URLs."""
        store = self.store
        for host_id, name, pages in store.hosts.each():
            self.hosts[host_id] = HostQueue(name, pages)
            self._last_host = max(self._last_host, host_id)
            self.host_ids[name] = host_id
        count = store.urls.last_id()  # ids assigned in a failed transaction are missing
        self.state.extend(bytes(count))
        self.rank.extend(array("d", bytes(8 * count)))
        self.host_of.extend(array("I", bytes(self.host_of.itemsize * count)))
        state, host_of = np.frombuffer(self.state, np.uint8), np.frombuffer(self.host_of, np.uint32)
        for ids, keys, hosts, done in store.urls.each():
            state[ids] = np.where(done, DONE, KNOWN)
            host_of[ids] = hosts
            yield keys, ids

    def load_queue(self, later: set[int]) -> None:
        """Load the rows of the queue; those to try *later* stay out of the heaps until they are entered."""
        state, ranks = np.frombuffer(self.state, np.uint8), np.frombuffer(self.rank)
        for rows in self.store.queue.each():
            ids, hosts = rows[:2].astype(np.int64)
            rank, cold = rows[2:]
            ranks[ids] = rank
            state[ids] = np.where(cold, COLD, QUEUED)
            self.queued += len(ids)
            if self.floor > -inf:
                self._open.update(ids[rank >= self.floor].tolist())
            if later:
                now = ~np.isin(ids, list(later))
                state[ids[~now]] = QUEUED
                ids, hosts, rank, cold = ids[now], hosts[now], rank[now], cold[now]
            if self.size:
                self._worst += zip(rank.tolist(), (-ids).tolist(), strict=True)
            for host_id, part in _by_host(hosts, -rank, ids, cold == 0):
                self.hosts[host_id].heap += part
            for host_id, part in _by_host(hosts, -rank, ids, cold != 0):
                host = self.hosts[host_id]
                host.cold += len(part)
                host.floor = min(host.floor, part[0])
        heapify(self._worst)
        for host in self.hosts.values():
            heapify(host.heap)

    def add_url(self, host_id: int) -> int:
        """Add a new URL; returns its id."""
        url_id = len(self.state)
        self.state.append(KNOWN)
        self.rank.append(0.0)
        self.host_of.append(host_id)
        return url_id

    def host_id(self, name: str) -> int:
        """The id of a host, which is added if it is new."""
        host_id = self.host_ids.get(name)
        if host_id is None:
            self._last_host += 1
            host_id = self.host_ids[name] = self._last_host
            self.hosts[host_id] = HostQueue(name)
            self.store.hosts.add(host_id, name)
        return host_id

    def queues_of(self, host_name: str) -> Iterator[int]:
        """The ids of a host's queues."""
        host_id = self.host_ids.get(host_name)
        if host_id is not None:
            yield host_id
            if host_id in self._second:
                yield self._second[host_id]

    def waits(self, url_id: int) -> bool:
        """Whether a URL is in the queue."""
        return QUEUED <= self.state[url_id] <= COLD

    def has_open(self) -> bool:
        """Whether any URL waits that is not held."""
        if self.floor == -inf:
            return self.queued > 0
        while self._open:
            url_id = next(iter(self._open))
            if self.waits(url_id) and self.rank[url_id] >= self.floor:
                return True
            self._open.discard(url_id)
        return False

    # ---- in and out

    def push(self, url_id: int, rank: float) -> bool:
        """Queue a URL; True if it belongs on disk only. Otherwise call `enter` next."""
        self.rank[url_id] = rank
        if rank >= self.floor > -inf:
            self._open.add(url_id)
        host = self.hosts[self.host_of[url_id]]
        if self.size:
            heappush(self._worst, (rank, -url_id))
        if host.cold and (-rank, url_id) > host.floor and url_id not in self.moved:
            self.state[url_id] = COLD
            host.cold += 1
            return True
        self.state[url_id] = QUEUED
        return False

    def enter(self, url_id: int) -> None:
        """Put a queued URL into the heap of its host."""
        host_id = self.host_of[url_id]
        host = self.hosts[host_id]
        entry = (-self.rank[url_id], url_id)
        heappush(host.heap, entry)
        self.surfaced(host_id, entry)
        if len(host.heap) > 2 * self.hot:
            self._overfull.add(host_id)

    def enter_second(self, url_id: int, host_name: str, rank: float) -> None:
        """Queue a URL that is in flight or done again, in memory, in the second queue of a host."""
        self.host_of[url_id] = self._second_queue(self.host_id(host_name))
        self.moved.add(url_id)
        self.queued += url_id not in self.visits
        self.state[url_id] = QUEUED
        self.rank[url_id] = rank
        if rank >= self.floor > -inf:
            self._open.add(url_id)
        self.enter(url_id)

    def _second_queue(self, host_id: int) -> int:
        """The id of a host's second queue: its URLs do not count as new pages for any limit."""
        second = self._second.get(host_id)
        if second is None:
            second = self._second[host_id] = host_id + SECOND
            host = self.hosts[host_id]
            self.hosts[second] = HostQueue(host.name)
            self.hosts[second].known = host.known
        return second

    def thaw(self, url_id: int) -> None:
        """Prepare a URL that may be on disk only for a change of state."""
        if self.state[url_id] == COLD:
            self.hosts[self.host_of[url_id]].cold -= 1

    def leave(self, url_id: int, state: int) -> None:
        """Remove a waiting URL from the queue in memory."""
        self.thaw(url_id)
        self.state[url_id] = state
        self.queued -= url_id not in self.visits

    def holds(self, entry: tuple[float, int]) -> bool:
        """Whether an entry of a heap is not stale."""
        negative_rank, url_id = entry
        return self.state[url_id] == QUEUED and self.rank[url_id] == -negative_rank

    def head(self, host_id: int) -> tuple[float, int] | None:
        """The best entry of a host that is not stale."""
        host = self.hosts[host_id]
        while True:
            heap = host.heap
            while heap and not self.holds(heap[0]):
                heappop(heap)
            if not host.cold or (heap and heap[0] < host.floor):
                return heap[0] if heap else None
            self._refill(host_id, host)

    def open_ranks(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The ranks of all waiting URLs that are not held, in no order."""
        state, ranks = np.frombuffer(self.state, np.uint8), np.frombuffer(self.rank)
        open_ranks: np.ndarray[Any, np.dtype[np.float64]] = ranks[
            ((state == QUEUED) | (state == COLD)) & (ranks >= self.floor)
        ]
        return open_ranks

    # ---- between memory and disk

    def spill(self) -> None:
        """Keep only the best entries of overfull hosts in memory; the rows of the others must be on disk by now."""
        while self._overfull:
            self._spill(self.hosts[self._overfull.pop()])

    def _spill(self, host: HostQueue) -> None:
        entries = sorted({entry for entry in host.heap if self.holds(entry)})
        rest = [entry for entry in entries[self.hot :] if entry[1] not in self.moved]
        host.heap = sorted(set(entries).difference(rest))
        for _, url_id in rest:
            self.state[url_id] = COLD
        if rest:
            host.cold += len(rest)
            host.floor = min(host.floor, rest[0])
            self.store.queue.freeze([url_id for _, url_id in rest])

    def _refill(self, host_id: int, host: HostQueue) -> None:
        """Load the best entries of a host from disk."""
        rows = self.store.queue.best_cold(host_id, self.hot + 1)
        for url_id, rank in rows[: self.hot]:
            if self.state[url_id] == COLD:
                self.state[url_id] = QUEUED
                host.cold -= 1
                heappush(host.heap, (-rank, url_id))
        if len(rows) > self.hot:
            host.floor = (-rows[-1][1], rows[-1][0])
        else:
            host.floor, host.cold = (inf, 0), 0
        with self.store.batch():
            self.store.queue.thaw([url_id for url_id, _ in rows[: self.hot]])

    def drop_worst(self) -> list[int]:
        """Drop the worst URLs that exceed the size; returns them. They are still in the file."""
        dropped: list[int] = []
        while self._worst and self.queued > self.size:
            rank, negative = heappop(self._worst)
            url_id = -negative
            if not self._counts(rank, url_id) or url_id in self.moved:  # retries and redirects are never dropped
                continue
            self.leave(url_id, KNOWN)
            dropped.append(url_id)
        if len(self._worst) > 2 * self.queued + 1000:  # it still contains fetched URLs
            self._worst = [(rank, negative) for rank, negative in self._worst if self._counts(rank, -negative)]
            heapify(self._worst)
        return dropped

    def _counts(self, rank: float, url_id: int) -> bool:
        return self.waits(url_id) and self.rank[url_id] == rank

    def clear_host(self, host_id: int) -> list[int]:
        """Drop all waiting URLs of a host; returns them. They are still in the file."""
        host = self.hosts[host_id]
        dropped = [url_id for url_id in self.store.queue.cold(host_id) if self.state[url_id] == COLD]
        dropped += {entry[1] for entry in host.heap if self.holds(entry)}
        for url_id in dropped:
            self.state[url_id] = KNOWN
        self.queued -= len(dropped)
        host.heap, host.cold, host.place = [], 0, ""
        return dropped

    def sweep(self) -> None:
        """Remove stale entries from the heaps: each change of a rank leaves one behind."""
        for host in self.hosts.values():
            live = {entry for entry in host.heap if self.holds(entry)}
            if len(live) < len(host.heap):
                host.heap = list(live)
                heapify(host.heap)


def _by_host(
    hosts: Columns, negative_ranks: Columns, ids: Columns, chosen: Columns
) -> Iterator[tuple[int, list[tuple[float, int]]]]:
    """The chosen entries of each host, best first."""
    hosts, negative_ranks, ids = hosts[chosen], negative_ranks[chosen], ids[chosen]
    order = np.lexsort((ids, negative_ranks, hosts))
    hosts = hosts[order]
    entries = list(zip(negative_ranks[order].tolist(), ids[order].tolist(), strict=True))
    starts = np.flatnonzero(np.diff(hosts, prepend=-1)).tolist()
    for start, end in pairwise([*starts, len(entries)]):
        yield int(hosts[start]), entries[start:end]
