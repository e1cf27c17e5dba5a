"""How good a crawl was, and whether one spider is better than another.

*Relevant* always means relevant by the web's labels; *judged* means relevant in the spider's judgement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import fmean
from typing import Any, NamedTuple

#: Bootstrap samples of an interval, and the share of them that lies inside it.
SAMPLES = 2000
INSIDE = 0.95
#: Significance level: a difference with a p below this is reported as one.
SIGNIFICANT = 0.05


def area(curve: Sequence[int], pages: int) -> int:
    """The area under a curve of relevant pages over t = 1 … pages; flat after the end of a crawl that ended early."""
    return sum(curve[:pages]) + max(0, pages - len(curve)) * (curve[-1] if curve else 0)


class Point(NamedTuple):
    """The state of a crawl after some page; the figures are those of `Measures`."""

    relevant: int
    harvest: float | None
    target_recall: float | None
    similarity: float
    relevant_hosts: int
    judged_relevant: int | None
    judged_precision: float | None
    judged_recall: float | None
    #: Seconds on the crawl's clock; None for a crawl without politeness.
    seconds: float | None = None


@dataclass(frozen=True)
class Measures:
    """The figures of one crawl. Ratios whose denominator is zero are None."""

    pages: int
    relevant: int
    harvest: float | None
    target_recall: float | None
    score: float
    #: Pages that the spider judged relevant, its precision, and its recall.
    judged_relevant: int | None
    judged_precision: float | None
    judged_recall: float | None
    #: Pages listed in URLs.txt, their precision, and their recall among the reachable relevant pages.
    matched: int | None
    matched_precision: float | None
    matched_recall: float | None
    #: Cosines of the pages with the topic, summed.
    similarity: float
    relevant_hosts: int
    requests: int
    #: When the last page arrived, on the crawl's clock, and relevant pages per hour until then; None for a crawl
    #: without politeness.
    seconds: float | None
    relevant_per_hour: float | None
    #: Relevant pages after each page.
    curve: tuple[int, ...]
    #: After each page, the figures of a crawl that had ended there.
    course: tuple[Point, ...]
    #: The relevant pages that were found.
    found: frozenset[int]
    #: When each of them arrived, in order; None for a crawl without politeness.
    arrivals: tuple[float, ...] | None = None
    #: Pages that are relevant by their keywords, and each of them with how many pages were fetched up to it, in order;
    #: none if that was not measured.
    keyword_relevant: int | None = None
    keyword_found: Mapping[int, int] = field(default_factory=dict)


def measure(
    fetched: Sequence[int | None],
    judged: Sequence[bool | None],
    matched: Sequence[bool] | None = None,
    *,
    pages: int,
    requests: int,
    relevant: Set[int],
    reachable: int,
    targets: Set[int],
    limit: Sequence[int],
    hosts: Mapping[int, str],
    similarity: Sequence[float],
    times: Sequence[float] | None = None,
    by_keywords: Callable[[int], bool] | None = None,
) -> Measures:
    """Measure a crawl from the numbers of the pages it fetched (None: not in the web) and its judgements of them.

    *matched* says which of them are listed in URLs.txt, *reachable* how many relevant pages can be reached. *limit* is
    the order of the omniscient crawler, *similarity* the similarity of each page to the topic, and *times* when each
    page arrived on the crawl's clock. *by_keywords* says whether a page is relevant by its keywords.
    """
    is_relevant = [page in relevant for page in fetched]
    curve = tuple(accumulate(is_relevant, initial=0))[1:]
    best = area(list(accumulate(page in relevant for page in limit)), pages)
    moments: Sequence[float | None] = [None] * len(fetched) if times is None else times
    course = tuple(_course(fetched, judged, is_relevant, targets, hosts, similarity, moments))
    by_keyword: dict[int, int] = {}
    for count, page in enumerate(fetched if by_keywords else (), 1):
        if page is not None and page not in by_keyword and by_keywords is not None and by_keywords(page):
            by_keyword[page] = count
    listed = [by_label for by_label, is_listed in zip(is_relevant, matched or (), strict=False) if is_listed]
    end = course[-1] if course else Point(0, None, _ratio(0, len(targets)), 0.0, 0, None, None, None)
    return Measures(
        **end._asdict(),
        pages=len(fetched),
        score=area(curve, pages) / best if best else 0.0,
        matched=None if matched is None else len(listed),
        matched_precision=_ratio(sum(listed), len(listed)),
        matched_recall=None if matched is None else _ratio(sum(listed), reachable),
        requests=requests,
        relevant_per_hour=_ratio(3600 * end.relevant, end.seconds or 0.0),
        curve=curve,
        course=course,
        found=frozenset(page for page in fetched if page is not None and page in relevant),
        arrivals=None
        if times is None
        else tuple(time for time, by_label in zip(times, is_relevant, strict=True) if by_label),
        keyword_relevant=None if by_keywords is None else len(by_keyword),
        keyword_found=by_keyword,
    )


def _course(
    fetched: Sequence[int | None],
    judged: Sequence[bool | None],
    is_relevant: Sequence[bool],
    targets: Set[int],
    hosts: Mapping[int, str],
    similarity: Sequence[float],
    moments: Sequence[float | None],
) -> Iterator[Point]:
    reached: set[int | None] = set()
    seen_hosts: set[str] = set()
    relevant = sure = sure_relevant = by_spider = both = 0
    alike = 0.0
    steps = zip(fetched, judged, is_relevant, moments, strict=True)
    for count, (page, judgement, by_label, moment) in enumerate(steps, 1):
        relevant += by_label
        if page in targets:
            reached.add(page)
        if page is not None and page < len(similarity):
            alike += similarity[page]
        if page is not None and by_label:
            seen_hosts.add(hosts[page])
        if judgement is not None:
            sure += 1
            sure_relevant += by_label
            by_spider += judgement
            both += judgement and by_label
        yield Point(
            relevant=relevant,
            harvest=relevant / count,
            target_recall=_ratio(len(reached), len(targets)),
            similarity=alike,
            relevant_hosts=len(seen_hosts),
            judged_relevant=by_spider if sure else None,
            judged_precision=_ratio(both, by_spider),
            judged_recall=_ratio(both, sure_relevant),
            seconds=moment,
        )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def superposition(one: Set[int], other: Set[int]) -> float | None:
    """Of the pages that either found, the share that both found; None if neither found any."""
    return _ratio(len(one & other), len(one | other))


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are not None."""
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


def interval(groups: Sequence[Sequence[float]], seed: int) -> tuple[float, float] | None:
    """A bootstrap interval of the mean of the groups' means: resamples topics, and repeats within them.

    None if all values are equal: they say nothing about the spread.
    """
    if len({value for group in groups for value in group}) < 2:
        return None
    import numpy as np

    random = np.random.default_rng(seed)
    chosen = random.integers(len(groups), size=(SAMPLES, len(groups)))
    values = np.zeros(chosen.shape)
    for number, group in enumerate(groups):
        drawn = random.integers(len(group), size=(*chosen.shape, len(group)))
        values = np.where(chosen == number, np.asarray(group, dtype=float)[drawn].mean(axis=-1), values)
    low, high = np.quantile(values.mean(axis=1), [(1 - INSIDE) / 2, (1 + INSIDE) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class Comparison:
    """A spider against the baseline, topic by topic."""

    difference: float
    better: int
    worse: int
    #: The probability of such differences by chance: Wilcoxon's signed-rank test.
    p: float


def compare(scores: Mapping[str, float], baseline: Mapping[str, float]) -> Comparison | None:
    """Compare scores by topic with those of the baseline; None if they have no topic in common."""
    differences = [scores[topic] - baseline[topic] for topic in scores if topic in baseline]
    if not differences:
        return None
    better, worse = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return Comparison(fmean(differences), better, worse, _wilcoxon(differences))


def _wilcoxon(differences: Sequence[float]) -> float:
    if len(differences) < 2 or not any(differences):  # a single difference is always one-sided
        return 1.0
    from scipy.stats import wilcoxon

    result: Any = wilcoxon([round(value, 9) for value in differences], zero_method="wilcox", method="auto")
    return float(result.pvalue)


def holm(ps: Sequence[float]) -> list[float]:
    """Probabilities corrected for the number of comparisons by Holm's method."""
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    adjusted = [1.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted
