"""Crawl files that no crawl has written: a real one, with something in it that its reader does not expect.

`KINDS` are such changes by name; `DOORS` are the ways in which focuscrawl reads a crawl, as functions of its folder.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from focuscrawl import testing
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.errors import FocusError
from focuscrawl.recrawl.changes import as_atom, as_json, as_text, changes_since
from focuscrawl.recrawl.revisit import DAY, plan
from focuscrawl.reports.explain import explain
from focuscrawl.reports.report import crawl_report
from focuscrawl.search.folder import search_folder
from focuscrawl.search.query import Query
from focuscrawl.seeding.seeding import search_crawl
from focuscrawl.store.places import earlier_crawl, read_crawl
from focuscrawl.store.search import Filter
from focuscrawl.store.store import Store
from focuscrawl.strategies.tgraph import bottom_up
from focuscrawl.strategies.tgraph_picture import as_text as graph_as_text
from focuscrawl.testing import at, small_web
from focuscrawl.topic import Topic
from focuscrawl.web.webs import Answer, _open

LINKS = {"a": ["b", "c", "old", "gone", "x/closed"], "b": ["c", "d"], "c": ["d", "e"], "d": ["a"]}
URLS = [*(at(name) for name in ("a", "b", "c", "d", "e", "gone", "old")), at("never")]
TOPIC = Topic("sort heap", seeds=[at("a")], keywords={"sort": 1.0, "heap": 1.0})
NOW = 1_900_000_000.0


def make_crawl(folder: Path) -> Path:
    """A crawl with all there can be in it: a redirect, a failure, a copy, a visit, an index, what waits."""
    text = " ".join(f"word{number}" for number in range(50))
    web = small_web(LINKS, {"a": "sort", "b": "sort heap", "c": f"sort {text}", "d": "heap"})
    web.add(at("copy"), web.get(at("c")).body)
    web.answers[at("b")] = Answer(200, body=web.get(at("b")).body + f'<a href="{at("copy")}">copy</a>'.encode())
    web.redirect(at("old"), at("new"))
    said = (
        "<meta name=author content='Jane Doe'><meta name=date content=2021-03-04><meta property=og:site_name content=N>"
    )
    web.add(at("new"), f"<title>New</title>{said}<p>sort")
    web.add(at("x/robots.txt"), "User-agent: *\nDisallow: /closed", content_type="text/plain")
    settings = {"FOCUS_INDEX": True}
    crawled = testing.crawl("keyword", web, folder, settings, seeds=at("a"), keywords="sort,heap", max_pages=7)
    with closing(Store(folder / "crawl.sqlite")) as store, store.transaction():
        details = {"new_words": 0.5, "title": ["Before", "After"], "relevance": [0.1, 0.2], "matched": [False, True]}
        store.visits.add(1, "2026-11-16T08:30:00.000+00:00", 200, "changed", details)
        store.visits.add(2, "2026-11-16T08:30:01.000+00:00", 404, "gone", {"reason": "HTTP 404"})
    assert crawled.sql("SELECT count(*) FROM page WHERE duplicate_of NOT NULL") == [(1,)]
    assert crawled.sql("SELECT count(*) FROM frontier")[0][0] > 0
    assert not (folder / "crawl.sqlite-wal").exists()
    return folder


def copy_crawl(folder: Path, to: Path) -> Path:
    """The same crawl, to do with as one likes."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
    return to


# ---- the ways in


def _explain(folder: Path) -> object:
    with read_crawl(folder) as store:
        return [_said(partial(explain, store, url)) for url in URLS]


def _report(folder: Path) -> object:
    with read_crawl(folder) as store:
        changes = changes_since(store, "2026-01-01")
    return list(as_text(changes)), as_json(changes), as_atom(changes)


def _summary(folder: Path) -> object:
    with read_crawl(folder) as store:
        return crawl_report(store)


def _due(folder: Path) -> object:
    with read_crawl(folder) as store:
        return plan(store, NOW, older_than=DAY)


def _found(folder: Path) -> object:
    query = Query.of("sort OR heap")
    said = Filter(author="doe", site="n", published_since="2021", published_until="2021-03")
    return [search_folder(folder, query, where, 10, lambda message: None) for where in (Filter(), said)]


def _seeds(folder: Path) -> object:
    return search_crawl(folder, "sort", 10)


def _graph(folder: Path) -> object:
    with earlier_crawl(str(folder), TOPIC.name) as store:
        return graph_as_text(bottom_up(TOPIC.name, store))


def _web(folder: Path) -> object:
    web = _open.__wrapped__(str(folder))
    return [(web.get(url), web.labels(url)) for url in URLS], web.hosts(), list(web.page_urls())


def _resume(folder: Path) -> object:
    crawl = Crawl(folder, "keyword", TOPIC)
    try:
        rows, matched = list(crawl.store.pages.records()), [page.url for page in crawl.store.pages.matched()]
        return rows, matched, len(crawl.frontier), crawl.frontier.pop(0.0, lambda host: 0.0)
    finally:
        crawl.close()


DOORS: dict[str, Callable[[Path], object]] = {
    "explain": _explain,
    "recrawl --report": _report,
    "report.html": _summary,
    "recrawl": _due,
    "search": _found,
    "seeds": _seeds,
    "tgraph": _graph,
    "web": _web,
    "crawl": _resume,
}


def _said(ask: Callable[[], object]) -> object:
    """What comes of a question that has no answer for every URL."""
    try:
        return ask()
    except FocusError as error:
        return str(error)


# ---- what may be in them


def sql(*statements: str, values: tuple[Any, ...] = ()) -> Callable[[Path], None]:
    """A change made by SQL; *values* are for its last statement."""

    def change(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "crawl.sqlite", isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            for statement in statements[:-1]:
                connection.execute(statement)
            connection.execute(statements[-1], values)

    return change


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / "crawl.sqlite"
        path.write_bytes(change(path.read_bytes()))

    return apply


def _pipe(name: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return apply


def _directory(folder: Path) -> None:
    (folder / "crawl.sqlite").unlink()
    (folder / "crawl.sqlite").mkdir()


BOMB = zlib.compress(bytes(1 << 27), 1)
DEEP = "[" * 100_000 + "]" * 100_000
FOR_EVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM n"

#: Changes that are noticed when the file is opened, whoever opens it.
KINDS: dict[str, Callable[[Path], None]] = {
    "cut in half": _bytes(lambda data: data[: len(data) // 2]),
    "no database": _bytes(lambda data: b"text " * 1000),
    "pages of noise": _bytes(lambda data: data[:4096] + b"\xff" * (len(data) - 8192) + data[-4096:]),
    "a pipe": _pipe("crawl.sqlite"),
    "a pipe for a journal": _pipe("crawl.sqlite-journal"),
    "a directory": _directory,
    "another version": sql("UPDATE meta SET value = '99' WHERE key = 'version'"),
    "a version that is no number": sql("UPDATE meta SET value = '[]' WHERE key = 'version'"),
    "meta that is no JSON": sql("UPDATE meta SET value = '{' WHERE key = 'runs'"),
    "meta nested too deep": sql("UPDATE meta SET value = ? WHERE key = 'runs'", values=(DEEP,)),
    "runs of another shape": sql("UPDATE meta SET value = '{\"a\": 1}' WHERE key = 'runs'"),
    "a run of another shape": sql(
        "UPDATE meta SET value = '[{\"settings\": [], \"arguments\": 1}]' WHERE key = 'runs'"
    ),
    "a topic that is no text": sql("UPDATE meta SET value = '{}' WHERE key = 'topic'"),
    "a trigger": sql("CREATE TRIGGER t AFTER INSERT ON page BEGIN DELETE FROM page; END"),
    "a view for a table": sql("DROP TABLE rights", f"CREATE VIEW rights AS {FOR_EVER}"),
    "a view for the facts": sql("DROP TABLE meta", f"CREATE VIEW meta AS {FOR_EVER}"),
    "a virtual table for a table": sql("DROP TABLE failure", "CREATE VIRTUAL TABLE failure USING fts5(id, url)"),
    "a computed column": sql(
        "ALTER TABLE host ADD COLUMN x TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL"
    ),
    "a condition that takes for ever": sql(
        "UPDATE sqlite_master SET sql = replace(sql, 'name TEXT', 'name TEXT CHECK (length(hex(zeroblob(4e8))))')"
        " WHERE name = 'host'"
    ),
    "an index on an expression": sql("CREATE INDEX x ON host (length(hex(zeroblob(length(name)))))"),
    "a missing table": sql("DROP TABLE link"),
    "a missing column": sql("ALTER TABLE page DROP COLUMN title"),
}

#: Changes that are noticed when the cells of the file are looked at.
CELLS: dict[str, Callable[[Path], None]] = {
    "text for a number": sql("UPDATE page SET relevance = 'high' WHERE id = 1"),
    "an infinite score": sql("UPDATE frontier SET rank = 9e999"),
    "bytes for a URL": sql("UPDATE page SET url = x'ff00' WHERE id = 2"),
    "nothing for a URL": sql("UPDATE frontier SET url = NULL"),
    "a URL on the disk": sql("UPDATE frontier SET url = 'file:///etc/passwd'"),
    "a page on the disk": sql("UPDATE page SET url = 'file:///etc/passwd' WHERE id = 3"),
    "a huge number of a URL": sql("INSERT INTO url VALUES (4000000000000, 1, 'http://h.example/', 1, 0)"),
    "a huge number of a page": sql("UPDATE page SET id = 4000000000000 WHERE id = 7"),
    "a huge number of a host": sql("INSERT INTO host VALUES (4000000000, 'h.example', 0)"),
    "a negative number of a URL": sql("INSERT INTO url VALUES (-5, 1, 'http://h.example/', 1, 0)"),
    "the largest number of a link": sql(
        "INSERT INTO link (id, page, url_id, position, anchor) VALUES (9223372036854775807, 1, 1, 0, '')"
    ),
    "a link to nowhere": sql("UPDATE link SET url_id = 999999999 WHERE id = 1"),
    "a link of no page": sql("UPDATE link SET page = -1 WHERE id = 1"),
    "what waits for no URL": sql(
        "UPDATE frontier SET url_id = 999999999 WHERE url_id = (SELECT max(url_id) FROM frontier)"
    ),
    "what waits for no host": sql("UPDATE frontier SET host = 77"),
    "a request that is no JSON": sql("UPDATE frontier SET request = '{'"),
    "a request to the disk": sql('UPDATE frontier SET request = \'{"url": "file:///etc/passwd"}\''),
    "a visit to no page": sql("UPDATE visit SET page = 99"),
    "a body that is a text": sql("UPDATE page SET body = 'text' WHERE id = 1"),
}

#: Changes that only some of those who read the file come by: the others need not care.
INSIDE: dict[str, Callable[[Path], None]] = {
    "a bomb": sql("UPDATE page SET body = ? WHERE id = 1", values=(BOMB,)),
    "a body that is no zlib": sql("UPDATE page SET body = x'00' WHERE id = 1"),
    "a body that is cut off": sql("UPDATE page SET body = substr(body, 1, 20)"),
    "a circle": sql("UPDATE page SET via = (SELECT id FROM link WHERE link.page = page.id)"),
    "pages without rights": sql("DELETE FROM rights"),
    "reasons of another shape": sql("UPDATE page SET why = '[1]'"),
    "reasons that are no numbers": sql("UPDATE link SET why = '{\"a\": [1]}'"),
    "reasons nested too deep": sql("UPDATE link SET why = ?", values=(DEEP,)),
    "topics of another shape": sql("UPDATE page SET topics = '{}'"),
    "times that are none": sql("UPDATE page SET fetched_at = 'yesterday'"),
    "details of another shape": sql('UPDATE visit SET details = \'{"title": 1, "new_words": "x"}\''),
    "redirects of another shape": sql("UPDATE page SET redirects = '[]'"),
    "text that is no UTF-8": sql("UPDATE page SET title = CAST(x'ff' AS TEXT)"),
    "a status that is none": sql("UPDATE page SET status = 4000000"),
    "a reservation that is none": sql("UPDATE rights SET left_out = 'x'"),
    "another table for the index": sql("DROP TABLE indexed", f"CREATE VIEW indexed AS {FOR_EVER}"),
    "noise in the index": sql("UPDATE search_data SET block = x'ffffffffffffffffffffffff'"),
    "first lines of another shape": sql("UPDATE page SET first = '[]'"),
    "no pages": sql("DELETE FROM page"),
    "a request of a class that is not loaded": sql(
        "UPDATE frontier SET request = ?",
        values=(json.dumps({"url": "http://h.example/", "_class": "xmlrpc.server.Request"}),),
    ),
    "control characters": sql("UPDATE page SET title = char(27) || '[2J' || char(0x202e) || 'x'"),
}
