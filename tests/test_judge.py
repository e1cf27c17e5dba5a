from __future__ import annotations

import pytest

from focuscrawl.html import read_page
from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page


def page(text: str, title: str = "") -> Page:
    return read_page(Page("http://example.com/"), f"<title>{title}</title><p>{text}".encode(), "text/html")


def test_keywords_are_compared_by_stem():
    judge = KeywordJudge({"sorting": 1, "algorithm": 1})
    assert judge.frequencies(page("It sorts. Sorted algorithms, sort")) == {"sorting": 3, "algorithm": 1}


def test_phrases_are_found_in_order_only_and_each_time():
    judge = KeywordJudge({"bubble sort": 1})
    assert judge.frequencies(page("bubble sort, bubbles sorted; sort bubble bubble sort")) == {"bubble sort": 3}
    assert judge.frequencies(page("sort a bubble")) == {}


def test_the_title_counts():
    assert KeywordJudge({"heap": 1}).frequencies(page("nothing", title="Heap"))


def test_two_forms_of_one_word_count_once_by_the_heavier():
    judge = KeywordJudge({"times": 1, "time": 3, "heap": 1})
    assert judge.share(page("time"), 0.5).relevance == pytest.approx(0.75)


def test_share_is_the_weight_of_what_occurs_over_the_weight_of_all():
    judge = KeywordJudge({"time": 1, "bubble": 1, "sort": 2})
    judgement = judge.share(page("sort sort sort time"), 0.5)
    assert judgement.relevance == pytest.approx(0.75)
    assert judgement.why == {"time": 0.25, "sort": 0.5}
    assert judgement.relevant


def test_all_means_all_in_spite_of_rounding():
    judge = KeywordJudge(dict.fromkeys(["a1", "b1", "c1", "d1", "e1", "f1", "g1"], 0.1))
    assert judge.share(page("a1 b1 c1 d1 e1 f1 g1"), 1.0).relevant
    assert not judge.share(page("a1 b1 c1 d1 e1 f1"), 1.0).relevant


def test_coverage_prefers_many_keywords_to_one_frequent_one():
    judge = KeywordJudge({"time": 1, "bubble": 1, "sort": 1})
    filler = "word " * 300
    assert (
        judge.coverage(page(f"time bubble sort {filler}"), 0.3).relevance
        > judge.coverage(page(f"{'sort ' * 50} {filler}"), 0.3).relevance
    )


def test_coverage_prefers_a_page_about_a_word_to_one_that_mentions_it():
    judge = KeywordJudge({"sort": 1, "heap": 1})
    filler = "word " * 1000
    assert (
        judge.coverage(page(f"{'sort ' * 6} {filler}"), 0.3).relevance
        > judge.coverage(page(f"sort {filler}"), 0.3).relevance
    )


def test_both_measures_stay_between_0_and_1():
    judge = KeywordJudge({"sort": 3, "heap": 1})
    for text in ("", "nothing", "sort " * 500 + "heap " * 500):
        for judgement in (judge.share(page(text), 0.5), judge.coverage(page(text), 0.5)):
            assert 0 <= judgement.relevance <= 1


def test_a_word_too_long_to_be_one_is_counted_but_not_remembered():
    long = "x" * 100_000
    judge = KeywordJudge({long: 1, "sort": 1})
    assert judge.frequencies(page(f"sort {long} {long}y")) == {long: 1, "sort": 1}
    assert judge._met == {"sort"}
