"""How good a crawl is, by what a person says of pages drawn at random.

The readable pages are divided into strata by the judge's relevance, matched ones apart from the others, because the
mistakes are where the judge was least sure. Pages are drawn at random in each stratum. Precision is the share of
relevant pages among the matched ones; recall the share of matched ones among the relevant ones, of those fetched.

Both are estimated by the totals of the strata. The interval holds the middle 95 % of what these totals may be, given
the marks: in each stratum, the share of relevant pages has the distribution that Jeffreys' prior leads to, and the
pages that were not drawn follow it. This stays sound for a few pages, and for shares near 0 and 1. Where not one page
of a stratum was relevant, or every one, the end of the interval allows that none is, or all are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from focuscrawl.crawl.marking import marks_of_pages
from focuscrawl.crawl.verdict import NO, YES
from focuscrawl.store.store import Store

#: The key of a sample in the crawl's `meta`.
KEY = "audit"

#: Shares of the matched pages, best first, that are a stratum each; and of the others, whose sample they share.
MATCHED = (0.5, 0.5)
OTHERS = (0.1, 0.25, 0.65)
#: How the sample is divided between the strata.
SAMPLED_MATCHED = (0.2, 0.25)
SAMPLED_OTHERS = (0.25, 0.15, 0.15)
#: Fewer pages than this per stratum are not divided further.
LEAST = 10

_DRAWS = 4000
_SEED = 1
_PRIOR = 0.5
#: The part of the distribution that an interval leaves out on either side.
_OUTSIDE = 0.025


class Candidate(NamedTuple):
    """A page that may be drawn."""

    number: int
    relevance: float
    matched: bool


class Stratum(NamedTuple):
    """Pages that were alike to the judge: how many there are, and those that were drawn."""

    matched: bool
    size: int
    drawn: list[int]


class Answers(NamedTuple):
    """What a person says of the drawn pages of a stratum."""

    matched: bool
    size: int
    marked: int
    relevant: int


class Estimate(NamedTuple):
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"


class Audit(NamedTuple):
    """What a sample says of a crawl; None where there are no marks to go by."""

    precision: Estimate | None
    recall: Estimate | None
    pages: int
    matched: int
    drawn: int
    marked: int


# ---- drawing


def draw(candidates: Sequence[Candidate], size: int, seed: int) -> list[Stratum]:
    """Draw a sample of *size* pages at random, in strata by relevance."""
    chance = np.random.default_rng(seed)
    strata: list[list[Candidate]] = []
    weights: list[float] = []
    for matched, shares, sampled in ((True, MATCHED, SAMPLED_MATCHED), (False, OTHERS, SAMPLED_OTHERS)):
        kind = sorted((page for page in candidates if page.matched == matched), key=lambda page: -page.relevance)
        parts = _divided(kind, shares)
        strata += parts
        weights += list(sampled) if len(parts) == len(sampled) else [sum(sampled)] * len(parts)
    numbers = _allocate(size, [len(part) for part in strata], weights)
    return [
        Stratum(part[0].matched, len(part), [part[place].number for place in chance.permutation(len(part))[:number]])
        for part, number in zip(strata, numbers, strict=True)
    ]


def _divided(pages: list[Candidate], shares: Sequence[float]) -> list[list[Candidate]]:
    if len(pages) * min(shares) < LEAST:
        return [pages] if pages else []
    ends = [round(len(pages) * share) for share in np.cumsum(shares)]
    return [pages[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _allocate(size: int, sizes: Sequence[int], weights: Sequence[float]) -> list[int]:
    """How many pages to draw in each stratum; what one is too small for goes to the others."""
    numbers = [0] * len(sizes)
    while (left := min(size, sum(sizes)) - sum(numbers)) > 0:
        room = [place for place, number in enumerate(numbers) if number < sizes[place]]
        total = sum(weights[place] for place in room)
        for place in sorted(room, key=lambda place: -weights[place]):
            share = max(1, int(left * weights[place] / total))
            share = min(share, sizes[place] - numbers[place], min(size, sum(sizes)) - sum(numbers))
            numbers[place] += share
    return numbers


# ---- estimating


def answers(strata: Sequence[Stratum], verdicts: Mapping[int, bool]) -> list[Answers]:
    """What the marks say of the drawn pages; pages without one, or that nobody can tell of, are left out."""
    found = []
    for stratum in strata:
        said = [verdicts[number] for number in stratum.drawn if number in verdicts]
        found.append(Answers(stratum.matched, stratum.size, len(said), sum(said)))
    return found


def estimate(strata: Sequence[Answers], drawn: int = 0) -> Audit:
    """Precision and recall from the answers in all strata."""
    matched = [stratum for stratum in strata if stratum.matched and stratum.size]
    others = [stratum for stratum in strata if not stratum.matched and stratum.size]
    pages, in_list = sum(stratum.size for stratum in strata), sum(stratum.size for stratum in matched)
    precision = recall = None
    chance = np.random.default_rng(_SEED)
    low_yes, high_yes = _totals(matched, chance)
    low_missed, high_missed = _totals(others, chance)
    hits, missed = _total(matched), _total(others)
    if matched and hits is not None:
        ends = np.quantile(low_yes / in_list, _OUTSIDE), np.quantile(high_yes / in_list, 1 - _OUTSIDE)
        precision = _estimate(hits / in_list, *ends)
    if hits is not None and missed is not None and (matched or others):
        low = low_yes / np.maximum(low_yes + high_missed, 1e-9)
        high = np.where(high_yes > 0, high_yes / np.maximum(high_yes + low_missed, 1e-9), 0.0)
        found = hits + missed
        recall = _estimate(hits / found if found else 0.0, np.quantile(low, _OUTSIDE), np.quantile(high, 1 - _OUTSIDE))
    return Audit(precision, recall, pages, in_list, drawn, sum(stratum.marked for stratum in strata))


def _estimate(value: float, low: Any, high: Any) -> Estimate:
    return Estimate(float(value), min(float(low), float(value)), max(float(high), float(value)))


def _total(strata: Sequence[Answers]) -> float | None:
    """The number of relevant pages in some strata; None if nothing is known of one of them."""
    if any(not stratum.marked for stratum in strata):
        return None
    return sum(stratum.size * stratum.relevant / stratum.marked for stratum in strata)


def _totals(strata: Sequence[Answers], chance: np.random.Generator) -> tuple[Any, Any]:
    """What the number of relevant pages in some strata may be, many times over: for the lower end, and for the upper.

    Both are alike but where none of the drawn pages was relevant, or all were.
    """
    low, high = np.zeros(_DRAWS), np.zeros(_DRAWS)
    for _, size, marked, relevant in strata:
        share = chance.beta(relevant + _PRIOR, marked - relevant + _PRIOR, _DRAWS)
        total = relevant + chance.binomial(size - marked, share)
        low += total if relevant else 0
        high += total if relevant < marked else size
    return low, high


# ---- the sample of a crawl


def candidates(store: Store) -> list[Candidate]:
    """The pages of a crawl that a sample is drawn from: readable, not withheld, and no copies of others."""
    return [
        Candidate(page.number, page.own.relevance or 0.0, page.now.matched)
        for page in store.verdicts.each()
        if page.findable and page.counts
    ]


class Sample(NamedTuple):
    """A sample, as the crawl's file keeps it."""

    size: int
    seed: int
    drawn_at: str
    #: How often the crawl had been judged again: another judgement needs another sample.
    judged: int
    strata: list[Stratum]

    @property
    def pages(self) -> list[int]:
        """The numbers of the drawn pages, in random order."""
        drawn = sorted(number for stratum in self.strata for number in stratum.drawn)
        return [drawn[place] for place in np.random.default_rng(self.seed).permutation(len(drawn))]


def judged_times(store: Store) -> int:
    """How often the pages of a crawl were judged again."""
    return len(store.meta("judged") or [])


def sample_of(store: Store) -> Sample | None:
    """The sample that was drawn from a crawl, if it still says something about it."""
    kept = store.meta(KEY)
    if kept is None:
        return None
    strata = [Stratum(bool(matched), int(size), list(map(int, drawn))) for matched, size, drawn in kept["strata"]]
    sample = Sample(int(kept["size"]), int(kept["seed"]), str(kept["drawn_at"]), int(kept["judged"]), strata)
    return sample if sample.judged == judged_times(store) else None


def keep_sample(store: Store, sample: Sample) -> None:
    """Keep a sample in the crawl's file. Call inside a transaction."""
    store.set_meta(KEY, sample._asdict())


def audit_of(store: Store) -> Audit | None:
    """What the marked pages of a crawl's sample say; None if there is no sample."""
    sample = sample_of(store)
    if sample is None:
        return None
    verdicts = {
        number: mark.verdict == YES for number, mark in marks_of_pages(store).items() if mark.verdict in (YES, NO)
    }
    return estimate(answers(sample.strata, verdicts), len(sample.pages))
