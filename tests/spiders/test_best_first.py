from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from tests.conftest import at, small_web

LINKS = {
    "root": ["a", "b", "c", "d"],
    "a": ["a/1"],
    "b": ["b/1"],
    "c": ["c/1"],
    "d": [],
    "a/1": [],
    "b/1": [],
    "c/1": [],
}
TEXTS = {"root": "sort", "a": "heap sort", "b": "nothing at all", "c": "sort", "a/1": "", "b/1": "", "c/1": ""}


def test_a_link_is_worth_what_its_page_is_worth(crawl):
    crawled = crawl("best_first", small_web(LINKS, TEXTS), seeds=at("root"), keywords="sort,heap")
    scores = {page["url"]: page["score"] for page in crawled.pages}
    relevance = {page["url"]: page["relevance"] for page in crawled.pages}
    assert scores[at("a/1")] == relevance[at("a")] > scores[at("c/1")] == relevance[at("c")] > scores[at("b/1")] == 0.0
    assert crawled.urls[1:3] == [at("a"), at("a/1")]  # straight on to what the best page links to


def test_n_best_first_takes_n_before_it_looks_again(crawl, tmp_path):
    web = small_web(LINKS, TEXTS)
    crawled = crawl("best_first", web, tmp_path / "4", seeds=at("root"), keywords="sort,heap", n=4)
    assert crawled.urls[1:5] == [at("a"), at("b"), at("c"), at("d")]
    with pytest.raises(FocusError, match="option n=0"):
        crawl("best_first", web, tmp_path / "0", seeds=at("root"), keywords="sort", n=0)
