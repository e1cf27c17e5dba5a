"""Crawls over real HTTP of many hosts: dead ones, silent ones, busy ones."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from tests.conftest import ROOT, Crawled, scrapy
from tests.hosts import MISSING, Answer, host, page, serving

QUICK = {"FOCUS_BACKOFF_MAX": 0.1, "DOWNLOAD_DELAY": 0, "DOWNLOAD_TIMEOUT": 20}


def crawl(folder: Path, seeds: str, *, options: tuple[str, ...] = (), files: int = 0, path: str = "", **settings):
    """Crawl as a user does; *files* is the number of files that the process may have open."""
    words = ["crawl", "breadth_first", "-a", f"seeds={seeds}", *options, "-s", f"FOCUS_DIR={folder}"]
    for name, value in {**QUICK, **settings}.items():
        words += ["-s", f"{name}={value}"]

    def limit() -> None:
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    if files or path:
        result = subprocess.run(
            [sys.executable, "-m", "scrapy", *words], cwd=ROOT, capture_output=True, text=True, timeout=120,
            preexec_fn=limit, check=False, env={**os.environ, **({"PYTHONPATH": path} if path else {})},
        )  # fmt: skip
    else:
        result = scrapy(*words)
    assert "Traceback" not in result.stderr, result.stderr
    return result, Crawled(folder)


def test_dead_links_are_no_dead_network(tmp_path):
    """A good page with 100 links to dead hosts: all good pages are fetched, at the first run and at the next."""
    good = [f"/{n}" for n in range(20)]
    dead = [f"http://{host(n, network=2)}:9/" for n in range(100)]  # nobody listens there

    def answer(name: str, path: str) -> Answer:
        if path == "/":
            return page(*dead, *good)
        return page() if path in good else MISSING

    with serving(answer) as server:
        result, crawled = crawl(tmp_path, server.at("127.0.0.1"), RETRY_TIMES=0, FOCUS_OUTAGE=50)
        assert result.returncode == 0, result.stderr
        assert len(crawled.urls) == 21
        assert crawled.sql("SELECT count(*) FROM failure") == [(100,)]
        # resumed, the dead ones are tried once more, and that is no outage either
        result, crawled = crawl(tmp_path, server.at("127.0.0.1"), RETRY_TIMES=0, FOCUS_OUTAGE=50)
        assert result.returncode == 0, result.stderr
        assert crawled.sql("SELECT count(*) FROM failure") == [(200,)]


def test_what_failed_before_comes_after_what_was_not_tried(tmp_path):
    """Stopped half way and resumed, a crawl does not begin with its dead links again."""
    dead = [f"http://{host(n, network=2)}:9/" for n in range(12)]
    good = [f"/{n}" for n in range(10)]

    def answer(name: str, path: str) -> Answer:
        if path == "/":
            return page(*dead, *good)
        return page() if path in good else MISSING

    with serving(answer) as server:
        seeds = server.at("127.0.0.1")
        settings = {"RETRY_TIMES": 0, "CONCURRENT_REQUESTS": 1}
        crawl(tmp_path, seeds, options=("-a", "max_pages=3"), **settings)
        assert Crawled(tmp_path).sql("SELECT count(*) FROM failure") == [(12,)]
        crawl(tmp_path, seeds, **settings)
        crawled = Crawled(tmp_path)
    assert len(crawled.urls) == 11
    failed = [when for (when,) in crawled.sql("SELECT failed_at FROM failure ORDER BY id")]
    assert len(failed) == 24
    assert max(entry["fetched_at"] for entry in crawled.pages) < failed[12]


def test_silent_hosts_do_not_take_all_requests_under_way(tmp_path):
    """24 hosts that never answer, and one that does: it is not kept waiting for them."""
    live = "127.0.0.1"
    silent = [host(n) for n in range(24)]
    pages = [f"/{n}" for n in range(30)]

    def answer(name: str, path: str) -> Answer | None:
        if name != live:
            return None
        if path == "/":
            return page(*(server.at(name) for name in silent), *pages)
        return page() if path in pages else MISSING

    with serving(answer) as server:
        seeds = server.at(live)
        _, crawled = crawl(tmp_path, seeds, CONCURRENT_REQUESTS=16, DOWNLOAD_TIMEOUT=2, RETRY_TIMES=0, FOCUS_OUTAGE=0)
        assert len(crawled.urls) == 31
        last = max(index for index, (_, name, path) in enumerate(server.asked) if name == live and path in pages)
        waited_for = {name for _, name, _ in server.asked[:last] if name != live}
        assert 1 <= len(waited_for) <= 12  # three quarters of 16


def test_a_crawl_of_many_hosts_needs_few_files(tmp_path):
    """Idle connections are kept for few hosts and a short time."""
    hosts = [host(n) for n in range(200)]

    def answer(name: str, path: str) -> Answer:
        if path != "/":
            return MISSING
        return page(*(server.at(name) for name in hosts)) if name == "127.0.0.1" else page()

    with serving(answer) as server:
        result, crawled = crawl(tmp_path, server.at("127.0.0.1"), files=128)
        assert result.returncode == 0, result.stderr
        assert len(crawled.urls) == 201
        assert crawled.sql("SELECT * FROM failure") == []


def test_with_no_file_left_a_crawl_slows_down_and_says_so(tmp_path):
    hosts = [host(n) for n in range(120)]

    def answer(name: str, path: str) -> Answer:
        if path != "/":
            return MISSING
        return page(*(server.at(name) for name in hosts)) if name == "127.0.0.1" else page()

    with serving(answer) as server:
        result, crawled = crawl(tmp_path, server.at("127.0.0.1"), files=64, CONCURRENT_REQUESTS=150)
        assert result.returncode == 0, result.stderr
        assert "too many open files: continuing with fewer requests at a time" in result.stderr
        assert len(crawled.urls) == 121
        assert crawled.sql("SELECT * FROM failure") == []


#: Notes when requests leave, and keeps the crawl busy: every page costs some time, now more, now less.
LOAD = """
import atexit, json, os, random, sys, time
if "crawl" in sys.argv:
    from twisted.internet.tcp import Connection
    from focuscrawl.spiders.breadth_first import BreadthFirstSpider
    left, chance = [], random.Random(1)
    write, score = Connection.writeSomeData, BreadthFirstSpider.score

    def noted(self, data):
        if bytes(data[:4]) == b"GET ":
            left.append((time.monotonic(), self.getPeer().host))
        return write(self, data)

    def slow(self, page):
        time.sleep(chance.choice([0, 0, 0.02, 0.15]))
        return score(self, page)

    Connection.writeSomeData, BreadthFirstSpider.score = noted, slow
    atexit.register(lambda: json.dump(left, open(os.environ["LEFT"], "w")))
"""


def test_under_load_requests_keep_their_distance(tmp_path, monkeypatch):
    """Measured where they leave: to a host, whatever they are for, none comes sooner than it should."""
    hosts = [host(n) for n in range(12)]

    def answer(name: str, path: str) -> Answer:
        if path in ("/robots.txt", "/.well-known/tdmrep.json"):
            return MISSING
        number = int(path.strip("/") or 0)
        links = [server.at(name, f"/{number + 1}")] if number < 5 else []
        return page(*links, *(server.at(name) for name in hosts), text="sorting")

    (tmp_path / "sitecustomize.py").write_text(LOAD)
    monkeypatch.setenv("LEFT", str(tmp_path / "left.json"))
    with serving(answer) as server:
        result, crawled = crawl(
            tmp_path / "crawl", server.at(hosts[0]), path=str(tmp_path), DOWNLOAD_DELAY=0.2, CONCURRENT_REQUESTS=8
        )
        assert result.returncode == 0, result.stderr
        assert len(crawled.urls) == 12 * 6
    times: dict[str, list[float]] = {}
    for moment, name in json.loads((tmp_path / "left.json").read_text()):
        times.setdefault(name, []).append(moment)
    gaps = [later - earlier for moments in times.values() for earlier, later in pairwise(moments)]
    assert len(gaps) > 60
    assert min(gaps) >= 0.2


AFTER = ("99999999999", "Fri, 31 Dec 99999999999 23:59:59 GMT", "Sun, 06 Nov 9999 08:49:37 GMT")


def test_a_rest_of_any_length_loses_no_page(tmp_path):
    """A host that is busy once, and asks for a rest until the end of the world, gets the longest there is."""
    pages = [f"/{n}" for n in range(20)]
    busy = set(pages)

    def answer(name: str, path: str) -> Answer:
        if path == "/":
            return page(*pages)
        if path in busy:
            busy.discard(path)
            return 429, {"Retry-After": AFTER[int(path[1:]) % len(AFTER)]}, b""
        return page() if path in pages else MISSING

    with serving(answer) as server:
        result, crawled = crawl(tmp_path, server.at("127.0.0.1"))
        assert result.returncode == 0, result.stderr
        assert len([entry for entry in crawled.pages if entry["status"] == 200]) == 21
