"""Turns: the best entry among the hosts that may be fetched from now.

One heap holds the best entry of each ready host, so adding and taking take logarithmic time. Hosts that have to wait,
are busy or had their turn in this run are set aside until that changes.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focuscrawl.frontier.waiting import HostQueue, Waiting

#: When a host may be fetched from: a time, 0 for now, inf for not before it is released.
FreeAt = Callable[[str], float]

#: The states of hosts whose best entry is in one of the heaps.
_SHOWN = ("ready", "waiting", "busy")

#: An entry of the heap: -rank, URL id, host id.
Best = tuple[float, int, int]


class Turns:
    """Which hosts are ready.

    Each run of *hosts_per_run* URLs is spread over that many hosts, if there are enough. *full* is called with the id
    of a host that has given *pages_per_host* pages.
    """

    def __init__(self, hosts_per_run: int, pages_per_host: int, full: Callable[[int], None]) -> None:
        self.hosts_per_run = hosts_per_run
        self.pages_per_host = pages_per_host
        self._full = full
        #: The best entry of each ready host: of hosts that have not answered, and of hosts that have.
        self._ready: tuple[list[Best], list[Best]] = ([], [])
        #: Most requests in flight to hosts that have not answered, once any host has.
        self.most_strangers = inf
        self.any_known = False
        self.in_flight = self._strangers = 0
        self.resting: list[tuple[float, int]] = []  # (time, host id)
        #: Hosts that become ready within this many seconds are soon ready.
        self.horizon = 0.0
        #: The best entry of each host that waits or is busy: of those that are soon ready, and of the others.
        self._soon: list[Best] = []
        self._later: list[Best] = []
        self._soon_at: list[tuple[float, int]] = []  # (time, host id): when the others are soon ready
        self.benched: list[int] = []  # hosts that had their turn in this run
        self.used: set[int] = set()

    waiting: Waiting

    def put_ready(self, host_id: int) -> None:
        """Make a host ready: its best entry joins the others."""
        host = self.waiting.hosts[host_id]
        head = self.waiting.head(host_id)
        host.place = "ready" if head else ""
        host.shown = head
        if head:
            heappush(self._ready[host.known], (*head, host_id))

    def surfaced(self, host_id: int, entry: tuple[float, int]) -> None:
        """Handle a new entry in the heap of a host."""
        host = self.waiting.hosts[host_id]
        if host.place == "":
            self.put_ready(host_id)
        elif host.place != "benched" and host.heap[0] == entry:
            host.shown = entry
            heappush(self._heap_of(host), (*entry, host_id))

    def release(self, host_name: str) -> None:
        """A busy host may be fetched from again."""
        for host_id in self.waiting.queues_of(host_name):
            self._unbusy(host_id)

    def _unbusy(self, host_id: int) -> None:
        if self.waiting.hosts[host_id].place == "busy":
            self.put_ready(host_id)

    def make_known(self, host_name: str, known: bool) -> None:
        """Record whether a host has answered."""
        self.any_known = self.any_known or known
        for host_id in self.waiting.queues_of(host_name):
            host = self.waiting.hosts[host_id]
            if host.known != known:
                host.known = known
                self._strangers += -host.in_flight if known else host.in_flight
                if host.place == "ready":  # its entry in the other heap is now skipped
                    self.put_ready(host_id)

    def next_time(self) -> float:
        """When the next host becomes free by itself; inf if none does."""
        return self.resting[0][0] if self.resting else inf

    def best(self, now: float, free_at: FreeAt) -> Best | None:
        """The best entry whose host is free; hosts that are not free are set aside.

        Hosts that have not answered get only a share of the requests in flight: many dead hosts must not delay the
        others.
        """
        while self.resting and self.resting[0][0] <= now:
            self.put_ready(heappop(self.resting)[1])
        best = self._best_of(now, free_at, known=True)
        if self.any_known and self._strangers >= self.most_strangers:
            return best
        stranger = self._best_of(now, free_at, known=False)
        return min(best, stranger) if best is not None and stranger is not None else best or stranger

    def _best_of(self, now: float, free_at: FreeAt, *, known: bool) -> Best | None:
        ready = self._ready[known]
        while ready:
            entry = ready[0]
            host_id = entry[2]
            host = self.waiting.hosts[host_id]
            if not self._is_current(entry, ready):
                heappop(ready)
            elif self.waiting.head(host_id) != host.shown:
                heappop(ready)
                self.put_ready(host_id)
            elif self._may_go(host_id, now, free_at):
                return entry
            else:
                heappop(ready)
        return None

    def _may_go(self, host_id: int, now: float, free_at: FreeAt) -> bool:
        """Whether a host may be fetched from now; if not, it is set aside."""
        host = self.waiting.hosts[host_id]
        if host_id in self.used:
            host.place = "benched"
            self.benched.append(host_id)
            return False
        if self.pages_per_host and host.pages + host.in_flight >= self.pages_per_host:
            host.place, host.shown, host.soon = "busy", None, False  # it is not waited for
            if host.pages >= self.pages_per_host:
                self._full(host_id)
            return False
        time = free_at(host.name)
        if time <= now:
            return True
        if time == inf:
            host.place, host.until = "busy", now + self.horizon
        else:
            host.place, host.until = "waiting", time
            heappush(self.resting, (time, host_id))
        host.soon = host.until <= now + self.horizon
        if not host.soon:
            heappush(self._soon_at, (time - self.horizon, host_id))
        self._show(host_id)
        return False

    # ---- hosts that wait or are busy

    def _heap_of(self, host: HostQueue) -> list[Best]:
        """The heap that has a host's best entry."""
        if host.place == "ready":
            return self._ready[host.known]
        return self._soon if host.soon else self._later

    def _show(self, host_id: int) -> None:
        """Put the best entry of a host that waits or is busy into its heap."""
        host = self.waiting.hosts[host_id]
        host.shown = self.waiting.head(host_id)
        if host.shown:
            heap = self._heap_of(host)
            heappush(heap, (*host.shown, host_id))
            if len(heap) > 2 * len(self.waiting.hosts) + 100:  # most of it is stale
                self._tidy(heap)

    def best_soon(self, now: float) -> Best | None:
        """The best entry of the hosts that are soon ready."""
        while self._soon_at and self._soon_at[0][0] <= now:
            _, host_id = heappop(self._soon_at)
            host = self.waiting.hosts[host_id]
            if host.place == "waiting" and not host.soon and host.until <= now + self.horizon:
                host.soon = True
                self._show(host_id)
        while (best := self._top(self._soon)) is not None:
            host = self.waiting.hosts[best[2]]
            if now < host.until:
                return best
            host.soon = False  # a busy host that does not answer
            self._show(best[2])
        return None

    def best_unready(self, now: float) -> Best | None:
        """The best entry of all hosts that wait or are busy."""
        soon, later = self.best_soon(now), self._top(self._later)
        return min(soon, later) if soon is not None and later is not None else soon or later

    def _top(self, heap: list[Best]) -> Best | None:
        while heap:
            entry = heap[0]
            host = self.waiting.hosts[entry[2]]
            if not self._is_current(entry, heap):
                heappop(heap)
            elif self.waiting.head(entry[2]) != host.shown:
                heappop(heap)
                self._show(entry[2])
            else:
                return entry
        return None

    def _is_current(self, entry: Best, heap: list[Best]) -> bool:
        """Whether an entry of a heap is not stale."""
        host = self.waiting.hosts[entry[2]]
        return host.place in _SHOWN and host.shown == entry[:2] and self._heap_of(host) is heap

    def _tidy(self, heap: list[Best]) -> None:
        heap[:] = [entry for entry in set(heap) if self._is_current(entry, heap)]
        heapify(heap)

    def on_top(self, url_id: int, host_id: int) -> bool:
        """Whether a URL is still the best in its heap of hosts."""
        ready = self._ready[self.waiting.hosts[host_id].known]
        return bool(ready) and ready[0][1] == url_id

    def take(self, host_id: int, *, counts: bool) -> None:
        """Take the best entry of a host; it uses up the host's turn in this run if it *counts*."""
        host = self.waiting.hosts[host_id]
        host.in_flight += 1
        self.in_flight += 1
        self._strangers += not host.known
        heappop(self._ready[host.known])
        self.put_ready(host_id)
        if self.hosts_per_run and counts:
            self.used.add(host_id)
            if len(self.used) >= self.hosts_per_run:
                self.next_run()

    def landed(self, host_id: int) -> None:
        """Record that a request to a host is no longer in flight."""
        host = self.waiting.hosts[host_id]
        host.in_flight -= 1
        self.in_flight -= 1
        self._strangers -= not host.known
        self._unbusy(host_id)

    def next_run(self) -> None:
        """Start a new run over the hosts."""
        self.used.clear()
        benched, self.benched = self.benched, []
        for host_id in benched:
            self.put_ready(host_id)

    def had_their_turn(self) -> list[int]:
        """The hosts that had their turn in this run; not those with a request in flight, which a crash would lose."""
        return sorted(host_id for host_id in self.used if not self.waiting.hosts[host_id].in_flight)

    def forget(self, host_ids: set[int]) -> None:
        """Forget hosts, and their requests in flight."""
        gone = {queue for host_id in host_ids for queue in self.waiting.queues_of(self.waiting.hosts[host_id].name)}
        for queue in gone:
            host = self.waiting.hosts[queue]
            self.in_flight -= host.in_flight
            self._strangers -= 0 if host.known else host.in_flight
        for heap in (*self._ready, self._soon, self._later):
            heap[:] = [entry for entry in heap if entry[2] not in gone]
            heapify(heap)
        for times in (self.resting, self._soon_at):
            times[:] = [entry for entry in times if entry[1] not in gone]
            heapify(times)
        self.benched = [host_id for host_id in self.benched if host_id not in gone]
        self.used -= gone

    def clear(self) -> None:
        """Forget all hosts."""
        for heap in (*self._ready, self._soon, self._later, self.resting, self._soon_at, self.benched):
            heap.clear()
        self.used.clear()
        self.in_flight = self._strangers = 0

    def sweep(self) -> None:
        """Remove stale entries from the heaps."""
        for heap in (*self._ready, self._soon, self._later):
            self._tidy(heap)
