"""Feeds (`-o`, `-O`) of crawls that are resumed."""

from __future__ import annotations

import csv
import json

import pytest

from focuscrawl.testing import at, small_web

WEB = small_web({"a": ["b", "c"], "b": ["d"], "c": ["e"], "d": ["f"], "e": [], "f": []})


@pytest.fixture
def run(crawl, tmp_path):
    def go(pages: int, feeds: dict[str, dict[str, object]]):
        there = {str(tmp_path / name): options for name, options in feeds.items()}
        return crawl("breadth_first", WEB, settings={"FEEDS": there}, seeds=at("a"), max_pages=pages)

    return go


def lines(path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text("utf-8").splitlines()]


def test_a_feed_after_the_crawl_is_over_has_what_is_stored(run, tmp_path):
    stored = run(4, {})
    again = run(4, {"out.jsonl": {"format": "jsonl"}, "out.csv": {"format": "csv"}, "out.json": {"format": "json"}})
    assert again.urls == stored.urls
    assert lines(tmp_path / "out.jsonl") == stored.urls
    assert (tmp_path / "out.jsonl").read_text("utf-8") == (stored.folder / "pages.jsonl").read_text("utf-8")
    assert [row["url"] for row in csv.DictReader((tmp_path / "out.csv").open())] == stored.urls
    assert [page["url"] for page in json.loads((tmp_path / "out.json").read_text())] == stored.urls


def test_a_feed_that_is_appended_to_has_each_page_once(run, tmp_path):
    for pages in (2, 2, 4, 6):
        crawled = run(pages, {"out.jsonl": {"format": "jsonl"}})
        assert lines(tmp_path / "out.jsonl") == crawled.urls


def test_a_feed_that_is_overwritten_has_the_whole_crawl(run, tmp_path):
    for pages in (2, 4, 4):
        crawled = run(pages, {"out.jsonl": {"format": "jsonl", "overwrite": True}})
        assert lines(tmp_path / "out.jsonl") == crawled.urls


def test_a_new_feed_of_a_crawl_that_goes_on_has_stored_and_new_pages(run, tmp_path):
    run(2, {})
    crawled = run(5, {"late.jsonl": {"format": "jsonl"}})
    assert lines(tmp_path / "late.jsonl") == crawled.urls
    assert len(crawled.urls) == 5


def test_a_feed_of_one_run_has_the_pages_of_that_run(run, tmp_path):
    run(2, {})
    run(5, {"%(time)s.jsonl": {"format": "jsonl"}})
    (feed,) = tmp_path.glob("*.jsonl")
    assert len(lines(feed)) == 3


def test_pages_that_are_left_out_stay_so(crawl, tmp_path):
    web = small_web({"a": ["b"], "b": []})
    web.add(at("b"), "<title>b</title><meta name=robots content=noai><p>b")
    arguments = {"seeds": at("a"), "max_pages": 2}
    crawl("breadth_first", web, settings={"FOCUS_RIGHTS": "noai"}, **arguments)
    feeds = {str(tmp_path / "out.jsonl"): {"format": "jsonl"}}
    crawl("breadth_first", web, settings={"FOCUS_RIGHTS": "noai", "FEEDS": feeds}, **arguments)
    assert lines(tmp_path / "out.jsonl") == [at("a")]
