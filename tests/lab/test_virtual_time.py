"""Virtual time: hours pass in no time, everything happens in order, and a polite crawl repeats itself to the timestamp."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil
from pathlib import Path

import pytest
from scrapy.core import downloader
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.errors import FocusError
from focuscrawl.lab import virtual_time
from focuscrawl.lab.crawls import Outcome, run_crawl
from focuscrawl.lab.plan import Job
from focuscrawl.lab.polite import Manners, polite_omniscient
from focuscrawl.lab.survey import Survey
from focuscrawl.lab.virtual_time import EPOCH, START, TICK, VirtualLoop
from focuscrawl.topic import Topic, load_topic
from focuscrawl.web.webs import IN_MEMORY, MemoryWeb, latency
from tests.conftest import Crawled, at

LOADER = SpiderLoader.from_settings(get_project_settings())
MANNERS = Manners(1, 0.25, 16)


# ---- the clock


def test_an_hour_takes_no_time():
    async def work() -> tuple[float, datetime, datetime]:
        await asyncio.sleep(3600)
        return clock.monotonic(), clock.utc(), clock.local()

    began = time.monotonic()
    monotonic, utc, local = virtual_time.run(work)
    assert time.monotonic() - began < 1
    assert monotonic == START + 3600
    assert utc == EPOCH + timedelta(hours=1)
    assert local == utc.replace(tzinfo=None)


def test_sums_of_times_are_exact():
    async def work() -> list[float]:
        moments = []
        for _ in range(1000):
            await asyncio.sleep(0.1)
            moments.append(clock.monotonic() - START)
        return moments

    tick = ceil(0.1 / TICK) * TICK
    assert virtual_time.run(work) == [tick * number for number in range(1, 1001)]


def test_timers_run_by_time_and_those_of_the_same_time_in_order():
    async def work() -> list[object]:
        loop, done = asyncio.get_running_loop(), []
        for number in range(100):
            loop.call_at(START + 5, done.append, number)
        loop.call_later(4, done.append, "early")
        loop.call_later(2, done.append, "cancelled").cancel()
        await asyncio.sleep(6)
        return done

    assert virtual_time.run(work) == ["early", *range(100)]


def test_the_clock_stands_still_while_a_thread_works():
    async def work() -> tuple[float, list[str]]:
        done = []

        async def later() -> None:
            await asyncio.sleep(10)
            done.append("timer")

        timer = asyncio.create_task(later())
        await asyncio.sleep(0)  # the timer is set
        await asyncio.to_thread(time.sleep, 0.1)
        done.append("thread")
        moment = clock.monotonic()
        await timer
        return moment, done

    assert virtual_time.run(work) == (START, ["thread", "timer"])


def test_the_real_clock_is_back_afterwards():
    async def works() -> float:
        assert isinstance(asyncio.get_running_loop(), VirtualLoop)
        assert downloader.monotonic() == START
        return clock.monotonic()

    async def fails() -> None:
        raise FocusError("it failed")

    assert virtual_time.run(works) == START
    with pytest.raises(FocusError, match="it failed"):
        virtual_time.run(fails)
    assert abs(clock.monotonic() - time.monotonic()) < 5
    assert abs(clock.utc().timestamp() - time.time()) < 5
    assert downloader.monotonic is time.monotonic


# ---- crawls


TOPIC = """
name = "Sorting"
label = "sorting"
keywords = { sort = 3, array = 2 }
"""


class Watched(MemoryWeb):
    """A web that notes when it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.answered: list[tuple[float, str]] = []

    def get(self, url: str):
        self.answered.append((clock.monotonic() - START, url))
        return super().get(url)


@pytest.fixture
def web():
    """Six hosts: on each, pages about sorting that lead to those of the next host, among as many about nothing."""
    web = Watched()
    for host in range(6):
        for page in range(8):
            links = [f"s{host}/{page + 1}", f"s{(host + 1) % 6}/{page}", f"o{host}/{page}", f"o{(host + 3) % 6}/{page}"]
            anchors = "".join(f'<p><a href="{at(link)}">{link}</a></p>' for link in links)
            text = f"Sorting an array by comparison, number {page} of host {host}: bubble sort and merge sort."
            web.add(at(f"s{host}/{page}"), f"<title>sort</title><p>{text}</p>{anchors}", ["sorting"])
            links = [f"o{(host + 1) % 6}/{page}", f"o{host}/{page + 1}", f"s{(host + 2) % 6}/{(page + 4) % 8}"]
            anchors = "".join(f'<p><a href="{at(link)}">{link}</a></p>' for link in links)
            text = f"Weather and cake, number {page} of host {host}."
            web.add(at(f"o{host}/{page}"), f"<title>cake</title><p>{text}</p>{anchors}")
    IN_MEMORY["memory:clock"] = web
    yield web
    del IN_MEMORY["memory:clock"]


def crawl(
    spider: str, folder: Path, *, pages: int, manners: Manners = MANNERS, web: str = "", topic: str = ""
) -> Outcome:
    """A crawl of the lab, in this process; its files are kept in the only folder in *folder*."""
    folder.mkdir(parents=True)
    if not topic:
        topic = str(folder / "sorting.toml")
        Path(topic).write_text(TOPIC)
    job = Job(
        web=web or "memory:clock",
        topic="sorting",
        topic_source=topic,
        seeds="topic",
        starts=tuple(load_topic(topic).seeds) or (at("o0/0"), at("s3/0")),
        spider=spider,
        name=spider,
        options=tuple(LOADER.load(spider).options_for(pages).items()),
        repeat=1,
        pages=pages,
        manners=manners,
    )
    outcome = run_crawl(job, folder, keep=True)
    (folder / job.key).rename(folder / "crawl")
    return outcome


def sent(web: Watched, manners: Manners) -> list[tuple[float, float, str]]:
    """When requests were sent and answered, and their URLs."""
    return sorted((moment - latency(url, manners.latency), moment, url) for moment, url in web.answered)


@pytest.mark.parametrize("manners", [MANNERS, Manners(1, 3, 4), Manners(5, 0.1, 2)], ids=str)
def test_requests_to_a_host_are_a_delay_apart_on_the_crawls_clock(web, tmp_path, manners):
    outcome = crawl("best_first", tmp_path / "a", pages=40, manners=manners)
    assert len(outcome.urls) == 40
    by_host: dict[str, list[float]] = {}
    for left, _, url in sent(web, manners):
        by_host.setdefault(urls.host(url), []).append(left)
    assert len(by_host) > 4
    for moments in by_host.values():
        assert all(later - earlier >= manners.delay - 2 * TICK for earlier, later in pairwise(moments))
    pages = [request for request in sent(web, manners) if not request[2].endswith((".txt", ".json"))]
    for moment, _, _ in pages:
        in_flight = sum(left <= moment < arrived for left, arrived, _ in pages)
        assert in_flight <= manners.concurrency


def test_a_page_arrives_after_robots_txt_the_delay_and_its_latency(web, tmp_path):
    outcome = crawl("breadth_first", tmp_path / "a", pages=1)
    assert latency(outcome.urls[0], 0.25) == pytest.approx(outcome.times[0] - 1, abs=0.002)
    (robots, asked), *_ = sorted(web.answered)
    assert asked.endswith("/robots.txt")
    assert robots == pytest.approx(latency(asked, 0.25), abs=2 * TICK)


def test_each_url_has_a_latency_of_its_own_around_the_mean():
    found = [latency(f"http://a.example/{number}", 2.0) for number in range(1000)]
    assert min(found) >= 1
    assert max(found) < 3
    assert sum(found) / 1000 == pytest.approx(2, abs=0.1)
    assert found == [latency(f"http://a.example/{number}", 2.0) for number in range(1000)]
    assert latency("http://a.example/", 0) == 0


def test_a_polite_crawl_repeats_itself_to_the_timestamp(web, tmp_path):
    first, second = (crawl("shark_search", tmp_path / name, pages=30) for name in "ab")
    assert (first.urls, first.times, first.requests) == (second.urls, second.times, second.requests)
    assert first.times == sorted(first.times)
    lines = [(tmp_path / name / "crawl" / "pages.jsonl").read_bytes() for name in "ab"]
    assert lines[0] == lines[1]
    assert b'"fetched_at": "2026-01-05T00:00:01.' in lines[0] or b'"fetched_at":"2026-01-05T00:00:01.' in lines[0]


def test_a_crawl_without_manners_has_no_times(web, tmp_path):
    outcome = crawl("best_first", tmp_path / "a", pages=5, manners=None)
    assert outcome.times is None
    assert not Crawled(tmp_path / "a" / "crawl").pages[0]["fetched_at"].startswith("2026-01-05T00:00:0")


@pytest.mark.parametrize("spider", ["best_first", "breadth_first", "info_spiders", "keyword", "shark_search"])
def test_no_spider_finds_relevant_pages_sooner_than_the_limit(web, tmp_path, spider):
    survey = Survey.of(web, {"sorting": Topic("Sorting", label="sorting")})
    relevant = survey.labelled("sorting")
    seeds = survey.numbers([at("o0/0"), at("s3/0")])
    limit = polite_omniscient(survey.graph, survey.urls, seeds, relevant, 60, MANNERS)
    best = [moment for page, moment in zip(*limit, strict=True) if page in relevant]
    outcome = crawl(spider, tmp_path / "a", pages=60)
    found = [m for url, m in zip(outcome.urls, outcome.times, strict=True) if survey.number(url) in relevant]
    assert len(found) > 10
    assert len(found) <= len(best)
    for soonest, moment in zip(best, found, strict=False):
        assert soonest <= moment + 0.002  # crawls note milliseconds


@pytest.mark.slow
@pytest.mark.parametrize("spider", LOADER.list())
def test_every_spider_is_polite_and_repeats_itself_to_the_timestamp(tmp_path, spider):
    pages = 160 if spider == "apprentice" else 40  # it learns from half as many
    first, second = (crawl(spider, tmp_path / name, pages=pages, web="demo", topic="sorting") for name in "ab")
    assert (first.urls, first.times, first.requests) == (second.urls, second.times, second.requests)
    assert len(first.times) > 5
    lines = [(tmp_path / name / "crawl" / "pages.jsonl").read_bytes() for name in "ab"]
    assert lines[0] == lines[1]
