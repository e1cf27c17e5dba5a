"""Rows of a crawl on PostgreSQL: written as columns, and cleaned of what nobody could know."""

from __future__ import annotations

from contextlib import closing

import pytest

pytest.importorskip("psycopg", reason="the extra postgres is not installed", exc_type=ImportError)

from focuscrawl.store.dialect import in_one_go
from focuscrawl.store.places import open_store

STRANGE = ["", "NULL", 'say "tea"', "a\\b\\", "{1,2}", "茶, ü", "two\nlines", " spaces ", "nul\x00l", None]


@pytest.fixture
def store(database, tmp_path):
    with closing(open_store(database, folder=tmp_path)) as store:
        yield store


def test_any_text_survives_in_a_list(store):
    rows = store.connection.run("SELECT * FROM unnest(%s::text[])", (STRANGE,)).fetchall()
    assert [text for (text,) in rows] == [text.replace("\x00", "\ufffd") if text else text for text in STRANGE]


def test_numbers_survive_in_a_list(store):
    numbers = [0.1, 1e-300, 1 / 3, float("-inf"), None, 7]
    rows = store.connection.run("SELECT * FROM unnest(%s::float8[])", (numbers,)).fetchall()
    assert [number for (number,) in rows] == numbers


def test_many_rows_are_added_in_one_statement(store):
    statement = "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    assert in_one_go(statement).count("[]") == 13
    rows = [(n, 1, n, n, text, None, text, n % 2, n / 3, None, None, n, None) for n, text in enumerate(STRANGE)]
    with store.transaction():
        store.executemany(statement, rows)
    found = store.execute("SELECT * FROM link ORDER BY id").fetchall()
    clean = [tuple(cell.replace("\x00", "\ufffd") if isinstance(cell, str) else cell for cell in row) for row in rows]
    assert found == clean


def test_other_statements_are_run_for_each_row():
    assert in_one_go("UPDATE frontier SET cold = TRUE WHERE url_id = ?") is None
    assert in_one_go("INSERT INTO page (id) VALUES (?)") is None


def test_a_url_that_was_fetched_before_it_was_queued_leaves_the_queue(store):
    """A worker has looked a link up before another has stored its page, and queued it afterwards."""
    with store.transaction():
        told = store.leases.identify(
            [7, 8],
            ["http://a.example/7", "http://a.example/8"],
            ["a.example"] * 2,
            ["a.example"],
            (1, 1, 30.0),
            page=True,
        )
    (done, *_), (waiting, *_) = told.urls[7], told.urls[8]
    ((host, _, epoch),) = told.hosts.values()
    assert (epoch, told.page) == (1, 1)
    store.execute("UPDATE url SET done = TRUE WHERE id = ?", (done,))
    rows = [(number, "http://a.example/", host, 0.5, 0.5, 1, None, False, None) for number in (done, waiting)]
    store.leases.offer(rows)
    assert [row.url_id for row in store.leases.news([host], 0)] == [waiting]
    assert [row.url_id for row in store.leases.rows([host], 10, 0)] == [waiting]
    assert store.queue.count() == 1


def test_urls_get_their_ids_in_the_order_of_the_links(store):
    keys, names = [9, 3, 5, 1], ["b.example", "a.example", "c.example", "a.example"]
    with store.transaction():
        told = store.leases.identify(
            keys, [f"http://{name}/" for name in names], names, sorted(set(names)), (1, 2, 30.0), page=False
        )
    ids = [told.urls[key][0] for key in keys]
    assert ids == sorted(ids)
    assert [epoch for _, (_, _, epoch) in sorted(told.hosts.items())].count(1) == 2
    with store.transaction():
        again = store.leases.identify(keys, [""] * 4, names, [], (2, 9, 30.0), page=False)
    assert again.urls == told.urls
