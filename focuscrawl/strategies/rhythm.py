"""When to do again what takes the whole crawl into account.

At a fixed distance such work would cost a page the more, the longer the crawl is. So the distance grows with the crawl:
done again whenever there is a tenth more, it costs a page the same all the time.
"""

from __future__ import annotations

#: How many times as much there is when the work is done again.
GROWTH = 1.1


class Rhythm:
    """Every so many pages, and when a tenth of the crawl is more than that, whenever it has grown by a tenth."""

    def __init__(self, every: int) -> None:
        self.every = every
        self._last = 0

    def due(self, pages: int) -> int:
        """The number of pages, of those up to *pages*, at which it was due last; 0 if it never was.

        It depends on nothing else, so a resumed crawl keeps the rhythm. *pages* must not fall.
        """
        while (following := max(self._last + self.every, int(GROWTH * self._last))) <= pages:
            self._last = following
        return self._last
