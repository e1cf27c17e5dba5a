"""`scrapy search`."""

from __future__ import annotations

import json
import os
import sqlite3

import pytest

from focuscrawl.crawl.lock import take_lock
from focuscrawl.errors import FocusError
from focuscrawl.store.store import Store
from tests.conftest import at, scrapy, small_web
from tests.test_docs import snippets

WEB = {"a": ["b", "c"], "b": [], "c": []}
TEXTS = {"a": "heap sort and quick sort", "b": "merge sort of a heap", "c": "gardening"}


@pytest.fixture
def crawled(crawl):
    return crawl("keyword", small_web(WEB, TEXTS), seeds=at("a"), keywords="sort")


def test_pages_are_indexed_when_they_are_first_searched(crawled):
    first = scrapy("search", crawled.folder, "heap sort")
    assert first.returncode == 0, first.stderr
    assert first.stderr == f"focuscrawl: indexing {crawled.folder}: 3 pages are not in the index yet\n"
    assert at("a") in first.stdout
    assert at("b") in first.stdout
    assert at("c") not in first.stdout
    assert first.stdout.endswith("2 pages\n")
    assert "\x1b" not in first.stdout
    second = scrapy("search", crawled.folder, "heap", "sort")
    assert (second.stdout, second.stderr) == (first.stdout, "")


def test_a_crawl_may_be_named_by_its_file(crawled):
    result = scrapy("search", crawled.folder / "crawl.sqlite", "heap sort")
    assert result.stderr == f"focuscrawl: indexing {crawled.folder}: 3 pages are not in the index yet\n"
    assert result.stdout.endswith("2 pages\n")


def test_several_crawls_are_searched_at_once(crawl, tmp_path):
    """The best page of each crawl comes first; one that is in both is shown once."""
    first = crawl("keyword", small_web(WEB, TEXTS), tmp_path / "one", seeds=at("a"), keywords="sort")
    other = small_web({"a": ["z"], "z": []}, {"a": TEXTS["a"], "z": "another heap sort"})
    second = crawl("keyword", other, tmp_path / "two", seeds=at("a"), keywords="sort")
    both = [first.folder.name, second.folder.name]
    result = scrapy("search", *both, "heap sort", "--json", cwd=tmp_path, **SETTINGS)
    found = json.loads(result.stdout)
    assert found["crawls"] == both
    assert {hit["url"] for hit in found["results"]} == {at("a"), at("b"), at("z")}
    assert found["total"] == 3
    assert {hit["crawl"] for hit in found["results"][:2]} == set(both) or found["results"][0]["url"] == at("a")
    shown = scrapy("search", *both, "heap", "sort", cwd=tmp_path, **SETTINGS).stdout
    assert "in two" in shown
    assert shown.endswith("3 pages\n")
    alone = scrapy("search", "one", "two", cwd=tmp_path, **SETTINGS)  # the last word is the query, whatever else it is
    assert alone.stdout == "no pages found\n"


SETTINGS = {"SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}


def test_results_as_json(crawled):
    result = json.loads(
        scrapy("search", crawled.folder, '"heap sort" OR merge -gardening', "--limit", 1, "--json").stdout
    )
    assert result["total"] == 2
    assert result["not_indexed"] == 0
    (hit,) = result["results"]
    assert set(hit) == {
        "url",
        "title",
        "snippet",
        "score",
        "host",
        "fetched_at",
        "relevance",
        "relevant",
        "matched",
        "topics",
        "authors",
        "published",
        "modified",
        "site_name",
    }
    assert hit["url"] in (at("a"), at("b"))
    assert hit["matched"] is True


def test_filters(crawled):
    def found(*options: object) -> set[str]:
        result = scrapy("search", crawled.folder, "to OR heap OR gardening", "--json", *options)
        return {hit["url"] for hit in json.loads(result.stdout)["results"]}

    assert found() == {at("a"), at("b"), at("c")}
    assert found("--matched") == found("--relevant") == {at("a"), at("b")}
    assert found("--host", "b.example") == {at("b")}
    assert found("--topic", "nothing") == set()
    day = crawled.pages[0]["fetched_at"][:10]
    assert found("--since", day) == found("--until", crawled.pages[-1]["fetched_at"]) == {at("a"), at("b"), at("c")}
    assert found("--until", crawled.pages[0]["fetched_at"]) == {at("a")}
    assert found("--since", "2999-01-01") == found("--until", "2000-01-01") == set()


def test_nothing_found_is_said(crawled):
    result = scrapy("search", crawled.folder, "zebra")
    assert (result.returncode, result.stdout) == (0, "no pages found\n")


def test_more_than_shown_is_said(crawled):
    assert scrapy("search", crawled.folder, "sort", "--limit", 1).stdout.endswith("1 of 2 pages; --limit shows more\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["("], "has no word to look for"),
        ([" -heap"], "only excludes words"),
        (["heap", "--limit", "0"], "--limit 0: expected a whole number"),
        (["heap", "--since", "yesterday"], "--since yesterday: expected a date such as"),
        (["heap", "--hots", "a.example"], "unknown option --hots"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(crawled, arguments, says):
    result = scrapy("search", crawled.folder, *arguments)
    assert result.returncode == 2
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_directory_without_a_crawl_is_refused(tmp_path):
    result = scrapy("search", tmp_path, "heap")
    assert result.returncode == 2
    assert "is " in result.stderr
    assert "the directory of a crawl" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_missing_arguments_are_asked_for(tmp_path):
    assert scrapy("search", tmp_path).returncode == 2


def test_a_damaged_file_is_told_in_one_line(crawled):
    scrapy("search", crawled.folder, "heap")
    with sqlite3.connect(crawled.folder / "crawl.sqlite") as connection:
        connection.execute("UPDATE page SET body = x'00'")
    connection.close()
    result = scrapy("search", crawled.folder, "heap")
    assert result.returncode == 2
    assert "is damaged" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_while_a_crawl_runs_what_is_there_is_searched_and_nothing_written(crawl):
    """The crawl is in the midst of a transaction all the while, and is not held up in it."""
    web = small_web(WEB, TEXTS)
    crawl("keyword", web, seeds=at("a"), keywords="sort", max_pages=1)
    crawled = crawl("keyword", web, seeds=at("a"), keywords="sort", settings={"FOCUS_INDEX": True})
    lock = take_lock(crawled.folder)
    store = Store(crawled.folder / "crawl.sqlite")
    store.execute("PRAGMA busy_timeout = 0")
    try:
        with store.transaction():
            store.set_meta("x", 1)
            result = scrapy("search", crawled.folder, "sort")
        with store.transaction():
            store.set_meta("x", 2)
    finally:
        store.close()
        lock.close()
    assert result.returncode == 0
    assert "focuscrawl: 1 page is not indexed yet" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert at("b") in result.stdout
    assert at("a") not in result.stdout
    assert scrapy("search", crawled.folder, "sort").stdout.endswith("2 pages\n")


def test_pages_by_author_site_and_date_of_publication(crawl):
    web = small_web(WEB, TEXTS)
    said = "<meta name=author content='Jane Doe'><meta name=date content=2021-03-04><meta property=og:site_name content=News>"
    web.add(at("b"), f"<title>b</title>{said}<p>merge sort")
    crawled = crawl("keyword", web, seeds=at("a"), keywords="sort")
    options = ("--author", "doe", "--site", "news", "--published-since", "2021", "--published-until", "2021-03-04")
    result = scrapy("search", crawled.folder, "sort", *options)
    assert result.stdout.splitlines()[-1] == "1 page"
    assert "by Jane Doe, published 2021-03-04, on News" in result.stdout
    (hit,) = json.loads(scrapy("search", crawled.folder, "sort", *options, "--json").stdout)["results"]
    assert (hit["authors"], hit["published"], hit["modified"], hit["site_name"]) == (
        ["Jane Doe"],
        "2021-03-04",
        None,
        "News",
    )
    assert scrapy("search", crawled.folder, "sort", "--published-since", "2022").stdout == "no pages found\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ("--published-since", "March"),
            "--published-since March: expected a date such as 2021, 2021-03 or 2021-03-04",
        ),
        (("--published-until", "2021-02-30"), "--published-until 2021-02-30: expected a date"),
        (("--published-until", "2021-3"), "--published-until 2021-3: expected a date"),
        (("--author", "?"), "--author '?': expected a name"),
        (("--site", ""), "--site '': expected a name"),
    ],
)
def test_wrong_filters_are_refused_with_the_remedy(crawled, options, says):
    result = scrapy("search", crawled.folder, "sort", *options)
    assert result.returncode == 2
    assert result.stderr.startswith(f"focuscrawl: {says}")


def test_while_a_crawl_without_index_runs_it_says_what_to_do(crawled):
    lock = take_lock(crawled.folder)
    try:
        result = scrapy("search", crawled.folder, "sort")
    finally:
        lock.close()
    assert "3 pages are not indexed yet" in result.stderr
    assert "FOCUS_INDEX=True" in result.stderr
    assert result.stdout == "no pages found\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no lock to notice a crawl by")
def test_a_crawl_may_run_at_once_when_a_search_is_over(crawled, crawl):
    assert scrapy("search", crawled.folder, "sort").returncode == 0
    crawl("keyword", small_web(WEB, TEXTS), seeds=at("a"), keywords="sort")


def test_the_program_in_the_guide_runs(crawl, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "crawls" / "best_first-sorting-algorithms"
    web = small_web({"a": ["b"], "b": []}, {"a": "merge sort", "b": "sort"})
    crawl("best_first", web, folder, {"FOCUS_INDEX": True}, seeds=at("a"), keywords="sort")
    exec(snippets("docs/search.md")[0], {})
    assert capsys.readouterr().out.split()[1:] == [at("a")]


def test_the_sql_in_the_guide_finds_pages(crawl):
    crawled = crawl("breadth_first", small_web(WEB, TEXTS), seeds=at("a"), settings={"FOCUS_INDEX": True})
    (query,) = snippets("docs/search.md", "sql")
    assert {url for (url,) in crawled.sql(query)} == {at("a"), at("b")}


def test_a_wrong_setting_is_refused_before_anything_is_fetched(crawl):
    with pytest.raises(FocusError, match="FOCUS_INDEX=perhaps: expected True or False"):
        crawl("breadth_first", small_web(WEB), seeds=at("a"), settings={"FOCUS_INDEX": "perhaps"})
