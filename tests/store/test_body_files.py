"""FOCUS_BODIES=warc:PATH: the bytes of pages are in WARC files, and everything that reads them finds them there."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from contextlib import closing

import pytest
from warcio.archiveiterator import ArchiveIterator

from focuscrawl.errors import FocusError
from focuscrawl.page import Link, Page
from focuscrawl.store.bodies import DAMAGED, body_of, text_of
from focuscrawl.store.body_files import MARK, parse_bodies
from focuscrawl.store.places import read_crawl
from focuscrawl.store.store import Store
from focuscrawl.testing import crawl
from focuscrawl.web.webs import open_web
from tests.conftest import scrapy

GIVEN = {"topic": "sorting", "max_pages": 30}


@pytest.fixture
def made(tmp_path):
    """The directory of a crawl with bodies in WARC files, and their folder."""
    crawl("best_first", open_web("demo"), tmp_path / "c", {"FOCUS_BODIES": f"warc:{tmp_path / 'b'}"}, **GIVEN)
    return tmp_path / "c", tmp_path / "b"


def page_of(body: bytes, text: str = "") -> Page:
    page = Page("http://a.example/", fetched_at="2026-01-01T00:00:00+00:00")
    page.body, page.content_type = body, "text/html"
    page.raw_text = text
    page.links = [Link("http://b.example/")] if text else []
    return page


@pytest.mark.parametrize("body", [b"", b"<p>tea", b"\r\n\r\n\r\n", os.urandom(70_000)])
@pytest.mark.parametrize("text", ["", "tea\r\n\r\n", "茶 \ud800 ü" * 9_000])
def test_what_is_kept_comes_back(tmp_path, body, text):
    with closing(Store(tmp_path / "crawl.sqlite")) as store:
        store.body_files.write_to(tmp_path / "b")
        for _ in range(3):
            stored = store.body_files.load(store.body_files.keep(page_of(body, text)))
            assert body_of(stored) == body
            assert text_of(stored) == text
            assert body_of(store.body_files.load_packed(stored)) == body


def test_the_crawl_is_the_same_and_its_rows_are_small(made, tmp_path):
    folder, _ = made
    plain = crawl("best_first", open_web("demo"), tmp_path / "plain", **GIVEN)
    with read_crawl(folder) as store, read_crawl(tmp_path / "plain") as other:
        pages = list(store.pages.each())
        assert [page.url for page in pages] == plain.urls
        for page in pages:
            assert store.pages.response(page.number) == other.pages.response(page.number)
            assert store.pages.text(page.number) == other.pages.text(page.number)
        (longest,) = store.execute("SELECT max(length(body)) FROM page").fetchone()
        assert longest < 150


def test_other_tools_read_the_files(made):
    _, bodies = made
    kinds: list[str] = []
    for path in bodies.glob("*.warc.gz"):
        with path.open("rb") as file:
            kinds += [
                record.rec_type for record in ArchiveIterator(file, check_digests="raise") if record.raw_stream.read()
            ]
    assert kinds.count("response") >= 25
    assert kinds.count("conversion") >= 20


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "CRAWL", "http://sorting-handbook.example/index.html"),
        ("search", "CRAWL", "merge", "sort"),
        ("judge", "CRAWL", "-a", "keywords=merge"),
        ("export", "CRAWL", "--to", "jsonl", "OUT/pages.jsonl", "--text", "fast"),
        ("export", "CRAWL", "--to", "warc", "OUT/pages.warc.gz"),
        ("recrawl", "CRAWL", "-s", "FOCUS_WEB=demo", "--pages", "10"),
        ("copy", "CRAWL", "OUT/copy"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.slow
def test_commands_read_bodies_from_the_files(made, tmp_path, words):
    folder, bodies = made
    (tmp_path / "out").mkdir()
    given = [word.replace("CRAWL", str(folder)).replace("OUT", str(tmp_path / "out")) for word in words]
    done = scrapy(*given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if words[0] == "copy":
        bodies.rename(tmp_path / "elsewhere")
        with read_crawl(tmp_path / "out" / "copy") as store:
            assert b"<html" in store.pages.response(1).body.lower()


def test_a_crawl_that_was_moved_with_its_bodies_finds_them(tmp_path):
    inside = {"FOCUS_BODIES": f"warc:{tmp_path / 'c' / 'bodies'}"}
    crawl("best_first", open_web("demo"), tmp_path / "c", inside, **GIVEN)
    (tmp_path / "c").rename(tmp_path / "moved")
    with read_crawl(tmp_path / "moved") as store:
        assert store.pages.response(1).body


def test_a_missing_folder_is_told_in_one_line(made, tmp_path):
    folder, bodies = made
    bodies.rename(tmp_path / "elsewhere")
    with read_crawl(folder) as store, pytest.raises(FocusError, match="is the disk mounted"):
        store.pages.response(1)
    with pytest.raises(FocusError, match="is the disk mounted"):
        crawl("best_first", open_web("demo"), folder, {"FOCUS_BODIES": f"warc:{bodies}"}, **{**GIVEN, "max_pages": 40})
    moved = {"FOCUS_BODIES": f"warc:{tmp_path / 'elsewhere'}"}
    crawl("best_first", open_web("demo"), folder, moved, **{**GIVEN, "max_pages": 40})
    with read_crawl(folder) as store:
        assert all(store.pages.response(page.number).body for page in store.pages.each())


@pytest.mark.parametrize(
    "stored",
    [
        b"warc:../secret.warc.gz:0:100",
        b"warc:/etc/secret.warc.gz:0:100",
        b"warc:.secret.warc.gz:0:100",
        b"warc:a/b.warc.gz:0:100",
        b"warc:link.warc.gz:0:40",
        b"warc:pipe.warc.gz:0:40",
        b"warc:folder.warc.gz:0:1",
        b"warc:missing.warc.gz:0:1",
        b"warc:plain.warc.gz:0:7",
        b"warc:bomb.warc.gz:0:500000",
        b"warc:short.warc.gz:0:9999999999",
        b"warc:short.warc.gz:-1:5",
        b"warc:short.warc.gz\n:0:5",
        b"warc:",
    ],
)
def test_a_hostile_row_reads_nothing_but_bodies(tmp_path, stored):
    """A row of a crawl from somebody else names a file outside the folder, or one that is none of ours."""
    with closing(Store(tmp_path / "crawl.sqlite")) as store:
        folder = tmp_path / "b"
        store.body_files.write_to(folder)
        (tmp_path / "secret.warc.gz").write_bytes(gzip.compress(b"WARC/1.1\r\n\r\nsecret\r\n\r\n"))
        (folder / "link.warc.gz").symlink_to(tmp_path / "secret.warc.gz")
        os.mkfifo(folder / "pipe.warc.gz")
        (folder / "folder.warc.gz").mkdir()
        (folder / "plain.warc.gz").write_bytes(b"secret\n")
        (folder / "short.warc.gz").write_bytes(b"secret\n")
        bomb = gzip.compress(bytes(600_000_000), 1)
        (folder / "bomb.warc.gz").write_bytes(bomb[:500_000].ljust(500_000, b"\0"))
        with pytest.raises(DAMAGED):
            body_of(store.body_files.load(stored))


def test_a_crawl_cannot_name_the_folder_of_another(made, tmp_path):
    """Somebody sends a crawl.sqlite that points to the bodies of one of my crawls."""
    folder, bodies = made
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as file, file:
        file.execute(
            "UPDATE meta SET value = ? WHERE key = 'bodies'", (json.dumps({"id": "0" * 32, "path": str(bodies)}),)
        )
    with read_crawl(folder) as store, pytest.raises(FocusError):
        store.pages.response(1)


def test_a_folder_belongs_to_one_crawl_for_good(made):
    _, bodies = made
    assert json.loads((bodies / MARK).read_text())["id"]


@pytest.mark.parametrize("value", ["warc", "warc:", "s3:bucket", "/tmp/x"])
def test_a_wrong_setting_is_refused(value):
    with pytest.raises(FocusError, match="FOCUS_BODIES"):
        parse_bodies(value)
