"""The frontier inside Scrapy: resuming, redirects, retries, failures."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from itertools import pairwise

import pytest
from scrapy.exceptions import DropItem

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.frontier.frontier import Frontier
from focuscrawl.frontier.scheduler import priority
from focuscrawl.page import Page
from focuscrawl.store.links import Links
from focuscrawl.web.webs import Answer
from tests.conftest import FixedScores, at, small_web

CHAIN = {f"a/{n}": [f"a/{n + 1}"] for n in range(20)} | {"a/20": []}


def test_scores_become_priorities_in_order():
    assert priority(0.0) == 0
    assert priority(1.0) > priority(0.5) > priority(0.499999)


def test_seeds_come_before_any_link(crawl):
    web = small_web({"a": ["x/0.9"], "b": [], "c": [], "x/0.9": []})
    crawled = crawl(FixedScores, web, seeds=f"{at('a')},{at('b')},{at('c')}")
    assert crawled.urls == [at("a"), at("b"), at("c"), at("x/0.9")]
    assert [page["score"] for page in crawled.pages] == [1.0, 1.0, 1.0, 0.9]


def test_the_same_command_again_goes_on_where_it_stopped(crawl):
    for pages in (5, 5, 12, 100):
        crawled = crawl("breadth_first", small_web(CHAIN), seeds=at("a/0"), max_pages=pages)
        assert len(crawled.urls) == min(pages, 21)
    assert crawled.urls == [at(f"a/{n}") for n in range(21)]
    assert crawled.matched == crawled.urls
    assert crawled.sql("SELECT count(*), count(DISTINCT url) FROM page") == [(21, 21)]


def test_a_crawl_that_goes_on_may_be_given_more_seeds(crawl):
    web = small_web({"a": [], "b": []})
    crawl("breadth_first", web, seeds=at("a"), keywords="x")
    assert crawl("breadth_first", web, seeds=f"{at('a')},{at('b')}", keywords="x").urls == [at("a"), at("b")]


def test_lines_lost_or_doubled_by_a_crash_are_put_right(crawl):
    crawled = crawl("breadth_first", small_web(CHAIN), seeds=at("a/0"), max_pages=10)
    pages = (crawled.folder / "pages.jsonl").read_text().splitlines()
    (crawled.folder / "pages.jsonl").write_text("\n".join(pages[:7]) + '\n{"url": "tor')
    with (crawled.folder / "URLs.txt").open("a") as file:
        file.write("http://not.stored.example/\n")
    crawled = crawl("breadth_first", small_web(CHAIN), seeds=at("a/0"), max_pages=12)
    assert crawled.urls == crawled.matched == [at(f"a/{n}") for n in range(12)]


def test_a_redirect_leads_to_one_page_under_its_final_url(crawl):
    web = small_web({"a": ["b/old", "c/new"], "c/new": []})
    web.redirect(at("b/old"), at("b/older"))
    web.redirect(at("b/older"), at("c/new"))
    crawled = crawl("breadth_first", web, seeds=at("a"))
    assert crawled.urls == [at("a"), at("c/new")]
    assert crawled.sql("SELECT redirects FROM page WHERE url = ?", at("c/new")) == [
        (f'["{at("b/old")}", "{at("b/older")}"]',)
    ]
    assert crawled.sql("SELECT count(*) FROM frontier") == [(0,)]


def test_a_redirect_to_a_page_that_is_stored_is_noted(crawl):
    web = small_web({"a": ["b"], "b": ["old"]})
    web.redirect(at("old"), at("a"))
    crawled = crawl("breadth_first", web, seeds=at("a"))
    assert crawled.urls == [at("a"), at("b")]
    assert crawled.sql("SELECT reason FROM failure") == [(f"redirect to a known page: {at('a')}",)]


@pytest.mark.parametrize("target", ["http://c.example", "http://c.example:80/", "http://C.example/#x"])
def test_a_redirect_to_a_page_by_another_spelling_is_that_page(crawl, target):
    web = small_web({"a": ["c", "old"], "c": []})
    web.redirect(at("old"), target)
    for spelling in ("http://c.example", "http://c.example:80/"):
        web.answers[spelling] = web.answers[at("c")]
    assert crawl("breadth_first", web, seeds=at("a")).urls == [at("a"), at("c")]


def test_redirects_keep_the_distance_of_the_host_they_lead_to(crawl):
    web = small_web({"seed": [f"a{n}" for n in range(4)]} | {f"b/{n}": [] for n in range(4)})
    for n in range(4):
        web.redirect(at(f"a{n}"), at(f"b/{n}"))
    settings = {
        "DOWNLOAD_DELAY": 0.1,
        "CONCURRENT_REQUESTS": 8,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "ROBOTSTXT_OBEY": False,
    }
    crawled = crawl("breadth_first", web, settings=settings, seeds=at("seed"))
    times = sorted(datetime.fromisoformat(page["fetched_at"]) for page in crawled.pages if "//b." in page["url"])
    assert len(times) == 4
    assert min((later - earlier).total_seconds() for earlier, later in pairwise(times)) > 0.09


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_redirect_within_a_host_that_is_nearly_full_does_not_stop_the_crawl(crawl, limit):
    web = small_web({"seed": ["a/1", "a/2", "a/3", "b"], "a/1": [], "a/2": [], "a/4": [], "b": []})
    web.redirect(at("a/3"), at("a/4"))
    crawled = crawl(
        "breadth_first", web, settings={"FOCUS_PAGES_PER_HOST": limit, "CLOSESPIDER_TIMEOUT": 10}, seeds=at("seed")
    )
    assert crawled.stats["finish_reason"] == "finished"
    assert at("b") in crawled.urls
    assert sum("//a." in url for url in crawled.urls) == limit


def test_after_a_write_that_failed_the_crawl_stops_and_goes_on_later(crawl, monkeypatch, tmp_path):
    add_links = Links.add
    failures = [sqlite3.OperationalError("database or disk is full")]

    def failing(self, page_id, links, url_ids):
        if page_id >= 3 and failures:
            raise failures.pop()
        return add_links(self, page_id, links, url_ids)

    monkeypatch.setattr(Links, "add", failing)
    web = small_web(
        {f"h{n}": [f"h{n + 1}", f"x{n}", f"y{n}"] for n in range(12)}
        | {f"{c}{n}": [] for c in "xy" for n in range(12)}
        | {"h12": []}
    )
    first = crawl("breadth_first", web, settings={"CONCURRENT_REQUESTS": 8}, seeds=at("h0"))
    assert first.stats["finish_reason"] == "store_failed"
    assert 2 <= first.sql("SELECT count(*) FROM page")[0][0] < 10
    second = crawl("breadth_first", web, seeds=at("h0"))
    assert len(second.urls) == 37
    assert second.sql("SELECT url FROM page ORDER BY id") == [(url,) for url in second.urls]


def test_reasons_that_are_no_json_are_kept_as_text(crawl):
    class Odd(FixedScores):
        def score(self, page):
            for link in page.links:
                link.why = {"because": {1, 2}.__class__}
            return super().score(page)

    assert len(crawl(Odd, small_web({"root": ["a/0.5"], "a/0.5": []}), seeds=at("root")).urls) == 2


def test_a_redirect_loop_ends(crawl):
    web = small_web({"a": ["x", "z"], "z": []})
    web.redirect(at("x"), at("y"))
    web.redirect(at("y"), at("x"))
    crawled = crawl("breadth_first", web, seeds=at("a"))
    assert crawled.urls == [at("a"), at("z")]
    ((reason,),) = crawled.sql("SELECT reason FROM failure")
    assert "max redirections reached" in reason


def test_a_redirect_keeps_its_place_in_the_order(crawl):
    web = small_web({"root": ["a/0.9", "b/0.5"], "b/0.5": [], "final": []})
    web.redirect(at("a/0.9"), at("final"))
    assert crawl(FixedScores, web, seeds=at("root")).urls == [at("root"), at("final"), at("b/0.5")]


@pytest.mark.slow
def test_failures_of_a_server_are_retried_and_then_kept_with_their_status(crawl):
    web = small_web({"a": ["b", "c"], "c": []})
    web.answers[at("b")] = Answer(503, "text/html", b"busy")
    crawled = crawl("breadth_first", web, seeds=at("a"))
    assert sorted((page["url"], page["status"]) for page in crawled.pages) == [
        (at("a"), 200),
        (at("b"), 503),
        (at("c"), 200),
    ]
    assert crawled.stats["retry/count"] == 2
    assert crawled.matched == [at("a"), at("c")]


def test_dead_links_are_pages_with_status_404_that_match_nothing(crawl):
    crawled = crawl("breadth_first", small_web({"a": ["gone"]}), seeds=at("a"))
    assert [page["status"] for page in crawled.pages] == [200, 404]
    assert crawled.matched == [at("a")]
    assert crawled.sql("SELECT problem FROM page WHERE status = 404") == [("HTTP 404",)]


def test_an_error_in_a_callback_costs_one_page(crawl):
    class Failing(FixedScores):
        def parse(self, response):
            if response.url == at("b/0.9"):
                raise RuntimeError("oh dear")
            yield from super().parse(response)

    web = small_web({"root": ["b/0.9", "c/0.5"], "b/0.9": [], "c/0.5": []})
    crawled = crawl(Failing, web, seeds=at("root"), max_pages=2)
    assert crawled.urls == [at("root"), at("c/0.5")]
    assert crawled.sql("SELECT url, reason FROM failure") == [(at("b/0.9"), "spider error: RuntimeError('oh dear')")]


class Dropping:
    def process_item(self, item):
        if isinstance(item, Page) and "//b." in item.url:
            raise DropItem("not wanted")
        return item


def test_a_page_dropped_by_a_pipeline_is_not_asked_for_again(crawl):
    pipelines = {
        Dropping: 50,
        "focuscrawl.pipelines.store.StorePipeline": 300,
        "focuscrawl.pipelines.pages.PagesFilePipeline": 400,
    }
    web = small_web({"root": ["b/0.9", "c/0.5"], "b/0.9": [], "c/0.5": []})
    crawled = crawl(FixedScores, web, settings={"ITEM_PIPELINES": pipelines}, seeds=at("root"))
    assert crawled.urls == [at("root"), at("c/0.5")]
    assert crawled.sql("SELECT reason FROM failure") == [("dropped by a pipeline",)]
    assert crawled.sql("SELECT count(*) FROM frontier") == [(0,)]


class Swallowing:
    def process_spider_output(self, response, result):
        return (item for item in result if "//b." not in response.url)

    async def process_spider_output_async(self, response, result):
        async for item in result:
            if "//b." not in response.url:
                yield item


def test_a_page_swallowed_on_its_way_does_not_hold_up_the_crawl(crawl):
    web = small_web({"root": ["b/0.9", "c/0.5"], "b/0.9": [], "c/0.5": []})
    crawled = crawl(
        FixedScores,
        web,
        settings={"SPIDER_MIDDLEWARES": {Swallowing: 10, "focuscrawl.middlewares.scoring.ScoringMiddleware": 500}},
        seeds=at("root"),
    )
    assert crawled.urls == [at("root"), at("c/0.5")]
    assert crawled.sql("SELECT count(*) FROM frontier") == [(0,)]


def test_a_page_yielded_twice_is_in_urls_txt_once(crawl):
    class Twice(FixedScores):
        def parse(self, response):
            yield self.read(response)
            yield self.read(response)

        def matches(self, page):
            return True

    assert crawl(Twice, small_web({"root": []}), seeds=at("root")).matched == [at("root")]


def test_a_second_page_for_one_response_is_stored_under_its_own_url_or_not_at_all(crawl):
    class Twice(FixedScores):
        def parse(self, response):
            page = self.read(response)
            yield page
            yield Page(at("made-up"))
            yield self.read(response)

    crawled = crawl(Twice, small_web({"root": []}), seeds=at("root"))
    assert crawled.urls == [at("root"), at("made-up")]
    assert crawled.stats["item_dropped_count"] == 1


@pytest.mark.parametrize("settings", [{"FOCUS_FRONTIER_SIZE": 2}, {"FOCUS_PAGES_PER_HOST": 3}])
def test_bounds_are_settings(crawl, settings):
    web = small_web({"root": [f"a/0.{n}" for n in range(1, 9)]} | {f"a/0.{n}": [] for n in range(1, 9)})
    crawled = crawl(FixedScores, web, settings=settings, seeds=at("root"))
    if "FOCUS_FRONTIER_SIZE" in settings:
        assert crawled.urls == [at("root"), at("a/0.8"), at("a/0.7")]
        assert crawled.stats["focus/dropped"] == 6
    else:
        assert crawled.urls == [at("root"), at("a/0.8"), at("a/0.7"), at("a/0.6")]
        assert crawled.stats["focus/host_full"] == 5


def test_an_error_in_the_frontier_ends_the_crawl_instead_of_leaving_it_waiting(crawl, monkeypatch):
    pop = Frontier.pop

    def fail(self, *arguments):
        if self.store.pages.count() == 3:
            raise RuntimeError("an error of ours")
        return pop(self, *arguments)

    monkeypatch.setattr(Frontier, "pop", fail)
    crawled = crawl("breadth_first", small_web(CHAIN), seeds=at("a/0"))
    assert crawled.stats["finish_reason"] == "cannot_go_on"
    assert "an error of ours" in Crawl.of(crawled.crawler).fatal
    assert len(crawled.pages) == 3
