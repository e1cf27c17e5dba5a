"""What a crawl may spend: pages, hours, or both. The crawls run in virtual time."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from datetime import datetime

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.frontier.scheduler import FrontierScheduler
from focuscrawl.testing import at, small_web
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import scrapy

POLITE = {
    "DOWNLOAD_DELAY": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "CONCURRENT_REQUESTS": 16,
    "FOCUS_WEB_LATENCY": 0.25,
}
CHAIN = small_web({f"a/{n}": [f"a/{n + 1}"] for n in range(200)} | {"a/200": []})


def hours(seconds: float) -> str:
    return str(seconds / 3600)


def seconds(crawled) -> float:
    """From the first page to the last, on the crawl's clock."""
    times = [datetime.fromisoformat(page["fetched_at"]) for page in crawled.pages]
    return (times[-1] - times[0]).total_seconds()


@pytest.fixture
def polite(crawl):
    """Crawl politely in virtual time; by default the embedded web."""

    def run(web: MemoryWeb | None = None, spider: str = "best_first", settings=None, **arguments):
        given = POLITE | ({"FOCUS_WEB": "demo"} if web is None else {}) | (settings or {})
        topic = {"topic": "sorting"} if web is None else {}
        return crawl(spider, web or MemoryWeb(), settings=given, virtual_time=True, **(topic | arguments))

    return run


def test_a_crawl_ends_when_its_hours_are_spent(polite):
    crawled = polite(CHAIN, "breadth_first", seeds=at("a/0"), max_hours=hours(30))
    assert crawled.stats["finish_reason"] == "max_hours"
    assert 25 <= len(crawled.pages) <= 31  # one a second
    assert crawled.stats["elapsed_time_seconds"] == pytest.approx(30, abs=3)


def test_earlier_runs_count_and_more_hours_continue_the_crawl(polite, caplog):
    polite(CHAIN, "breadth_first", seeds=at("a/0"), max_hours=hours(20))
    crawled = polite(CHAIN, "breadth_first", seeds=at("a/0"), max_hours=hours(20))
    assert len(crawled.pages) <= 21
    assert "hours are spent, max_hours is" in caplog.text
    assert "raise max_hours to continue" in caplog.text
    crawled = polite(CHAIN, "breadth_first", seeds=at("a/0"), max_hours=hours(40))
    assert 33 <= len(crawled.pages) <= 41
    assert crawled.sql("SELECT value FROM meta WHERE key = 'seconds'")[0][0] in ("39", "40", "41", "42")


def test_a_crawl_that_waits_for_a_host_ends_on_time(polite):
    web = small_web({"a": ["b"]})
    web.add(at("robots.txt").replace("robots.txt.example/", "a.example/robots.txt"), "User-agent: *\nCrawl-delay: 50\n")
    crawled = polite(web, "breadth_first", seeds=f"{at('a')},{at('a/x')},{at('a/y')}", max_hours=hours(20))
    assert crawled.stats["finish_reason"] == "max_hours"
    assert crawled.stats["elapsed_time_seconds"] < 25
    assert crawled.sql("SELECT count(*) FROM frontier") == [(3,)]  # they are fetched when it is resumed


@pytest.mark.parametrize("limit", [30, 45, 60])
def test_both_budgets_run_out_together(polite, limit):
    crawled = polite(max_pages=300, max_hours=hours(limit))
    assert len(crawled.pages) >= 285
    assert crawled.stats["elapsed_time_seconds"] == pytest.approx(limit, rel=0.05)


def test_more_time_finds_more_with_the_same_pages(polite, tmp_path):
    found = [
        sum(
            page["matched"]
            for page in polite(folder=tmp_path / str(limit), max_pages=200, max_hours=hours(limit)).pages
        )
        for limit in (15, 30, 60)
    ]
    assert found[0] < found[1] < found[2]


def test_with_hours_alone_nothing_is_held_back(polite, tmp_path):
    alone = polite(max_hours=hours(30))
    busy = polite(folder=tmp_path / "busy", settings={"FOCUS_PATIENCE": 0}, max_hours=hours(30))
    assert alone.urls == busy.urls
    assert alone.stats["focus/held"] == 0


def test_with_pages_poor_links_are_held_back_and_more_is_found(polite, tmp_path):
    patient = polite(max_pages=300, topic="chess")
    busy = polite(folder=tmp_path / "busy", settings={"FOCUS_PATIENCE": 0}, max_pages=300, topic="chess")
    found, found_busy = (sum(page["matched"] for page in crawled.pages) for crawled in (patient, busy))
    assert found > 2 * found_busy
    assert patient.stats["focus/held"] > 50
    assert 0 < patient.stats["focus/held_seconds"] <= patient.stats["elapsed_time_seconds"]
    assert patient.stats["focus/score_given_up"] < 0.75 * busy.stats["focus/score_given_up"]
    assert busy.stats["focus/held"] == 0


def test_the_log_says_how_long_the_crawl_has_run_and_that_it_waits(polite, caplog):
    caplog.set_level("INFO")
    polite(max_pages=150, max_hours=hours(36), settings={"LOGSTATS_INTERVAL": 2})
    lines = [record.getMessage() for record in caplog.records if record.name == "focuscrawl.extensions.progress"]
    assert any("/0.01 h, " in line for line in lines)
    assert any(line.endswith("waiting for better links") for line in lines)
    assert not lines[-1].endswith("waiting for better links")


@pytest.mark.parametrize("value", ["-1", "soon", "nan", "inf"])
def test_invalid_hours_cost_one_line(value, tmp_path):
    options = "-a", "seeds=http://a.example/", "-a", f"max_hours={value}", "-s", f"FOCUS_DIR={tmp_path}"
    done = scrapy("crawl", "breadth_first", *options)
    assert done.returncode != 0
    assert "max_hours" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("limit", [57, 59, 61])
def test_hours_that_are_not_exact_in_seconds_end_a_crawl_too(polite, limit):
    assert float(hours(limit)) * 3600 > limit  # by less than the clock can tell
    web = small_web({"a": ["b"]})
    web.add("http://a.example/robots.txt", "User-agent: *\nCrawl-delay: 500\n")
    crawled = polite(web, "breadth_first", seeds=f"{at('a')},{at('a/x')}", max_hours=hours(limit))
    assert crawled.stats["finish_reason"] == "max_hours"
    assert crawled.stats["elapsed_time_seconds"] == pytest.approx(limit, abs=3)


def test_a_rest_of_the_whole_crawl_is_not_taken_for_a_wait_for_better_links(polite, caplog):
    caplog.set_level("INFO")
    crawled = polite(max_pages=600, settings={"FOCUS_PACE": '{"00:01-02:00": 0}', "LOGSTATS_INTERVAL": 600})
    assert crawled.stats["elapsed_time_seconds"] > 7200
    assert crawled.stats["focus/held"] > 50
    assert crawled.stats["focus/held_seconds"] < 100
    lines = [record.getMessage() for record in caplog.records if record.name == "focuscrawl.extensions.progress"]
    resting = [line for line in lines if line.endswith("resting")]
    assert resting
    assert not any("waiting for better links" in line for line in resting)


def test_hours_that_are_spent_during_a_rest_end_the_crawl_on_time(polite):
    crawled = polite(max_pages=600, max_hours=hours(72), settings={"FOCUS_PACE": '{"00:01-02:00": 0}'})
    assert crawled.stats["finish_reason"] == "max_hours"
    assert crawled.stats["elapsed_time_seconds"] == pytest.approx(72, abs=1)


def test_a_crash_during_a_rest_loses_only_a_few_seconds_of_the_time_spent(polite, monkeypatch):
    noted: list[float] = []

    def close(scheduler, reason):
        noted.append(scheduler.crawl.store.number("seconds"))

    monkeypatch.setattr(FrontierScheduler, "close", close)
    polite(max_pages=600, max_hours="1", settings={"FOCUS_PACE": '{"00:01-02:00": 0}'})
    assert noted[0] == pytest.approx(3600, abs=20)


def test_requests_that_are_slow_do_not_leave_after_the_end(polite):
    web = small_web({f"h{n}": [] for n in range(10)})
    seeds = ",".join(at(f"h{n}") for n in range(10))
    crawled = polite(web, "breadth_first", {"FOCUS_WEB_LATENCY": 100}, seeds=seeds, max_hours=hours(40))
    assert crawled.pages == []
    assert crawled.stats["elapsed_time_seconds"] < 160  # the robots.txt requests were under way
    assert crawled.sql("SELECT count(*) FROM frontier") == [(10,)]


@pytest.mark.parametrize("seconds", ["-1", "1" + 400 * "0", "1e300", '"long"'])
def test_a_file_with_an_impossible_duration_is_refused_in_one_line(polite, seconds):
    folder = polite(CHAIN, "breadth_first", seeds=at("a/0"), max_pages=2).folder
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'seconds'", (seconds,))
        connection.commit()
    with pytest.raises(FocusError, match="meta 'seconds'"):
        polite(CHAIN, "breadth_first", seeds=at("a/0"), max_pages=4, max_hours=1)


#: The first pages are about organs, the many others are not.
FADING = small_web(
    {"a": [f"a/{n}" for n in range(900)]} | {f"a/{n}": [] for n in range(900)},
    {f"a/{n}": "pipe organ " * 5 if n < 100 else "bread" for n in range(900)},
)


def test_a_crawl_stops_when_its_next_pages_are_not_worth_it_and_goes_on_with_a_lower_bound(crawl, caplog):
    def run(**arguments):
        return crawl("breadth_first", FADING, seeds=at("a"), keywords="organ", **arguments)

    stopped = run(stop_below=0.1)
    pages = len(stopped.urls)
    assert stopped.stats["finish_reason"] == "stop_below"
    assert 300 <= pages < 850
    with caplog.at_level("WARNING"):
        again = run(stop_below=0.1)
    assert again.stats["finish_reason"] == "stop_below"
    assert len(again.urls) == pages
    assert re.search(
        r"at most \d\.\d% of the next \d+ pages are expected to be relevant, stop_below is 0.1;", caplog.text
    )
    further = run(stop_below=0.0001)
    assert further.stats["finish_reason"] == "finished"
    assert len(further.urls) == 901


def test_a_crawl_that_still_finds_something_does_not_stop(crawl):
    crawled = crawl("breadth_first", FADING, seeds=at("a"), keywords="organ,bread", stop_below=0.05, max_pages=450)
    assert crawled.stats["finish_reason"] == "max_pages"
