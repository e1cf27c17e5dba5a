"""The traditional crawler of P1: algorithm 2."""

from __future__ import annotations

from tests.conftest import at, small_web

TREE = {
    "root": ["a", "b"],
    "a": ["a/1", "a/2", "root"],
    "b": ["b/1"],
    "a/1": ["a/1/1"],
    "a/2": [],
    "b/1": ["a/1/1", "b/2"],
    "a/1/1": [],
    "b/2": [],
}


def test_pages_are_fetched_by_depth_and_then_in_the_order_found(crawl):
    crawled = crawl("breadth_first", small_web(TREE), seeds=at("root"))
    assert crawled.urls == [at(name) for name in ("root", "a", "b", "a/1", "a/2", "b/1", "a/1/1", "b/2")]
    assert [page["depth"] for page in crawled.pages] == [0, 1, 1, 2, 2, 2, 3, 3]


def test_every_page_goes_into_urls_txt(crawl):
    crawled = crawl("breadth_first", small_web(TREE), seeds=at("root"), keywords="nothing")
    assert crawled.matched == crawled.urls


def test_it_stops_when_nothing_is_left_or_max_pages_are_stored_whichever_comes_first(crawl, tmp_path):
    assert len(crawl("breadth_first", small_web(TREE), tmp_path / "1", seeds=at("root"), max_pages=100).urls) == 8
    crawled = crawl("breadth_first", small_web(TREE), tmp_path / "2", seeds=at("root"), max_pages=3)
    assert len(crawled.urls) == 3
    assert crawled.stats["finish_reason"] == "max_pages"


def test_several_seeds_are_fetched_in_the_order_given(crawl):
    crawled = crawl("breadth_first", small_web(TREE), seeds=f"{at('b')},{at('a')}", max_pages=2)
    assert crawled.urls == [at("b"), at("a")]


def test_it_needs_no_keywords_and_judges_by_them_if_there_are_some(crawl, tmp_path):
    web = small_web(TREE, {"a": "sort " * 5})
    assert {page["relevance"] for page in crawl("breadth_first", web, tmp_path / "1", seeds=at("root")).pages} == {None}
    pages = crawl("breadth_first", web, tmp_path / "2", seeds=at("root"), keywords="sorting").pages
    assert [page["url"] for page in pages if page["relevance"]] == [at("a")]
