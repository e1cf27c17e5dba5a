"""Files of older formats: a crawl that goes on brings them to the current one, and ends as if it had begun with it.

`formats/2.sqlite.gz` to `5.sqlite.gz` are what these formats left of `crawl("breadth_first", small_site(), folder,
SETTINGS, **ARGUMENTS, max_pages=7)`.
"""

from __future__ import annotations

import gzip
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.page import FIELDS
from focuscrawl.reports.explain import explain
from focuscrawl.reports.report import crawl_report
from focuscrawl.search.index import Index
from focuscrawl.search.query import Query
from focuscrawl.store.places import read_crawl
from focuscrawl.store.schema import FORMAT, VERSION, check_cells, check_schema
from focuscrawl.store.search import Filter
from focuscrawl.store.store import Store
from focuscrawl.testing import Crawled, at, crawl, small_web
from focuscrawl.web.webs import MemoryWeb

FORMATS = Path(__file__).parent / "formats"
SETTINGS = {"FOCUS_SITEMAPS": "robots", "FOCUS_RIGHTS": "noai"}
ARGUMENTS = {"seeds": at("a"), "keywords": "sort"}
WITHHELD = {
    at("a/sitemap.xml"): "listing",
    at("b/copy"): "copy",
    at("b/hidden"): "noindex",
    at("b/reserved"): "reservation: noai",
}


def small_site() -> MemoryWeb:
    """Pages, a sitemap, a copy, a page that asks not to be indexed, and one whose owner reserves it."""
    text = " ".join(f"sort{number}" for number in range(60))
    links = {"a": ["b/copied", "b/copy", "b/hidden", "b/reserved", "c"], "c": ["d", "e"], "d": [], "e": []}
    web = small_web(links, {"a": "sort", "c": "sort", "d": "sort", "e": "sort"})
    for name in ("copied", "copy"):
        web.add(at(f"b/{name}"), f"<title>Same</title><p>sort {text}")
    web.add(at("b/hidden"), "<title>Hidden</title><meta name=robots content=noindex><p>sort")
    web.add(at("b/reserved"), "<title>Reserved</title><meta name=robots content=noai><p>sort")
    web.add(at("a/listed"), "<title>Listed</title><p>sort")
    sitemap = f"<urlset><url><loc>{at('a/listed')}</loc></url></urlset>"
    web.add(at("a/sitemap.xml"), sitemap, content_type="application/xml")
    web.add(at("a/robots.txt"), f"Sitemap: {at('a/sitemap.xml')}\n", content_type="text/plain")
    return web


def unpacked(number: int, folder: Path) -> Path:
    folder.mkdir()
    (folder / "crawl.sqlite").write_bytes(gzip.decompress((FORMATS / f"{number}.sqlite.gz").read_bytes()))
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    """The crawl of format 2."""
    return unpacked(2, tmp_path / "crawl")


@pytest.fixture
def format_3(tmp_path) -> Path:
    """The crawl of format 3."""
    return unpacked(3, tmp_path / "crawl")


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "crawl.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(statement)


def version(folder: Path) -> str:
    return Crawled(folder).sql("SELECT value FROM meta WHERE key = 'version'")[0][0]


def everything(folder: Path) -> list[object]:
    """All that a crawl of format 2 holds."""
    tables = ("host", "url", "frontier", "failure", "visit", "pattern", "example")
    rights = "page, robots_txt, x_robots_tag, noai, tdm_reservation, tdm_source, licences, left_out"
    columns = "id, url_id, url, score, relevance, matched, listed, title, fetched_at, robots, duplicate_of, body"
    read = Crawled(folder).sql
    links = "id, page, url_id, position, anchor, before, after, nofollow, score, why"
    first = [
        read(f"SELECT {columns} FROM page"),
        read(f"SELECT {rights} FROM rights"),
        read(f"SELECT {links} FROM link"),
    ]
    return [*first, *(read(f"SELECT * FROM {table}") for table in tables)]


def test_a_file_of_format_2_becomes_one_of_this_format(folder):
    before = everything(folder)
    with closing(Store(folder / "crawl.sqlite")) as store:
        check_schema(store.connection, FORMAT)
        check_cells(store.connection, FORMAT)
    assert version(folder) == str(VERSION)
    assert everything(folder) == before
    assert dict(Crawled(folder).sql("SELECT url, withheld FROM page WHERE withheld NOT NULL")) == WITHHELD
    with closing(Store(folder / "crawl.sqlite")) as store:
        assert store.version == VERSION


def test_a_crawl_of_format_2_goes_on_to_its_end(folder, tmp_path):
    whole = crawl("breadth_first", small_site(), tmp_path / "whole", SETTINGS, **ARGUMENTS)
    resumed = crawl("breadth_first", small_site(), folder, SETTINGS, **ARGUMENTS)
    assert version(folder) == str(VERSION)
    assert (resumed.urls, resumed.matched) == (whole.urls, whole.matched)
    assert resumed.sql("SELECT count(*) FROM frontier") == [(0,)]
    assert resumed.sql("PRAGMA integrity_check") == [("ok",)]


def test_a_file_of_format_2_is_read_as_it_is(folder):
    before = (folder / "crawl.sqlite").read_bytes()
    with read_crawl(folder) as store:
        assert [page.url for page in store.pages.matched()] == [at("a"), at("b/copied"), at("c")]
        assert explain(store, at("d"))[-1].startswith("  waiting with score")
        assert "near-duplicates" in crawl_report(store)
    assert (folder / "crawl.sqlite").read_bytes() == before


def test_what_a_page_is_withheld_for_is_kept_when_it_is_replaced(folder):
    with closing(Store(folder / "crawl.sqlite")) as store, store.transaction():
        store.pages.mark_gone(3, 404, "HTTP 404")  # its copy takes its place
    assert Crawled(folder).sql("SELECT withheld, duplicate_of, matched FROM page WHERE id = 4") == [(None, None, 1)]


def test_a_file_of_a_newer_format_is_refused(folder):
    change(folder, "UPDATE meta SET value = '99' WHERE key = 'version'")
    for create in (True, False):
        with pytest.raises(
            FocusError, match=rf"newer version of focuscrawl \(format 99; .* format {VERSION}\)"
        ) as said:
            Store(folder / "crawl.sqlite", create=create)
        assert "\n" not in str(said.value)


def test_an_old_format_that_cannot_be_read_as_it_is_says_what_to_run(folder, monkeypatch):
    monkeypatch.setattr("focuscrawl.store.store.READABLE", VERSION)
    with pytest.raises(FocusError, match=f"has format 2, .*run `scrapy crawl` on it once to .* format {VERSION}"):
        Store(folder / "crawl.sqlite", create=False)
    Store(folder / "crawl.sqlite").close()
    Store(folder / "crawl.sqlite", create=False).close()


def test_a_file_of_the_first_format_is_refused(folder):
    for statement in ("UPDATE meta SET value = '1' WHERE key = 'version'", "DROP TABLE visit"):
        change(folder, statement)
        with pytest.raises(FocusError, match=f"format 1, not {VERSION}"):
            Store(folder / "crawl.sqlite")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE page SET status = 'fine' WHERE id = 1",
        "UPDATE rights SET left_out = x'00' WHERE page = 6",
        "UPDATE frontier SET url = 'file:///etc/passwd'",
        "CREATE TRIGGER t AFTER UPDATE ON page BEGIN DELETE FROM page; END",
        "CREATE INDEX x ON page (length(hex(zeroblob(length(title)))))",
        "ALTER TABLE page ADD COLUMN withheld TEXT",
        "ALTER TABLE page DROP COLUMN title",
        "DROP TABLE visit",
    ],
)
@pytest.mark.parametrize("check", [True, False])
def test_a_file_is_checked_against_its_own_format_before_it_is_migrated(folder, statement, check, monkeypatch):
    monkeypatch.setattr("focuscrawl.store.store.CHECK_BYTES", 0)  # whatever its size
    change(folder, statement)
    before = (folder / "crawl.sqlite").read_bytes()
    with pytest.raises(FocusError, match="damaged"):
        Store(folder / "crawl.sqlite", check=check)
    assert (folder / "crawl.sqlite").read_bytes() == before


KILLED = """
import os, signal, sys
from pathlib import Path
from focuscrawl.store import migrations
from focuscrawl.store.store import Store

# all is changed, and nothing committed
migrations.check_schema = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Store(Path(sys.argv[1]))
"""


def test_a_migration_that_is_killed_leaves_the_file_as_it_was(folder):
    before = everything(folder)
    killed = subprocess.run([sys.executable, "-c", KILLED, folder / "crawl.sqlite"], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert version(folder) == "2"
    assert everything(folder) == before
    assert "withheld" not in Crawled(folder).sql("SELECT sql FROM sqlite_master WHERE name = 'page'")[0][0]
    resumed = crawl("breadth_first", small_site(), folder, SETTINGS, **ARGUMENTS)
    assert version(folder) == str(VERSION)
    assert len(resumed.urls) == 10


# ---- format 3, which knew nothing of what pages say of themselves


def test_a_file_of_format_3_becomes_one_of_this_format(format_3):
    before = everything(format_3)
    with closing(Store(format_3 / "crawl.sqlite")) as store:
        check_schema(store.connection, FORMAT)
        check_cells(store.connection, FORMAT)
        assert store.metadata.get(1) == ([], None, None, "", "", "")
    assert version(format_3) == str(VERSION)
    assert everything(format_3) == before
    assert dict(Crawled(format_3).sql("SELECT url, withheld FROM page WHERE withheld NOT NULL")) == WITHHELD


def test_a_crawl_of_format_3_goes_on_and_keeps_what_new_pages_say_of_themselves(format_3, tmp_path):
    web = small_site()
    web.add(at("d"), "<title>d</title><meta name=author content='Jane Doe'><p>sort")
    whole = crawl("breadth_first", web, tmp_path / "whole", SETTINGS, **ARGUMENTS)
    resumed = crawl("breadth_first", web, format_3, SETTINGS, **ARGUMENTS)
    assert [(page["url"], page["authors"]) for page in resumed.pages] == [
        (page["url"], page["authors"]) for page in whole.pages
    ]
    assert [list(page) for page in resumed.pages] == [FIELDS] * len(whole.pages)
    assert resumed.sql("SELECT url FROM metadata JOIN page ON page.id = metadata.page") == [(at("d"),)]


def test_a_line_from_before_a_field_existed_gets_it_empty(format_3):
    change(format_3, 'UPDATE page SET first = \'{"url": "http://a.example/", "title": "Before"}\' WHERE id = 1')
    with read_crawl(format_3) as store:
        first = next(store.pages.records())
    assert list(first) == FIELDS
    assert (first["title"], first["authors"], first["published"], first["description"]) == ("Before", [], None, "")


def test_a_file_of_format_3_is_read_and_searched_as_it_is(format_3):
    before = (format_3 / "crawl.sqlite").read_bytes()
    with read_crawl(format_3) as store:
        assert explain(store, at("a"))[-1].startswith("  relevance")
        index = Index.complete(store)
        assert index.search(Query.of("sort"), Filter(), 10).total
        assert index.search(Query.of("sort"), Filter(author="doe"), 10).total == 0
    assert (format_3 / "crawl.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE metadata (page)",
        "CREATE VIEW metadata AS SELECT 1",
        "UPDATE page SET withheld = 'so' WHERE id = 1",
    ],
)
def test_a_file_of_format_3_that_is_not_one_is_refused(format_3, statement):
    change(format_3, statement)
    before = (format_3 / "crawl.sqlite").read_bytes()
    with pytest.raises(FocusError, match="damaged or cannot be used"):
        Store(format_3 / "crawl.sqlite")
    assert [*Crawled(format_3).sql("SELECT value FROM meta WHERE key = 'version'")] == [("3",)]
    assert (format_3 / "crawl.sqlite").read_bytes()[100:] == before[100:]


# ---- format 4, which knew no marks


@pytest.fixture
def format_4(tmp_path) -> Path:
    """The crawl of format 4."""
    return unpacked(4, tmp_path / "crawl")


def test_a_file_of_format_4_becomes_one_of_this_format(format_4):
    before = everything(format_4)
    with closing(Store(format_4 / "crawl.sqlite")) as store:
        check_schema(store.connection, FORMAT)
        check_cells(store.connection, FORMAT)
    assert version(format_4) == str(VERSION)
    assert everything(format_4) == before
    assert Crawled(format_4).sql("SELECT count(*) FROM mark") == [(0,)]


def test_a_crawl_of_format_4_goes_on_to_its_end(format_4, tmp_path):
    whole = crawl("breadth_first", small_site(), tmp_path / "whole", SETTINGS, **ARGUMENTS)
    resumed = crawl("breadth_first", small_site(), format_4, SETTINGS, **ARGUMENTS)
    assert (resumed.urls, resumed.matched) == (whole.urls, whole.matched)


# ---- format 5, in which every link kept the words around it


@pytest.fixture
def format_5(tmp_path) -> Path:
    """The crawl of format 5."""
    return unpacked(5, tmp_path / "crawl")


def around(store: Store) -> list[object]:
    """Every link, with the words around it and its reasons."""
    numbers = [number for _, _, number in store.links.each()]
    links = [link for number in numbers if (link := store.links.get(number)) is not None]
    return [(link.url, link.anchor, link.before(), link.after(), link.why) for link in links]


def test_a_file_of_format_5_becomes_one_of_this_format(format_5):
    before = everything(format_5)
    with closing(Store(format_5 / "crawl.sqlite")) as store:
        check_schema(store.connection, FORMAT)
        check_cells(store.connection, FORMAT)
    assert version(format_5) == str(VERSION)
    assert everything(format_5) == before


def test_a_file_of_format_5_is_read_as_it_is(format_5, tmp_path):
    whole = crawl("breadth_first", small_site(), tmp_path / "whole", SETTINGS, **ARGUMENTS, max_pages=7)
    before = (format_5 / "crawl.sqlite").read_bytes()
    with read_crawl(format_5) as store, read_crawl(whole.folder) as new:
        assert around(store) == around(new)
        assert [store.pages.response(number) for number in range(1, 8)] == [
            new.pages.response(number) for number in range(1, 8)
        ]
    assert (format_5 / "crawl.sqlite").read_bytes() == before


def test_a_crawl_of_format_5_goes_on_to_its_end(format_5, tmp_path):
    whole = crawl("breadth_first", small_site(), tmp_path / "whole", SETTINGS, **ARGUMENTS)
    resumed = crawl("breadth_first", small_site(), format_5, SETTINGS, **ARGUMENTS)
    assert (resumed.urls, resumed.matched) == (whole.urls, whole.matched)
    with read_crawl(resumed.folder) as store, read_crawl(whole.folder) as new:
        assert around(store) == around(new)
