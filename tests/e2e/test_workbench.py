"""The whole way from an idea to a corpus, by commands alone; `benchmarks/workbench.py` goes it for all topics."""

from __future__ import annotations

import pytest

from benchmarks import workbench

pytestmark = pytest.mark.slow


def test_from_an_idea_to_a_corpus(tmp_path):
    bench = workbench.Workbench("birds", tmp_path)
    bench.new()
    first = bench.go_on(120)
    bench.review()
    corrected = bench.judge()
    on = bench.go_on(160)
    audit = bench.audit()
    for step, standing in (("first crawl", first), ("judged again", corrected), ("crawled on", on)):
        print(f"{step}: precision {standing.precision:.2f}, recall {standing.recall:.2f}")
    assert corrected.f1 > first.f1 + workbench.MARGIN
    assert on.f1 > first.f1
    assert on.matched > first.matched
    assert audit["precision"]["low"] <= on.precision <= audit["precision"]["high"]
    assert "bird" in bench.search().lower()
