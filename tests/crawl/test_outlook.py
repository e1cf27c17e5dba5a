"""What a crawl expects of its next pages."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from focuscrawl.crawl.outlook import AGREE, AHEAD, EVERY, STOP_AFTER, Forecast, Outlook


def crawl(harvests: list[float], waiting: list[float], pages: int = 100) -> Outlook:
    """A crawl of *pages* pages at each of some harvests, by scores that tell nothing; forecasts when they are due."""
    outlook, chance = Outlook(), Random(7)
    for harvest in harvests:
        for _ in range(pages):
            outlook.add(0.5, chance.random() < harvest)
            if outlook.is_due(0):
                outlook.look(np.array(waiting))
    return outlook


def test_a_steady_harvest_is_expected_to_go_on():
    last = crawl([0.3] * 6, [0.5] * 5_000).last
    assert last is not None
    assert last.ahead == AHEAD
    assert last.expected == pytest.approx(0.3 * AHEAD, rel=0.25)
    assert last.low < last.expected < last.high
    assert last.reach == pytest.approx(0.3 * 5_000, rel=0.25)


def test_the_scores_of_what_waits_count():
    def expected(score: float) -> float:
        outlook = Outlook()
        for number in range(400):
            outlook.add(number % 4 / 4, number % 4 == 3)
        return outlook.look(np.full(1_000, score)).expected

    assert expected(0.75) > 2 * expected(0.25)


def test_an_interval_becomes_wider_if_forecasts_fail():
    steady, fitful = crawl([0.2] * 10, [0.5] * 1_000), crawl([0.9, 0.9, 0.0, 0.0] * 3, [0.5] * 1_000)
    assert steady.last
    assert fitful.last
    assert fitful.last.high / fitful.last.expected > 1.2 * steady.last.high / steady.last.expected


def test_a_queue_that_runs_dry_bounds_the_forecast():
    outlook = Outlook()
    for page in range(600):
        outlook.add(0.5, True)
        if outlook.is_due(0):
            outlook.look(np.full(700 - page, 0.5))  # every page takes one URL, and brings none
    assert outlook.last is not None
    assert outlook.last.ahead == outlook.last.waiting <= 110
    assert outlook.last.expected <= outlook.last.high <= outlook.last.ahead
    assert outlook.look(np.array([])).high == 0


def test_a_crawl_is_poor_only_late_and_only_if_forecasts_agree():
    assert not crawl([0.0] * 2, [0.5] * 1_000).is_poor(0.5)
    late = crawl([0.5] * 3 + [0.0] * 12, [0.5] * 1_000)
    assert late.is_poor(0.1)
    assert not late.is_poor(0.001)
    for _ in range(20):
        late.add(0.5, True)
    late.look(np.full(1_000, 0.5))
    assert not late.is_poor(0.02)
    poor_at = next(pages for pages in range(50, 1500, 50) if crawl([0.0], [0.5] * 1_000, pages=pages).is_poor(0.05))
    assert poor_at >= STOP_AFTER


def test_a_dip_stops_nothing():
    assert not crawl([0.4] * 5 + [0.0] * 1, [0.5] * 1_000).is_poor(0.05)


def test_forecasts_are_rare_and_rarer_if_many_urls_are_known():
    outlook = crawl([0.1] * 10, [0.5])
    assert {later.pages - earlier.pages for earlier, later in pairwise(outlook.forecasts)} == {EVERY}
    for _ in range(EVERY):
        outlook.add(0.5, False)
    assert outlook.is_due(10_000)
    assert not outlook.is_due(10_000_000)


def test_a_resumed_crawl_expects_the_same():
    history = [(0.5, number % 5 == 0) for number in range(900)]
    whole, resumed = Outlook(), Outlook(900, 180, history)
    for score, relevant in history:
        whole.add(score, relevant)
    ranks = np.linspace(0, 1, 2_000)
    assert whole.look(ranks) == resumed.look(ranks)
    assert whole.recent_harvest == resumed.recent_harvest == 0.2


def test_a_recorded_forecast_is_read_again_and_nonsense_is_not():
    forecast = crawl([0.3] * 3, [0.5] * 100).last
    assert forecast is not None
    again = Forecast.read(forecast.noted())
    assert again is not None
    assert again.expected == pytest.approx(forecast.expected, abs=0.01)
    for wrong in ({}, {"pages": 1}, forecast.noted() | {"low": "x"}, forecast.noted() | {"high": float("nan")}):
        assert Forecast.read(wrong) is None


def test_agreement_needs_several_forecasts():
    assert AGREE > 1
    outlook = Outlook(1_000, 10, [(0.5, False)] * 1_000)
    assert not outlook.is_poor(1.0)
    outlook.look(np.full(1_000, 0.5))
    assert not outlook.is_poor(1.0)
