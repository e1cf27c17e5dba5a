"""Budget: what a crawl may spend, in pages, hours, both or neither."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl

#: How strongly the crawl reacts if pages and hours would not run out together.
REACTION = 4.0
#: So few seconds are none: a sum of times is rounded, so a timer set for the end may run that much before it.
ROUNDING = 1e-6


class Budget:
    """The pages and hours of a crawl over all its runs; 0 means no limit."""

    def __init__(self, crawl: Crawl, max_pages: int, max_hours: float) -> None:
        self._crawl = crawl
        self.max_pages = max_pages
        self.max_hours = max_hours
        self.max_seconds = 3600.0 * max_hours

    def spent(self) -> str | None:
        """The limit that is reached, as the reason to end the crawl; None if there is something left."""
        if self.max_pages and self._crawl.pages >= self.max_pages:
            return "max_pages"
        return "max_hours" if self.seconds_left() <= 0 else None

    def describe(self, limit: str) -> str:
        """A limit that is reached, in words."""
        if limit == "max_pages":
            return f"{self._crawl.pages:,} pages are stored, max_pages is {self.max_pages:,}"
        return f"{self._crawl.seconds() / 3600:.3g} hours are spent, max_hours is {self.max_hours:g}"

    def allows(self, in_flight: int) -> bool:
        """Whether another page may be requested."""
        return self.pages_left(in_flight) > 0 and self.seconds_left() > 0

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
