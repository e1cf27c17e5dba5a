from __future__ import annotations

from contextlib import closing

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.reports.explain import explain
from focuscrawl.store.store import Store
from focuscrawl.web.webs import Answer
from tests.conftest import at, small_web

LINKS = {"a": ["x/closed", "b"], "b": ["c", "d"], "c": ["e"], "d": []}
TEXTS = {"a": "sort", "b": "sort heap", "c": "nothing", "d": "nothing"}


@pytest.fixture
def told(crawl):
    web = small_web(LINKS, TEXTS)
    web.add(at("x/robots.txt"), "User-agent: *\nDisallow: /closed", content_type="text/plain")
    web.redirect(at("moved"), at("b"))
    crawled = crawl("keyword", web, seeds=at("a"), keywords="sort,heap", max_pages=4)
    store = Store(crawled.folder / "crawl.sqlite")
    yield lambda url: "\n".join(explain(store, url))
    store.close()


def test_the_way_from_the_seed_to_a_page(told):
    text = told(at("c"))
    assert text.splitlines()[0] == "seed"
    assert text.index(at("a")) < text.index(at("b")) < text.index(at("c"))
    assert "[to b]" in text
    assert "link score 1.0000 = share of keywords on its page 1" in text
    assert "relevance 1.0000, matched = sort 0.5, heap 0.5" in text
    assert "page 3 of the crawl, HTTP 200, fetched with score 1.0000" in text


def test_why_a_link_waits(told):
    assert "waiting with score 0.0000: 0 of 1 queued URLs are ahead" in told(at("e"))


def test_why_a_url_gave_no_page(told):
    assert "robots.txt disallows it" in told(at("x/closed"))


def test_the_url_may_be_written_in_another_way(told):
    assert told("HTTPS://www.c.example/#top") == told(at("c"))


@pytest.mark.parametrize(
    ("url", "says"), [("http://never.example/", "unknown to this crawl"), ("nonsense", "not a URL")]
)
def test_what_the_crawl_does_not_know_is_said(told, url, says):
    with pytest.raises(FocusError, match=says):
        told(url)


def test_refused_and_fallen_links_are_told_apart(crawl, tmp_path):
    web = small_web({"a": ["b", "c"], "b": ["b/1"], "c": []}, {"a": "sort"})
    crawled = crawl(
        "keyword", web, settings={"FOCUS_FRONTIER_SIZE": 1}, seeds=at("a"), keywords="sort", follow="matched"
    )
    store = Store(crawled.folder / "crawl.sqlite")
    assert "refused" in explain(store, at("b/1"))[-1]
    assert "dropped from the frontier" in explain(store, at("c"))[-1]
    store.close()


@pytest.mark.parametrize(
    ("setting", "rule"),
    [
        ({"FOCUS_DENY": "b.example"}, "refused: out of scope"),
        ({"DEPTH_LIMIT": 1}, "refused: deeper than DEPTH_LIMIT"),
        ({"URLLENGTH_LIMIT": 17}, "refused: longer than URLLENGTH_LIMIT"),
    ],
)
def test_a_rule_that_keeps_a_link_back_is_named(crawl, setting, rule):
    target = "c" if "DEPTH_LIMIT" in setting else "b/long" if "URLLENGTH_LIMIT" in setting else "b"
    web = small_web({"a": ["b", "b/long"], "b": ["c"], "b/long": [], "c": []})
    crawled = crawl("breadth_first", web, seeds=at("a"), settings=setting)
    store = Store(crawled.folder / "crawl.sqlite")
    assert rule in "\n".join(explain(store, at(target)))
    store.close()


def test_what_gave_no_answer_says_so_while_it_waits(crawl):
    web = small_web({"a": ["dead"]}, {"a": "sort"})
    web.answers[at("dead/robots.txt")] = Answer(500)
    settings = {"RETRY_TIMES": 0}
    crawled = crawl("keyword", web, settings=settings, seeds=at("a"), keywords="sort")
    store = Store(crawled.folder / "crawl.sqlite")
    text = "\n".join(explain(store, at("dead")))
    store.close()
    assert "waiting with score 1.0000" in text
    assert "failed at" in text
    assert "robots.txt could not be read: HTTP 500; it is retried when nothing else is left" in text


@pytest.mark.parametrize(
    ("arguments", "settings", "held"),
    [
        ({"max_pages": 3}, {}, True),
        ({}, {"CLOSESPIDER_PAGECOUNT": 3}, True),
        ({"max_pages": 3}, {"FOCUS_PATIENCE": 0}, False),
        ({"max_pages": 3}, {"FOCUS_PATIENCE": "0.00"}, False),
        ({"max_hours": 1}, {"CLOSESPIDER_PAGECOUNT": 3}, False),
        ({"max_hours": 1}, {"CLOSESPIDER_PAGECOUNT": 3, "FOCUS_PATIENCE": 1}, True),
    ],
)
def test_a_link_that_may_be_held_back_says_so(crawl, arguments, settings, held):
    links = [f"{host}/{n}" for host in ("heap", "other") for n in range(20)]
    web = small_web({"a": links, **{link: [] for link in links}})
    crawled = crawl("shark_search", web, settings=settings, seeds=at("a"), keywords="heap", **arguments)
    (last,) = crawled.sql("SELECT url FROM frontier ORDER BY rank, url_id DESC LIMIT 1")[0]
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    lines = explain(store, last)
    store.close()
    assert any("held back while a better link waits for its host" in line for line in lines) == held


def test_a_patience_that_is_no_number_is_passed_over(crawl):
    links = [f"{host}/{n}" for host in ("heap", "other") for n in range(20)]
    web = small_web({"a": links, **{link: [] for link in links}})
    crawled = crawl("shark_search", web, seeds=at("a"), keywords="heap", max_pages=3)
    store = Store(crawled.folder / "crawl.sqlite")
    (last,) = crawled.sql("SELECT url FROM frontier ORDER BY rank, url_id DESC LIMIT 1")[0]
    for value in (10**400, "x", [], None):
        with store.transaction():
            store.set_meta("runs", [{**store.runs()[-1], "settings": {"FOCUS_PATIENCE": value}}])
        assert not any("held back" in line for line in explain(store, last))
    store.close()


def test_what_a_page_says_of_itself_is_told(crawl):
    web = small_web({"a": []})
    head = "<meta name=author content='Jane \x1b[2J Doe'><meta name=date content=2021-03-04><meta name=description content='x'>"
    web.add(at("a"), f"{head}<meta property=og:site_name content=News><meta property=og:type content=article><p>sort")
    crawled = crawl("keyword", web, seeds=at("a"), keywords="sort")
    with closing(Store(crawled.folder / "crawl.sqlite")) as store:
        told = explain(store, at("a"))
    assert told[-2:] == ["  says: by Jane [2J Doe, published 2021-03-04, on News, article", '  describes itself: "x"']
