from __future__ import annotations

import sqlite3

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.page import Judgement, Page
from focuscrawl.reading.html import read_html
from focuscrawl.store.errors import StoreError
from focuscrawl.store.places import open_store
from focuscrawl.store.store import Store


@pytest.fixture(params=["file", "server"])
def store(request, tmp_path):
    """A new store: a file, and a schema of a PostgreSQL server."""
    store = open_store(tmp_path if request.param == "file" else request.getfixturevalue("database"))
    yield store
    store.close()


def page(url: str = "http://a.example/", url_id: int = 1) -> Page:
    made = read_html(
        Page(url, fetched_at="2026-01-01T00:00:00"),
        b"<title>T</title><p>some words <a href=b>to b</a> follow",
        "text/html",
    )
    made.url_id = url_id
    made.judgement = Judgement(0.5, True, {"some": 0.5})
    made.relevance, made.matched = 0.5, True
    return made


def add(store: Store, made: Page) -> None:
    """Store a page as a crawl does, with its URL and host."""
    store.execute("INSERT INTO host (id, name) VALUES (1, 'a.example') ON CONFLICT (id) DO NOTHING")
    store.urls.add([(made.url_id, made.url_id, made.url, 1)])
    store.pages.add(made, None)


def test_a_page_is_kept_whole(store):
    with store.transaction():
        store.pages.add(page(), None)
    (row,) = store.pages.records()
    assert row["url"] == "http://a.example/"
    assert (row["relevance"], row["matched"], row["title"], row["topics"]) == (0.5, True, "T", [])
    assert store.pages.body("http://a.example/").startswith(b"<title>T</title>")
    assert store.pages.body("http://b.example/") is None
    assert (store.pages.count(), store.pages.figures().matched) == (1, 1)


def test_links_come_back_with_their_context(store):
    made = page()
    made.links[0].why = {"because": 1.0}
    with store.transaction():
        store.urls.add([(1, 11, made.url, 1), (2, 22, made.links[0].url, 1)])
        first = store.links.add(store.pages.add(made, None), made.links, [2])
    link = store.links.get(first)
    assert (link.url, link.anchor) == ("http://a.example/b", "to b")
    assert (link.before(1), link.after()) == (("words",), ("follow",))
    assert (link.why, link.block, link.subheading, link.heading, link.main_heading) == (
        {"because": 1.0},
        "",
        "",
        "",
        "",
    )
    assert store.links.page_url(first) == made.url
    assert store.links.get(99) is None
    assert store.links.page_url(99) is None


def test_links_of_a_page_with_the_same_reasons_share_them(store):
    source = b"".join(b"<p><a href='/%d'>link</a>" % number for number in range(5))
    made = read_html(Page("http://a.example/", fetched_at="2026-01-01T00:00:00"), source, "text/html")
    made.url_id = 1
    one, other = {"context": 1.0}, {"heading": 0.5}
    for link, why in zip(made.links, (one, other, one, None, one), strict=True):
        link.why = why
    with store.transaction():
        store.urls.add([(1, 11, made.url, 1), (2, 22, made.links[0].url, 1)])
        first = store.links.add(store.pages.add(made, None), made.links, [2] * 5)
    assert [store.links.get(first + place).why for place in range(5)] == [one, other, one, None, one]
    assert store.execute("SELECT count(*) FROM reason").fetchone()[0] == 1


def test_what_fails_half_way_is_not_there_at_all(store):
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.pages.add(page(), None)
        _ = 1 / 0
    assert store.pages.count() == 0


def test_a_page_cannot_be_stored_twice(store):
    store.pages.add(page(), None)
    with pytest.raises(StoreError):
        store.pages.add(page(), None)


def test_meta_values(store):
    assert store.meta("x") is None
    store.set_meta("x", {"a": [1, "ä"]})
    assert store.meta("x") == {"a": [1, "ä"]}


def damage(path, how):
    data = path.read_bytes()
    if how == "garbage":
        path.write_bytes(b"this is no database, not at all" * 50)
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "holes":
        path.write_bytes(data[:4096] + b"\xff" * (len(data) - 8192) + data[-4096:])


@pytest.mark.parametrize("how", ["garbage", "cut", "holes"])
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path, how):
    path = tmp_path / "crawl.sqlite"
    store = Store(path)
    with store.transaction():
        for n in range(1, 201):
            add(store, page(f"http://a.example/{n}", n))
    store.close()
    damage(path, how)
    before = path.read_bytes()
    with pytest.raises(FocusError, match="damaged"):
        Store(path)
    assert path.read_bytes() == before


def test_other_sqlite_files_are_refused(tmp_path):
    with sqlite3.connect(tmp_path / "other.sqlite") as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(FocusError, match="but not a crawl"):
        Store(tmp_path / "other.sqlite")


def test_a_file_that_must_be_there_is_asked_for(tmp_path):
    with pytest.raises(FocusError, match="no such file"):
        Store(tmp_path / "crawl.sqlite", create=False)
    assert not (tmp_path / "crawl.sqlite").exists()


def test_a_file_can_be_looked_at_while_it_is_written(tmp_path):
    store = Store(tmp_path / "crawl.sqlite")
    with store.transaction():
        add(store, page())
    looking = Store(tmp_path / "crawl.sqlite", create=False)
    assert looking.pages.count() == 1
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        looking.set_meta("x", 1)
    looking.close()
    store.close()


def test_a_file_left_empty_by_a_crash_is_begun_anew(tmp_path):
    (tmp_path / "crawl.sqlite").touch()
    store = Store(tmp_path / "crawl.sqlite")
    assert store.pages.count() == 0
    store.close()
