from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import pytest

from focuscrawl.middlewares import robots
from focuscrawl.web.webs import Answer
from tests.conftest import at, small_web

LINKS = {"a": ["a/open", "a/closed/x"], "a/open": [], "a/closed/x": []}


def run(crawl, rules: str | Answer | None, **settings):
    web = small_web(LINKS)
    if isinstance(rules, Answer):
        web.answers[at("a/robots.txt")] = rules
    elif rules is not None:
        web.add(at("a/robots.txt"), rules, content_type="text/plain")
    return crawl("breadth_first", web, settings=settings, seeds=at("a"))


@pytest.mark.parametrize(
    ("rules", "fetched"),
    [
        (None, 3),
        ("", 3),
        ("User-agent: *\nDisallow:", 3),
        ("User-agent: *\nDisallow: /closed/ # keep out", 2),
        ("User-agent: focuscrawl\nDisallow: /closed/\n\nUser-agent: *\nDisallow:", 2),
        ("User-agent: FocusCrawl\nDisallow: /closed", 2),
        ("User-agent: other\nDisallow: /", 3),
        ("User-agent: *\nDisallow: /closed/\nAllow: /closed/x$", 3),
        ("User-agent: *\nDisallow: /*/x", 2),
        ("User-agent: *\nDisallow: /", 0),
        (Answer(404), 3),
        (Answer(403), 3),
        (Answer(301, location=at("a/elsewhere")), 3),
        (Answer(503), 0),
    ],
)
def test_what_a_host_allows_is_fetched_and_nothing_else(crawl, rules, fetched):
    assert len(run(crawl, rules).urls) == fetched


def test_refusals_are_counted_and_stored_with_their_reason(crawl):
    crawled = run(crawl, "User-agent: *\nDisallow: /closed/")
    assert crawled.stats["robotstxt/forbidden"] == 1
    assert crawled.sql("SELECT url, reason FROM failure") == [(at("a/closed/x"), "robots.txt disallows it")]


def test_a_host_that_cannot_say_is_left_alone(crawl):
    crawled = run(crawl, Answer(500), RETRY_ENABLED=False)
    assert crawled.sql("SELECT reason FROM failure") == [("robots.txt could not be read: HTTP 500",)]


def test_robots_txt_is_asked_for_once_per_host(crawl):
    assert run(crawl, "User-agent: *\nDisallow:", CONCURRENT_REQUESTS=8).stats["robotstxt/request_count"] == 1


def test_robots_txt_is_asked_for_again_when_it_is_old(crawl, monkeypatch):
    monkeypatch.setattr(robots, "MAX_AGE", -1.0)
    assert run(crawl, "").stats["robotstxt/request_count"] == 3


def test_only_the_first_500_kib_count(crawl):
    rules = "User-agent: *\n" + "# filler\n" * 60_000 + "Disallow: /\n"
    assert len(run(crawl, rules).urls) == 3


@pytest.mark.parametrize(
    ("rules", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 0.2", 0.2),
        ("User-agent: *\nRequest-rate: 10/1s", 0.1),
        ("User-agent: *\nCrawl-delay: 3600", 0.3),  # cut by the setting
        ("User-agent: other\nCrawl-delay: 5", 0),
        ("User-agent: *\nCrawl-delay: 0.01", 0.05),  # ours is longer
    ],
)
def test_a_host_is_given_the_distance_it_asks_for(crawl, rules, delay):
    settings = {"FOCUS_CRAWL_DELAY_MAX": 0.3, "DOWNLOAD_DELAY": 0.05 if delay == 0.05 else 0}
    crawled = run(crawl, rules, **settings)
    times = [datetime.fromisoformat(page["fetched_at"]) for page in crawled.pages]
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
    assert len(times) == 3
    assert min(gaps) >= delay * 0.95
    assert ("robotstxt/slowed" in crawled.stats) == (delay not in (0, 0.05))


def test_it_can_be_switched_off(crawl):
    assert len(run(crawl, "User-agent: *\nDisallow: /", ROBOTSTXT_OBEY=False).urls) == 3
