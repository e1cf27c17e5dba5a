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
    from focuscrawl.frontier.waiting import Waiting

#: When a host may be fetched from: a time, 0 for now, inf for not before it is released.
FreeAt = Callable[[str], float]

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
        elif host.place == "ready" and host.heap[0] == entry:
            host.shown = entry
            heappush(self._ready[host.known], (*entry, host_id))

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
            if host.place != "ready" or host.shown != entry[:2] or host.known != known:
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
            host.place = "busy"
            if host.pages >= self.pages_per_host:
                self._full(host_id)
            return False
        time = free_at(host.name)
        if time <= now:
            return True
        if time == inf:
            host.place = "busy"
        else:
            host.place = "waiting"
            heappush(self.resting, (time, host_id))
        return False

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

    def sweep(self) -> None:
        """Remove stale entries from the heaps."""
        hosts = self.waiting.hosts
        for known, ready in enumerate(self._ready):
            ready[:] = [
                entry
                for entry in set(ready)
                if (host := hosts[entry[2]]).place == "ready" and host.known == known and host.shown == entry[:2]
            ]
            heapify(ready)
