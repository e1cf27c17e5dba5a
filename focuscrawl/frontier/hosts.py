"""Hosts: when each of them may be asked for something.

There is one gate for everything that is sent to a host: pages, robots.txt, tdmrep.json, sitemaps, examples, later
visits. Distances between requests are measured where a request leaves, not where it is handed over, so that a busy
machine does not shorten them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import ceil, inf
from time import monotonic
from typing import TYPE_CHECKING

from focuscrawl.crawl.failures import HostRests
from focuscrawl.manners.pace import Pace, local_time

if TYPE_CHECKING:
    from focuscrawl.frontier.engine import Engine

#: Seconds of rest for a host that does not say how many; doubled with each refusal in a row.
FIRST_REST = 1.0
#: Longest time between two looks at whether a request may leave, or the crawl is about to end.
_LOOK = 0.5
#: Between two looks at whether the request before has left.
_GLANCE = 0.01


class Host:
    """What is known of a host."""

    __slots__ = ("active", "distance", "gate", "handed", "held", "leaving", "refusals", "refused", "sent", "took")

    def __init__(self) -> None:
        #: Pages that are between the frontier and the end of their download.
        self.active = 0
        #: When the last page was handed over, and when the last request of any kind left.
        self.handed = self.sent = -inf
        #: The request that may leave and has not yet.
        self.leaving: object = None
        #: The time before which the host wants to be left alone.
        self.held = 0.0
        #: Seconds that it wants between two requests, and that its last download took.
        self.distance = self.took = 0.0
        #: How often in a row it said that it is asked too much, and when it last did.
        self.refusals = 0
        self.refused = -inf
        #: Lets one request at a time wait, in the order they came.
        self.gate: asyncio.Lock | None = None


class Hosts:
    """Every host that was asked, and when it may be asked again."""

    def __init__(self, pace: Pace | None = None, longest_rest: float = 600.0) -> None:
        self.pace = pace or Pace({})
        self.longest_rest = longest_rest
        #: Whether the crawl is about to end: then nothing waits any more.
        self.closing: Callable[[], bool] = lambda: False
        #: Knows the delay and the concurrency that settings give each host; None before the crawl begins.
        self._engine: Engine | None = None
        self._most: float = inf
        self._hosts: dict[str, Host] = {}

    def bind(self, engine: Engine, closing: Callable[[], bool]) -> None:
        """The crawl begins."""
        self._engine = engine
        # requests are counted here, each page with the robots.txt it waits for: the downloader would count both
        self._most = engine.take_over_concurrency()
        self.closing = closing

    def of(self, name: str) -> Host:
        """What is known of a host."""
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host()
        return host

    # ---- pace

    def share(self) -> float:
        """The share of the full speed at which the crawl may go now."""
        return 1.0 if self.pace.steady else self.pace.share(local_time())

    def rest(self) -> float:
        """Seconds for which nobody is to be asked anything: it is a time of rest; 0 if it is not."""
        return 0.0 if self.pace.steady or self.share() else self.pace.rest(local_time())

    def room(self) -> float:
        """How many requests may be under way now."""
        return self._most if self.pace.steady or self._most == inf else ceil(self._most * self.share())

    # ---- distance

    def keep_distance(self, name: str, delay: float) -> bool:
        """Send requests to a host one at a time, *delay* seconds apart, if that is more than now."""
        if self._engine is None or delay <= self._engine.delay(name, jitter=False):
            return False
        self.of(name).distance = delay  # AutoThrottle may shorten the engine's delay, but not this one
        self._engine.keep_distance(name, delay)
        return True

    def _distance(self, name: str, host: Host) -> float:
        """The seconds that have to be between two requests to a host now."""
        distance = max(self._engine.delay(name) if self._engine is not None else 0.0, host.distance)
        if not self.pace.steady and (share := self.share()) and share < 1:
            distance = (distance or host.took) / share
        return distance

    # ---- the frontier's side

    def free_at(self, name: str) -> float:
        """When a host may be asked for a page: 0 for now, inf for not before one under way has ended."""
        host = self._hosts.get(name)
        if host is None:
            return 0.0
        if self._engine is not None and 0 < self._engine.concurrency(name) <= host.active:
            return inf
        distance = self._distance(name, host)
        return max(host.held, max(host.handed, host.sent) + distance if distance else 0.0)

    def hand(self, name: str, moment: float) -> None:
        """A page of a host is handed over to be downloaded."""
        host = self.of(name)
        host.active += 1
        host.handed = moment

    def release(self, name: str) -> None:
        """The download of a page has ended."""
        host = self.of(name)
        host.active -= 1
        if not self.pace.steady:
            host.took = monotonic() - host.handed

    # ---- the gate

    async def turn(self, name: str, request: object, patience: float = inf) -> float:
        """Wait until a request may leave for a host, and return the time at which it does.

        Raises HostRests if the host wants to be left alone for more than *patience* seconds, or the crawl ends.
        """
        host = self.of(name)
        if self._wait(name, host) > 0 or (host.gate is not None and host.gate.locked()):
            if host.gate is None:
                host.gate = asyncio.Lock()
            async with host.gate:
                while (wait := self._wait(name, host)) > 0:
                    if host.held - monotonic() > patience or self.closing():
                        raise HostRests(f"{name} has asked for a rest")
                    await asyncio.sleep(min(wait, _LOOK))
                return self._pass(name, host, request)
        return self._pass(name, host, request)

    def _wait(self, name: str, host: Host) -> float:
        """The seconds until the next request may leave for a host."""
        distance = self._distance(name, host)
        if host.leaving is not None and distance:
            return _GLANCE
        until = max(host.held, host.sent + distance if distance else 0.0)
        wait = until - monotonic() if until else 0.0
        return wait if self.pace.steady else max(wait, self.rest())

    def _pass(self, name: str, host: Host, request: object) -> float:
        host.sent = monotonic()
        host.leaving = request
        return host.sent

    def left(self, name: str) -> None:
        """A request has left for a host just now."""
        host = self.of(name)
        host.sent = monotonic()
        host.leaving = None

    def ended(self, name: str, request: object) -> None:
        """A request has ended, whether it left or not."""
        host = self.of(name)
        if host.leaving is request:
            host.leaving = None

    # ---- rests

    def refused(self, name: str, asked: float | None, sent: float) -> float:
        """A host says to a request that was *sent* at that time that it is asked too much.

        Returns for how many seconds it is left alone: as many as it *asked* for, or else more with each time in a row.
        What was under way when the host first said so does not count as another time.
        """
        host = self.of(name)
        if sent > host.refused:
            host.refusals += 1
            host.refused = monotonic()
        rest = asked if asked is not None else FIRST_REST * 2.0 ** min(host.refusals - 1, 60)
        rest = min(rest, self.longest_rest)
        host.held = max(host.held, monotonic() + rest)
        return rest

    def answered(self, name: str) -> None:
        """A host has given an answer."""
        self.of(name).refusals = 0
