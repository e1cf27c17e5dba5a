"""Hosts: when a request may be sent to each of them.

Everything sent to a host passes one gate: pages, robots.txt, tdmrep.json, sitemaps, examples, later visits. Politeness
delays are measured when a request leaves, not when it is handed over, so a busy machine does not shorten them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import ceil, inf
from typing import TYPE_CHECKING, NamedTuple

from focuscrawl.crawl import clock
from focuscrawl.crawl.failures import HostRests
from focuscrawl.manners.pace import Pace

if TYPE_CHECKING:
    from focuscrawl.frontier.engine import Engine

#: Back-off in seconds for a host that does not give one; doubled with each consecutive refusal.
FIRST_REST = 1.0
#: Longest interval between checks whether a request may leave, or the crawl is about to end.
_LOOK = 0.5
#: Interval between checks whether the previous request has left.
_GLANCE = 0.01
#: Blocked hosts that are remembered; beyond, those whose block has ended are forgotten.
_REMEMBERED = 1_000


class Block(NamedTuple):
    """Until when, on the monotonic clock, nothing is fetched from a host, and why."""

    until: float
    why: str


class Host:
    """The state of a host."""

    __slots__ = ("active", "distance", "gate", "handed", "held", "leaving", "refusals", "refused", "sent", "took")

    def __init__(self) -> None:
        #: Pages between hand-over by the frontier and the end of their download.
        self.active = 0
        #: When the last page was handed over, and when the last request of any kind left.
        self.handed = self.sent = -inf
        #: The request that may leave but has not left yet.
        self.leaving: object = None
        #: The end of the host's back-off.
        self.held = 0.0
        #: The host's politeness delay in seconds, and the duration of its last download.
        self.distance = self.took = 0.0
        #: Consecutive refusals (too many requests), and the time of the last.
        self.refusals = 0
        self.refused = -inf
        #: Lets requests wait one at a time, in order of arrival.
        self.gate: asyncio.Lock | None = None


class Hosts:
    """All hosts contacted, and when each may be contacted again."""

    def __init__(self, pace: Pace | None = None, longest_rest: float = 600.0) -> None:
        self.pace = pace or Pace({})
        self.longest_rest = longest_rest
        #: Whether the crawl is about to end: then no request waits any longer.
        self.closing: Callable[[], bool] = lambda: False
        #: Knows each host's delay and concurrency by the settings; None before the crawl starts.
        self._engine: Engine | None = None
        self._most: float = inf
        self._hosts: dict[str, Host] = {}
        self._blocked: dict[str, Block] = {}

    def bind(self, engine: Engine, closing: Callable[[], bool]) -> None:
        """Attach to the engine when the crawl starts."""
        self._engine = engine
        # counted here, where a page and the robots.txt it waits for are one request; the downloader would count both
        self._most = engine.take_over_concurrency()
        self.closing = closing

    def of(self, name: str) -> Host:
        """The state of a host."""
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host()
        return host

    # ---- pace

    def share(self) -> float:
        """The current share of the full crawl speed."""
        return 1.0 if self.pace.steady else self.pace.share(clock.local())

    def rest(self) -> float:
        """Seconds until the current rest period of the whole crawl ends; 0 if there is none."""
        return 0.0 if self.pace.steady or self.share() else self.pace.rest(clock.local())

    def room(self) -> float:
        """How many requests may be in flight now."""
        return self._most if self.pace.steady or self._most == inf else ceil(self._most * self.share())

    # ---- politeness delay

    def keep_distance(self, name: str, delay: float) -> bool:
        """Send requests to a host one at a time, *delay* seconds apart, if that is more than its current delay."""
        if self._engine is None or delay <= self._engine.delay(name, jitter=False):
            return False
        self.of(name).distance = delay  # AutoThrottle may shorten the engine's delay, but not this one
        self._engine.keep_distance(name, delay)
        return True

    def _distance(self, name: str, host: Host) -> float:
        """The current minimum seconds between two requests to a host."""
        distance = max(self._engine.delay(name) if self._engine is not None else 0.0, host.distance)
        if not self.pace.steady and (share := self.share()) and share < 1:
            distance = (distance or host.took) / share
        return distance

    # ---- the frontier's side

    def free_at(self, name: str) -> float:
        """When a page may be requested from a host: 0 means now, inf not before one in flight has ended."""
        host = self._hosts.get(name)
        if host is None:
            return 0.0
        if self._engine is not None and 0 < self._engine.concurrency(name) <= host.active:
            return inf
        distance = self._distance(name, host)
        return max(host.held, max(host.handed, host.sent) + distance if distance else 0.0)

    def rests(self, name: str) -> tuple[float, float]:
        """The seconds until a host may be asked again, and its politeness delay."""
        host = self._hosts.get(name)
        if host is None:
            return 0.0, 0.0
        distance = self._distance(name, host)
        until = max(host.held, max(host.handed, host.sent) + distance if distance else 0.0)
        return max(0.0, until - clock.monotonic()), distance

    def hand(self, name: str, moment: float) -> None:
        """Record that a page of a host was handed over for download."""
        host = self.of(name)
        host.active += 1
        host.handed = moment

    def release(self, name: str) -> None:
        """Record that the download of a page has ended."""
        host = self.of(name)
        host.active -= 1
        if not self.pace.steady:
            host.took = clock.monotonic() - host.handed

    # ---- the gate

    async def turn(self, name: str, request: object, patience: float = inf) -> float:
        """Wait until a request may leave for a host, and return the time when it does.

        Raises HostRests if the host's back-off is longer than *patience* seconds, or the crawl ends.
        """
        host = self.of(name)
        if self._wait(name, host) > 0 or (host.gate is not None and host.gate.locked()):
            if host.gate is None:
                host.gate = asyncio.Lock()
            async with host.gate:
                while (wait := self._wait(name, host)) > 0:
                    if host.held - clock.monotonic() > patience or self.closing():
                        raise HostRests(f"{name} is in back-off")
                    await asyncio.sleep(min(wait, _LOOK))
                return self._pass(name, host, request)
        return self._pass(name, host, request)

    def _wait(self, name: str, host: Host) -> float:
        """The seconds until the next request may leave for a host."""
        distance = self._distance(name, host)
        if host.leaving is not None and distance:
            return _GLANCE
        until = max(host.held, host.sent + distance if distance else 0.0)
        wait = until - clock.monotonic() if until else 0.0
        return wait if self.pace.steady else max(wait, self.rest())

    def _pass(self, name: str, host: Host, request: object) -> float:
        host.sent = clock.monotonic()
        host.leaving = request
        return host.sent

    def left(self, name: str) -> None:
        """Record that a request has just left for a host."""
        host = self.of(name)
        host.sent = clock.monotonic()
        host.leaving = None

    def ended(self, name: str, request: object) -> None:
        """Record that a request has ended, whether it left or not."""
        host = self.of(name)
        if host.leaving is request:
            host.leaving = None

    # ---- back-off

    def refused(self, name: str, asked: float | None, sent: float, why: str = "too many requests") -> float:
        """Record that a host refused a request *sent* at that time with "too many requests".

        Returns its back-off in seconds: what it *asked* for, or else longer with each consecutive refusal. Requests
        that were in flight at the first refusal do not count as further ones.
        """
        host = self.of(name)
        if sent > host.refused:
            host.refusals += 1
            host.refused = clock.monotonic()
        rest = asked if asked is not None else FIRST_REST * 2.0 ** min(host.refusals - 1, 60)
        rest = min(rest, self.longest_rest)
        host.held = max(host.held, clock.monotonic() + rest)
        self.block(name, host.held, why)
        return rest

    def answered(self, name: str) -> None:
        """Record that a host has answered."""
        self.of(name).refusals = 0

    def block(self, name: str, until: float, why: str) -> None:
        """Note for people that nothing is fetched from a host *until* then; others see to it."""
        if len(self._blocked) >= _REMEMBERED and len(self.blocked()) >= _REMEMBERED:
            del self._blocked[next(iter(self._blocked))]
        self._blocked[name] = Block(until, why)

    def blocked(self) -> dict[str, Block]:
        """The hosts that nothing is fetched from now."""
        now = clock.monotonic()
        self._blocked = {name: block for name, block in self._blocked.items() if block.until > now}
        return self._blocked
