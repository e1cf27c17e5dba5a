"""The keyword crawler of P1: algorithms 3 to 6."""

from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.web.webs import MemoryWeb
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


def test_the_papers_four_lists_are_in_the_crawls_file(crawl):
    crawled = run(crawl, max_pages=5)
    assert {url for (url,) in crawled.sql("SELECT url FROM url WHERE done")} == set(crawled.urls)  # Crawled
    assert [url for (url,) in crawled.sql("SELECT url FROM page WHERE matched ORDER BY id")] == crawled.matched != []
    found = {at(link) for name, links in LINKS.items() if at(name) in crawled.urls for link in links}
    assert {url for (url,) in crawled.sql("SELECT url FROM frontier")} == found - set(crawled.urls)  # ToCrawl
    links = "SELECT url.url FROM link JOIN url ON url.id = link.url_id JOIN page ON page.id = page WHERE page.url = ?"
    assert [url for (url,) in crawled.sql(links, at("root"))] == [at(name) for name in LINKS["root"]]  # LinksOfURL


def test_more_than_anchors_is_followed(crawl, tmp_path):
    web = MemoryWeb()
    kinds = ["a", "area", "frame", "iframe", "noframes", "refresh"]
    for kind in kinds:
        web.add(f"http://a.example/{kind}", f"<p>{kind}")
    web.add(
        "http://a.example/",
        "<meta http-equiv=refresh content='0; url=/refresh'><a href=/a>a</a><map><area href=/area></map>"
        "<iframe src=/iframe></iframe><frameset><frame src=/frame><noframes><a href=/noframes>n</a></noframes></frameset>"
        "<a href=''>e</a><a href='#top'>t</a><a href='mailto:a@a.example'>m</a><a href='javascript:go()'>j</a>",
    )
    for spider in ("keyword", "breadth_first"):
        crawled = crawl(spider, web, tmp_path / spider, seeds="http://a.example/", keywords="time")
        assert set(crawled.urls) == {"http://a.example/", *(f"http://a.example/{kind}" for kind in kinds)}
