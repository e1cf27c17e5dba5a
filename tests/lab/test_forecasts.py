"""How good the crawls' own forecasts were."""

from __future__ import annotations

from focuscrawl.lab.forecasts import accuracy, checks

JUDGED = [number % 5 == 0 for number in range(1_000)]


def test_only_forecasts_whose_pages_came_are_checked():
    forecasts = [(page, 500, 100.0, 80.0, 120.0) for page in (200, 300, 500, 550)]
    assert len(checks(forecasts, JUDGED, 1_000, 500)) == 2
    assert len(checks(forecasts, JUDGED, 2_000, 500)) == 3  # nothing was left to fetch


def test_close_and_covered():
    forecasts = [(300, 500, 110.0, 90.0, 130.0), (400, 500, 200.0, 150.0, 250.0)]
    good = accuracy(checks(forecasts, JUDGED, 1_000, 500))
    assert good is not None
    assert (good.forecasts, good.truth, good.error) == (2, 100.0, 55.0)
    assert (good.strict, good.close, good.covered) == (0.5, 0.5, 0.5)
    few = accuracy(checks([(300, 500, 4.0, 0.0, 9.0)], [False] * 1_000, 1_000, 500))
    assert few is not None
    assert (few.strict, few.close, few.covered) == (0.0, 1.0, 1.0)
    assert accuracy([]) is None
