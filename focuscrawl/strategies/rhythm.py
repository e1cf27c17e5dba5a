"""When to repeat work that reads the whole crawl.

At fixed intervals, such work would cost more per page the longer the crawl gets. The interval therefore grows with the
crawl: repeated whenever the crawl has grown by a tenth, the work costs the same per page throughout.
"""

from __future__ import annotations

#: Growth factor after which the work is repeated.
GROWTH = 1.1


class Rhythm:
    """Due every *every* pages or, once a tenth of the crawl is more than that, whenever it has grown by a tenth."""

    def __init__(self, every: int) -> None:
        self.every = every
        self._last = 0

    def due(self, pages: int) -> int:
        """The last number of pages, up to *pages*, at which the work was due; 0 if it never was.

        It depends only on *pages*, which must not decrease, so a resumed crawl keeps the rhythm.
        """
        while (following := max(self._last + self.every, int(GROWTH * self._last))) <= pages:
            self._last = following
        return self._last
