"""A crawl's file in which anything may have changed: cells, rows, tables, bytes."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focuscrawl.errors import FocusError
from focuscrawl.store.schema import CELLS
from tests.hostile import DEEP, DOORS, copy_crawl, make_crawl

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 30),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.sampled_from(
        ["[]", "{}", "[[]]", '{"a": "b"}', "1", "NaN", DEEP, "http://a.example/", "file:///etc/passwd", "\x1b[2J"]
    ),
    st.sampled_from(
        ["2026-11-16T08:30:00.000+00:00", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00", "2026-11-16"]
    ),
)
COLUMNS = [(table, column) for table, columns in CELLS.items() for column in columns]
CELL = st.tuples(st.just("cell"), st.sampled_from(COLUMNS), st.integers(0, 50), VALUES)
ROW = st.tuples(st.sampled_from(["gone", "twice"]), st.sampled_from(sorted(CELLS)), st.integers(0, 50), VALUES)
SCHEMA = st.tuples(
    st.just("sql"),
    st.sampled_from(
        [
            "DROP TABLE {0}",
            "ALTER TABLE {0} ADD COLUMN more",
            "ALTER TABLE {0} RENAME TO other",
            "CREATE TABLE other AS SELECT * FROM {0}",
            "CREATE INDEX other ON {0} (rowid)",
            "CREATE TRIGGER other AFTER INSERT ON {0} BEGIN SELECT 1; END",
            "DELETE FROM {0}",
            "DELETE FROM sqlite_master WHERE name = '{0}'",
            "UPDATE sqlite_master SET rootpage = 2 WHERE name = '{0}'",
            "UPDATE sqlite_master SET rootpage = rootpage + 1",
            "UPDATE sqlite_master SET type = 'view' WHERE name = '{0}'",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE {0} (x)' WHERE name = '{0}'",
            "PRAGMA user_version = 7",
            "PRAGMA page_size = 512; VACUUM",
        ]
    ),
    st.sampled_from([*sorted(CELLS), "indexed", "search"]),
    st.none(),
)
BYTES = st.tuples(st.just("bytes"), st.binary(min_size=1, max_size=40), st.floats(0, 1), st.none())
CHANGES = st.lists(st.one_of(CELL, CELL, ROW, SCHEMA, BYTES), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return make_crawl(tmp_path_factory.mktemp("made") / "crawl")


def change(folder: Path, what: str, where, place, value) -> None:
    path = folder / "crawl.sqlite"
    if what == "bytes":
        with path.open("r+b") as file:
            file.seek(int(place * (path.stat().st_size - 1)))
            file.write(where)
        return
    # SQLite itself may refuse: then there is one change less
    with closing(sqlite3.connect(path, isolation_level=None)) as connection, suppress(sqlite3.Error, OverflowError):
        connection.execute("PRAGMA writable_schema = ON")
        if what == "sql":
            connection.executescript(where.format(place))
            return
        table, column = where if what == "cell" else (where, next(iter(CELLS[where])))
        key = next(iter(CELLS[table]))
        keys = connection.execute(f"SELECT {key} FROM {table}").fetchall()
        if not keys:
            return
        (chosen,) = keys[place % len(keys)]
        if what == "cell":
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} IS ?", (value, chosen))
        elif what == "gone":
            connection.execute(f"DELETE FROM {table} WHERE {key} IS ?", (chosen,))
        else:
            row = connection.execute(f"SELECT * FROM {table} WHERE {key} IS ?", (chosen,)).fetchone()
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", (value, *row[1:]))


def what_comes_of(folder: Path) -> list[str]:
    said = []
    for door, go in DOORS.items():
        try:
            said.append(repr(go(folder)))
        except FocusError as error:
            said.append(f"{door}: {error}")
    assert "\n" not in "".join(said)
    return said


@settings(max_examples=settings.default.max_examples // 2)  # a fifth of a second each
@given(changes=CHANGES, large=st.booleans())
def test_any_change_gives_an_answer_or_one_line_and_twice_the_same(made, changes, large):
    # the cells of a large file are not looked at before they are read
    with TemporaryDirectory() as place, patch("focuscrawl.store.store.CHECK_BYTES", 0 if large else 1 << 30):
        folder = copy_crawl(made, Path(place) / "crawl")
        for one in changes:
            change(folder, *one)
        began = process_time()
        first = what_comes_of(folder)
        assert process_time() - began < 3
        assert what_comes_of(folder) == first
