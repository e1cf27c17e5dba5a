"""The measure of the niche genetic crawler, applied to any page of a web."""

from __future__ import annotations

import pytest

from focuscrawl.lab.tags import TagRelevance
from focuscrawl.topic import Topic, load_topic
from focuscrawl.web.webs import open_web
from tests.conftest import at, small_web


def test_it_is_what_the_spider_measures(crawl):
    web = open_web("demo")
    crawled = crawl("niche_genetic", web, topic="sorting", max_pages=60)
    tags = TagRelevance(web, {"sorting": load_topic("sorting")})
    stored = crawled.sql("SELECT url, relevance FROM page WHERE problem IS NULL")
    assert len(stored) > 50
    assert [tags.of("sorting", url) for url, _ in stored] == pytest.approx([relevance for _, relevance in stored])


def test_a_page_that_is_not_there_has_none():
    web = small_web({"a": ["b"]}, {"a": "heap"})
    tags = TagRelevance(web, {"heaps": Topic("heaps", keywords={"heap": 1.0})})
    assert tags.of("heaps", at("a")) == 1.0
    assert tags.of("heaps", at("nowhere")) == 0.0
