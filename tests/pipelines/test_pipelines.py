"""What a crawl writes: URLs.txt, pages.jsonl, crawl.sqlite, report.html, and Scrapy's own feeds."""

from __future__ import annotations

import csv
import json
import sqlite3

from focuscrawl.page import FIELDS
from focuscrawl.spiders.best_first import BestFirstSpider
from focuscrawl.store.pages import Pages
from focuscrawl.web.webs import Answer
from tests.conftest import at, small_web

LINKS = {"a": ["b", "c", "gone"], "b": [], "c": []}
TEXTS = {"a": "sort", "b": "sort heap", "c": "nothing"}


def test_pages_jsonl_has_a_line_per_page_in_fetch_order(crawl):
    crawled = crawl("keyword", small_web(LINKS, TEXTS), seeds=at("a"), keywords="sort,heap")
    first, *rest = crawled.pages
    assert list(first) == FIELDS
    assert first | {"fetched_at": ""} == {
        "url": at("a"), "status": 200, "depth": 0, "parent": None, "score": 1.0, "relevance": 0.5, "matched": True,
        "title": "a", "topics": [], "fetched_at": "", "authors": [], "published": None, "modified": None,
        "site_name": "", "description": "",
    }  # fmt: skip
    assert all(page["parent"] == at("a") and page["depth"] == 1 for page in rest)
    assert crawled.matched == [page["url"] for page in crawled.pages if page["matched"]] == [at("a"), at("b")]


def test_page_links_and_frontier_are_in_one_file(crawl):
    crawled = crawl("keyword", small_web(LINKS, TEXTS), seeds=at("a"), keywords="sort,heap", max_pages=2)
    assert crawled.sql("SELECT url FROM page ORDER BY id") == [(url,) for url in crawled.urls]
    assert crawled.sql("SELECT count(*) FROM link") == [(3,)]
    assert crawled.sql("SELECT anchor, url.url FROM link JOIN url ON url.id = link.url_id LIMIT 1") == [
        ("to b", at("b"))
    ]
    assert sorted(crawled.sql("SELECT url, score FROM frontier")) == [(at("c"), 0.5), (at("gone"), 0.5)]
    assert crawled.sql("PRAGMA integrity_check") == [("ok",)]


def test_scrapys_feeds_show_the_same_fields(crawl, tmp_path):
    feeds = {str(tmp_path / "out.csv"): {"format": "csv"}, str(tmp_path / "out.jsonl"): {"format": "jsonlines"}}
    crawled = crawl("keyword", small_web(LINKS, TEXTS), settings={"FEEDS": feeds}, seeds=at("a"), keywords="sort,heap")
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert list(rows[0]) == FIELDS
    assert [row["url"] for row in rows] == crawled.urls
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == crawled.pages


SAID = """<html lang=en><meta name=author content="Jane Doe"><meta property="og:site_name" content="The News">
<meta property="article:published_time" content="2021-03-04T10:30:00+01:00"><meta name=description content="On heaps">
<script type="application/ld+json">{"@type": "NewsArticle", "author": ["Jane Doe", {"name": "Zoë Ångström"}],
"dateModified": "2021-03-05"}</script><title>b</title><p>sort heap"""


def test_what_a_page_says_of_itself_is_stored_and_exported(crawl, tmp_path):
    web = small_web(LINKS, TEXTS)
    web.add(at("b"), f"<meta charset=utf-8>{SAID}")
    feeds = {str(tmp_path / "out.csv"): {"format": "csv"}, str(tmp_path / "out.jsonl"): {"format": "jsonlines"}}
    crawled = crawl("keyword", web, settings={"FEEDS": feeds}, seeds=at("a"), keywords="sort,heap")
    (page,) = (page for page in crawled.pages if page["url"] == at("b"))
    assert {name: page[name] for name in FIELDS[10:]} == {
        "authors": ["Jane Doe", "Zoë Ångström"],
        "published": "2021-03-04T10:30:00+01:00",
        "modified": "2021-03-05",
        "site_name": "The News",
        "description": "On heaps",
    }
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()] == crawled.pages
    (row,) = (row for row in csv.DictReader((tmp_path / "out.csv").open()) if row["url"] == at("b"))
    assert (row["authors"], row["published"]) == ("Jane Doe,Zoë Ångström", "2021-03-04T10:30:00+01:00")
    assert crawled.sql(
        "SELECT page.url, authors, site_name, kind FROM metadata JOIN page ON page.id = metadata.page"
    ) == [(at("b"), '["Jane Doe", "Zoë Ångström"]', "The News", "NewsArticle")]
    (crawled.folder / "pages.jsonl").unlink()
    before = crawled.sql("SELECT * FROM metadata")
    again = crawl("keyword", web, seeds=at("a"), keywords="sort,heap")  # writes the file anew, from the store
    assert page in again.pages
    assert again.sql("SELECT * FROM metadata") == before


def test_the_servers_last_modified_is_not_the_date_of_the_content(crawl):
    web = small_web({"a": []}, {"a": "sort"})
    body = web.get(at("a")).body + b"<meta http-equiv=last-modified content='Thu, 04 Mar 2021 10:30:00 GMT'>"
    web.answers[at("a")] = Answer(200, body=body, headers=(("Last-Modified", "Thu, 04 Mar 2021 10:30:00 GMT"),))
    (page,) = crawl("keyword", web, seeds=at("a"), keywords="sort").pages
    assert (page["published"], page["modified"]) == (None, None)


def test_a_report_that_needs_no_network(crawl):
    crawled = crawl(
        "keyword",
        small_web(LINKS, TEXTS | {"b": "sort heap <script>alert(1)</script>"}),
        seeds=at("a"),
        keywords="sort,heap",
    )
    text = (crawled.folder / "report.html").read_text("utf-8")
    assert " UTC</p>" in text
    assert "<svg" in text
    assert at("b") in text
    assert "src=" not in text
    assert "<link" not in text


def test_an_empty_crawl_has_a_report_too(crawl):
    crawled = crawl("breadth_first", small_web({"a": []}), seeds=at("nowhere"))
    assert "harvest rate" in (crawled.folder / "report.html").read_text("utf-8")


def test_titles_cannot_break_the_report(crawl):
    web = small_web({"a": []})
    web.add(at("a"), "<title>&lt;script&gt;alert(1)&lt;/script&gt; $title</title><p>sort")
    text = (crawl("keyword", web, seeds=at("a"), keywords="sort").folder / "report.html").read_text("utf-8")
    assert "<script>" not in text


def test_a_disk_that_fails_stops_the_crawl_with_what_it_has(crawl, monkeypatch, caplog):
    add_page = Pages.add

    def failing(self, page, via):
        if page.depth == 3:
            raise sqlite3.OperationalError("database or disk is full")
        return add_page(self, page, via)

    monkeypatch.setattr(Pages, "add", failing)
    chain = {f"a/{n}": [f"a/{n + 1}"] for n in range(9)} | {"a/9": []}
    crawled = crawl("breadth_first", small_web(chain), seeds=at("a/0"))
    assert crawled.stats["finish_reason"] == "store_failed"
    assert "disk is full; stored data is intact" in caplog.text
    assert crawled.urls == [at(f"a/{n}") for n in range(3)]
    monkeypatch.setattr(Pages, "add", add_page)
    assert len(crawl("breadth_first", small_web(chain), seeds=at("a/0")).urls) == 10


def test_a_strategy_is_not_asked_whether_pages_match_that_cannot_be_read(crawl):
    class First(BestFirstSpider):
        def matches(self, page):
            return page.title.split()[0] == "a"

    web = small_web({"a": ["b", "c"], "b": [], "c": []}, {"a": "sort"})
    web.answers[at("b")] = Answer(200, "application/pdf", b"%PDF")
    web.answers[at("c")] = Answer(404)
    crawled = crawl(First, web, seeds=at("a"), keywords="sort")
    assert crawled.matched == [at("a")]
    assert crawled.sql("SELECT count(*) FROM failure") == [(0,)]
