"""`scrapy recrawl --watch`: rounds of visits until stopped, over HTTP and with real signals."""

from __future__ import annotations

import fcntl
import json
import os
import queue
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic, sleep

import pytest

from focuscrawl.recrawl.changes import Changes
from focuscrawl.recrawl.watch import Round
from focuscrawl.search.index import Mended
from focuscrawl.web.server import serving
from tests.conftest import ROOT, Crawled, at, scrapy, small_web

PAGES = [f"a/{number}" for number in range(20)]
ROUND = re.compile(r"\S+  round (\d+): (.*); next round at ")


def web_of_twenty():
    texts = {name: f"sort marmalade{number}" for number, name in enumerate(PAGES)} | {"a": "sort"}
    return small_web({"a": PAGES, **{name: [] for name in PAGES}}, texts)


class Watching:
    """A `scrapy recrawl --watch` that runs."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "scrapy", "recrawl", str(folder), "--watch", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=dict(os.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout])
        self.reader.start()

    def round(self) -> tuple[int, str]:
        """The number of the next round that ends, and what it says."""
        found = ROUND.match(self.lines.get(timeout=60))
        assert found
        return int(found[1]), found[2]

    def next_round(self) -> str:
        """What the next round says that begins after this call."""
        while not self.lines.empty():
            self.lines.get()
        self.round()  # it may have begun before
        return self.round()[1]

    def end(self, how: signal.Signals) -> str:
        """Send a signal and wait; returns the messages to the user."""
        self.process.send_signal(how)
        errors = self.process.stderr.read()
        self.process.wait(timeout=60)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        assert "Traceback" not in errors
        return "".join(line for line in errors.splitlines(keepends=True) if line.startswith("focuscrawl: "))


@pytest.fixture
def site(tmp_path):
    """A crawl over HTTP of a web that can be changed."""
    web = web_of_twenty()
    with serving(web) as server:
        seed = f"{server.address}/a.example/"
        given = ["-a", f"seeds={seed}", "-a", "keywords=sort"]
        assert scrapy("crawl", "best_first", *given, "-s", f"FOCUS_DIR={tmp_path / 'c'}").returncode == 0
        crawled = Crawled(tmp_path / "c")
        crawled.web, crawled.given, crawled.seed = web, given, seed
        yield crawled


def search(crawled: Crawled, query: str) -> list[str]:
    result = scrapy("search", crawled.folder, query, "--json")
    assert result.returncode == 0, result.stderr
    return [hit["url"] for hit in json.loads(result.stdout)["results"]]


def damage(crawled: Crawled, *statements: str) -> None:
    connection = sqlite3.connect(crawled.folder / "crawl.sqlite", timeout=30)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def assert_in_step(crawled: Crawled) -> None:
    """The file is whole, URLs.txt has the matched pages and the index those that can be found."""
    assert crawled.sql("PRAGMA integrity_check") == [("ok",)]
    assert crawled.matched == [url for (url,) in crawled.sql("SELECT url FROM page WHERE matched ORDER BY listed")]
    findable = crawled.sql("SELECT id FROM page WHERE problem IS NULL AND withheld IS NULL ORDER BY id")
    assert crawled.sql("SELECT page FROM indexed WHERE entry > 0 ORDER BY page") == findable
    assert crawled.sql("SELECT count(*) FROM indexed") == crawled.sql("SELECT count(*) FROM page")


def test_pages_change_and_vanish_the_index_is_damaged_and_every_round_puts_it_right(site):
    watching = Watching(site.folder, "--every", "1s", "--older-than", "0", *site.given)
    assert watching.round() == (1, "21 visits (21 unchanged); 0 new pages; index 21 added, 0 removed")
    changed, gone = f"{site.seed}3", f"{site.seed}4"
    site.web.add(at("a/3"), "<title>a/3</title><p>sort with jam")
    del site.web.answers[at("a/4")]
    watching.next_round()
    assert search(site, "jam") == [changed]
    assert search(site, "marmalade4") == search(site, "marmalade3") == []
    assert gone not in site.matched
    assert site.sql("SELECT outcome FROM visit JOIN page ON page.id = page WHERE url = ? AND outcome = 'gone'", gone)
    assert site.sql("SELECT length(body) > 0 FROM page WHERE url = ?", gone) == [(1,)]  # its text is kept
    damage(
        site,
        "DELETE FROM indexed WHERE page IN (6, 7, 8)",
        "INSERT INTO indexed (entry, page) VALUES (4711, 4711)",
        "UPDATE indexed SET entry = 9999 WHERE page = 10",
    )
    watching.next_round()
    assert_in_step(site)
    assert len(search(site, "marmalade5")) == 1
    damage(site, "UPDATE search_data SET block = x'00' WHERE id > 10")
    watching.next_round()
    assert len(search(site, "marmalade5")) == 1
    assert watching.end(signal.SIGTERM).startswith("focuscrawl: stopped after ")
    assert watching.process.returncode == 0
    assert_in_step(site)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_ended_in_a_round_it_loses_nothing(site, how):
    del site.web.answers[at("a/4")]
    slow = ["-s", 'DOWNLOAD_SLOTS={"127.0.0.1": {"delay": 0.1, "concurrency": 1}}']
    watching = Watching(site.folder, "--every", "1h", "--older-than", "0", *site.given, *slow)
    until = monotonic() + 60
    while site.sql("SELECT count(*) FROM visit")[0][0] < 8:
        assert monotonic() < until
        sleep(0.01)
    said = watching.end(how)
    assert (how == signal.SIGKILL) == (said == "")
    done = site.sql("SELECT count(*) FROM visit")[0][0]
    assert 8 <= done < 21
    again = Watching(site.folder, "--every", "1h", "--older-than", "1h", *site.given)
    number, line = again.round()
    assert (number, line.partition(";")[0]) == (1, "no visits")  # all were fetched within the hour
    again.end(signal.SIGTERM)
    assert_in_step(site)
    again = Watching(site.folder, "--every", "1h", "--older-than", "0", "--pages", str(21 - done), *site.given)
    again.round()
    again.end(signal.SIGTERM)
    assert site.sql("SELECT count(*), count(DISTINCT page) FROM visit") == [(21, 21)]
    assert_in_step(site)


def test_while_no_page_is_due_no_request_is_sent_and_a_busy_directory_is_waited_for(site):
    with (site.folder / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        watching = Watching(site.folder, "--every", "1s", *site.given)
        number, line = watching.round()
        assert number == 1
        assert "is in use by another crawl" in line
        assert "index" not in line
    while "is in use" in (line := watching.round()[1]):
        pass
    assert line == "no visits; 0 new pages; index 21 added, 0 removed"
    assert watching.next_round() == "no visits; 0 new pages; index 0 added, 0 removed"
    runs = len(json.loads(site.sql("SELECT value FROM meta WHERE key = 'runs'")[0][0]))
    watching.next_round()
    assert len(json.loads(site.sql("SELECT value FROM meta WHERE key = 'runs'")[0][0])) == runs
    watching.end(signal.SIGINT)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--every", "6h"], "--every 6h is for --watch; give both"),
        (["--watch", "--every", "0"], "--every 0: expected a time above 0, such as 30m or 6h"),
        (["--watch", "--every", "soon"], "--every soon: expected an age such as 12h, 7d or 2w"),
        (["--watch", "--json"], "--json does not go with --watch"),
        (["--watch", "--report"], "--report does not go with --watch"),
        (["--watch"], "/nowhere/crawl.sqlite: no such file"),
    ],
)
def test_bad_arguments_cost_one_line(arguments, says):
    result = scrapy("recrawl", "/nowhere", *arguments)
    assert result.returncode == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_a_round_in_one_line():
    changes = Changes("Sorting", "2026-11-01", [], {"unchanged": 1200, "gone": 1}, None)
    done = Round(3, changes, Mended(2, 1, True), ["the network seems to be down"])
    assert done.line(0.0) == (
        "round 3: 1,201 visits (1 gone, 1,200 unchanged); 0 new pages; index rebuilt, 2 added, 1 removed;"
        " the network seems to be down; next round at 1970-01-01 00:00:00 UTC"
    )
