"""How good the crawls' own forecasts were: what they expected of the next pages, and what came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from focuscrawl.lab.crawls import Outcome
    from focuscrawl.lab.plan import Job

#: Forecasts from this page on are compared with what came.
FROM = 300
#: A forecast is close if it is off by this share of the truth at most, or by this many pages.
CLOSE, FEW_PAGES = 0.25, 5

#: A forecast as a crawl keeps it: pages stored, pages ahead, expected relevant pages among these, their interval.
Noted = tuple[int, int, float, float, float]


class Check(NamedTuple):
    """A forecast and what came."""

    expected: float
    low: float
    high: float
    truth: int

    @property
    def error(self) -> float:
        """How many pages it is off."""
        return abs(self.expected - self.truth)


class Accuracy(NamedTuple):
    """How good some forecasts were."""

    forecasts: int
    #: Means: the relevant pages that came, and how many the forecasts were off.
    truth: float
    error: float
    #: Shares: off by 25 % of the truth at most; the same, or by 5 pages; the truth is inside the interval.
    strict: float
    close: float
    covered: float


def checks(forecasts: Iterable[Sequence[float]], judged: Sequence[bool | None], pages: int, ahead: int) -> list[Check]:
    """The forecasts of a crawl that can be checked: it went on as far as they look, or nothing was left to fetch.

    *judged* are the crawl's own judgements in fetch order, *pages* is its limit.
    """
    found: list[Check] = []
    for after, _, expected, low, high in forecasts:
        end = int(after) + ahead
        if after >= FROM and (end <= len(judged) or len(judged) < pages):
            found.append(Check(expected, low, high, sum(map(bool, judged[int(after) : end]))))
    return found


def accuracy(found: Sequence[Check]) -> Accuracy | None:
    """How good forecasts were; None if there are none."""
    if not found:
        return None
    return Accuracy(
        len(found),
        fmean(check.truth for check in found),
        fmean(check.error for check in found),
        fmean(check.error <= CLOSE * check.truth for check in found),
        fmean(check.error <= max(CLOSE * check.truth, FEW_PAGES) for check in found),
        fmean(floor(check.low) <= check.truth <= ceil(check.high) for check in found),
    )


def accuracies(outcomes: Mapping[Job, Outcome], ahead: int) -> dict[tuple[str, str], Accuracy]:
    """By kind of start and spider, over all topics and repeats."""
    found: dict[tuple[str, str], list[Check]] = {}
    for job, outcome in outcomes.items():
        some = checks(outcome.forecasts, outcome.judged, job.pages, ahead)
        found.setdefault((job.seeds, job.spider), []).extend(some)
    return {key: good for key, some in found.items() if (good := accuracy(some)) is not None}
