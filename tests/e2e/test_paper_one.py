"""P1's experiment on the embedded web: the keyword crawler against the traditional one, six queries about sorting."""

from __future__ import annotations

import pytest

from focuscrawl.web.demo import demo_web

QUERIES = [
    "time,bubble,sort",
    "sort,quick",
    "quick,heap,space",
    "shell,sort,time",
    "heap,space,sort",
    "data,sort,time,shell",
]
START = {"seeds": "http://sorting-handbook.example/,http://crossroads.example/", "max_pages": 300}


def precision(urls: list[str]) -> float:
    return sum("sorting" in demo_web().labels(url) for url in urls) / len(urls)


@pytest.mark.parametrize("query", QUERIES)
def test_the_focused_crawler_is_the_more_precise_one_on_every_query(crawl, tmp_path, query):
    web = demo_web()
    traditional = crawl("breadth_first", web, tmp_path / "traditional", keywords=query, **START)
    focused = crawl("keyword", web, tmp_path / "focused", keywords=query, **START)
    assert precision(focused.matched) > 1.3 * precision(traditional.matched)
    assert len(traditional.matched) > len(focused.matched)  # which is why its recall is the higher one, given time
