"""Learning from pages that this process has not stored itself: those of earlier runs, and of the other workers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl

logger = logging.getLogger(__name__)

#: Pages that a worker stores between two looks at what the others have stored. After as many pages `adaptive` scores
#: all that waits again: looking more often would change little, and each look costs a query.
EVERY = 20
#: Pages of others that are learned from at each look, the latest ones. A page of another worker costs as much to learn
#: from as an own one: beyond ten workers, learning from all pages would take longer than crawling.
MOST = 10 * EVERY
#: Looks after which a page number that was skipped is given up. Workers commit their pages in another order than they
#: number them, but within moments; the number of a page that could not be stored never appears.
PATIENCE = 10


class CatchUp:
    """Tells the strategy which pages it has not learned from yet; see `FocusedSpider.catch_up`."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        #: The number of the last page that was looked at; later ones that this worker has stored; numbers below it
        #: that were not there, each with the looks left.
        self._last = crawl.store.pages.last_number() if crawl.store.shared else 0
        self._own: set[int] = set()
        self._missing: dict[int, int] = {}
        self._next = EVERY

    def resume(self, after: int = 0) -> None:
        """Let the strategy learn from all pages with a number above *after*. Call before the first request."""
        self._last = after
        if numbers := self._new():
            self._crawl.strategy.catch_up(numbers)

    def stored(self, number: int) -> None:
        """This worker has stored a page."""
        if self._crawl.store.shared:
            self._own.add(number)

    def look(self) -> None:
        """Let the strategy learn from the pages of the other workers, every few pages."""
        if len(self._own) >= self._next:
            self.now()

    def now(self) -> int:
        """Let it learn from them now; returns the number of the last page that was looked at."""
        if self._crawl.store.shared:
            numbers = [number for number in self._new() if number not in self._own]
            self._own = {number for number in self._own if number in self._missing}
            self._next = len(self._own) + EVERY
            if numbers:
                logger.debug("Learning from %d pages of other workers", len(numbers))
                self._crawl.marks.stored_by_others(numbers)
                self._crawl.strategy.catch_up(numbers[-MOST:])
        return self._last

    def _new(self) -> list[int]:
        """The numbers of the pages that were stored since the last call."""
        pages = self._crawl.store.pages
        late = [number for number in self._missing if pages.get(number) is not None] if self._missing else []
        new = pages.numbers(self._last)
        self._missing = {
            number: looks - 1 for number, looks in self._missing.items() if looks > 1 and number not in late
        }
        if new:
            skipped = set(range(self._last + 1, new[-1])).difference(new) if new[-1] - self._last > len(new) else set()
            self._missing |= dict.fromkeys(skipped, PATIENCE)
            self._last = new[-1]
        return [*late, *new]
