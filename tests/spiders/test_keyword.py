"""The keyword crawler of P1: algorithms 3 to 6."""

from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from tests.conftest import at, small_web

LINKS = {
    "root": ["dull", "good", "half"],
    "dull": ["dull/1", "dull/2"],
    "good": ["good/1", "good/2"],
    "half": ["half/1"],
    "dull/1": [],
    "dull/2": [],
    "good/1": [],
    "good/2": [],
    "half/1": [],
}
TEXTS = {
    "root": "time",
    "good": "bubble sort time",
    "half": "sorting bubbles",
    "good/1": "heap",
    "good/2": "time, bubble, sorts",
}


def run(crawl, **options):
    return crawl("keyword", small_web(LINKS, TEXTS), seeds=at("root"), keywords="time,bubble,sort", **options)


def test_links_of_better_pages_come_first(crawl):
    urls = run(crawl).urls
    assert urls[0] == at("root")
    assert urls.index(at("good/1")) < urls.index(at("half/1")) < urls.index(at("dull/1"))


def test_matched_pages_hold_the_share_of_keywords_asked_for(crawl, tmp_path):
    web = small_web(LINKS, TEXTS)

    def matched(match: str) -> list[str]:
        return crawl(
            "keyword", web, tmp_path / match, seeds=at("root"), keywords="time,bubble,sort", match=match
        ).matched

    assert matched("all") == [at("good"), at("good/2")]
    assert set(matched("any")) == {at("root"), at("good"), at("good/2"), at("half")}
    assert set(matched("0.6")) == {at("good"), at("good/2"), at("half")}


def test_links_of_unmatched_pages_are_followed_unless_told_otherwise(crawl, tmp_path):
    assert len(run(crawl, folder=tmp_path / "1").urls) == 9
    crawled = run(crawl, folder=tmp_path / "2", follow="matched", match="0.3")
    assert set(crawled.urls) == {at(name) for name in ("root", "dull", "good", "half", "good/1", "good/2", "half/1")}
    assert crawled.stats["focus/links_refused"] == 2


def test_weights_count(crawl):
    crawled = crawl(
        "keyword", small_web(LINKS, TEXTS), seeds=at("root"), keywords="time:3,bubble:1,heap:4", match="0.5"
    )
    assert set(crawled.matched) == {at("good"), at("good/1"), at("good/2")}


@pytest.mark.parametrize("match", ["none", "0", "1.5", "-1"])
def test_a_share_that_is_none_is_refused(crawl, match):
    with pytest.raises(FocusError, match=f"option match={match}"):
        run(crawl, match=match)


def test_it_needs_keywords(crawl):
    with pytest.raises(FocusError, match="no keywords given; use -a keywords="):
        crawl("keyword", small_web(LINKS), seeds=at("root"))
