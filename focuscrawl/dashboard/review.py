"""Review: which page to look at next, and what the marks so far say about the precision of the crawl."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from focuscrawl.dashboard.ledger import JUDGED, MATCHED, PROBLEM, RELEVANT, Ledger, Numbers
from focuscrawl.reports.review import border, wilson

#: Pages of the random order that are looked at.
MAX_SAMPLE = 5_000
#: Multiplies page numbers to an order that has nothing to do with the crawl's (Knuth's hash).
_MIX = 2_654_435_761


class Precision(NamedTuple):
    """The share of the matched pages that are relevant, by a random sample."""

    yes: int
    no: int
    unsure: int

    @property
    def decided(self) -> int:
        """The number of pages that were marked yes or no."""
        return self.yes + self.no

    @property
    def share(self) -> float:
        """The share of relevant pages in the sample."""
        return self.yes / self.decided if self.decided else 0.0

    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share (Wilson)."""
        return wilson(self.yes, self.decided)


def sample(ledger: Ledger, overruled: Mapping[int, bool]) -> list[int]:
    """The pages that the judge matched in a random order that stays the same when pages are added.

    *overruled*: the pages whose verdict is a person's now, and whether the judge wanted them.

    New pages take places between the others, so the first pages of it are a random sample at any time.
    """
    known = ledger.known
    by_judge = (ledger.flags[known] & MATCHED) > 0
    if overruled:
        pages = np.array(list(overruled), np.int64)
        wanted = np.array(list(overruled.values()), bool)
        by_judge = (by_judge & ~np.isin(known, pages)) | np.isin(known, pages[wanted])
    matched = known[by_judge]
    mixed = (matched.astype(np.uint64) * np.uint64(_MIX)) % np.uint64(1 << 32)  # different for each page
    chosen: list[int] = matched[_smallest(mixed, MAX_SAMPLE)].tolist()
    return chosen


def _smallest(values: Numbers, count: int) -> Numbers:
    """The places of the smallest values, the smallest first."""
    places: Numbers = np.arange(len(values))
    if len(values) > count:
        places = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
    return places[np.argsort(values[places], kind="stable")][:count]


def precision(pages: list[int], marked: dict[int, str]) -> Precision:
    """The precision by the marks of the first pages of the random order, up to the first that has none."""
    counts = {"yes": 0, "no": 0, "unsure": 0}
    for page in pages:
        verdict = marked.get(page)
        if verdict is None:
            break
        counts[verdict] = counts.get(verdict, 0) + 1
    return Precision(counts["yes"], counts["no"], counts["unsure"])


def next_random(pages: list[int], marked: dict[int, str]) -> int | None:
    """The first page of the random order without a mark."""
    return next((page for page in pages if page not in marked), None)


def borderline(ledger: Ledger, threshold: float | None, marked: dict[int, str], limit: int) -> list[int]:
    """The unmarked pages whose relevance is nearest to the border that the marks tell, nearest first."""
    known = ledger.known
    flags = ledger.flags[known]
    judged = known[((flags & JUDGED) > 0) & ((flags & PROBLEM) == 0) & (ledger.withheld[known] == 0)]
    if not len(judged):
        return []
    if threshold is None:
        threshold = boundary(ledger)
    said = {page: verdict == "yes" for page, verdict in marked.items() if verdict != "unsure"}
    seen = judged[np.isin(judged, list(said))].tolist()
    middle = border(threshold, [(float(ledger.relevance[page]), said[page]) for page in seen])
    distance = np.abs(ledger.relevance[judged] - middle)
    nearest = judged[_smallest(distance, limit + len(marked))]
    return [page for page in nearest.tolist() if page not in marked][:limit]


def boundary(ledger: Ledger) -> float:
    """The relevance that tells relevant pages from others, by what was judged."""
    known = ledger.known
    flags = ledger.flags[known]
    relevance = ledger.relevance[known]
    good = relevance[(flags & RELEVANT) > 0]
    other = relevance[((flags & JUDGED) > 0) & ((flags & RELEVANT) == 0) & (ledger.withheld[known] == 0)]
    if len(good) and len(other):
        return (float(good.min()) + float(other.max())) / 2
    return float(good.min()) if len(good) else 0.5
