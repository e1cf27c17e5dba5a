"""Audits: samples, precision and recall with intervals."""

from __future__ import annotations

import numpy as np
import pytest

from focuscrawl.reports.audit import Answers, Candidate, answers, draw, estimate
from focuscrawl.reports.review import wilson

#: Pages, precision, and the share of relevant pages among those that did not match: near the threshold, below, far.
CRAWLS = [
    (400, 0.9, (0.2, 0.05, 0.005)),
    (600, 0.65, (0.3, 0.1, 0.02)),
    (300, 0.98, (0.05, 0.0, 0.0)),
    (500, 1.0, (0.0, 0.0, 0.0)),
]


def crawled(chance: np.random.Generator, pages: int, precision: float, missed: tuple[float, ...]):
    """Candidates by falling relevance, and which of them are relevant."""
    matched = int(pages * chance.uniform(0.2, 0.5))
    place = (np.arange(pages) - matched) / (pages - matched)
    likely = np.where(place < 0, precision, np.select([place < 0.1, place < 0.35], missed[:2], missed[2]))
    relevance = np.sort(chance.random(pages))[::-1]
    found = [Candidate(number, float(relevance[number]), number < matched) for number in range(pages)]
    return found, matched, chance.random(pages) < likely


def test_the_interval_covers_the_truth_in_nine_of_ten_audits():
    chance = np.random.default_rng(7)
    covered = np.zeros(2)
    for number in range(200):
        found, matched, truth = crawled(chance, *CRAWLS[number % len(CRAWLS)])
        strata = draw(found, 60, number)
        audit = estimate(answers(strata, {page: bool(truth[page]) for one in strata for page in one.drawn}))
        hits = truth[:matched].sum()
        for place, (value, true) in enumerate(
            ((audit.precision, hits / matched), (audit.recall, hits / max(1, truth.sum())))
        ):
            assert value is not None
            assert 0 <= value.low <= value.value <= value.high <= 1
            covered[place] += value.low - 1e-9 <= true <= value.high + 1e-9
    assert covered.min() >= 180, covered


def test_a_sample_has_its_size_and_every_page_once():
    chance = np.random.default_rng(1)
    found, matched, _ = crawled(chance, *CRAWLS[0])
    strata = draw(found, 100, 5)
    drawn = [page for stratum in strata for page in stratum.drawn]
    assert len(drawn) == len(set(drawn)) == 100
    assert sum(stratum.size for stratum in strata) == len(found)
    assert sum(stratum.size for stratum in strata if stratum.matched) == matched
    assert draw(found, 100, 5) == strata
    assert draw(found, 100, 6) != strata


@pytest.mark.parametrize("pages", [1, 2, 5, 30])
def test_a_sample_of_few_pages_has_them_all_and_then_nothing_is_unsure(pages):
    found = [Candidate(number, 1 - number / pages, number < pages // 2) for number in range(pages)]
    strata = draw(found, 100, 1)
    assert sorted(page for stratum in strata for page in stratum.drawn) == list(range(pages))
    audit = estimate(answers(strata, {number: number % 2 == 0 for number in range(pages)}))
    if audit.precision is not None:
        assert audit.precision.low == audit.precision.value == audit.precision.high


def test_nothing_is_said_without_marks():
    audit = estimate([Answers(True, 50, 0, 0), Answers(False, 50, 0, 0)])
    assert (audit.precision, audit.recall, audit.marked) == (None, None, 0)
    audit = estimate([Answers(True, 50, 10, 9), Answers(False, 50, 0, 0)])
    assert audit.precision is not None
    assert audit.precision.value == 0.9
    assert audit.recall is None


def test_intervals_are_honest_at_the_ends():
    audit = estimate([Answers(True, 1000, 20, 20), Answers(False, 1000, 20, 0)])
    assert audit.precision is not None
    assert audit.recall is not None
    assert audit.precision.value == audit.precision.high == 1
    assert 0.8 < audit.precision.low < 0.95
    assert audit.recall.value == audit.recall.high == 1
    assert 0.8 < audit.recall.low < 0.97
    assert wilson(0, 0) == (0, 1)
    assert wilson(0, 20)[0] == 0
    assert 0.1 < wilson(0, 20)[1] < 0.2
