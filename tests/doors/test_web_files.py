"""A web file in which anything may have changed, or that is none: any bytes, any SQLite file."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuscrawl.errors import FocusError
from focuscrawl.testing import at, small_web
from focuscrawl.web.server import WebServer
from focuscrawl.web.webs import _open, conditional
from tests.hostile import BOMB, DEEP, FOR_EVER

URLS = [at("a"), at("b"), at("old"), at("nowhere"), "http://www.a.example/?b=1&a=2", "\x00"]
VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.sampled_from([BOMB, DEEP, "[1, null]", "{}", "\\1\r\nSet-Cookie: x", at("a"), "é" * 3, "\ud7ff"]),
)
COLUMNS = ["page.url", "page.host", "page.content_type", "page.body", "page.labels", "redirect.src", "redirect.dst"]
CELL = st.tuples(st.sampled_from(COLUMNS), VALUES)
STATEMENT = st.tuples(
    st.sampled_from(
        [
            "DROP TABLE page",
            "DROP TABLE redirect",
            "DELETE FROM page",
            f"DROP TABLE page; CREATE VIEW page AS {FOR_EVER}",
            f"DROP TABLE redirect; CREATE VIEW redirect AS {FOR_EVER}",
            "DROP TABLE redirect; CREATE TABLE redirect (x)",
            "ALTER TABLE page DROP COLUMN labels",
            "ALTER TABLE page DROP COLUMN host; ALTER TABLE page ADD COLUMN host AS (hex(zeroblob(400000000))) VIRTUAL",
            "DROP TABLE page; CREATE VIRTUAL TABLE page USING fts5(url, host, content_type, body, labels)",
            "DROP TABLE page; CREATE TABLE page (url, host, content_type, body, labels)",
            "ALTER TABLE page ADD COLUMN url_id",
        ]
    ),
    st.none(),
)
BYTES = st.tuples(st.binary(min_size=1, max_size=40), st.floats(0, 1))
CHANGES = st.lists(st.one_of(CELL, CELL, STATEMENT, BYTES), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    web = small_web({"a": ["b", "old"], "b": ["a"]}, {"a": "sort"})
    web.add(at("a/robots.txt"), "User-agent: *\nDisallow: /closed", content_type="text/plain")
    web.redirect(at("old"), at("b"))
    path = tmp_path_factory.mktemp("made") / "web.sqlite"
    web.save(path)
    return path


def what_comes_of(path: Path) -> list[str]:
    said = []

    def ask(question) -> None:
        try:
            said.append(repr(question()))
        except FocusError as error:
            said.append(str(error))

    try:
        web = _open.__wrapped__(str(path))
    except FocusError as error:
        return [str(error)]
    for url in URLS:
        ask(lambda url=url: conditional(web.get(url)))
        ask(lambda url=url: web.labels(url))
    ask(web.hosts)
    ask(lambda: list(web.page_urls()))
    ask(lambda: WebServer(web).server_close())
    return said


@given(changes=CHANGES)
def test_any_change_gives_an_answer_or_one_line_and_twice_the_same(made, changes):
    with TemporaryDirectory() as place:
        path = Path(shutil.copy(made, place))
        for what, value in changes:
            if isinstance(what, bytes):
                with path.open("r+b") as file:
                    file.seek(int(value * (path.stat().st_size - 1)))
                    file.write(what)
                continue
            with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.Error, OverflowError):
                if what in COLUMNS:
                    table, column = what.split(".")
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = 1", (value,))
                else:
                    connection.executescript(what)
                connection.commit()
        began = process_time()
        first = what_comes_of(path)
        assert process_time() - began < 3
        assert not any("\n" in line for line in first)
        assert what_comes_of(path) == first


@given(content=st.one_of(st.binary(max_size=2000), st.binary(max_size=2000).map(b"SQLite format 3\x00".__add__)))
def test_any_bytes_are_refused_in_one_line(content):
    with TemporaryDirectory() as place:
        path = Path(place) / "web.sqlite"
        path.write_bytes(content)
        with pytest.raises(FocusError, match=r"^web '.*web\.sqlite'"):
            _open.__wrapped__(str(path))
