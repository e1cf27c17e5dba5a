"""Crawls on a real PostgreSQL server."""

from __future__ import annotations

from focuscrawl.testing import at, crawl, small_web


def test_a_crawl_on_a_server_is_that_in_a_file(database, tmp_path):
    web = small_web(
        {"a": ["b/sorting", "c"], "b/sorting": ["d", "a/x"], "c": [], "d": ["e/sorting"], "a/x": [], "e/sorting": []}
    )
    one = crawl("best_first", web, tmp_path / "file", seeds=at("a"), keywords="sorting")
    other = crawl("best_first", web, tmp_path / "server", {"FOCUS_STORE": database}, seeds=at("a"), keywords="sorting")
    assert other.urls == one.urls
