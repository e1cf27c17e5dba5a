"""A crawl slows down by the load of its own machine and line."""

from __future__ import annotations

import os
from math import inf
from time import monotonic

import pytest

from focuscrawl.manners.load import WINDOW, Load
from focuscrawl.web.server import serving
from tests.conftest import Crawled, at, scrapy, small_web

# ---- the machine


def test_above_the_limit_requests_in_flight_are_halved_down_to_one():
    load = Load(load_max=1.0)
    assert load.room == inf
    rooms = []
    for _ in range(6):
        assert load.look(1.5, in_flight=int(min(16, load.room))) is (load.room != (rooms[-1] if rooms else inf))
        rooms.append(load.room)
    assert rooms == [8, 4, 2, 1, 1, 1]  # never to a standstill


def test_when_the_load_falls_it_speeds_up_in_steps():
    load = Load(load_max=1.0)
    load.look(2.0, in_flight=16)
    load.look(2.0, in_flight=8)
    assert load.room == 4
    assert not load.look(0.9, in_flight=4)  # neither above nor well below
    assert load.look(0.5, in_flight=4)
    assert load.room == 8
    assert load.look(0.5, in_flight=8)
    assert load.room == inf
    assert not load.look(0.5, in_flight=16)


def test_a_crawl_of_one_request_at_a_time_goes_on():
    load = Load(load_max=0.1)
    assert load.look(5.0, in_flight=0)
    assert load.room == 1
    load.look(0.0, in_flight=1)
    assert load.room == inf


# ---- the line


def test_without_a_limit_nothing_waits():
    assert Load().rest(100.0, in_flight=1000) == 0.0


def crawl_on_paper(load: Load, *, size: int, latency: float, together: int, seconds: float) -> list[tuple[float, int]]:
    """The bytes that arrive, and when, if a request is sent whenever it may be."""
    now, under_way, arrived = 0.0, [], []
    while now < seconds:
        while under_way and under_way[0] <= now:
            load.received(size, under_way.pop(0))
            load.ended(size)
            arrived.append((now, size))
        if len(under_way) < together and not load.rest(now, len(under_way)):
            under_way.append(now + latency)
        now += 0.001
    return arrived


@pytest.mark.parametrize("size", [2_000, 30_000, 300_000])
@pytest.mark.parametrize("latency", [0.01, 0.5, 2.0])
def test_the_line_is_used_up_to_its_limit_and_not_beyond(size, latency):
    load = Load(bandwidth_max=500_000)
    arrived = crawl_on_paper(load, size=size, latency=latency, together=1000, seconds=90)
    # it has to learn the size first
    assert sum(count for _, count in arrived) / 90 == pytest.approx(500_000, rel=0.1)
    for begin in range(30, 85):
        window = sum(count for when, count in arrived if begin <= when < begin + 5)
        assert window <= 1.2 * 5 * 500_000


def test_one_response_larger_than_the_limit_is_paid_for_later():
    load = Load(bandwidth_max=1_000)
    load.rest(0.0, in_flight=0)
    load.received(10_000, 1.0)
    assert load.rest(1.0, in_flight=0) == pytest.approx(9.0, abs=1.1)
    assert load.rest(12.0, in_flight=0) == 0.0  # never to a standstill


def test_what_was_not_used_long_ago_is_not_caught_up_on():
    load = Load(bandwidth_max=1_000)
    load.rest(0.0, in_flight=0)
    load.received(int(WINDOW * 1_000) + 1_000, 3_600.0)
    assert load.rest(3_600.0, in_flight=0) == pytest.approx(1.0)


# ---- crawls


def test_a_real_crawl_keeps_to_its_bandwidth(tmp_path):
    names = [f"a/{number}" for number in range(90)]
    web = small_web({"a": names, **{name: [] for name in names}}, dict.fromkeys(names, "sort of " * 2_500))
    sent: list[tuple[float, int]] = []
    answer = web.get

    def get(url: str):
        found = answer(url)
        if not url.endswith(".txt"):
            sent.append((monotonic(), len(found.body)))
        return found

    web.get = get  # type: ignore[method-assign]
    with serving(web) as server:
        result = scrapy(
            *("crawl", "breadth_first", "-a", f"seeds={server.address}/a.example/"),
            *("-s", f"FOCUS_DIR={tmp_path}", "-s", "FOCUS_BANDWIDTH_MAX=300", "-s", "CONCURRENT_REQUESTS=16"),
        )
    assert result.returncode == 0, result.stderr
    assert len(Crawled(tmp_path).urls) == 91
    began, ended = sent[0][0], sent[-1][0]
    assert sum(count for _, count in sent) / (ended - began) == pytest.approx(300_000, rel=0.2)
    for begin in range(int(ended - began) - 2):
        window = sum(count for when, count in sent if begin <= when - began < begin + 3)
        assert window <= 1.2 * 3 * 300_000


def test_a_busy_machine_makes_a_crawl_slower_and_it_says_so(tmp_path, crawl, monkeypatch, caplog):
    caplog.set_level("INFO")
    monkeypatch.setattr(os, "getloadavg", lambda: (9.0 * (os.cpu_count() or 1), 0.0, 0.0))
    monkeypatch.setattr("focuscrawl.frontier.throttle.LOOK", 0.0)
    names = [f"h{number}" for number in range(30)]
    web = small_web({"a": names, **{name: [] for name in names}})
    settings = {"FOCUS_LOAD_MAX": 2, "CONCURRENT_REQUESTS": 8}
    crawled = crawl("breadth_first", web, settings=settings, seeds=at("a"))
    assert len(crawled.urls) == 31
    assert "Load average 9.00 per core, FOCUS_LOAD_MAX is 2: at most 1 requests at a time" in caplog.text


def test_by_default_nothing_is_asked(crawl):
    crawled = crawl("breadth_first", small_web({"a": []}), seeds=at("a"))
    assert crawled.crawler.spider.crawl.scheduler.throttle is None


def test_wrong_limits_cost_one_line():
    for name in ("FOCUS_LOAD_MAX", "FOCUS_BANDWIDTH_MAX"):
        result = scrapy("crawl", "breadth_first", "-a", "seeds=http://a.example/", "-s", f"{name}=fast")
        assert result.returncode == 2
        assert f"setting {name}=fast: expected a number, at least 0" in result.stderr
