from __future__ import annotations

import logging
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from focuscrawl.reports.explain import explain
from focuscrawl.reports.report import crawl_report
from focuscrawl.spiders import adaptive
from focuscrawl.store.store import Store
from focuscrawl.strategies.adaptive import learner
from focuscrawl.testing import crawl
from focuscrawl.topic import load_topic
from focuscrawl.web.webs import open_web
from tests.conftest import at, small_web
from tests.language_webs import language_web, topic_file

PAGES = 100
LABEL = "sorting"


@pytest.fixture(scope="module")
def sorting():
    return load_topic("sorting")


def given(sorting, start: str) -> str:
    """A part of the topic, as it is written in a topic file."""
    keywords = ", ".join(f'"{word}" = {weight}' for word, weight in sorting.keywords.items())
    examples, others = (list(map(str, found)) for found in (sorting.examples, sorting.counterexamples))
    return {
        "keywords": f"keywords = {{ {keywords} }}",
        "description": 'description = "algorithms that sort the elements of an array, such as merge sort and quicksort"',
        "examples": f"examples = {examples}",
        "both kinds of examples": f"examples = {examples}\ncounterexamples = {others}",
        "seeds": "",
    }[start]


@pytest.fixture(scope="module")
def relevant(tmp_path_factory, sorting):
    """How many pages a crawl finds that are about sorting by their labels; copies do not count."""

    def run(spider: str, start: str) -> int:
        web, folder = open_web("demo"), tmp_path_factory.mktemp(spider)
        topic = folder / "topic.toml"
        topic.write_text(f'name = "sorting"\nseeds = {sorting.seeds}\n{given(sorting, start)}\n', "utf-8")
        crawled = crawl(spider, web, folder / "crawl", topic=topic, max_pages=PAGES)
        assert crawled.stats.get("log_count/ERROR", 0) == 0
        assert len(crawled.urls) == PAGES
        own = crawled.sql("SELECT url FROM page WHERE duplicate_of IS NULL")
        return sum(LABEL in web.labels(url) for (url,) in own)

    return run


@pytest.fixture(scope="module")
def without_a_topic(relevant):
    """How many the crawler finds that takes pages as they come."""
    return relevant("breadth_first", "seeds")


@pytest.mark.parametrize("start", ["keywords", "description", "examples", "both kinds of examples", "seeds"])
@pytest.mark.parametrize("vectors", [True, False])
def test_any_part_of_a_topic_is_enough(relevant, without_a_topic, start, vectors, monkeypatch):
    if not vectors:
        monkeypatch.setattr(adaptive, "load_vectors", lambda: None)
    elif adaptive.load_vectors() is None:
        pytest.skip("needs the word vectors: pip install 'focuscrawl[vectors]'")
    # by their words alone, a few pages say little about a topic: without vectors no order finds more than none
    gains = {"examples": (-8, 4), "seeds": (-12, 0)}
    gain = gains.get(start, (4, 4))[vectors]
    assert relevant("adaptive", start) > without_a_topic + gain


def test_what_is_missed_without_word_vectors_is_said_once(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(adaptive, "load_vectors", lambda: None)
    web = small_web({"root": ["a"], "a": []}, {"root": "sort"})
    with caplog.at_level(logging.INFO):
        crawl("adaptive", web, tmp_path / "few", seeds=at("root"), keywords="sort")
    assert sum("focuscrawl[vectors]" in record.getMessage() for record in caplog.records) == 1


def test_an_explanation_names_the_signals(tmp_path):
    crawled = crawl("adaptive", open_web("demo"), tmp_path / "c", topic="sorting", max_pages=60)
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    story = "\n".join(explain(store, crawled.urls[-1]))
    store.close()
    assert "best page that links there" in story or "relevant pages that link there" in story
    assert "context (" in story or "anchor and URL (" in story


def test_what_was_learned_is_told_in_words(tmp_path):
    crawled = crawl("adaptive", open_web("demo"), tmp_path / "c", topic="sorting", max_pages=60)
    with closing(Store(crawled.folder / "crawl.sqlite", create=False)) as store:
        learned, report = store.meta("learned"), crawl_report(store)
    assert "sort" in [name for name, _ in learned["page for"]]
    assert all(weight < 0 for name in ("page against", "link against") for _, weight in learned[name])
    assert any(name.startswith("word: ") for name, _ in learned["link for"])
    assert all(len({name for name, _ in told}) == len(told) for told in learned.values())
    assert "What was learned" in report


def test_a_bounded_memory_costs_little(tmp_path, monkeypatch):
    """Only what speaks for the better half of the waiting URLs is kept."""
    web, found = open_web("demo"), []
    for name, most in (("all", 1_000_000), ("few", 300)):
        monkeypatch.setattr(learner, "MOST_LINKS", most)
        crawled = crawl("adaptive", web, tmp_path / name, topic="sorting", max_pages=120)
        found.append(sum(LABEL in web.labels(url) for url in crawled.urls))
    assert found[1] > 0.9 * found[0]


def test_two_crawls_are_the_same(tmp_path):
    first, second = (
        crawl("adaptive", open_web("demo"), tmp_path / name, topic="sorting", max_pages=80).pages for name in "ab"
    )
    assert [(page["url"], page["score"]) for page in first] == [(page["url"], page["score"]) for page in second]


def test_copies_of_pages_do_not_pay(tmp_path):
    """The embedded web has a site about sorting and a mirror of it: once the copies are recognised, they come last."""
    crawled = crawl("adaptive", open_web("demo"), tmp_path / "c", topic="sorting", max_pages=250)
    ((copies,),) = crawled.sql("SELECT count(*) FROM page WHERE duplicate_of NOT NULL")
    assert 0 < copies < 25  # of 64 there are


def test_a_link_found_on_more_pages_is_scored_by_all_of_them(tmp_path):
    links = {"root": ["a", "b", "c"], "a": ["x", "y"], "b": ["y"], "c": [], "x": [], "y": []}
    texts = dict.fromkeys(("root", "a", "b"), "merge sort and heap sort")
    crawled = crawl("adaptive", small_web(links, texts), tmp_path / "c", seeds=at("root"), keywords="sort,heap,merge")
    assert crawled.urls.index(at("y")) < crawled.urls.index(at("x"))


@pytest.mark.slow
def test_scores_are_calibrated_against_the_judge(tmp_path):
    """After 100 pages the mean score of links of about the same score is the mean relevance that they led to."""
    found = []
    for topic in ("birds", "sorting"):
        crawled = crawl("adaptive", open_web("demo"), tmp_path / topic, topic=topic, max_pages=400)
        found += crawled.sql("SELECT score, relevance FROM page WHERE id > 100 AND score NOT NULL")
    scores, outcomes = np.array([(score, relevance or 0.0) for score, relevance in found]).T
    places = np.minimum((10 * scores).astype(int), 9)
    error = sum(
        np.mean(places == place) * abs(scores[places == place].mean() - outcomes[places == place].mean())
        for place in range(10)
        if np.any(places == place)
    )
    assert error < 0.05


def test_a_seed_is_fetched_first_whatever_its_in_links_say(tmp_path):
    """The first seed has links to better pages, and a poor one to the second seed, which leads to the rest."""
    links = {"a": ["hub", "a/1", "a/2", "a/3"], "a/1": ["a/4"], "a/2": [], "a/3": [], "a/4": [], "hub": ["b"], "b": []}
    texts = {name: "merge sort and heap sort" for name in links if name != "hub"}
    crawled = crawl(
        "adaptive", small_web(links, texts), tmp_path / "c", seeds=f"{at('a')},{at('hub')}", keywords="sort"
    )
    assert crawled.urls[:2] == [at("a"), at("hub")]


# ---- what was learned is kept in the crawl's file


STOPPED = {"seeds": "http://sorting-handbook.example/", "keywords": "sort,algorithm,array,heap,merge"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A crawl that was never stopped, given by keywords: its judge changes."""
    return crawl("adaptive", open_web("demo"), tmp_path_factory.mktemp("w") / "c", **STOPPED, max_pages=90)


def change_file(folder, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "crawl.sqlite", isolation_level=None)) as connection:
        connection.execute(statement, values)


def scored(crawled) -> list[tuple[str, float]]:
    return [(page["url"], page["score"]) for page in crawled.pages]


def test_a_stopped_crawl_goes_on_from_what_it_has_learned(tmp_path, whole, monkeypatch):
    crawl("adaptive", open_web("demo"), tmp_path / "c", **STOPPED, max_pages=50)
    read = []
    monkeypatch.setattr(adaptive, "read_page", lambda page, *_, **__: read.append(page.url))
    assert scored(crawl("adaptive", open_web("demo"), tmp_path / "c", **STOPPED, max_pages=90)) == scored(whole)
    assert read == []


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM model",
        "UPDATE model SET data = 'none'",
        "UPDATE model SET data = x'00'",
        "UPDATE model SET data = substr(data, 1, length(data) / 2)",
    ],
)
def test_what_cannot_be_used_is_learned_again_from_the_pages(tmp_path, whole, change):
    stopped = crawl("adaptive", open_web("demo"), tmp_path / "c", **STOPPED, max_pages=50)
    change_file(stopped.folder, change)
    assert scored(crawl("adaptive", open_web("demo"), tmp_path / "c", **STOPPED, max_pages=90)) == scored(whole)


def test_a_crawl_that_was_killed_learns_the_rest_from_the_pages(tmp_path, whole):
    crawl("adaptive", open_web("demo"), tmp_path / "a", **STOPPED, max_pages=30)
    model = Store(tmp_path / "a" / "crawl.sqlite")
    page, data = model.models.get("adaptive")
    model.close()
    stopped = crawl("adaptive", open_web("demo"), tmp_path / "c", **STOPPED, max_pages=50)
    change_file(stopped.folder, "UPDATE model SET page = ?, data = ?", page, data)
    assert scored(crawl("adaptive", open_web("demo"), tmp_path / "c", **STOPPED, max_pages=90)) == scored(whole)


def test_verdicts_follow_what_the_judge_has_learned_since(tmp_path):
    crawled = crawl("adaptive", language_web("de"), tmp_path / "c", topic=topic_file("de"))
    now = dict(crawled.sql("SELECT url, relevance FROM page"))
    first = {page["url"]: page["relevance"] for page in crawled.pages}
    assert max(abs(now[url] - first[url]) for url in now) > 0.1
    assert sorted(crawled.matched) == sorted(url for (url,) in crawled.sql("SELECT url FROM page WHERE matched"))
    assert all((now[url] >= 0.5) == (url in crawled.matched) for url in now)
