"""How far scores can be taken for expectations."""

from __future__ import annotations

import pytest

from focuscrawl.lab.crawls import Outcome
from focuscrawl.lab.plan import Job
from focuscrawl.lab.reliability import Bin, Fetched, reliabilities, reliability
from focuscrawl.lab.tables import write_reliability


def test_pages_are_compared_by_tenths_of_their_scores():
    found = reliability([Fetched(0.12, 0.2, False), Fetched(0.18, 0.1, True), Fetched(1.0, 0.9, True)])
    assert found is not None
    assert found.bins == [Bin(2, pytest.approx(0.15), pytest.approx(0.15), 0.5), Bin(1, 1.0, 0.9, 1.0)]
    assert found.by_judge == pytest.approx(0.1 / 3)
    assert found.by_labels == pytest.approx(2 * 0.35 / 3)
    assert reliability([]) is None


def test_the_first_hundred_pages_and_seeds_are_left_out(tmp_path):
    urls = [f"http://a.example/{number}" for number in range(103)]
    seen = [(0.5, 0.5)] * 101 + [(None, 0.5), (0.75, 0.25)]
    outcome = Outcome(urls, [True] * 103, [True] * 103, 103, 1.0, 1.0, seen=seen)
    job = Job("web", "chess", "chess", "topic", (), "adaptive", "adaptive", (), 1, 103)
    found = reliabilities({job: outcome}, ["adaptive"], {("chess", "topic"): urls[:101]})
    assert found["topic", "adaptive"].bins == [Bin(1, 0.5, 0.5, 1.0), Bin(1, 0.75, 0.25, 0.0)]
    assert reliabilities({job: outcome}, ["best_first"], {}) == {}
    write_reliability(tmp_path, "web", found)
    lines = (tmp_path / "reliability.csv").read_text("utf-8").splitlines()
    assert lines == [
        "web,seeds,spider,pages,score,relevance,relevant",
        "web,topic,adaptive,1,0.500000,0.500000,1.000000",
        "web,topic,adaptive,1,0.750000,0.250000,0.000000",
    ]
