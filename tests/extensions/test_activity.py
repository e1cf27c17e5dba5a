"""What a running crawl says that it is doing, and what the dashboard shows of it."""

from __future__ import annotations

import json

import pytest

from focuscrawl import testing
from focuscrawl.frontier.activity import BLOCKED, BUSY, KEY, RESTING, Activity, HostNow
from focuscrawl.store.places import read_crawl
from focuscrawl.web.webs import Answer
from tests.conftest import at, small_web
from tests.dashboard.asking import Asking

HOSTS = ("a", "b", "c", "d", "e")
LINKS = {f"{host}/{page}": [] for host in HOSTS for page in range(6)}
OVERLOADED = Answer(503, headers=(("Retry-After", "500"),))


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a crawl with a delay of ten seconds said at each request, and what the dashboard showed."""
    folder = tmp_path_factory.mktemp("activity") / "crawl"
    web = small_web({"a/0": [*LINKS], **{name: [] for name in LINKS if name != "a/0"}}, {"a/0": "sort"})
    web.answers[at("b/1")] = OVERLOADED
    web.answers["http://c.example/robots.txt"] = Answer(500)
    told: list[Activity] = []
    shown: list[tuple[str, str]] = []
    answer = web.get

    def get(url: str) -> Answer:
        if (folder / "crawl.sqlite").exists():
            with read_crawl(folder, check=False) as store:
                found = Activity.read(store.meta(KEY))
            if found is not None:
                told.append(found)
                asking = Asking(folder)
                shown.append((asking.get("now").text, asking.get("frontier").text))
        return answer(url)

    web.get = get
    given = {"DOWNLOAD_DELAY": 10, "CONCURRENT_REQUESTS": 8, "FOCUS_WEB_LATENCY": 3, "FOCUS_PACE": {"00:00-24:00": 0.5}}
    testing.crawl("best_first", web, folder, given, virtual_time=True, seeds=at("a/0"), keywords="sort")
    return told, shown


def states(told: list[Activity], state: str) -> dict[str, HostNow]:
    return {host.name: host for now in told for host in now.of(state)}


def test_hosts_are_busy_rest_or_are_blocked_and_have_a_next_slot(seen):
    told, _ = seen
    resting, blocked = states(told, RESTING), states(told, BLOCKED)
    assert {"a.example", "d.example"} <= resting.keys()
    assert all(0 <= host.next_in <= 20 for host in resting.values())
    assert "d.example" in states(told, BUSY)
    assert blocked["b.example"].why == "too many requests"
    assert 0 < blocked["b.example"].next_in <= 500
    assert blocked["c.example"].why == "robots.txt: HTTP 500"
    assert {now.pace for now in told} == {0.5}
    assert all(now.busy == len(now.of(BUSY)) and now.in_flight <= now.room for now in told)


def test_the_dashboard_shows_it_while_the_crawl_runs(seen):
    _, shown = seen
    text = " ".join(now for now, _ in shown)
    assert "1 host is busy" in text
    assert ", of at most 4" in text  # half of eight
    assert "robots.txt: HTTP 500" in text
    assert "at 50% of its full speed (FOCUS_PACE)" in text
    frontier = shown[-1][1]
    assert "By patience" in frontier
    assert "By politeness" in frontier
    assert "too many requests" in " ".join(held for _, held in shown)


@pytest.mark.parametrize(
    "change",
    [
        {"hosts": 5},
        {"hosts": [["a", "busy", None]]},
        {"hosts": [["a", "mad", None, "", None]]},
        {"hosts": [["a", "busy", "soon", "", None]]},
        {"held": ["http://a.example/", "x", "", 1]},
        {"at": None},
        {"pace": "fast"},
        {"rest": 1e300},
        {"more": 1},
    ],
)
def test_nonsense_in_a_file_says_nothing(seen, change):
    good = json.loads(json.dumps(seen[0][-1].noted()))
    assert Activity.read(good) == seen[0][-1]
    assert Activity.read(good | change) is None
