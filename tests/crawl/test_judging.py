"""Stored pages are judged again by strategies that have learned, and by other examples."""

from __future__ import annotations

import json
import shutil

import pytest

from focuscrawl.crawl.judging import judge_pages, write_verdicts
from focuscrawl.crawl.lock import locked_store
from focuscrawl.crawl.marking import mark_pages
from focuscrawl.errors import FocusError
from focuscrawl.reading import types
from focuscrawl.spiders.adaptive import Adaptive
from focuscrawl.spiders.baseline import BaselineSpider
from focuscrawl.spiders.best_first import BestFirstSpider
from focuscrawl.spiders.link_classifier import LinkClassifierSpider
from tests.conftest import Crawled, at, small_web
from tests.lessons import lessons_web, topic_file


@pytest.fixture(scope="module")
def web():
    return lessons_web()


@pytest.fixture
def topic(tmp_path):
    return topic_file(tmp_path / "topic")


def judge(crawled: Crawled, strategy: type, **arguments: object) -> list[str]:
    """Judge the pages of a crawl again; returns the lines of URLs.txt."""
    given = {name: str(value) for name, value in arguments.items()}
    with locked_store(crawled.folder) as store:
        write_verdicts(crawled.folder, store, *judge_pages(crawled.folder, strategy, given, types.ALL))
    return crawled.matched


def share_of(kind: str, urls: list[str]) -> float:
    return sum(kind in url for url in urls) / max(1, len(urls))


@pytest.mark.parametrize("strategy", [BaselineSpider, LinkClassifierSpider, Adaptive])
def test_by_examples_the_other_way_round_the_other_pages_match(crawl, web, topic, strategy):
    crawled = crawl(strategy.name, web, topic=topic, max_pages=90)
    assert share_of("garden", crawled.matched) > 0.9
    yes, no = topic.parent / "yes", topic.parent / "no"
    shutil.move(yes, topic.parent / "kept")
    shutil.move(no, yes)
    shutil.move(topic.parent / "kept", no)
    topic.write_text(topic.read_text().replace("rose = 1, soil = 1", "piston = 1, fuel = 1"))
    matched = judge(crawled, strategy, topic=topic)
    assert share_of("engine", matched) > 0.9
    more = crawl(strategy.name, web, topic=topic, max_pages=100)
    assert more.matched[: len(matched)] == matched
    assert share_of("engine", more.matched) > 0.9, "the crawl goes on by the new judge"


def test_with_the_same_arguments_nothing_changes(crawl, web, topic):
    crawled = crawl("baseline", web, topic=topic, max_pages=30)
    before = crawled.sql("SELECT * FROM page"), crawled.matched, (crawled.folder / "judge.json").read_bytes()
    judge(crawled, BaselineSpider, topic=topic)
    after = crawled.sql("SELECT * FROM page"), crawled.matched, (crawled.folder / "judge.json").read_bytes()
    assert after == before


def test_marks_still_overrule_and_their_opinions_follow_the_new_judge(crawl):
    web = small_web({"root": ["a", "b"], "a": [], "b": []}, {"root": "sort", "a": "sort sort", "b": "weather"})
    crawled = crawl("best_first", web, seeds=at("root"), keywords="sort")
    mark_pages(crawled.folder, [(at("a"), "no", ""), (at("b"), "yes", "")])
    assert judge(crawled, BestFirstSpider, keywords="weather") == [at("b")]
    assert crawled.sql("SELECT round(relevance), relevant FROM opinion ORDER BY page") == [(0.0, 0), (1.0, 1)]
    mark_pages(crawled.folder, [(at("b"), "none", "")])
    assert crawled.matched == [at("b")]
    mark_pages(crawled.folder, [(at("a"), "none", "")])
    assert crawled.matched == [at("b")], "the new judge finds no sort"
    assert json.loads(crawled.sql("SELECT value FROM meta WHERE key = 'keywords'")[0][0]) == {"weather": 1.0}


def test_what_would_have_to_be_fetched_is_refused(crawl, web, topic):
    crawled = crawl("baseline", web, topic=topic, max_pages=20)
    topic.write_text(topic.read_text().replace('"yes/*.html"', '"http://nowhere.example/"'))
    before = crawled.sql("SELECT * FROM meta")
    with pytest.raises(FocusError, match="judging fetches none"):
        judge(crawled, BaselineSpider, topic=topic)
    assert crawled.sql("SELECT * FROM meta") == before
