"""Throttle: slows a crawl down by the load of its own machine and line."""

from __future__ import annotations

import logging
import os
from math import inf
from typing import TYPE_CHECKING

from scrapy import signals

from focuscrawl.crawl import clock
from focuscrawl.crawl.checks import number
from focuscrawl.manners.load import Load

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: Seconds between two looks at the load average, which is a mean over a minute.
LOOK = 10.0


class Throttle:
    """Tells the load of machine and line to a `Load`.

    Settings: FOCUS_LOAD_MAX, FOCUS_BANDWIDTH_MAX.
    """

    def __init__(self, load: Load) -> None:
        self.load = load
        self._next_look = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | None:
        """None if nothing is limited."""
        load_max = number(crawler.settings, "FOCUS_LOAD_MAX")
        bandwidth_max = 1000 * number(crawler.settings, "FOCUS_BANDWIDTH_MAX")
        if load_max and not hasattr(os, "getloadavg"):
            logger.warning("FOCUS_LOAD_MAX has no effect: this system has no load average")
            load_max = 0.0
        if not load_max and not bandwidth_max:
            return None
        throttle = cls(Load(load_max, bandwidth_max))
        if bandwidth_max:
            crawler.signals.connect(throttle.received, signals.bytes_received)
            crawler.signals.connect(throttle.ended, signals.response_downloaded)
        return throttle

    def received(self, data: bytes) -> None:
        self.load.received(len(data), clock.monotonic())

    def ended(self, response: Response) -> None:
        self.load.ended(len(response.body))

    def room(self, moment: float, in_flight: int) -> float:
        """Most requests in flight now."""
        load = self.load
        if load.load_max and moment >= self._next_look:
            self._next_look = moment + LOOK
            now = os.getloadavg()[0] / (os.cpu_count() or 1)
            if load.look(now, in_flight):
                logger.info(
                    "Load average %.2f per core, FOCUS_LOAD_MAX is %g: %s", now, load.load_max, _describe(load.room)
                )
        return load.room

    def rest(self, moment: float, in_flight: int) -> float:
        """Seconds until the next request may be sent."""
        return self.load.rest(moment, in_flight)


def _describe(room: float) -> str:
    return f"at most {room:.0f} requests at a time" if room < inf else "full speed again"
