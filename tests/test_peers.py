"""The comparison with other crawlers: what counts is what the server was asked for."""

from __future__ import annotations

import pytest

from benchmarks.peers import run
from benchmarks.peers.run import Request
from focuscrawl.topic import Topic
from tests.conftest import at, small_web


@pytest.fixture
def web():
    web = small_web({"a": ["a/b", "a/dead", "a/c"], "a/b": ["a/d"], "a/c": ["a/old"], "a/d": []})
    web.redirect(at("a/old"), at("a/d"))
    web.page_labels[at("a/b")] = web.page_labels[at("a/d")] = ["sorting"]
    return web


def test_pages_are_counted_once_and_all_requests_are(web):
    log = [
        Request("GET", at("a/list-of-seeds")),  # ours: not counted
        Request("GET", at("a/robots.txt")),
        Request("GET", at("a")),
        Request("HEAD", at("a/b")),
        Request("GET", at("a/b"), partial=True),  # a preview
        Request("GET", at("a/logo.png")),
        Request("GET", at("a/b")),
        Request("GET", at("a/b")),
        Request("GET", at("a/dead")),  # a dead link is asked for like any other
        Request("GET", at("a/old")),
        Request("GET", at("a/d")),
        Request("GET", at("a/c")),
    ]
    assert run.figures(log, web, "sorting", pages=100) == (11, 5, 2, 2)
    # of the first four pages, two are relevant; of the first four requests none
    assert run.figures(log, web, "sorting", pages=4) == (10, 4, 2, 0)


def test_a_plain_scrapy_crawl_is_seen_by_the_server(web):
    topic = Topic("Sorting", seeds=[at("a")], keywords={"sorting": 1})
    crawl = run.crawl("scrapy:breadth_first", web, topic, pages=10)
    assert not crawl.error
    pages = [request.url for request in crawl.log]
    assert pages == [at("a"), at("a/b"), at("a/dead"), at("a/c"), at("a/d"), at("a/old")]
    assert crawl.cpu > 0
    assert run.manners("scrapy")[0] == "if asked"


def test_our_own_crawl_obeys_robots_txt_unasked():
    assert run.manners("focuscrawl:keyword")[0] == "yes"


def test_a_crawl_that_fails_says_why(web):
    topic = Topic("Sorting", seeds=[at("a")], keywords={"sorting": 1})
    assert "no_such_spider" in run.crawl("focuscrawl:no_such_spider", web, topic, pages=10).error


def test_a_peer_that_is_not_installed_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(run, "find_spec", lambda name: None if name == "crawl4ai" else object())
    assert run.installed(["scrapy", "crawl4ai:best_first", "crawl4ai:adaptive"]) == ["scrapy"]
    assert capsys.readouterr().out == "crawl4ai is not installed and left out: pip install 'focuscrawl[peers]'\n"


def test_a_peer_that_is_unknown_is_refused():
    with pytest.raises(SystemExit, match="unknown peer 'wget'; there are scrapy:breadth_first, "):
        run.installed(["wget"])
