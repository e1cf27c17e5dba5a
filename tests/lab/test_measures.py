from __future__ import annotations

from itertools import product

import pytest

from focuscrawl.lab.measures import area, compare, holm, interval, mean, measure, superposition

HOSTS = {0: "a", 1: "a", 2: "b", 3: "c", 4: "c"}


def measured(fetched, judged=None, **others):
    facts = {"pages": 4, "requests": 9, "relevant": {1, 2, 3}, "targets": {2, 3}, "limit": [0, 1, 2, 3], "reachable": 4}
    facts |= {"hosts": HOSTS, "similarity": [0.1, 0.2, 0.4, 0.8, 0.0]}
    return measure(fetched, judged or [None] * len(fetched), **(facts | others))


def test_a_crawl_is_measured_by_the_labels():
    result = measured([0, 4, 1, 2], [False, True, True, False])
    assert (result.pages, result.relevant, result.harvest) == (4, 2, 0.5)
    assert result.target_recall == 0.5
    assert result.curve == (0, 0, 1, 2)
    assert result.score == pytest.approx((0 + 0 + 1 + 2) / (0 + 1 + 2 + 3))
    assert result.similarity == pytest.approx(0.1 + 0.0 + 0.2 + 0.4)
    assert (result.relevant_hosts, result.requests) == (2, 9)


def test_what_the_spider_judged_is_kept_apart_from_what_is():
    result = measured([0, 4, 1, 2], [False, True, True, False])
    assert (result.judged_relevant, result.judged_precision, result.judged_recall) == (2, 0.5, 0.5)
    copies = measured([0, 1, 2], [False, True, None])  # a copy is neither right nor wrong
    assert (copies.judged_precision, copies.judged_recall) == (1.0, 1.0)
    nothing = measured([0, 1])
    assert (nothing.judged_relevant, nothing.judged_precision, nothing.course[-1].judged_recall) == (None, None, None)


def test_every_figure_is_there_after_each_page():
    course = measured([0, 4, 1, 2], [False, True, True, None]).course
    assert [point.relevant for point in course] == [0, 0, 1, 2]
    assert [point.harvest for point in course] == [0, 0, 1 / 3, 0.5]
    assert [point.target_recall for point in course] == [0, 0, 0, 0.5]
    assert [point.similarity for point in course] == pytest.approx([0.1, 0.1, 0.3, 0.7])
    assert [point.relevant_hosts for point in course] == [0, 0, 1, 2]
    assert [point.judged_relevant for point in course] == [0, 1, 2, 2]
    assert [point.judged_precision for point in course] == [None, 0, 0.5, 0.5]
    assert [point.judged_recall for point in course] == [None, None, 1, 1]
    halfway = measured([0, 4, 1], [False, True, True])
    assert halfway.course == course[:3]
    assert (halfway.harvest, halfway.judged_precision) == (course[2].harvest, course[2].judged_precision)


def test_the_list_of_matched_pages_is_measured_against_all_that_can_be_found():
    result = measured([0, 4, 1, 2], matched=[True, False, True, True])
    assert (result.matched, result.matched_precision, result.matched_recall) == (3, 2 / 3, 0.5)
    nothing = measured([0, 1], matched=[False, False])
    assert (nothing.matched, nothing.matched_precision, nothing.matched_recall) == (0, None, 0.0)
    assert measured([0, 1]).matched is None


def test_a_crawl_that_ends_early_stays_where_it_was():
    assert area([1, 2], 4) == 1 + 2 + 2 + 2
    assert area([1, 2, 3], 2) == 3
    assert area([], 3) == 0
    assert measured([0, 1]).score == pytest.approx((0 + 1 + 1 + 1) / 6)
    assert measured([0, 1, 2, 3]).score == 1.0


def test_pages_that_the_web_does_not_know_count_as_pages_only():
    result = measured([0, None, 77])
    assert (result.pages, result.relevant, result.similarity) == (3, 0, 0.1)
    assert measured([]).harvest is None


def test_a_crawl_on_the_clock_is_timed():
    result = measured([0, 4, 1, 2], times=[1.5, 2.0, 2.5, 36.0])
    assert (result.seconds, result.relevant_per_hour) == (36.0, 200.0)
    assert [point.seconds for point in result.course] == [1.5, 2.0, 2.5, 36.0]
    assert result.arrivals == (2.5, 36.0)
    nothing = measured([], times=[])
    assert (nothing.seconds, nothing.relevant_per_hour, nothing.arrivals) == (None, None, ())
    without = measured([0, 4, 1, 2])
    assert (without.seconds, without.relevant_per_hour, without.arrivals) == (None, None, None)
    assert without.course[-1].seconds is None


def test_superposition_is_the_share_found_by_both():
    assert superposition({1, 2, 3}, {2, 3, 4}) == 0.5
    assert superposition({1}, set()) == 0
    assert superposition(set(), set()) is None
    assert mean([None, 1.0, 2.0]) == 1.5
    assert mean([None]) is None


def test_an_interval_holds_the_mean_and_repeats_itself():
    groups = [[0.1, 0.2], [0.5], [0.4, 0.6, 0.5], [0.9]]
    low, high = interval(groups, 1)
    assert low < (0.15 + 0.5 + 0.5 + 0.9) / 4 < high
    assert interval(groups, 1) == (low, high)
    assert low >= 0.1
    assert high <= 0.9
    assert interval([[0.5]], 1) is None
    assert interval([[0.5, 0.5]], 1) is None  # the same crawl twice


def test_an_interval_is_that_of_all_samples_there_are():
    groups = [[0.0], [1.0], [2.0]]
    means = sorted(sum(sample) / 3 for sample in product([0.0, 1.0, 2.0], repeat=3))
    low, high = interval(groups, 3)
    assert means[0] <= low <= means[1]  # one sample of 27, 3.7 %, has the lowest mean
    assert means[-2] <= high <= means[-1]


def test_a_spider_is_compared_topic_by_topic():
    names = [f"t{n}" for n in range(8)]
    baseline = {name: 0.1 * n for n, name in enumerate(names)}
    better = {name: value + 0.01 + 0.001 * n for n, (name, value) in enumerate(baseline.items())}
    result = compare(better, baseline)
    assert (result.better, result.worse) == (8, 0)
    assert result.p == pytest.approx(2 / 2**8)  # all eight one way: the exact probability
    assert compare(baseline, baseline).p == 1.0
    assert compare({"x": 1.0}, baseline) is None
    assert compare({"t1": 0.5}, baseline).p == 1.0
    mixed = compare({**better, "t0": -5.0}, baseline)
    assert (mixed.better, mixed.worse) == (7, 1)
    assert mixed.p > result.p


def test_many_looks_make_chance_likelier():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
