"""A crawl without a match says what it lacks."""

from __future__ import annotations

import html
import re

from focuscrawl.reports.no_match import no_match
from focuscrawl.store.places import read_crawl
from focuscrawl.testing import at, small_web
from tests.conftest import scrapy

WEB = small_web(
    {"a": ["a/1", "b"], "a/1": [], "b": []},
    {"a": "an essay about pipe organs and their cases", "a/1": "organ pipes", "b": "nothing at all"},
)


def told(crawled) -> str:
    with read_crawl(crawled.folder) as store:
        return "\n".join(no_match(store))


def test_it_names_keywords_seeds_the_best_pages_and_what_to_try(crawl):
    crawled = crawl("best_first", WEB, seeds=f"{at('a')},{at('gone')}", keywords="organ,zeppelin,blimp", threshold=0.9)
    text = told(crawled)
    assert "No page of 4 matches." in text
    assert "Keywords that no page has: zeppelin, blimp." in text
    assert f"{at('gone')}: HTTP 404" in text
    assert "the threshold is 0.9" in text
    assert re.search(rf"0\.\d\d\d  {at('a')}", text)
    assert "remove or replace the keywords" in text
    assert html.escape(text) in (crawled.folder / "report.html").read_text("utf-8")


def test_a_threshold_that_is_a_little_too_high_is_named(crawl):
    crawled = crawl("best_first", WEB, seeds=at("a"), keywords="organ,essay,case,blimp", threshold=0.95)
    best = max(page["relevance"] for page in crawled.pages)
    assert 0.5 * 0.95 < best < 0.95
    assert f"lower the threshold: -a threshold={int(best * 100) / 100:g}" in told(crawled)


def test_a_crawl_with_a_match_says_nothing(crawl):
    crawled = crawl("best_first", WEB, seeds=at("a"), keywords="organ")
    assert crawled.matched
    assert told(crawled) == ""
    assert "Why nothing matches" not in (crawled.folder / "report.html").read_text("utf-8")


def test_the_log_has_it_too(tmp_path):
    result = scrapy(
        *("crawl", "best_first", "-a", "topic=sorting", "-a", "threshold=1", "-a", "max_pages=10"),
        *("-s", "FOCUS_WEB=demo", "-s", f"FOCUS_DIR={tmp_path / 'crawl'}"),
    )
    assert result.returncode == 0, result.stderr
    assert "No page of 10 matches." in result.stderr
    assert "(the threshold is 1)" in result.stderr
