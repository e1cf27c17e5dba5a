"""The machine is checked before a crawl begins."""

from __future__ import annotations

import shutil
import sqlite3
from collections import namedtuple
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

import pytest

from focuscrawl.crawl import start_checks
from focuscrawl.crawl.start_checks import MB, available_memory, check_clock, check_memory, check_space, free_space
from focuscrawl.errors import FocusError
from focuscrawl.spiders.breadth_first import BreadthFirstSpider
from focuscrawl.store.store import Store
from focuscrawl.testing import crawl as crawl_in_memory
from focuscrawl.web.server import serving
from tests.conftest import at, scrapy, small_web

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
HERE = Path("crawls/x")


def test_enough_of_everything_is_not_mentioned():
    assert [*check_space(101 * MB, HERE), *check_memory(201 * MB), *check_clock(NOW, NOW)] == []


def test_what_cannot_be_found_out_is_not_mentioned():
    assert [*check_space(None, HERE), *check_memory(None), *check_clock(NOW, None)] == []


def test_little_space_is_told_and_too_little_refused():
    (told,) = check_space(99 * MB, HERE)
    assert told.startswith("only 99 MB are free on the disk of crawls/x")
    with pytest.raises(FocusError, match=r"only 9 MB are free .*FOCUS_DIR=.*FOCUS_START_CHECKS=False"):
        list(check_space(9 * MB, HERE))
    assert len(list(check_space(9 * MB, HERE, refuse=False))) == 1


def test_little_memory_is_told():
    (told,) = check_memory(150 * MB)
    assert told.startswith("only 150 MB of memory are available")


def test_a_wrong_clock_is_told_and_which_way():
    (told,) = check_clock(datetime(1970, 1, 1, tzinfo=UTC), NOW)
    assert "1970-01-01 00:00 UTC, before this version of focuscrawl was made" in told
    (told,) = check_clock(NOW, NOW + timedelta(hours=2))
    assert "2026-11-17 12:00 UTC, but the crawl has entries of 2026-11-17 14:00" in told
    assert list(check_clock(NOW, NOW + timedelta(minutes=5))) == []  # clocks are set


# ---- what the machine says


def test_the_space_of_a_directory_that_is_not_there_yet(tmp_path, monkeypatch):
    assert free_space(tmp_path / "not" / "yet") == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.05)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, 0))
    assert free_space(tmp_path) is None


MEMINFO = "MemTotal: 8000000 kB\nMemFree: 100 kB\nMemAvailable: 4000000 kB\n"


@pytest.mark.parametrize(
    ("files", "available"),
    [
        ({}, None),
        ({"/proc/meminfo": MEMINFO}, 4_096_000_000),
        ({"/proc/meminfo": "nonsense"}, None),
        (  # version 2, in a container: its own group is the topmost it sees; caches can be dropped
            {
                "/proc/meminfo": MEMINFO,
                "/proc/self/cgroup": "0::/\n",
                "/sys/fs/cgroup/memory.max": "500000000\n",
                "/sys/fs/cgroup/memory.current": "490000000\n",
                "/sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 300000000\n",
            },
            310_000_000,
        ),
        (  # no limit on the group, but on the one above
            {
                "/proc/meminfo": MEMINFO,
                "/proc/self/cgroup": "0::/system.slice/crawl.service\n",
                "/sys/fs/cgroup/system.slice/crawl.service/memory.max": "max\n",
                "/sys/fs/cgroup/system.slice/crawl.service/memory.current": "1000\n",
                "/sys/fs/cgroup/system.slice/memory.max": "100000000\n",
                "/sys/fs/cgroup/system.slice/memory.current": "40000000\n",
            },
            60_000_000,
        ),
        (  # version 1, whose path is the one outside of the container
            {
                "/proc/meminfo": MEMINFO,
                "/proc/self/cgroup": "4:memory:/docker/0123\n1:cpu:/docker/0123\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "200000000\n",
                "/sys/fs/cgroup/memory/memory.usage_in_bytes": "200000000\n",
                "/sys/fs/cgroup/memory/memory.stat": "inactive_file 5\ntotal_inactive_file 50000000\n",
            },
            50_000_000,
        ),
        (  # version 1 without a limit
            {
                "/proc/meminfo": MEMINFO,
                "/proc/self/cgroup": "4:memory:/\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "/sys/fs/cgroup/memory/memory.usage_in_bytes": "200000000\n",
            },
            4_096_000_000,
        ),
    ],
)
def test_memory_is_what_the_machine_and_the_container_leave(files, available):
    assert available_memory(files.get) == available


def test_the_checks_take_no_time(tmp_path):
    store = Store(tmp_path / "crawl.sqlite")
    times = []
    for _ in range(5):
        began = perf_counter()
        list(check_space(free_space(tmp_path), tmp_path))
        list(check_memory(available_memory()))
        list(check_clock(NOW, store.newest()))
        times.append(perf_counter() - began)
    store.close()
    assert min(times) < 0.02


# ---- crawls


@pytest.fixture
def tight(monkeypatch):
    """A machine with little of everything."""
    monkeypatch.setattr(start_checks, "free_space", lambda folder: 5 * MB)
    monkeypatch.setattr(start_checks, "available_memory", lambda: 50 * MB)


def test_a_replayed_web_is_crawled_all_the_same(tight, crawl, caplog):
    assert crawl("breadth_first", small_web({"a": []}), seeds=at("a")).urls == [at("a")]
    assert [record.levelname for record in caplog.records if "MB" in record.message] == ["WARNING", "WARNING"]


def test_a_crawl_on_a_full_disk_does_not_begin_and_leaves_nothing_behind(tight, tmp_path):
    with pytest.raises(FocusError, match="only 5 MB are free"):
        crawl_in_memory(
            BreadthFirstSpider, small_web({}), tmp_path / "c", {"FOCUS_WEB": None}, seeds="http://127.0.0.1:9/"
        )
    assert not (tmp_path / "c").exists()


def test_the_checks_can_be_switched_off(tight, crawl, caplog):
    crawl("breadth_first", small_web({"a": []}), settings={"FOCUS_START_CHECKS": False}, seeds=at("a"))
    assert "MB" not in caplog.text


def test_a_crawl_from_the_future_is_told_of_and_goes_on(tmp_path):
    with serving(small_web({"a": ["b"], "b": []})) as server:
        arguments = [
            "crawl",
            "breadth_first",
            "-a",
            f"seeds={server.address}/a.example/",
            "-s",
            f"FOCUS_DIR={tmp_path}",
        ]
        first = scrapy(*arguments, "-a", "max_pages=1")
        assert first.returncode == 0, first.stderr
        assert "WARNING" not in first.stderr  # no false alarm
        connection = sqlite3.connect(tmp_path / "crawl.sqlite")
        connection.execute("UPDATE page SET fetched_at = '2199-01-01T00:00:00.000+00:00'")
        connection.commit()
        connection.close()
        second = scrapy(*arguments, "-a", "max_pages=2")
    assert second.returncode == 0, second.stderr
    (line,) = [line for line in second.stderr.splitlines() if "WARNING" in line]
    assert "but the crawl has entries of 2199-01-01 00:00" in line
