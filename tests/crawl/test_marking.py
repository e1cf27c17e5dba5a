"""A person's mark overrules the judge: in stored pages, in a running crawl, and in what strategies learn."""

from __future__ import annotations

import json
import logging
from itertools import pairwise
from typing import ClassVar

import pytest

from focuscrawl.crawl.mark_watch import EVERY_PAGES, LESSON_EVERY
from focuscrawl.crawl.marking import mark_pages
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.spiders.best_first import BestFirstSpider
from focuscrawl.store.places import read_crawl
from tests.conftest import Crawled, at, small_web
from tests.lessons import lessons_web, topic_file

TEXTS = {"root": "sort", "a": "sort array", "b": "weather", "c": "sort"}
LINKS = {"root": ["a", "b", "c"], "a": ["a/1", "a/2"], "b": ["b/1", "b/2"], "c": []}
WEB = {**LINKS, **{name: [] for targets in LINKS.values() for name in targets if "/" in name}}


def sorting_web(**texts: str):
    return small_web(WEB, {**TEXTS, **texts})


@pytest.fixture
def crawled(crawl) -> Crawled:
    return crawl(
        "best_first", sorting_web(), seeds=at("root"), keywords="sort", max_pages=4, settings={"FOCUS_INDEX": True}
    )


def verdicts(crawled: Crawled) -> dict[str, tuple[float, int, int]]:
    return {url: tuple(rest) for url, *rest in crawled.sql("SELECT url, relevance, relevant, matched FROM page")}  # type: ignore[misc]


def test_a_mark_takes_back_a_match_and_another_adds_one(crawled):
    before = (crawled.folder / "pages.jsonl").read_bytes()
    assert crawled.matched == [at("root"), at("a"), at("c")]
    done = mark_pages(crawled.folder, [(at("a"), "no", "a joke"), (at("b"), "yes", "")], "ann")
    assert (done.applied, done.changed, done.unknown) == (True, 2, [])
    assert crawled.matched == [at("root"), at("c"), at("b")]
    assert verdicts(crawled)[at("a")] == (0.0, 0, 0)
    assert verdicts(crawled)[at("b")] == (1.0, 1, 1)
    assert crawled.sql("SELECT url, verdict, note, marked_by FROM mark") == [
        (at("a"), "no", "a joke", "ann"),
        (at("b"), "yes", "", "ann"),
    ]
    found = crawled.sql("SELECT url FROM page JOIN indexed ON page.id = page WHERE indexed.matched ORDER BY url")
    assert [url for (url,) in found] == sorted(crawled.matched)
    assert (crawled.folder / "pages.jsonl").read_bytes() == before, "what was fetched first stays"


def test_the_last_mark_counts_and_none_gives_the_word_back_to_the_judge(crawled):
    before = verdicts(crawled)
    for verdict in ("no", "yes", "no", "none"):
        mark_pages(crawled.folder, [(at("a"), verdict, "")])
    assert verdicts(crawled) == before
    assert set(crawled.matched) == {at("root"), at("a"), at("c")}
    assert crawled.sql("SELECT * FROM opinion") == []


def test_unsure_is_remembered_and_changes_no_verdict(crawled):
    before = verdicts(crawled)
    assert mark_pages(crawled.folder, [(at("a"), "unsure", "")]).changed == 0
    assert verdicts(crawled) == before
    with read_crawl(crawled.folder) as store:
        assert [mark.verdict for mark in store.marks.all()] == ["unsure"]


def test_a_page_is_found_by_the_url_before_and_after_a_redirect(crawl):
    web = sorting_web()
    web.add(at("new"), "<title>new</title><p>sort sort</p>")
    web.redirect(at("c"), at("new"))
    crawled = crawl("best_first", web, seeds=at("root"), keywords="sort")
    assert at("new") in crawled.matched
    assert mark_pages(crawled.folder, [(at("new"), "no", "")]).unknown == []
    assert at("new") not in crawled.matched
    mark_pages(crawled.folder, [(at("c"), "none", "")])
    assert at("new") in crawled.matched


def test_a_url_may_be_marked_before_its_page_arrives(crawl, crawled):
    done = mark_pages(crawled.folder, [(at("a/1"), "yes", "")])
    assert done.unknown == [at("a/1")]
    crawl("best_first", sorting_web(), seeds=at("root"), keywords="sort")
    assert at("a/1") in crawled.matched
    assert at("a/2") not in crawled.matched


def test_a_mark_adds_no_page_that_is_withheld(crawl):
    web = sorting_web()
    web.add(at("b"), '<meta name="robots" content="noindex"><title>b</title><p>weather</p>')
    crawled = crawl("best_first", web, seeds=at("root"), keywords="sort")
    done = mark_pages(crawled.folder, [(at("b"), "yes", "")])
    assert list(done.withheld) == [(at("b"), "noindex")]
    assert at("b") not in crawled.matched
    assert verdicts(crawled)[at("b")] == (1.0, 1, 0)


def test_links_follow_their_page_when_it_is_marked(crawl, crawled):
    mark_pages(crawled.folder, [(at("a"), "no", ""), (at("b"), "yes", "")])
    again = crawl("best_first", sorting_web(), seeds=at("root"), keywords="sort")
    assert again.urls[4:] == [at("b/1"), at("b/2"), at("a/1"), at("a/2")]


def test_wrong_marks_are_refused_before_any_is_set(crawled):
    for mark, message in (((at("a"), "maybe", ""), "verdict 'maybe'"), (("no url", "yes", ""), "no url")):
        with pytest.raises(FocusError, match=message):
            mark_pages(crawled.folder, [(at("b"), "yes", ""), mark])
    assert crawled.sql("SELECT * FROM mark") == []
    with pytest.raises(FocusError, match="no such file"):
        mark_pages(crawled.folder / "elsewhere", [(at("b"), "yes", "")])


# ---- while a crawl runs


class Marking(BestFirstSpider):
    """Marks pages while it crawls, as another process would: with a connection of its own."""

    name = "best_first"
    after: ClassVar[dict[int, list[tuple[str, str, str]]]] = {}
    seen: ClassVar[list[list[str]]] = []

    def stored(self, page: Page) -> None:
        for mark in self.after.get(page.number, []):
            assert not mark_pages(self.crawl.folder, [mark], "ann").applied
        self.seen.append((self.crawl.folder / "URLs.txt").read_text().splitlines())


def test_a_running_crawl_takes_up_marks(crawl, monkeypatch):
    web = small_web({"root": [f"p/{n}" for n in range(40)], **{f"p/{n}": [] for n in range(40)}}, {"root": "sort"})
    monkeypatch.setattr(
        Marking, "after", {3: [(at("root"), "no", ""), (at("p/1"), "yes", ""), (at("p/39"), "yes", "")]}
    )
    monkeypatch.setattr(Marking, "seen", [])
    crawled = crawl(Marking, web, seeds=at("root"), keywords="sort")
    assert len(crawled.urls) == 41
    assert Marking.seen[2] == [at("root")]
    assert Marking.seen[3 + EVERY_PAGES] == [at("p/1")]
    assert crawled.matched == [at("p/1"), at("p/39")]
    assert crawled.stats["focus/matched"] == 2
    assert len(crawled.pages) == 41


def test_marks_that_are_set_at_the_very_end_count(crawl, monkeypatch):
    monkeypatch.setattr(Marking, "after", {8: [(at("root"), "no", "")]})
    monkeypatch.setattr(Marking, "seen", [])
    crawled = crawl(Marking, sorting_web(), seeds=at("root"), keywords="sort")
    assert len(crawled.urls) == 8
    assert crawled.matched == [at("a"), at("c")]


# ---- learning


@pytest.fixture(scope="module")
def gardens():
    return lessons_web()


@pytest.fixture
def garden_topic(tmp_path):
    return topic_file(tmp_path / "topic")


LEARNERS = {
    "baseline": {},
    "naive_bayes_threshold": {},
    "link_classifier": {"training_pages": 20},
    "apprentice": {"training": "online"},
}


@pytest.mark.parametrize("spider", LEARNERS)
def test_a_judge_that_was_trained_on_examples_learns_from_marks(crawl, gardens, garden_topic, spider, caplog):
    options = {"topic": garden_topic, **LEARNERS[spider]}
    crawled = crawl(spider, gardens, max_pages=30, **options)
    before = json.loads((crawled.folder / "judge.json").read_text())
    engines = [page["url"] for page in crawled.pages if "engine" in page["url"]]
    gardens_found = [page["url"] for page in crawled.pages if "garden" in page["url"]]
    marks = [(url, "yes", "") for url in engines] + [(url, "no", "") for url in gardens_found[:8]]
    assert mark_pages(crawled.folder, marks).changed == len(marks)
    with caplog.at_level(logging.INFO):
        crawl(spider, gardens, max_pages=32, **options)
    assert f"{len(marks)} newly marked pages" in caplog.text
    assert "the judge was trained again on" in caplog.text
    after = json.loads((crawled.folder / "judge.json").read_text())
    assert len(after["marks"]) == len(marks)
    assert after["weights"] != before["weights"]
    caplog.clear()
    with caplog.at_level(logging.INFO):
        crawl(spider, gardens, max_pages=34, **options)
    assert "newly marked" not in caplog.text
    assert json.loads((crawled.folder / "judge.json").read_text()) == after
    mark_pages(crawled.folder, [(url, "none", "") for url, _, _ in marks])
    crawl(spider, gardens, max_pages=36, **options)
    assert json.loads((crawled.folder / "judge.json").read_text())["weights"] == before["weights"]


@pytest.mark.parametrize("spider", ["adaptive", "intelligent"])
def test_a_strategy_that_learns_while_it_crawls_learns_from_marks(
    crawl, gardens, garden_topic, spider, tmp_path, caplog
):
    runs = []
    for marked in (False, True):
        folder = tmp_path / f"{spider} {marked}"
        crawled = crawl(spider, gardens, folder, topic=garden_topic, max_pages=40)
        if marked:
            marks = [(page["url"], "yes" if "engine" in page["url"] else "no", "") for page in crawled.pages]
            mark_pages(folder, marks)
        with caplog.at_level(logging.INFO):
            crawled = crawl(spider, gardens, folder, topic=garden_topic, max_pages=70)
        runs.append(sum("engine" in url for url in crawled.urls[40:]))
    assert "newly marked pages" in caplog.text
    assert "re-scored" in caplog.text
    assert runs[1] > runs[0], "it goes where people say"


def test_marks_are_learned_within_fifty_pages(crawl, monkeypatch):
    assert EVERY_PAGES + LESSON_EVERY < 50
    told: list[tuple[int, list[int]]] = []

    def marked(self, verdicts, new):
        told.append((self.crawl.pages, list(new)))
        return ""

    web = small_web({"root": [f"p/{n}" for n in range(80)], **{f"p/{n}": [] for n in range(80)}}, {"root": "sort"})
    monkeypatch.setattr(Marking, "seen", [])
    monkeypatch.setattr(
        Marking, "after", {n: [(at("root"), "no", "")] for n in (5, 12)} | {13: [(at("p/1"), "yes", "")]}
    )
    monkeypatch.setattr(Marking, "marked", marked)
    crawl(Marking, web, seeds=at("root"), keywords="sort")
    pages = [page for page, new in told if new]
    assert pages
    assert all(later - earlier >= LESSON_EVERY for earlier, later in pairwise(pages))
    assert pages[0] <= 5 + 50
    assert pages[-1] <= 13 + 50


def test_the_layers_of_a_context_graph_learn_from_marks(crawl, gardens, garden_topic, caplog):
    options = {"topic": garden_topic, "crawl": "auto", "crawl_pages": 60}
    crawled = crawl("context_graph", gardens, max_pages=20, **options)
    before = (crawled.folder / "context_graph.json").read_text()
    marks = [(page["url"], "yes" if "garden" in page["url"] else "no", "") for page in crawled.pages[1:6]]
    mark_pages(crawled.folder, marks)
    with caplog.at_level(logging.INFO):
        crawl("context_graph", gardens, max_pages=22, **options)
    assert "the judge was trained again on" in caplog.text
    assert (crawled.folder / "context_graph.json").read_text() != before
