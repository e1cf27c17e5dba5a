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


@pytest.mark.slow
def test_a_plain_scrapy_crawl_is_seen_by_the_server(web):
    topic = Topic("Sorting", seeds=[at("a")], keywords={"sorting": 1})
    crawl = run.crawl("scrapy:breadth_first", web, topic, pages=10)
    assert not crawl.error
    pages = [request.url for request in crawl.log]
    assert pages == [at("a"), at("a/b"), at("a/dead"), at("a/c"), at("a/d"), at("a/old")]
    assert crawl.cpu > 0
    assert run.manners("scrapy")[0] == "if asked"


@pytest.mark.slow
def test_our_own_crawl_obeys_robots_txt_unasked():
    assert run.manners("focuscrawl:keyword")[0] == "yes"


@pytest.mark.slow
def test_a_crawl_that_fails_says_why(web):
    topic = Topic("Sorting", seeds=[at("a")], keywords={"sorting": 1})
    assert "no_such_spider" in run.crawl("focuscrawl:no_such_spider", web, topic, pages=10).error


def test_a_peer_that_is_not_installed_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(run, "find_spec", lambda name: None if name == "crawl4ai" else object())
    assert run.installed(["scrapy", "crawl4ai:best_first", "crawl4ai:adaptive"]) == ["scrapy"]
    assert capsys.readouterr().out == "crawl4ai is not installed and is left out: pip install 'focuscrawl[peers]'\n"


def test_a_peer_that_is_unknown_is_refused():
    with pytest.raises(SystemExit, match="unknown peer 'wget'; choose from scrapy:breadth_first, "):
        run.installed(["wget"])


LOG = [Request("GET", at("a")), Request("GET", at("a/b"))]
SORTING = Topic("Sorting", seeds=[at("a")], keywords={"sorting": 1}, label="sorting")
BIRDS = Topic("Birds", seeds=[at("a")], keywords={"bird": 1}, label="birds")


class Told(dict):
    """Crawls that are told rather than made: those of (peer, topic) in here fail, the others do not."""

    def __init__(self):
        self.crawled: list[tuple[str, str]] = []

    def crawl(self, peer, web, topic, pages, robots=False):
        self.crawled.append((peer, topic.name))
        cpu = 1.0 if topic is run.PROBE else 2.0
        return run.Crawl(LOG, cpu, self.get((peer, topic.name), ""))


@pytest.fixture
def failing(monkeypatch):
    told = Told()
    monkeypatch.setattr(run, "crawl", told.crawl)
    return told


def test_a_peer_with_a_crawl_that_failed_is_left_out_of_the_table(web, failing, capsys):
    failing["scrapy", "Birds"] = "not done after 900 s"
    peers = run.probed([run.YARDSTICK, "scrapy", "focuscrawl:hits"])
    rows = run.compared([SORTING, BIRDS, SORTING], web, 10, peers)
    assert {peer: len(results) for peer, results in rows.items()} == {run.YARDSTICK: 3, "focuscrawl:hits": 3}
    assert capsys.readouterr().out == "scrapy failed on Birds and is left out: not done after 900 s\n"
    assert failing.crawled.count(("scrapy", "Sorting")) == 1  # the third topic is not for it
    table = run.table(rows, dict.fromkeys(rows, "yes"), 10)
    assert "mean of 3 topics" in table
    assert "\nscrapy  " not in table


def test_a_peer_whose_probe_fails_is_left_out(failing, capsys):
    failing["focuscrawl:hits", "probe"] = "exit code 1"
    assert list(run.probed([run.YARDSTICK, "focuscrawl:hits"])) == [run.YARDSTICK]
    assert capsys.readouterr().out == "focuscrawl:hits failed and is left out: exit code 1\n"


def test_without_the_yardstick_there_is_no_table(web, failing):
    failing[run.YARDSTICK, "Birds"] = "exit code 1"
    peers = run.probed([run.YARDSTICK, "scrapy"])
    with pytest.raises(
        SystemExit, match=r"scrapy:breadth_first failed on Birds, and the others cannot be compared .*: exit code 1"
    ):
        run.compared([SORTING, BIRDS], web, 10, peers)
    failing[run.YARDSTICK, "probe"] = "exit code 2"
    with pytest.raises(
        SystemExit, match=r"scrapy:breadth_first failed, and the others cannot be compared .*: exit code 2"
    ):
        run.probed([run.YARDSTICK, "scrapy"])


@pytest.mark.slow
def test_a_crawl_that_asks_for_nothing_has_failed(web):
    topic = Topic("Sorting", seeds=[at("a")], keywords={"sorting": 1})
    assert run.crawl("focuscrawl:baseline", web, topic, pages=10).error  # which needs examples


def test_a_peer_that_fails_when_it_is_asked_to_obey_is_left_out(monkeypatch):
    closed = [Request("GET", f"{run.PROBE.seeds[0]}closed/sorting.html")]
    errors = iter(["", "exit code 1"])
    monkeypatch.setattr(run, "crawl", lambda *_, **__: run.Crawl(closed, 1.0, next(errors)))
    assert run.manners("scrapy")[1].error == "exit code 1"
