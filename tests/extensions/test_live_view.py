"""Rows of the live view."""

from __future__ import annotations

from focuscrawl.extensions.live_view import Harvest, bars, hosts_line
from focuscrawl.frontier.activity import BLOCKED, BUSY, RESTING, Activity, HostNow


def harvest(relevant: list[bool], most: int) -> Harvest:
    found = Harvest(most)
    for one in relevant:
        found.add(one)
    return found


def test_the_harvest_is_shown_in_equal_parts_however_long_the_crawl_is():
    assert harvest([True, False, True], 4).shares() == [1, 0, 1]
    joined = harvest([True, True, True, False, False, False], 4)
    assert (joined.size, joined.shares()) == (2, [1, 0.5, 0])
    for pages in range(1, 200):
        long = harvest([True] * pages, 4)
        assert len(long.shares()) <= 4
        assert set(long.shares()) == {1}


def test_a_resumed_crawl_begins_with_what_it_had():
    earlier = Harvest.of([10, 10, 15], 30, 4)
    assert (earlier.size, earlier.shares()) == (10, [1, 0, 0.5])
    earlier.add(True)
    assert earlier.shares() == [1, 0, 0.5, 1]
    assert Harvest.of([], 0).shares() == []


def test_bars_are_readable_on_any_terminal():
    assert bars([0, 0.5, 1]) == "▁▅█"
    assert bars([0, 0.5, 1], ascii_only=True) == "_=#"


def test_hosts_are_one_line_without_control_characters():
    hosts = [
        HostNow("a.example", BUSY, None),
        HostNow("b.example", RESTING, 0.4),
        HostNow("c.example\x1b[2J", BLOCKED, 130.0, "too many requests"),
    ]
    now = Activity(0.0, 90, 1, 8, 1, 12, 1, hosts, 1.0, 0.0, False, None, 0, 0.0, None)
    assert hosts_line(now) == (
        "1 busy, 12 resting (next b.example in 0.4 s), 1 blocked (next c.example [2J in 2 min, too many requests)"
    )
