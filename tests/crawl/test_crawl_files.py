"""Somebody else's crawl.sqlite: whatever is in it, a reader gives an answer or says in one line what is wrong."""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import threading
import zlib
from contextlib import closing
from importlib import import_module
from time import process_time

import pytest
from scrapy import Spider
from scrapy.utils.project import get_project_settings

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.files import check_own_files
from focuscrawl.errors import FocusError
from focuscrawl.frontier import requests
from focuscrawl.reports.explain import explain
from focuscrawl.store.bodies import MAX_BODY, body_of
from focuscrawl.store.places import read_crawl
from focuscrawl.store.queue import Entry
from focuscrawl.store.sqlite_file import UNREADABLE, is_special
from focuscrawl.store.store import Store
from tests.conftest import at, scrapy, small_web
from tests.hostile import BOMB, CELLS, DOORS, INSIDE, KINDS, copy_crawl, make_crawl


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_crawl(tmp_path_factory.mktemp("made") / "crawl")


@pytest.fixture
def folder(made, tmp_path):
    return copy_crawl(made, tmp_path / "crawl")


def what_comes_of(door, folder) -> str:
    """An answer, or the line that a command prints; anything else that is raised fails the test."""
    try:
        return repr(DOORS[door](folder))
    except FocusError as error:
        said = str(error)
    assert "\n" not in said
    assert str(folder) in said
    return f"error: {said}"


def everything_in(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_crawl_of_our_own_comes_in_by_every_door(folder):
    assert [door for door in DOORS if what_comes_of(door, folder).startswith("error")] == []


@pytest.mark.parametrize("kind", [*KINDS, *CELLS])
def test_what_no_crawl_writes_is_refused_at_every_door_and_left_as_it_is(folder, kind):
    (KINDS | CELLS)[kind](folder)
    before, began = everything_in(folder), process_time()
    for door in DOORS:
        if kind in CELLS and door == "search":  # to look at every cell would take longer than the search
            what_comes_of(door, copy_crawl(folder, folder.with_name("searched")))
            continue
        said = what_comes_of(door, folder)
        assert said.startswith("error: "), door
        assert f"{folder}/crawl.sqlite" in said
    assert process_time() - began < 5
    after = everything_in(folder)
    assert {name: after[name] for name in before} == before
    assert {*after} - {*before} <= {".lock", "crawl.sqlite-shm", "crawl.sqlite-wal"}


@pytest.mark.parametrize("kind", INSIDE)
def test_what_only_some_come_by_is_said_by_those_who_do(folder, kind):
    INSIDE[kind](folder)
    began, memory = process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for door in DOORS:
        what_comes_of(door, folder)
    assert process_time() - began < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 512 * 1024


@pytest.mark.parametrize("kind", CELLS)
def test_in_a_file_too_large_to_look_at_every_cell_it_is_said_by_those_who_come_by_it(folder, kind, monkeypatch):
    CELLS[kind](folder)
    monkeypatch.setattr("focuscrawl.store.store.CHECK_BYTES", 0)
    began, memory = process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for door in DOORS:
        what_comes_of(door, folder)
    assert process_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 512 * 1024


def test_a_way_that_leads_in_a_circle_is_not_followed_for_ever(folder):
    INSIDE["a circle"](folder)
    with read_crawl(folder) as store, pytest.raises(FocusError, match="is a loop"):
        explain(store, at("c"))


def test_a_page_without_rights_is_explained(folder):
    INSIDE["pages without rights"](folder)
    with read_crawl(folder) as store:
        assert explain(store, at("a"))[0] == "seed"


def test_what_a_page_says_cannot_steer_the_terminal(folder):
    INSIDE["control characters"](folder)
    with read_crawl(folder) as store:
        text = "\n".join(explain(store, at("c")))
    assert "[2J" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_body_is_inflated_within_bounds():
    large = os.urandom(MAX_BODY + 1)
    assert body_of(zlib.compress(large, 0)) == large
    assert len(body_of(zlib.compress(bytes(MAX_BODY - 1), 1))) == MAX_BODY - 1
    for stored, says in ((BOMB, "more than"), (zlib.compress(b"x" * 100)[:-1], "truncated"), (b"xx", "header")):
        with pytest.raises(zlib.error, match=says):
            body_of(stored)


def test_an_index_of_ones_own_and_other_tables_are_no_damage(folder):
    with closing(Store(folder / "crawl.sqlite")) as store:
        store.execute("CREATE INDEX link_url ON link (url_id)")
        store.execute("CREATE TABLE mine (x CHECK (length(hex(zeroblob(400000000)))))")
        store.execute("CREATE VIEW best AS SELECT url FROM page")
    assert [door for door in DOORS if what_comes_of(door, folder).startswith("error")] == []


def test_a_table_of_a_strategy_that_is_another_is_refused(folder):
    with closing(Store(folder / "crawl.sqlite")) as store:
        store.make("CREATE TABLE seed_page (id INTEGER PRIMARY KEY)")
        store.make("CREATE TABLE seed_page (id INTEGER PRIMARY KEY)")
        with pytest.raises(FocusError, match="'seed_page' is not defined as in a crawl"):
            store.make("CREATE TABLE seed_page (id INTEGER)")


def test_a_pipe_in_the_directory_is_not_waited_for(folder):
    os.mkfifo(folder / "judge.json")
    assert f"{folder / 'judge.json'} is not a regular file" in what_comes_of("crawl", folder)


def test_files_that_come_and_go_are_no_reason_to_refuse_a_crawl(folder):
    """SQLite removes its files beside the crawl's when somebody who read it is done."""
    beside, over = folder / "crawl.sqlite-shm", threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            beside.touch()
            beside.unlink()

    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        for _ in range(2000):
            check_own_files(folder)
            assert not is_special(beside)
    finally:
        over.set()
        other.join()


@pytest.mark.parametrize("name", ["crawl.sqlite", "URLs.txt", "pages.jsonl", "report.html", "judge.json.new", ".lock"])
def test_a_link_in_the_directory_leads_no_writer_out_of_it(folder, tmp_path, name):
    mine = tmp_path / "mine"
    mine.write_bytes((folder / name).read_bytes() if (folder / name).exists() else b"mine")
    before = mine.read_bytes()
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(mine)
    assert f"{folder / name} is a link to {mine}" in what_comes_of("crawl", folder)
    assert mine.read_bytes() == before
    for door in DOORS.keys() - {"crawl"}:
        assert not what_comes_of(door, folder).startswith("error")


# ---- as a user meets them


def run(module: str, *arguments: object) -> int:
    """Run a command in this process, as `scrapy` does, and return its exit status."""
    command = import_module(f"focuscrawl.commands.{module}").Command()
    command.settings = get_project_settings()
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    options, rest = parser.parse_known_args(list(map(str, arguments)))
    command.process_options(rest, options)
    command.run(rest, options)
    return command.exitcode


@pytest.mark.parametrize("kind", ["a trigger", "text for a number", "no database", "meta nested too deep"])
def test_every_command_says_it_in_one_line(folder, kind, capsys, tmp_path):
    (KINDS | CELLS)[kind](folder)
    commands = {
        "explain": (folder, at("a")),
        "recrawl": (folder, "--report"),
        "tgraph": ("build", "--topic", "sorting", "--crawl", folder, "-o", tmp_path / "graph"),
        "web": (folder, "--port", 0),
        "seeds": ("--query=sort", f"--list=crawl:{folder}", "--output", tmp_path / "topic"),
        "lab": ("--web", folder, "--topics", "sorting", "--out", tmp_path / "lab"),
        "search": (folder, "sort"),
    }
    for name, arguments in commands.items():
        if name == "search" and kind in CELLS:
            continue
        assert run(name, *arguments) == 2, name
        out, err = capsys.readouterr()
        (line,) = err.splitlines()
        assert line.startswith("focuscrawl: "), name
        assert f"{folder}/crawl.sqlite" in line, name
        assert out == "", name
    assert not (tmp_path / "graph").exists()
    assert not (tmp_path / "topic").exists()


def test_a_crawl_that_goes_on_says_it_in_one_line_too(folder):
    CELLS["an infinite score"](folder)
    before = (folder / "crawl.sqlite").read_bytes()
    for arguments in (
        ("crawl", "keyword", "-a", f"seeds={at('a')}", "-a", "keywords=sort,heap", "-s", f"FOCUS_DIR={folder}"),
        ("recrawl", folder),
    ):
        result = scrapy(*arguments, "-s", "FOCUS_WEB=demo", "--nolog")
        assert (result.returncode, result.stdout) == (2, "")
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"focuscrawl: {folder}/crawl.sqlite is damaged or cannot be used (table frontier")
    assert (folder / "crawl.sqlite").read_bytes() == before


def test_a_request_in_the_file_imports_nothing_and_stops_the_crawl(folder, crawl):
    sys.modules.pop("xmlrpc.server", None)
    INSIDE["a request of a class that is not loaded"](folder)
    crawled = crawl("keyword", small_web({"a": []}), folder, seeds=at("a"), keywords="sort,heap")
    assert "xmlrpc.server" not in sys.modules
    assert "cannot be read: 'xmlrpc.server'" in Crawl.of(crawled.crawler).fatal


@pytest.mark.parametrize(
    "request_",
    [
        {"url": "file:///etc/passwd"},
        {"url": "http://h.example/", "callback": "no_such_method"},
        {"url": "http://h.example/", "_class": "os.path.join"},
        {"url": 5},
        {"method": "GET"},
        ["url"],
    ],
)
def test_a_request_in_the_file_is_read_as_a_request_or_not_at_all(request_):
    entry = Entry(1, "http://h.example/", 0.5, 0.5, 0, None, json.dumps(request_))
    with pytest.raises(UNREADABLE):
        requests.load(entry, Spider("any"))
    with pytest.raises(UNREADABLE):
        requests.load(entry._replace(url="file:///etc/passwd", request=None), Spider("any"))


@pytest.mark.parametrize(
    ("spider", "key"), [("info_spiders", "agents"), ("niche_genetic", "generation now"), ("taxonomy_tunnel", "view")]
)
@pytest.mark.parametrize("value", ['{"x": 1}', "[1]", '"x"'])
def test_what_a_strategy_has_kept_is_what_it_keeps_or_the_crawl_stops(crawl, tmp_path, spider, key, value):
    web = small_web({"a": ["b"], "b": ["c"], "c": []}, {"a": "sort", "b": "sort"})
    more = {"dewey": "005"} if spider == "taxonomy_tunnel" else {}
    crawl(spider, web, tmp_path, seeds=at("a"), keywords="sort", max_pages=1, **more)
    with closing(Store(tmp_path / "crawl.sqlite")) as store:
        store.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
    again = crawl(spider, web, tmp_path, seeds=at("a"), keywords="sort", max_pages=2, **more)
    assert f"{tmp_path}/crawl.sqlite is damaged" in Crawl.of(again.crawler).fatal
