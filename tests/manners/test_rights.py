from __future__ import annotations

import json
from time import process_time

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.manners.rights import check, read_tdmrep
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.web.webs import Answer, MemoryWeb
from tests.conftest import at, scrapy

CC = "https://creativecommons.org/licenses/by/4.0/"


def rights(html: str):
    return read_html(Page("http://a.example/x/"), html.encode(), "text/html").rights


@pytest.mark.parametrize(
    ("html", "licences"),
    [
        (f'<a rel="license nofollow" href="{CC}">CC</a>', [CC]),
        ('<link rel=license href="../terms">', ["http://a.example/terms"]),
        (f'<a itemprop="license" href="{CC}">CC</a>', [CC]),
        (f'<meta itemprop="license" content="{CC}">', [CC]),
        (f'<script type="application/ld+json">{{"@type": "Article", "license": "{CC}"}}</script>', [CC]),
        (f'<script type="application/ld+json">{{"@graph": [{{"license": [{{"@id": "{CC}"}}, "MIT"]}}]}}</script>',
         [CC, "MIT"]),
        ('<script type="application/ld+json">{"license": broken</script><p>x', []),
        ('<script type="application/ld+json">{"license": 7}</script>', []),
        ('<script>{"license": "no"}</script>', []),
        ('<a href="/license">our licence</a>', []),
    ],
)  # fmt: skip
def test_licences_are_found_where_pages_state_them(html, licences):
    assert rights(html).licences == licences


def test_the_page_speaks_before_its_headers_and_those_before_the_host():
    found = rights(
        '<meta name="tdm-reservation" content="1"><meta name="tdm-policy" content="https://a.example/p.json">'
    )
    found.tdm("0", "", "header")
    assert (found.tdm_reservation, found.tdm_policy, found.tdm_source) == (1, "https://a.example/p.json", "meta")
    silent = rights("<p>x")
    silent.tdm("yes", "", "meta")
    silent.tdm("0", "", "header")
    silent.tdm("1", "", "file")
    assert (silent.tdm_reservation, silent.tdm_source) == (0, "header")


RULES = [
    {"location": "/open/*.html$", "tdm-reservation": 0},
    {"location": "/open/", "tdm-reservation": 1, "tdm-policy": "https://a.example/policy.json"},
    {"location": 7, "tdm-reservation": 1},
    "nonsense",
    {"location": "/", "tdm-reservation": 1},
]


@pytest.mark.parametrize(
    ("path", "reserved"),
    [("/open/a.html", "0"), ("/open/a.html?x", "1"), ("/open/b", "1"), ("/other", "1"), ("x", None)],
)
def test_the_first_rule_of_a_host_that_fits_counts(path, reserved):
    rule = read_tdmrep(json.dumps(RULES).encode()).rule_for(path)
    assert (rule.reservation if rule else None) == reserved


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"{}", b"[1, null]", b"[" * 100_000, b"\xff\xfe", b'[{"location": "**' + b"*" * 5000 + b'"}]'],
)
def test_nonsense_reserves_nothing(body):
    assert read_tdmrep(body).rule_for("/") is None or body.startswith(b'[{"l')


@pytest.mark.parametrize("location", ["/" + "*a" * 400 + "$", "/" + "*a" * 400 + "*b*c", "*" * 999 + "b$"])
def test_a_hostile_location_is_compared_in_a_moment(location):
    rules = read_tdmrep(json.dumps([{"location": location, "tdm-reservation": 1}]).encode())
    begin = process_time()
    assert rules.rule_for("/" + "a" * 2000) is None or location.endswith("a$")
    assert process_time() - begin < 1


@pytest.mark.parametrize(
    ("location", "fitting", "others"),
    [
        ("/a", ["/a", "/ab", "/a/b?c"], ["/", "/b/a", ""]),
        ("/a$", ["/a"], ["/ab", "/a/a"]),
        ("*", ["/", "/a", ""], []),
        ("/*.html$", ["/a.html", "/.html", "/a.html.html"], ["/a.html?x", "/a.htm", "a.html"]),
        ("/a*a$", ["/aa", "/a/a"], ["/a", "/ab"]),
        ("/*b*c", ["/bc", "/abxcx"], ["/cb", "/b"]),
        ("/a.c", ["/a.c"], ["/abc"]),
        ("$", [""], ["/"]),
    ],
)
def test_a_location_is_a_prefix_with_stars_and_an_end(location, fitting, others):
    rules = read_tdmrep(json.dumps([{"location": location, "tdm-reservation": 1}]).encode())
    assert [path for path in fitting + others if rules.rule_for(path)] == fitting


def test_only_known_reservations_can_be_named():
    assert check([" NoAI ", "tdm", ""]) == ["noai", "tdm"]
    with pytest.raises(FocusError, match="unknown 'images'; expected search"):
        check(["images"])


def reserving() -> MemoryWeb:
    web = MemoryWeb()
    links = "".join(f'<a href="{at(name)}">x</a>' for name in ("plain", "noai", "header", "file/a", "file/b", "free"))
    web.add(at("a"), f"<p>sort of a list {links}")
    web.add(at("plain"), "<p>sort one")
    web.add(at("noai"), '<meta name=robots content="noai, noimageai"><p>sort two things')
    page = Answer(200, "text/html", b"<p>sort three other things")
    web.answers[at("header")] = page._replace(
        headers=(("TDM-Reservation", "1"), ("TDM-Policy", "https://x.example/"), ("X-Robots-Tag", "noarchive"))
    )
    web.answers[at("file/.well-known/tdmrep.json")] = Answer(
        200, "application/json", b'[{"location": "/a", "tdm-reservation": 1}]'
    )
    web.add(at("file/robots.txt"), "User-agent: *\nDisallow: /never", content_type="text/plain")
    web.add(at("file/a"), "<p>sort four of the things")
    web.add(at("file/b"), "<p>sort five more of all those things")
    web.add(at("free"), f'<p>sort six, free for all <link rel=license href="{CC}">')
    return web


def test_the_ledger_is_kept_for_every_page(crawl):
    crawled = crawl("best_first", reserving(), seeds=at("a"), keywords="sort")
    rows = crawled.sql(
        "SELECT url, robots_txt, x_robots_tag, noai, noimageai, tdm_reservation, tdm_policy, tdm_source, licences"
        " FROM rights JOIN page ON page.id = page ORDER BY page.url"
    )
    assert {row[0]: row[1:] for row in rows} == {
        at("a"): ("none", "", 0, 0, None, "", "", None),
        at("plain"): ("none", "", 0, 0, None, "", "", None),
        at("noai"): ("none", "", 1, 1, None, "", "", None),
        at("header"): ("none", "noarchive", 0, 0, 1, "https://x.example/", "header", None),
        at("file/a"): ("allowed", "", 0, 0, 1, "", "file", None),
        at("file/b"): ("allowed", "", 0, 0, None, "", "", None),
        at("free"): ("none", "", 0, 0, None, "", "", json.dumps([CC])),
    }
    assert len(crawled.matched) == 7


def test_what_cannot_be_stored_as_it_is_does_not_stop_the_crawl(crawl):
    web = reserving()
    policy = rb'[{"location": "/", "tdm-reservation": 1, "tdm-policy": "\ud800 policy"}]'
    web.answers[at("plain/.well-known/tdmrep.json")] = Answer(200, "application/json", policy)
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort")
    assert len(crawled.urls) == 7
    assert ("? policy",) in crawled.sql("SELECT tdm_policy FROM rights")


def test_robots_txt_that_was_not_asked_is_said_so(crawl):
    crawled = crawl("best_first", reserving(), settings={"ROBOTSTXT_OBEY": False}, seeds=at("a"), keywords="sort")
    assert crawled.sql("SELECT DISTINCT robots_txt FROM rights") == [("ignored",)]


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        ("noai", {"noai"}),
        ("ai-input", {"noai"}),
        ("ai-train", {"noai", "header", "file/a"}),
        ("search", set()),
        ("tdm", {"header", "file/a"}),
        ("noai,noimageai,tdm", {"noai", "header", "file/a"}),
        ("unlicensed", {"a", "plain", "noai", "header", "file/a", "file/b"}),
    ],
)
def test_what_is_reserved_is_left_out_of_the_exports(crawl, tmp_path, wanted, missing):
    feed = tmp_path / "feed.jsonl"
    settings = {"FOCUS_RIGHTS": wanted, "FEEDS": {str(feed): {"format": "jsonlines"}}}
    crawled = crawl("best_first", reserving(), settings=settings, seeds=at("a"), keywords="sort")
    left = {at(name) for name in missing}
    everything = {url for (url,) in crawled.sql("SELECT url FROM page")}
    assert set(crawled.matched) == everything - left
    assert {json.loads(line)["url"] for line in feed.read_text().splitlines()} == everything - left
    assert {
        url for (url,) in crawled.sql("SELECT url FROM rights JOIN page ON page.id = page WHERE left_out != ''")
    } == left
    assert set(crawled.urls) == everything
    assert sum(number for name, number in crawled.stats.items() if name.startswith("focus/left_out")) == len(left)
    assert not crawled.sql("SELECT * FROM failure")


def test_feeds_leave_out_what_is_reserved_even_if_it_is_off_the_topic(crawl, tmp_path):
    feed = tmp_path / "feed.jsonl"
    web = reserving()
    web.add(at("file/a"), "<p>nothing about the topic")
    settings = {"FOCUS_RIGHTS": "tdm", "FEEDS": {str(feed): {"format": "jsonlines"}}}
    crawled = crawl("best_first", web, settings=settings, seeds=at("a"), keywords="sort")
    assert at("file/a") in crawled.urls
    assert at("file/a") not in feed.read_text()


def test_a_wrong_reservation_costs_one_line(tmp_path):
    result = scrapy(
        "crawl", "best_first", "-a", "topic=sorting", "-s", "FOCUS_WEB=demo", "-s", "FOCUS_RIGHTS=ai",
        "-s", f"FOCUS_DIR={tmp_path / 'c'}",
    )  # fmt: skip
    assert result.returncode == 2
    assert "FOCUS_RIGHTS: unknown 'ai'; expected search" in result.stderr
    assert "Traceback" not in result.stderr
