"""Outlook: what the next pages of a crawl will bring, estimated from what it has fetched and what waits.

Three simple estimates are made of the relevant pages among the next ones:

- recent: the harvest of the last 200 pages goes on;
- curve: the number of relevant pages found grows as a power of the number of pages, fitted to the last half;
- queue: the best waiting URLs pay as recent pages with the same scores did.

They err in different directions: a harvest usually falls, so the first two are too high; the links that the next pages
will bring are not in the queue yet, so the last one is too low. The forecast is their geometric mean. Its interval
comes from how far earlier forecasts of the same crawl were off.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    Ranks = np.ndarray[Any, np.dtype[np.float64]]

#: Pages that a forecast looks ahead, and pages that count as recent.
AHEAD = 500
RECENT = 200
#: Pages between two forecasts; more if many URLs are known, because each forecast reads all their ranks.
EVERY = 50
_KNOWN_PER_PAGE = 5_000
#: No forecast before this many pages, and no stop before `STOP_AFTER`.
FIRST = 100
STOP_AFTER = 300
#: Forecasts in a row that must agree before the crawl stops.
AGREE = 3
#: Latest pages that are remembered, and those that show how scores pay.
KEPT = 5_000
_PAYING = 500
#: Waiting URLs whose ranks are read to estimate what all of them hold.
_SAMPLE = 10_000

#: Added to counts before their logarithm is taken: a few pages more or less are chance.
_CHANCE = 2.0
#: The error of a forecast, as the standard deviation of its logarithm: what is assumed before there are any, and how
#: many forecasts that assumption counts as. Forecasts overlap, so each one counts for less than one.
_SPREAD, _ASSUMED, _WEIGHT = 0.9, 3.0, EVERY / RECENT
#: Errors that are remembered: a crawl changes.
_REMEMBERED = 12
#: Standard deviations on either side of an 80 % interval.
_INTERVAL = 1.2816


class Forecast(NamedTuple):
    """An estimate, made after some page; intervals are meant to hold the truth in 80 of 100 cases."""

    #: Pages stored when it was made, and pages ahead that it speaks of: fewer than AHEAD if the queue will run dry.
    pages: int
    ahead: int
    #: Relevant pages among these.
    expected: float
    low: float
    high: float
    #: Waiting URLs, and relevant pages within reach: among these, or among the pages ahead if those are more.
    waiting: int
    reach: float
    reach_low: float
    reach_high: float

    def __str__(self) -> str:
        return f"next {self.ahead:,}: about {self.expected:,.0f} relevant ({self.low:,.0f} to {self.high:,.0f})"

    @property
    def short(self) -> str:
        """The same for a line with little room."""
        return f"next {self.ahead:,}: {self.low:,.0f}–{self.high:,.0f}"

    def noted(self) -> dict[str, float]:
        """The forecast as it is recorded."""
        return {name: value if isinstance(value, int) else round(value, 2) for name, value in self._asdict().items()}

    @classmethod
    def read(cls, noted: Mapping[str, Any]) -> Forecast | None:
        """A recorded forecast; None if it is not one: the file may say anything."""
        values = [noted.get(name) for name in cls._fields]
        if not all(isinstance(value, int | float) and 0 <= value < inf for value in values):
            return None
        return cls(*values)  # type: ignore[arg-type]

    @property
    def harvest(self) -> float:
        """The expected share of relevant pages among the pages ahead."""
        return self.expected / self.ahead if self.ahead else 0.0

    @property
    def harvest_high(self) -> float:
        """The upper end of its interval."""
        return self.high / self.ahead if self.ahead else 0.0


class Outlook:
    """The history of a crawl, as far as it tells what comes next.

    *history*: score and relevance of the latest pages, in fetch order, of a crawl with so many *pages* and *relevant*
    ones.
    """

    def __init__(self, pages: int = 0, relevant: int = 0, history: Iterable[tuple[float, bool]] = ()) -> None:
        self.pages = pages
        self.relevant = relevant
        self._latest: deque[tuple[float, bool]] = deque(history, KEPT)
        self._recent = sum(paid for _, paid in self._last(RECENT))
        #: All forecasts of this run.
        self.forecasts: list[Forecast] = []
        #: What was expected of the RECENT pages after a page: page, expected, relevant pages until then.
        self._pending: deque[tuple[int, float, int]] = deque()
        #: Errors of past forecasts, as logarithms: above 0 if more came than was expected. The latest is last.
        self._errors: deque[float] = deque(maxlen=_REMEMBERED)

    def _last(self, count: int) -> Sequence[tuple[float, bool]]:
        return list(islice(self._latest, max(0, len(self._latest) - count), None))

    def add(self, score: float, relevant: bool) -> None:
        """Take note of a page that was fetched with a score."""
        if len(self._latest) >= RECENT:
            self._recent -= self._latest[-RECENT][1]
        self._latest.append((score, relevant))
        self._recent += relevant
        self.pages += 1
        self.relevant += relevant

    @property
    def recent_harvest(self) -> float:
        """The share of relevant pages among the last RECENT."""
        return self._recent / max(1, min(RECENT, len(self._latest)))

    @property
    def last(self) -> Forecast | None:
        """The latest forecast of this run."""
        return self.forecasts[-1] if self.forecasts else None

    @property
    def is_behind(self) -> bool:
        """Whether pages have come since the latest forecast."""
        return self.pages >= FIRST and (self.last is None or self.last.pages < self.pages)

    def is_due(self, known: int) -> bool:
        """Whether it is time for a forecast, in a crawl that knows so many URLs."""
        since = self.pages - (self.forecasts[-1].pages if self.forecasts else 0)
        return self.pages >= FIRST and since >= max(EVERY, known // _KNOWN_PER_PAGE)

    def look(self, ranks: Ranks) -> Forecast:
        """Make a forecast; *ranks* are those of all waiting URLs, in any order, on the scale of the scores."""
        self._compare()
        waiting = len(ranks)
        best = np.sort(np.partition(ranks, waiting - AHEAD)[-AHEAD:] if waiting > AHEAD else ranks)[::-1]
        pay = _Pay(self._last(_PAYING))
        ahead = min(AHEAD, self._until_dry(waiting))
        expected = min(float(ahead), self._expect(best, pay, ahead))
        sample = ranks[:: max(1, waiting // _SAMPLE)]
        reach = pay.sum(sample) * waiting / max(1, len(sample))
        low, high = self._interval(expected, ahead)
        reach_low, reach_high = self._interval(reach, waiting)
        forecast = Forecast(
            *(self.pages, ahead, expected, low, high, waiting),
            *(max(reach, expected), max(reach_low, low), max(reach_high, high)),
        )
        self.forecasts.append(forecast)
        self._pending.append((self.pages, self._expect(best, pay, RECENT), self.relevant))
        return forecast

    def is_poor(self, least: float) -> bool:
        """Whether the latest forecasts agree that the harvest will be below *least*, even at the end of the interval.

        They do so only after STOP_AFTER pages, and over at least (AGREE - 1) * EVERY pages.
        """
        latest = self.forecasts[-AGREE:]
        return (
            self.pages >= STOP_AFTER
            and len(latest) == AGREE
            and all(forecast.harvest_high < least for forecast in latest)
        )

    # ---- the three estimates

    def _expect(self, best: Ranks, pay: _Pay, ahead: int) -> float:
        """The relevant pages among the next ones."""
        if not ahead:
            return 0.0
        parts = (self._by_recent(ahead), self._by_curve(ahead), pay.sum(best[:ahead]))
        return exp(sum(log(part + _CHANCE) for part in parts) / len(parts)) - _CHANCE

    def _by_recent(self, ahead: int) -> float:
        return ahead * (self._recent + 0.5) / (min(RECENT, len(self._latest)) + 1)

    def _by_curve(self, ahead: int) -> float:
        back = min(self.pages // 2, len(self._latest))
        if not back:
            return 0.0
        since = sum(paid for _, paid in self._last(back))
        growth = log((self.relevant + 1) / (self.relevant - since + 1)) / log(self.pages / (self.pages - back))
        return float((self.relevant + 1) * ((1 + ahead / self.pages) ** min(1.0, growth) - 1))

    def _until_dry(self, waiting: int) -> int:
        """The number of pages until nothing waits any more, if the queue keeps shrinking as it does."""
        if not waiting:
            return 0
        for earlier in reversed(self.forecasts):
            if self.pages - earlier.pages >= RECENT:
                lost = (earlier.waiting - waiting) / (self.pages - earlier.pages)
                return int(min(AHEAD, waiting / lost)) if lost > 0 else AHEAD
        return AHEAD

    # ---- how far forecasts were off

    def _compare(self) -> None:
        """Compare earlier forecasts with what came."""
        while self._pending and self.pages - self._pending[0][0] >= RECENT:
            page, expected, before = self._pending.popleft()
            later = self.pages - page - RECENT  # pages since then, which do not belong to it
            found = self.relevant - before - sum(paid for _, paid in self._last(later))
            self._errors.append(log((found + _CHANCE) / (expected + _CHANCE)))

    def _interval(self, expected: float, most: float) -> tuple[float, float]:
        low = max(0.0, (expected + _CHANCE) / self._factor(-1) - _CHANCE)
        return low, min(float(most), (expected + _CHANCE) * self._factor(1) - _CHANCE)

    def _factor(self, side: int) -> float:
        """The factor by which more (*side* 1) or less (-1) than expected may come."""
        squares = sum(error * error for error in self._errors if error * side > 0)
        variance = (_ASSUMED * _SPREAD**2 + _WEIGHT * squares) / (_ASSUMED + _WEIGHT * len(self._errors) / 2)
        return exp(_INTERVAL * sqrt(variance))


class _Pay:
    """How likely a page is relevant by the score it was fetched with: never less likely with a higher score.

    Pools adjacent violators (isotonic regression); half a page is added to both sides of each pool, so that no pool is
    taken to be certain.
    """

    def __init__(self, history: Sequence[tuple[float, bool]]) -> None:
        #: Each pool: its lowest score, its pages, the relevant ones.
        pools: list[tuple[float, int, int]] = []
        for score, paid in sorted(history):
            pools.append((score, 1, int(paid)))
            while len(pools) > 1 and (
                pools[-2][0] == pools[-1][0] or pools[-2][2] * pools[-1][1] >= pools[-1][2] * pools[-2][1]
            ):
                _, pages, relevant = pools.pop()
                lowest, more, good = pools.pop()
                pools.append((lowest, more + pages, good + relevant))
        self._starts = [lowest for lowest, _, _ in pools]
        self._chances = np.array([(good + 0.5) / (pages + 1) for _, pages, good in pools])

    def sum(self, ranks: Ranks) -> float:
        """The number of relevant pages among URLs with these ranks."""
        if not self._starts or not len(ranks):
            return 0.0
        places = np.searchsorted(np.array(self._starts), ranks, side="right") - 1
        return float(self._chances[np.maximum(places, 0)].sum())
