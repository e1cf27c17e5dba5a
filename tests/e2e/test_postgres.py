"""Crawls on a real PostgreSQL server: the same as in a file, and open to every command."""

from __future__ import annotations

import json

import pytest

from focuscrawl.testing import crawl
from focuscrawl.web.webs import open_web
from tests.conftest import scrapy
from tests.spiders.test_every_spider import SPIDERS, options


@pytest.mark.slow
@pytest.mark.parametrize("name", SPIDERS)
def test_every_spider_crawls_in_the_same_order_as_in_a_file(database, tmp_path, name):
    given = {"topic": "sorting", "max_pages": 160 if name == "apprentice" else 60, **options(name)}
    file = crawl(name, open_web("demo"), tmp_path / "file", **given)
    server = crawl(name, open_web("demo"), tmp_path / "server", {"FOCUS_STORE": database}, **given)
    assert server.urls == file.urls
    assert server.matched == file.matched


@pytest.fixture(scope="module")
def made(postgres, tmp_path_factory):
    """The address of a crawl of the embedded web, made by the command, and its worker's directory."""
    folder = tmp_path_factory.mktemp("made")
    with postgres.schema() as address:
        done = scrapy(
            *("crawl", "best_first", "-a", "topic=sorting", "-a", "max_pages=40", "-s", "FOCUS_WEB=demo"),
            *("-s", f"FOCUS_STORE={address}", "-s", f"FOCUS_DIR={folder / 'w'}"),
        )
        assert done.returncode == 0, done.stderr
        assert "secret" not in done.stderr + done.stdout  # the password
        yield address, folder / "w"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explain", "ADDRESS", "http://sorting-handbook.example/index.html"), "score"),
        (("search", "ADDRESS", "merge", "sort"), "http://"),
        (("status", "ADDRESS"), "best_first, topic Sorting"),
        (("export", "ADDRESS", "--to", "jsonl", "OUT/pages.jsonl"), ""),
        (("workers", "--all", "ADDRESS"), "left"),
        (("audit", "ADDRESS"), ""),
        (("recrawl", "--report", "ADDRESS"), ""),
    ],
)
def test_commands_take_the_address_of_a_crawl(made, tmp_path, words, said):
    address, _ = made
    done = scrapy(*(word.replace("ADDRESS", address).replace("OUT", str(tmp_path)) for word in words))
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stdout
    assert "secret" not in done.stderr + done.stdout


def test_pages_are_marked_and_judged_by_address(made):
    address, folder = made
    url = (folder / "URLs.txt").read_text().splitlines()[0]
    done = scrapy("mark", address, url, "--no")
    assert done.returncode == 0, done.stdout + done.stderr
    done = scrapy("judge", address)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_crawl_goes_from_a_file_to_a_server_and_back(database, tmp_path):
    given = {"topic": "sorting"}
    crawl("best_first", open_web("demo"), tmp_path / "a", max_pages=30, **given)
    done = scrapy("copy", tmp_path / "a", database)
    assert done.returncode == 0, done.stdout + done.stderr
    crawl("best_first", open_web("demo"), tmp_path / "b", {"FOCUS_STORE": database}, max_pages=50, **given)
    done = scrapy("copy", database, tmp_path / "c")
    assert done.returncode == 0, done.stdout + done.stderr
    copied = crawl("best_first", open_web("demo"), tmp_path / "c", max_pages=70, **given)
    whole = crawl("best_first", open_web("demo"), tmp_path / "whole", max_pages=70, **given)
    assert copied.urls == whole.urls


def test_what_is_wrong_with_an_address_is_said_in_one_line(postgres, database, tmp_path):
    for address, said in (
        (database.replace(":secret@", ":wrong@"), "password authentication failed"),
        (database.replace("/postgres?", "/missing?"), 'database "missing" does not exist'),
        (database, "there is no crawl"),
    ):
        done = scrapy("explain", address, "http://a.example/")
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert said in done.stderr
    crawl("best_first", open_web("demo"), tmp_path / "a", {"FOCUS_STORE": database}, topic="sorting", max_pages=1)
    postgres.sql("UPDATE meta SET value = '2' WHERE key = 'version'", schema=database.rpartition("=")[2])
    done = scrapy("status", "--json", database)
    assert done.returncode == 2
    assert "has format 2" in done.stderr
    assert not json.loads(done.stdout or "[]")


def test_a_server_that_is_not_there_costs_one_line_with_the_cause():
    done = scrapy("status", "postgresql://crawler:secret@127.0.0.1:1/crawl")
    assert done.returncode == 2
    assert "Connection refused" in done.stderr
    assert "secret" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
