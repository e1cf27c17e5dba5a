"""When hosts may be asked: rests, refusals, the gate."""

from __future__ import annotations

import asyncio
from math import inf

import pytest

from focuscrawl.crawl import clock as clock_module
from focuscrawl.crawl.failures import HostRests
from focuscrawl.frontier import hosts
from focuscrawl.frontier.hosts import Hosts


class Clock:
    """A clock that goes on when somebody sleeps."""

    def __init__(self, monkeypatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(clock_module, "monotonic", lambda: self.now)
        monkeypatch.setattr(hosts.asyncio, "sleep", self.sleep)
        self.original = asyncio.sleep

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


class Slots:
    """An engine with a delay and nothing else."""

    def __init__(self, delay: float) -> None:
        self.given = delay

    def take_over_concurrency(self) -> float:
        return 16

    def delay(self, host: str, *, jitter: bool = True) -> float:
        return self.given

    def concurrency(self, host: str) -> int:
        return 1


def with_delay(delay: float) -> Hosts:
    found = Hosts()
    found.bind(Slots(delay), lambda: False)
    return found


def test_refusals_in_a_row_double_the_rest(clock):
    known = Hosts(longest_rest=600)
    rests = []
    for _ in range(12):
        rests.append(known.refused("a", None, clock.now))
        clock.now += rests[-1] + 1
    assert rests == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]


def test_a_thousand_refusals_are_no_trouble(clock):
    known = Hosts(longest_rest=600)
    for _ in range(5_000):
        clock.now += 1000
        assert 0 < known.refused("a", None, clock.now) <= 600


def test_refusals_of_what_was_under_way_count_once(clock):
    known = Hosts(longest_rest=600)
    sent = clock.now
    for _ in range(16):
        clock.now += 0.01
        assert known.refused("a", None, sent) == 1


def test_an_answer_ends_the_row(clock):
    known = Hosts()
    assert [known.refused("a", None, clock.now + n) for n in (1, 2, 3)] == [1, 2, 4]
    known.answered("a")
    assert known.refused("a", None, inf) == 1


@pytest.mark.parametrize(("asked", "rest"), [(0.0, 0.0), (120.0, 120.0), (1e30, 600.0)])
def test_a_host_gets_the_rest_it_asks_for_up_to_a_bound(clock, asked, rest):
    known = Hosts(longest_rest=600)
    assert known.refused("a", asked, clock.now) == rest
    assert known.free_at("a") == clock.now + rest


def test_everything_waits_at_the_gate_for_its_turn(clock):
    """Whatever is sent, two requests to a host are a delay apart, and what waits keeps its order."""
    known = with_delay(1.0)
    left = []

    async def send(name: str) -> None:
        left.append((name, await known.turn("a", name)))
        known.left("a")

    async def go() -> None:
        await asyncio.gather(*(send(name) for name in ("page", "robots.txt", "tdmrep.json")))

    asyncio.run(go())
    assert [name for name, _ in left] == ["page", "robots.txt", "tdmrep.json"]
    assert [round(time - 1000, 3) for _, time in left] == [0, 1, 2]


def test_nothing_leaves_before_what_is_leaving_has_left(clock):
    known = with_delay(1.0)

    async def go() -> float:
        await known.turn("a", "page")
        clock.now += 3  # it takes its time to connect
        waiting = asyncio.ensure_future(known.turn("a", "next"))
        for _ in range(5):
            await clock.original(0)
        assert not waiting.done()
        known.left("a")
        moment = clock.now
        return await waiting - moment

    assert asyncio.run(go()) >= 1.0


def test_a_rest_is_not_waited_for_beyond_patience(clock):
    known = with_delay(0.0)
    known.refused("a", 60.0, clock.now)
    with pytest.raises(HostRests):
        asyncio.run(known.turn("a", "page", patience=5.0))
    assert asyncio.run(known.turn("a", "robots.txt")) >= 1060


def test_when_the_crawl_ends_nothing_waits(clock):
    known = Hosts()
    known.refused("a", 60.0, clock.now)
    known.closing = lambda: True
    with pytest.raises(HostRests):
        asyncio.run(known.turn("a", "page"))
