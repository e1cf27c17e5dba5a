"""A crawl is a web: what it fetched is answered as it was answered then."""

from __future__ import annotations

import json
import sqlite3

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.store.schema import VERSION
from focuscrawl.web.crawled import CrawledWeb
from focuscrawl.web.webs import Answer, MemoryWeb, open_web
from tests.conftest import at, small_web


@pytest.fixture
def crawled(crawl):
    web = small_web({"a": ["b", "old", "gone", "broken"], "b": ["a"], "new": []}, {"a": "sort", "new": "sort sort"})
    web.redirect(at("old"), at("older"))
    web.redirect(at("older"), at("new"))
    web.answers[at("broken")] = Answer(410, "text/html", b"<p>gone for good")
    return crawl("best_first", web, seeds=at("a"), keywords="sort")


def test_pages_statuses_and_redirects_are_replayed(crawled):
    web = open_web(str(crawled.folder / "crawl.sqlite"))
    assert isinstance(web, CrawledWeb)
    assert web.get(at("a")).body.startswith(b"<title>a</title>")
    assert web.get("https://www.a.example/#x").status == 200
    assert web.get(at("broken"))[:3] == (410, "text/html", b"<p>gone for good")
    assert web.get(at("gone")).status == 404
    assert web.get(at("nowhere")).status == 404
    assert web.get(at("old"))[0::3] == (301, at("older"))
    assert web.get(at("older"))[0::3] == (301, at("new"))
    assert {*web.page_urls()} == {at(name) for name in ("a", "b", "new", "gone", "broken")}
    assert web.hosts() == sorted(f"{name}.example" for name in ("a", "b", "new", "gone", "broken"))


def test_a_directory_that_holds_a_crawl_is_that_crawl(crawled, tmp_path):
    web = open_web(str(crawled.folder))
    assert isinstance(web, CrawledWeb)
    assert web.get(at("a")).status == 200
    with pytest.raises(FocusError, match=f"^web '{tmp_path}/crawl.sqlite': no such file; give a web file, demo or"):
        open_web(str(tmp_path))


def test_a_crawl_of_the_crawl_in_a_directory_knows_it_from_anywhere(crawled, crawl, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").write_text("a file of that name is not the embedded web")
    for name, known in {crawled.folder.name: str(crawled.folder / "crawl.sqlite"), "demo": "demo"}.items():
        again = crawl("breadth_first", MemoryWeb(), tmp_path / f"of-{name}", {"FOCUS_WEB": name}, seeds=at("a"))
        (runs,) = again.sql("SELECT value FROM meta WHERE key = 'runs'")[0]
        assert json.loads(runs)[0]["settings"]["FOCUS_WEB"] == known


def test_what_the_crawl_judged_relevant_has_its_topic_for_a_label(crawled):
    web = open_web(str(crawled.folder / "crawl.sqlite"))
    assert [web.labels(at(name)) for name in ("a", "new", "b", "gone", "nowhere")] == [["sort"], ["sort"], [], [], []]


def test_a_crawl_can_be_crawled_again(crawled, crawl, tmp_path):
    web = CrawledWeb(crawled.folder / "crawl.sqlite")
    again = crawl("best_first", web, tmp_path / "again", seeds=at("a"), keywords="sort")
    assert [(page["url"], page["status"]) for page in again.pages] == [
        (page["url"], page["status"]) for page in crawled.pages
    ]


def test_a_copy_answers_with_the_page_it_repeats(crawl):
    text = " ".join(f"word{n}" for n in range(300))
    web = small_web({"a": ["b", "c"]})
    for name in ("b", "c"):
        web.add(at(name), f"<title>Same</title><p>{text}")
    crawled = crawl("breadth_first", web, seeds=at("a"))
    assert crawled.sql("SELECT count(*) FROM page WHERE body IS NULL") == [(1,)]
    again = CrawledWeb(crawled.folder / "crawl.sqlite")
    assert again.get(at("b")).body == again.get(at("c")).body != b""


def test_a_crawl_of_another_version_is_refused(crawled):
    path = crawled.folder / "crawl.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'version'")
    connection.close()
    with pytest.raises(FocusError, match=f"format 1, not {VERSION}"):
        open_web(str(path))
