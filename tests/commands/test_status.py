"""`scrapy status`: where crawls stand."""

from __future__ import annotations

import json
import re
import sqlite3

import pytest

from focuscrawl.crawl.lock import take_lock
from focuscrawl.reports.status import crawls_in, lines, status_of, table
from focuscrawl.testing import at, small_web
from tests.conftest import scrapy

#: A hundred pages about organs, then many about nothing.
MANY = small_web(
    {"a": [f"a/{n}" for n in range(160)]} | {f"a/{n}": [] for n in range(160)},
    {f"a/{n}": "pipe organ " * 5 if n % 4 == 0 else "bread" for n in range(160)},
)


@pytest.fixture
def finished(crawl, tmp_path):
    return crawl("breadth_first", MANY, tmp_path / "crawls" / "one", seeds=at("a"), keywords="organ", max_pages=150)


def test_a_finished_crawl(finished):
    status = status_of(finished.folder)
    assert (status.state, status.reason, status.why) == ("finished", "max_pages", "max_pages was reached")
    assert (status.pages, status.queued) == (150, 11)
    assert status.harvest == status.relevant / 150 > 0.2
    assert status.forecast is not None
    assert status.forecast.pages == 150  # made when the crawl ended
    assert status.disk > 10_000
    text = "\n".join(lines(status))
    assert re.search(r"^harvest   2\d\.\d% of all pages, 2\d\.\d% of the last 200$", text, re.MULTILINE)
    assert "Of the next" in text


def test_a_running_crawl_is_read_and_not_disturbed(crawl, finished):
    seen = []

    class Looking(type(finished.crawler.spider)):
        def stored(self, page):
            seen.append(status_of(self.crawl.folder))

    crawl(Looking, MANY, finished.folder, seeds=at("a"), keywords="organ", max_pages=155)
    assert {status.state for status in seen} == {"running"}
    assert [status.pages for status in seen] == [151, 152, 153, 154, 155]
    assert status_of(finished.folder).state == "finished"


def test_a_crawl_that_was_killed_says_how_to_go_on(finished):
    with sqlite3.connect(finished.folder / "crawl.sqlite") as file:
        (runs,) = file.execute("SELECT value FROM meta WHERE key = 'runs'").fetchone()
        kept = [{name: value for name, value in run.items() if name != "reason"} for run in json.loads(runs)]
        file.execute("UPDATE meta SET value = ? WHERE key = 'runs'", (json.dumps(kept),))
    file.close()
    status = status_of(finished.folder)
    assert status.state == "stopped"
    assert "run the same command again to resume" in status.why
    with take_lock(finished.folder):
        assert status_of(finished.folder).state == "running"


def test_several_crawls_are_a_table_and_strange_names_are_printed_safely(crawl, finished, tmp_path):
    crawl("breadth_first", MANY, tmp_path / "crawls" / "t\x1bwo", seeds=at("a"), keywords="organ", max_pages=3)
    folders = list(crawls_in(tmp_path / "crawls"))
    assert [folder.name for folder in folders] == ["one", "t\x1bwo"]
    shown = table([status_of(folder) for folder in folders])
    assert len(shown) == 3
    assert shown[0].split()[:3] == ["crawl", "state", "pages"]
    assert "t wo" in shown[2]
    assert "finished (max_pages)" in shown[1]


def test_the_command(finished, tmp_path):
    shown = scrapy("status", finished.folder)
    assert shown.returncode == 0, shown.stderr
    assert "state     finished: max_pages was reached" in shown.stdout
    record = json.loads(scrapy("status", finished.folder / "crawl.sqlite", "--json").stdout)
    assert (record["pages"], record["state"]) == (150, "finished")
    assert record["forecast"]["ahead"] <= 500
    several = json.loads(scrapy("status", tmp_path / "crawls", "--json").stdout)
    assert [one["pages"] for one in several] == [150]
    wrong = scrapy("status", tmp_path / "nothing")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(f"focuscrawl: {tmp_path / 'nothing'}: no such directory")
