"""Virtual time: an hour of a polite crawl in seconds, the same every time.

The crawl runs as usual, with its spiders, frontier and middlewares. Only the event loop differs: if nothing is ready,
it does not wait, but sets the clock to the next timer.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context
from datetime import UTC, datetime, timedelta
from heapq import heappush
from math import ceil
from typing import Any, TypeVar, TypeVarTuple

from focuscrawl.crawl import clock
from focuscrawl.frontier.engine import scrapy_clock

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

#: All times are multiples of this, so that sums of them are exact.
TICK = 2.0**-20
#: The monotonic clock starts here, not at 0, which some code takes for "never".
START = 2.0**20
#: The date on which virtual crawls start: a Monday, at midnight.
EPOCH = datetime(2026, 1, 5, tzinfo=UTC)


class VirtualClock(clock.Clock):
    """A clock that stands still until it is set forward."""

    def __init__(self) -> None:
        self.time = START

    def monotonic(self) -> float:
        return self.time

    def utc(self) -> datetime:
        return EPOCH + timedelta(seconds=self.time - START)

    def local(self) -> datetime:
        return self.utc().replace(tzinfo=None)


class _Selector(selectors.DefaultSelector):
    """Sets the clock forward instead of waiting."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock
        #: Calls that run in other threads: the clock waits for them.
        self.in_threads = 0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self.in_threads:
            return super().select(None)
        self._clock.time += timeout
        return []


class _Timer(asyncio.TimerHandle):
    """Timers for the same time run in the order in which they were set; asyncio does not promise that."""

    __slots__ = ("number",)
    number: int

    def __lt__(self, other: Any) -> bool:
        return (self._when, self.number) < (other._when, other.number)  # type: ignore[attr-defined]


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on a virtual clock."""

    def __init__(self, clock: VirtualClock) -> None:
        self._virtual = clock
        self._waiter = _Selector(clock)
        self._timers = 0
        super().__init__(self._waiter)
        self._clock_resolution = TICK / 2

    def time(self) -> float:
        return self._virtual.time

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = _Timer(ceil(when / TICK) * TICK, callback, args, self, context)
        timer.number = self._timers = self._timers + 1
        heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True  # type: ignore[attr-defined]
        return timer

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        future = super().run_in_executor(executor, func, *args)
        self._waiter.in_threads += 1
        future.add_done_callback(self._thread_ended)
        return future

    def _thread_ended(self, _: object) -> None:
        self._waiter.in_threads -= 1


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine in virtual time, as `asyncio.run` does in real time."""
    virtual = VirtualClock()
    with (
        clock.use(virtual),
        scrapy_clock(virtual.monotonic),
        asyncio.Runner(loop_factory=lambda: VirtualLoop(virtual)) as runner,
    ):
        return runner.run(work())
