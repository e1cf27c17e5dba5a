"""The alarm that makes the engine ask for the next request; by itself it asks every five seconds."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from scrapy.utils.asyncio import call_later

from focuscrawl.crawl import clock


class Alarm:
    """Rings once, at the earliest of the times that it was set to."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._call: Any = None
        self._time = inf

    def at(self, moment: float) -> None:
        """Ring at a time on the monotonic clock, or earlier if it is set so already."""
        if moment == inf or (self._call is not None and self._time <= moment):
            return
        self.stop()
        self._time = moment
        self._call = call_later(max(0.0, moment - clock.monotonic()), self._rings)

    def stop(self) -> None:
        """Do not ring."""
        if self._call is not None:
            self._call.cancel()
        self._call, self._time = None, inf

    def _rings(self) -> None:
        self._call, self._time = None, inf
        self._ring()
