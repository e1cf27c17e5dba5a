"""A crawl is killed, stopped and interrupted, and loses nothing."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import monotonic, sleep

import pytest

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.spiders.breadth_first import BreadthFirstSpider
from tests.conftest import ROOT, Crawled, at, scrapy, small_web

ARGUMENTS = ["crawl", "best_first", "-a", "topic=sorting", "-s", "FOCUS_WEB=demo", "-s", "CONCURRENT_REQUESTS=8"]


def start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrapy", *ARGUMENTS, "-s", f"FOCUS_DIR={folder}"]
    return subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), stderr=subprocess.PIPE, text=True)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(folder: Path, pages: int, process: subprocess.Popen[str]) -> None:
    """Wait until that many pages are stored; the crawl may be quicker and end before."""
    until = monotonic() + 60
    while lines(folder / "pages.jsonl") < pages and process.poll() is None:
        assert monotonic() < until
        sleep(0.002)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    result = scrapy(*ARGUMENTS, "-s", f"FOCUS_DIR={folder}")
    assert result.returncode == 0, result.stderr
    return Crawled(folder)


def assert_whole(crawled: Crawled, undisturbed: Crawled) -> None:
    assert set(crawled.urls) == set(undisturbed.urls)
    assert len(crawled.urls) == len(set(crawled.urls))
    assert crawled.sql("SELECT url FROM page ORDER BY id") == [(url,) for url in crawled.urls]
    assert crawled.sql("SELECT url FROM page WHERE matched ORDER BY id") == [(url,) for url in crawled.matched]
    assert crawled.sql("PRAGMA integrity_check") == [("ok",)]
    assert crawled.sql("SELECT count(*) FROM frontier") == [(0,)]


def test_killed_five_times_a_crawl_ends_with_the_same_pages(tmp_path, undisturbed):
    chance = Random(os.urandom(8))
    total = len(undisturbed.urls)
    stops = sorted(chance.randrange(1, total) for _ in range(5))
    for pages in stops:
        process = start(tmp_path)
        wait_for(tmp_path, pages, process)
        sleep(chance.random() * 0.01)
        process.kill()
        process.wait()
        crawled = Crawled(tmp_path)
        assert crawled.sql("PRAGMA integrity_check") == [("ok",)]
        ((stored, distinct),) = crawled.sql("SELECT count(*), count(DISTINCT url) FROM page")
        assert stored == distinct >= pages, f"stops {stops}"
    assert scrapy(*ARGUMENTS, "-s", f"FOCUS_DIR={tmp_path}").returncode == 0
    assert_whole(Crawled(tmp_path), undisturbed)


@pytest.mark.parametrize("spider", ["niche_genetic", "info_spiders", "perimeter"])
def test_killed_in_the_middle_of_a_round_a_crawl_goes_on_with_it(tmp_path, spider):
    """One request at a time, so that a crawl has but one order; what was in flight is asked for again."""
    arguments = ["crawl", spider, "-a", "topic=sorting", "-s", "FOCUS_WEB=demo", "-s", "CONCURRENT_REQUESTS=1"]
    arguments += ["-a", "max_pages=100", "-L", "ERROR"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert scrapy(*arguments, "-s", f"FOCUS_DIR={whole}").returncode == 0
    for pages in (30, 75):
        command = [sys.executable, "-m", "scrapy", *arguments, "-s", f"FOCUS_DIR={parts}"]
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
        wait_for(parts, pages, process)
        process.kill()
        process.wait()
    assert scrapy(*arguments, "-s", f"FOCUS_DIR={parts}").returncode == 0
    assert Crawled(parts).urls == Crawled(whole).urls


@pytest.mark.parametrize("times", [1, 2])
def test_interrupted_once_or_twice_a_crawl_stops_and_goes_on(tmp_path, undisturbed, times):
    process = start(tmp_path)
    wait_for(tmp_path, 200, process)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        sleep(0.02)
    _, errors = process.communicate(timeout=30)
    assert "Traceback" not in errors
    crawled = Crawled(tmp_path)
    assert 200 <= len(crawled.urls) < len(undisturbed.urls)
    assert crawled.sql("SELECT url FROM page ORDER BY id") == [(url,) for url in crawled.urls]
    assert crawled.sql("PRAGMA integrity_check") == [("ok",)]
    assert scrapy(*ARGUMENTS, "-s", f"FOCUS_DIR={tmp_path}").returncode == 0
    assert_whole(Crawled(tmp_path), undisturbed)


def test_a_full_disk_stops_the_crawl_with_one_line_and_loses_nothing(tmp_path, undisturbed):
    full = subprocess.run(
        [sys.executable, "-m", "scrapy", *ARGUMENTS, "-s", f"FOCUS_DIR={tmp_path}"],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000)),
    )
    assert full.returncode == 1
    assert "Traceback" not in full.stderr
    assert full.stderr.strip().splitlines()[-1].startswith(f"focuscrawl: cannot write to {tmp_path}")
    crawled = Crawled(tmp_path)
    assert crawled.sql("PRAGMA integrity_check") == [("ok",)]
    assert 0 < crawled.sql("SELECT count(*) FROM page")[0][0] < len(undisturbed.urls)
    assert scrapy(*ARGUMENTS, "-s", f"FOCUS_DIR={tmp_path}").returncode == 0
    assert_whole(Crawled(tmp_path), undisturbed)


def test_a_file_that_turns_read_only_stops_the_crawl_and_is_intact(crawl):
    class TurnsReadOnly(BreadthFirstSpider):
        name = "turns_read_only"

        def matches(self, page):
            if self.crawl.pages == 3 and not self.crawl.resumed:
                self.crawl.store.execute("PRAGMA query_only = 1")  # what a file system that is mounted anew does
            return super().matches(page)

    web = small_web({"a": ["a/1", "a/2", "a/3"], "a/1": ["b"], "a/2": [], "a/3": [], "b": []})
    stopped = crawl(TurnsReadOnly, web, seeds=at("a"))
    assert stopped.stats["finish_reason"] == "store_failed"
    message = Crawl.of(stopped.crawler).fatal
    assert message.startswith(
        f"cannot write to {stopped.folder}: attempt to write a readonly database; stored data is intact"
    )
    assert stopped.sql("PRAGMA integrity_check") == [("ok",)]
    assert [url for (url,) in stopped.sql("SELECT url FROM page")] == stopped.urls == [at("a"), at("a/1"), at("a/2")]
    assert len(crawl(TurnsReadOnly, web, seeds=at("a")).urls) == 5


def test_two_crawls_cannot_share_a_directory(tmp_path):
    process = start(tmp_path)
    wait_for(tmp_path, 10, process)
    second = scrapy(*ARGUMENTS, "-s", f"FOCUS_DIR={tmp_path}")
    process.kill()
    process.wait()
    process.stderr.close()
    assert second.returncode == 2
    assert "in use by another crawl" in second.stderr
