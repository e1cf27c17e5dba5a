"""Patience: whether a link is worth a page now, or a better one is worth waiting for.

A host rests after each request. If the best links are on resting hosts, a downloader that is merely kept busy spends
the crawl's pages on poor links of other hosts. So a link is held back as long as all of this is true:

- A better link can be fetched soon: its host is ready within a few seconds.
- Links like this one are worth much less. The queue is divided by rank into parts; the best part is never larger than
  the number of pages that can still be fetched. What the links of a part are worth is known from the relevance of the
  pages that they have led to.
- Not everything that waits can be fetched anyway.

How strict this is depends on what is scarce (`budget.py`). If only time is, nothing is held back. Only the order of the
scores matters, so strategies may use any scale. A strategy whose scores are calibrated says so (`calibrated`); then the
scores themselves tell what links are worth.
"""

from __future__ import annotations

from bisect import bisect_left
from math import ceil, inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from focuscrawl.frontier.turns import Best
    from focuscrawl.frontier.waiting import Waiting

#: The best of the queue are at most this share of it. The queue is divided there and at these multiples of it.
BEST = 0.15
PARTS = (1, 2, 4)
#: Finding the ranks where the parts begin takes time in proportion to the known URLs. So they are found again only when
#: one known URL in this many has been taken, or the length of the queue has changed by a tenth.
STEADY = 500
#: The number of recent pages that say what links are worth, and how many new links a page has.
WORTH, GROWTH = 50, 20
#: With so little haste, there is time for strict order.
AMPLE = 0.25
#: Until this many pages say otherwise, all links are worth the same.
DOUBT = 8


class Mean:
    """A mean of about the last *span* values: older ones count less."""

    __slots__ = ("count", "memory", "sum")

    def __init__(self, span: float) -> None:
        self.memory = 1 - 1 / span
        self.sum = self.count = 0.0

    def add(self, value: float) -> None:
        """Add a value."""
        self.sum = self.sum * self.memory + value
        self.count = self.count * self.memory + 1

    def value(self, without: float) -> float:
        """The mean; *without* values, this."""
        return self.sum / self.count if self.count else without

    def near(self, expected: float, doubt: float) -> float:
        """The mean if *expected* had been observed *doubt* times as well."""
        return (self.sum + doubt * expected) / (self.count + doubt)


class Patience:
    """Decides which links are held back.

    *share*: a link is held back if it is worth less than this share of a better one; 0 means never, 1 always (strict
    order).
    *longest_wait*: the longest wait for a better link, in seconds.
    """

    def __init__(self, share: float = 0.0, longest_wait: float = 0.0) -> None:
        self.share = share
        self.longest_wait = longest_wait
        #: Whether ranks are what links are expected to be worth: then nothing needs to be known of parts of the queue.
        self.calibrated = False
        #: How many more pages may be fetched, and how much the crawl must hurry (`Budget.haste`).
        self.pages_left = inf
        self.haste = 1.0
        #: How often a link was held back, and for how many seconds in total.
        self.held = 0
        self.seconds = 0.0
        #: Since when a link is held back (None: none is), and which.
        self._since: float | None = None
        self._link = 0
        #: The ranks at which the parts of the queue begin, the lowest first.
        self._begins: list[float] = []
        #: When these ranks were found, how many URLs were waiting; and how many have been taken since.
        self._queued = 0
        self._taken = 0
        #: The worth of all pages, and of the pages by the part of the queue that their links were in.
        self._worth = Mean(WORTH)
        self._worth_of = [Mean(WORTH) for _ in range(len(PARTS) + 1)]
        #: The part of the queue that each link in flight was taken from.
        self._part_of: dict[int, int] = {}
        #: New URLs found by a page.
        self._growth = Mean(GROWTH)

    waiting: Waiting

    @property
    def is_waiting(self) -> bool:
        """Whether a link is held back now."""
        return self._since is not None

    @property
    def link(self) -> int | None:
        """The id of the URL that is held back; None if none is."""
        return self._link if self._since is not None else None

    def holds(self, best: Best, soon: Best | None, now: float) -> bool:
        """Whether *best*, which could be fetched now, is held back for *soon*, whose host is soon ready."""
        held = soon is not None and self._is_worth_waiting(-best[0], -soon[0])
        if held and (self._since is None or best[1] != self._link):
            self.held += 1
            self._link = best[1]
        if not held:
            self.hold_ends(now)
        elif self._since is None:
            self._since = now
        return held

    def hold_ends(self, now: float) -> None:
        """Record that no link is held back any longer."""
        if self._since is not None:
            self.seconds += now - self._since
            self._since = None

    def _is_worth_waiting(self, rank: float, better: float) -> bool:
        if rank >= better or not self.share:
            return False
        if self.share == 1 or self.haste < AMPLE:
            return True
        if self._fetches_all():
            return False
        if self.calibrated:
            return better > 0 and rank < self.share**self.haste * better  # ageing may make ranks negative
        self._renew()
        here, there = self._part(rank), self._part(better)
        return here > there and self._expected(here) < self.share**self.haste * self._expected(there)

    def _expected(self, part: int) -> float:
        """What a link from this part of the queue is worth."""
        return self._worth_of[part].near(self._worth.value(0.0), DOUBT)

    def _fetches_all(self) -> bool:
        """Whether all that is waiting, and what it will probably lead to, can be fetched."""
        growth = self._growth.value(inf)
        return growth < 1 and self.waiting.queued <= (1 - growth) * self.pages_left

    def _part(self, rank: float) -> int:
        """The part of the queue that a rank belongs to; 0 is the best."""
        return len(self._begins) - bisect_left(self._begins, rank)

    def _renew(self) -> None:
        """Find the ranks at which the parts of the queue begin."""
        queued = self.waiting.queued
        if self._taken * STEADY < self.waiting.known and abs(queued - self._queued) <= queued / 10:
            return
        self._taken, self._queued = 0, queued
        ranks = self.waiting.open_ranks()
        best = max(self.haste, AMPLE) * min(self.pages_left, BEST * len(ranks)) if self.haste < inf else inf
        ends = [max(1, ceil(part * best)) for part in reversed(PARTS) if part * best < len(ranks)]
        places = [len(ranks) - end for end in ends if end <= len(ranks)]
        self._begins = np.partition(ranks, places)[places].tolist() if places else []

    def took(self, url_id: int, rank: float) -> None:
        """Record that a URL was taken."""
        self._taken += 1
        if self.share:
            self._renew()
            self._part_of[url_id] = self._part(rank)

    def ended(self, url_id: int) -> None:
        """Record that a URL is no longer in flight. If it has led to no page, it was worth nothing."""
        self._learn(url_id, 0.0)

    def learn(self, url_id: int, worth: float, new: int) -> None:
        """Record what a page was worth, and how many new URLs it has led to."""
        self._growth.add(new)
        self._learn(url_id, worth)

    def _learn(self, url_id: int, worth: float) -> None:
        part = self._part_of.pop(url_id, None)
        if part is not None:
            self._worth.add(worth)
            self._worth_of[part].add(worth)
