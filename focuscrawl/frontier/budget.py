"""Budget: what a crawl may spend, in pages, hours, both or neither, and what it must bring to go on."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING

from focuscrawl.crawl.outlook import Forecast

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl

#: How strongly the crawl reacts if pages and hours would not run out together.
REACTION = 4.0
#: So few seconds are none: a sum of times is rounded, so a timer set for the end may run that much before it.
ROUNDING = 1e-6


class Budget:
    """The pages and hours of a crawl over all its runs, and the harvest to stop below; 0 means no limit."""

    def __init__(self, crawl: Crawl, max_pages: int, max_hours: float, stop_below: float = 0.0) -> None:
        self._crawl = crawl
        self.stop_below = stop_below
        #: The crawl was stopped at this harvest, and has no page since then.
        self._stopped_below = 0.0
        self.max_pages = max_pages
        self.max_hours = max_hours
        self.max_seconds = 3600.0 * max_hours

    def spent(self) -> str | None:
        """The limit that is reached, as the reason to end the crawl; None if there is something left."""
        if self.max_pages and self._crawl.pages >= self.max_pages:
            return "max_pages"
        if self.seconds_left() <= 0:
            return "max_hours"
        return "stop_below" if self._is_poor() else None

    def _is_poor(self) -> bool:
        """Whether the next pages are expected to bring too little."""
        if not self.stop_below:
            return False
        stopped_before = self.stop_below >= self._stopped_below > 0
        return stopped_before or self._crawl.outlook.is_poor(self.stop_below)

    def resume(self) -> None:
        """Take note of an earlier run that was stopped by its harvest: the same command must not fetch more."""
        reason, _, detail = self._crawl.store.standing.ending(-2)
        with suppress(ValueError):
            self._stopped_below = float(detail) if reason == "stop_below" else 0.0

    def describe(self, limit: str) -> str:
        """A limit that is reached, in words, and how to go on."""
        if limit == "max_pages":
            return (
                f"{self._crawl.pages:,} pages are stored, max_pages is {self.max_pages:,}; raise max_pages to continue"
            )
        if limit == "max_hours":
            spent = f"{self._crawl.seconds() / 3600:.3g} hours are spent"
            return f"{spent}, max_hours is {self.max_hours:g}; raise max_hours to continue"
        forecast = self._crawl.outlook.last or Forecast.read(self._crawl.store.standing.forecast())
        what = (
            f"at most {forecast.harvest_high:.1%} of the next {forecast.ahead} pages" if forecast else "too few pages"
        )
        return f"{what} are expected to be relevant, stop_below is {self.stop_below:.3g}; lower stop_below to continue"

    def allows(self, in_flight: int) -> bool:
        """Whether another page may be requested."""
        return self.pages_left(in_flight) > 0 and self.seconds_left() > 0 and not self._is_poor()

    def pages_left(self, in_flight: int = 0) -> float:
        """How many more requests may be sent for pages."""
        return self.max_pages - self._crawl.pages - in_flight if self.max_pages else inf

    def seconds_left(self) -> float:
        """The time until the crawl ends."""
        if not self.max_seconds:
            return inf
        left = self.max_seconds - self._crawl.seconds()
        return left if left > ROUNDING else 0.0

    def haste(self, in_flight: int = 0) -> float:
        """How much the crawl must hurry: 1 is as usual, 0 there is time for the best order, inf only time is scarce.

        With both limits, it is chosen such that they run out together.
        """
        if not self.max_seconds:
            return 1.0
        if not self.max_pages:
            return inf
        pages = max(0.0, self.pages_left(in_flight)) / self.max_pages
        seconds = max(0.0, self.seconds_left()) / self.max_seconds
        return (pages / seconds) ** REACTION if seconds else inf
