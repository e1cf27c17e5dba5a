from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from time import monotonic

import pytest

from focuscrawl import urls
from focuscrawl.crawl import clock as clock_module
from focuscrawl.errors import FocusError
from focuscrawl.frontier import hosts
from focuscrawl.manners.pace import Pace
from tests.conftest import at, scrapy, small_web

pytestmark = pytest.mark.slow  # most of them wait


def clock(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-01T{text}")


def test_the_speed_depends_on_the_time_of_day():
    pace = Pace({"08:00-18:00": 0.25, "12:00-13:00": 0.1, "22:00-06:00": 0})
    times = {
        "07:59:59": 1,
        "08:00": 0.25,
        "12:30": 0.1,
        "13:00": 0.25,
        "17:59": 0.25,
        "18:00": 1,
        "23:00": 0,
        "05:59": 0,
    }
    for time, share in times.items():
        assert pace.share(clock(time)) == share, time
    assert pace.rest(clock("05:58:30")) == 90
    assert pace.rest(clock("22:00")) == 8 * 3600
    assert pace.rest(clock("09:00")) == 0
    assert not pace.steady
    assert Pace({}).steady
    assert Pace({"09:00-09:00": 0.5}).share(clock("03:00")) == 0.5  # the whole day
    assert Pace({"20:00-24:00": 0}).rest(clock("23:59")) == 60


@pytest.mark.parametrize(
    "spans",
    [{"8-18": 1}, {"25:00-26:00": 1}, {"08:00-18:61": 1}, {"08:00-18:00": 2}, {"08:00-18:00": -1},
     {"08:00-18:00": "slow"}, {"08:00-18:00": None}, {"00:00-24:00": 0}, {"": 1}],
)  # fmt: skip
def test_what_is_no_pace_is_told(spans):
    with pytest.raises(FocusError, match="FOCUS_PACE"):
        Pace(spans)


CHAIN = {"a": ["a/1"], "a/1": ["a/2"], "a/2": ["a/3"], "a/3": []}


def test_in_quiet_hours_the_distance_between_requests_grows(crawl, monkeypatch):
    monkeypatch.setattr(clock_module, "local", lambda: clock("12:00"))
    settings = {"FOCUS_PACE": '{"08:00-18:00": 0.25}', "DOWNLOAD_DELAY": 0.05}
    slow = crawl("breadth_first", small_web(CHAIN), settings=settings, seeds=at("a"))
    assert min(slow.gaps) >= 0.19


def test_outside_of_them_it_does_not(crawl, monkeypatch, tmp_path):
    monkeypatch.setattr(clock_module, "local", lambda: clock("19:00"))
    settings = {"FOCUS_PACE": {"08:00-18:00": 0.001}, "DOWNLOAD_DELAY": 0.01}
    assert max(crawl("breadth_first", small_web(CHAIN), settings=settings, seeds=at("a")).gaps) < 5


def test_robots_txt_and_rights_keep_the_distance_of_quiet_hours_too(crawl, monkeypatch):
    """All that is sent to a host passes one gate, whatever it is for."""
    monkeypatch.setattr(clock_module, "local", lambda: clock("12:00"))
    web = small_web(CHAIN, dict.fromkeys(CHAIN, "sorting"))
    asked = []
    answer = web.get

    def get(url):
        asked.append((monotonic(), url))
        return answer(url)

    web.get = get
    settings = {"FOCUS_PACE": {"08:00-18:00": 0.25}, "DOWNLOAD_DELAY": 0.05, "DOWNLOAD_SLOTS": {}}
    crawl("breadth_first", web, settings=settings, seeds=at("a"), keywords="sorting")
    times = {}
    for moment, url in asked:
        times.setdefault(urls.host(url), []).append(moment)
    assert any(url.endswith("tdmrep.json") for _, url in asked)
    gaps = [later - earlier for moments in times.values() for earlier, later in pairwise(moments)]
    assert len(gaps) >= 4
    assert min(gaps) >= 0.2


def test_a_host_without_a_delay_is_slowed_by_the_time_its_answers_take(crawl, monkeypatch):
    monkeypatch.setattr(clock_module, "local", lambda: clock("12:00"))
    asked = []
    original = hosts.Hosts.free_at

    def noted(self, name):
        host = self.of(name)
        asked.append((host.took, original(self, name) - max(host.handed, host.sent)))
        return original(self, name)

    monkeypatch.setattr(hosts.Hosts, "free_at", noted)
    crawl("breadth_first", small_web(CHAIN), settings={"FOCUS_PACE": {"08:00-18:00": 0.5}}, seeds=at("a"))
    waits = [(took, wait) for took, wait in asked if took and wait < 60]
    assert waits
    assert all(wait >= 2 * took * 0.99 for took, wait in waits)


def test_while_it_rests_nothing_is_asked_for_and_then_it_goes_on(crawl, monkeypatch):
    began = datetime.now()
    # for half a second it is 05:59:59 and a half, then it is six
    monkeypatch.setattr(
        clock_module,
        "local",
        lambda: clock("05:59:59.500") + (datetime.now() - began),
    )
    crawled = crawl("breadth_first", small_web(CHAIN), settings={"FOCUS_PACE": {"22:00-06:00": 0}}, seeds=at("a"))
    first = datetime.fromisoformat(crawled.pages[0]["fetched_at"])
    assert len(crawled.urls) == 4
    assert (first - began.astimezone()).total_seconds() >= 0.49


def test_a_wrong_pace_costs_one_line(tmp_path):
    for value, message in (("fast", "expected a JSON object"), ('{"8": 1}', "is not a time span")):
        result = scrapy(
            "crawl", "breadth_first", "-a", "seeds=http://a.example/", "-s", f"FOCUS_DIR={tmp_path / 'c'}",
            "-s", "FOCUS_WEB=demo", "-s", f"FOCUS_PACE={value}",
        )  # fmt: skip
        assert result.returncode == 2
        assert message in result.stderr
        assert "Traceback" not in result.stderr


def test_autothrottle_is_understood(crawl):
    """It sets the delay of a host's slot; what the frontier hands over keeps to it."""
    settings = {
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 0.2,
        "DOWNLOAD_DELAY": 0.15,
        "CONCURRENT_REQUESTS": 8,
    }
    crawled = crawl("breadth_first", small_web({"a": ["a/1", "a/2", "a/3"], "a/1": [], "a/2": [], "a/3": []}),
                    settings=settings, seeds=at("a"))  # fmt: skip
    assert len(crawled.urls) == 4
    assert min(crawled.gaps) >= 0.14
    assert crawled.stats["focus/priority_inversions"] == 0


def test_autothrottle_does_not_shorten_a_crawl_delay(crawl):
    web = small_web(CHAIN)
    web.add(at("a/robots.txt"), "User-agent: *\nCrawl-delay: 0.3", content_type="text/plain")
    settings = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.01, "DOWNLOAD_DELAY": 0.01}
    assert min(crawl("breadth_first", web, settings=settings, seeds=at("a")).gaps) >= 0.29
