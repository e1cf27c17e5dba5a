"""Perimeter search: everything around the best page, then everything around the best page found there."""

from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.reports.explain import explain
from focuscrawl.store.store import Store
from focuscrawl.web.demo import demo_web
from tests.conftest import at, small_web

# names are places in the tree: the page "ab" is the second link of the page "a"; the seed is "x"
LEVELS = ["abc", "abc", "ab", "a"]
TREE: dict[str, list[str]] = {}


def grow(name: str, level: int) -> None:
    place = name if level else ""
    TREE[name] = [place + letter for letter in LEVELS[level]] if level < len(LEVELS) else []
    for child in TREE[name]:
        grow(child, level + 1)


grow("x", 0)
AROUND_B = ["ba", "bb", "bc", "baa", "bab", "bba", "bbb", "bca", "bcb"]


def names(crawled) -> list[str]:
    return [url.removeprefix("http://").partition(".")[0] for url in crawled.urls]


def run(crawl, texts, folder=None, **options):
    return crawl("perimeter", small_web(TREE, texts), folder, seeds=at("x"), keywords="sort,heap", **options)


def test_the_first_round_searches_around_the_seeds_to_depth_d(crawl, tmp_path):
    breadth_first = names(crawl("breadth_first", small_web(TREE), tmp_path / "b", seeds=at("x")))
    assert names(run(crawl, {"c": "sort"}, tmp_path / "2", d=2))[:13] == breadth_first[:13]
    assert names(run(crawl, {"c": "sort"}, tmp_path / "1", d=1))[:7] == ["x", "a", "b", "c", "ca", "cb", "cc"]


def test_the_next_round_goes_around_the_best_page_found(crawl):
    order = names(run(crawl, {"a": "sort", "b": "sort heap", "bb": "sort", "bca": "sort heap"}, d=1))
    # the children of b are the seeds, and the search goes one link deeper
    assert order[:13] == ["x", "a", "b", "c", *AROUND_B]
    assert order[13] == "bcaa"  # the best page of this round, though a is on the topic, too
    assert order[14:17] == ["aa", "ab", "ac"]  # nothing waits around that one's only link: the best of earlier rounds


def test_it_goes_through_pages_that_score_low(crawl):
    assert names(run(crawl, {"b": "sort", "bbb": "sort"}, d=2))[13:19] == ["baa", "bab", "bba", "bbb", "bca", "bcb"]


def test_siblings_are_relatives_of_degree_2(crawl, tmp_path):
    texts = {"b": "sort heap", "c": "sort"}
    first, second = (names(run(crawl, texts, tmp_path / str(r), d=1, r=r))[4:] for r in (1, 2))
    assert first[:14] == [*AROUND_B, "baaa", "baba", "ca", "cb", "cc"]  # around b, the first of its round, and c
    # the siblings of b were fetched before: the search goes through them
    assert second[:16] == [*AROUND_B, "aa", "ab", "ac", "ca", "cb", "cc", "baaa"]


def test_children_of_siblings_are_relatives_of_degree_3(crawl):
    order = names(run(crawl, {"bab": "sort"}, d=0, r=3))
    assert sorted(order[:31]) == sorted(name for name in TREE if len(name) < 4)  # all within degree 3 of the seed
    assert order[31:33] == ["baaa", "baba"]


def test_when_nothing_waits_around_the_pages_of_a_round_earlier_ones_are_gone_back_to(crawl):
    order = names(run(crawl, {"a": "sort", "b": "sort heap"}, d=3))
    assert order[31:37] == ["baaa", "baba", "bbaa", "bbba", "bcaa", "bcba"]
    assert order[37:43] == ["aaaa", "aaba", "abaa", "abba", "acaa", "acba"]
    assert sorted(order) == sorted(TREE)


@pytest.mark.parametrize("options", [{"d": 1, "r": 1}, {"d": 1, "r": 2}, {"d": 0, "r": 3}, {"d": 2, "r": 1}])
def test_a_resumed_crawl_fetches_in_the_same_order(crawl, tmp_path, options):
    texts = {"b": "sort", "bc": "sort heap", "ca": "sort", "cab": "sort", "aaa": "sort heap"}
    whole = names(run(crawl, texts, tmp_path / "whole", **options))
    assert sorted(whole) == sorted(TREE)
    for pages in (1, 4, 5, 7, 11, 14, 17, 20, 25, 31, 40, 60):
        crawled = run(crawl, texts, tmp_path / "parts", max_pages=pages, **options)
    assert names(crawled) == whole


def test_explain_tells_round_and_distance(crawl):
    crawled = run(crawl, {"b": "sort"}, d=1, max_pages=6)
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert "link score 1.0000 = round 1, links from its seeds 0" in "\n".join(explain(store, at("ba")))
    assert "link score 0.0000 = outside round 0, relevance of its page 0" in "\n".join(explain(store, at("ca")))
    store.close()


@pytest.mark.parametrize("option", [{"d": -1}, {"d": "deep"}, {"r": 0}])
def test_wrong_options_are_refused(crawl, option):
    ((name, value),) = option.items()
    with pytest.raises(FocusError, match=f"option {name}={value}: expected a whole number, at least"):
        run(crawl, {}, **option)


def test_the_depth_decides_when_the_first_round_ends(crawl, tmp_path):
    """From a page with many links, depth 2 is a breadth-first search for hundreds of pages; depth 1 soon moves on."""

    def rounds(spider, **options):
        place = tmp_path / "-".join([spider, *map(str, options.values())])
        given = {"topic": "birds", "seeds": "http://ask-anybody.example/", "max_pages": 150}
        crawled = crawl(spider, demo_web(), place, {"CONCURRENT_REQUESTS": 1}, **given, **options)
        begun = crawled.sql("SELECT json_extract(value, '$.after') FROM meta WHERE key LIKE 'round %'")
        return crawled, sorted(after for (after,) in begun)

    near, near_rounds = rounds("perimeter", d=1)
    far, far_rounds = rounds("perimeter", d=2)
    breadth_first, _ = rounds("breadth_first")
    assert far_rounds == []
    assert far.urls == breadth_first.urls
    assert near_rounds[0] < 50
    assert len(near.matched) > 3 * len(far.matched)
