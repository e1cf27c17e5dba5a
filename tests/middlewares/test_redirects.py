from __future__ import annotations

import pytest

from focuscrawl.web.webs import Answer
from tests.conftest import at, small_web


@pytest.mark.parametrize("location", ["http://[/", "javascript:history.back()", "http://a:99999/"])
def test_the_failure_of_a_bad_redirect_names_where_it_leads(crawl, location):
    web = small_web({"seed": ["lost", "a"], "a": []})
    web.answers[at("lost")] = Answer(302, location=location)
    crawled = crawl("breadth_first", web, seeds=at("seed"))
    ((reason,),) = crawled.sql("SELECT reason FROM failure")
    assert reason.startswith(f"bad redirect: {location}: ")
    assert crawled.urls == [at("seed"), at("a")]
    assert crawled.stats["focus/failed/bad redirect"] == 1
