"""Whatever bytes a server sends: a sample of what benchmarks/fuzz.py reads, made of the embedded web."""

from __future__ import annotations

from statistics import median

import pytest

from benchmarks import fuzz
from focuscrawl.reading import html

SEED, INPUTS = 1, 1_000


@pytest.fixture(scope="module")
def sources():
    return fuzz.embedded_sources()


@pytest.mark.slow
def test_no_mutated_page_raises_or_takes_long(sources):
    judge = fuzz.new_judge()
    results = fuzz.run(sources, SEED, range(INPUTS), judge)
    failures = [
        f"input {result.number}: {result.failure} ({fuzz.make_input(sources, SEED, result.number).recipe})"
        for result in results
        if result.failure
    ]
    assert not failures, "\n".join(failures)
    fuzz.settle(results, sources, SEED, judge)
    # twice what the benchmark allows: the machine may be busy
    assert max(result.seconds for result in results) < 2 * fuzz.MAX_RATIO * median(result.seconds for result in results)


def test_an_input_can_be_made_again(sources):
    inputs = [fuzz.make_input(sources, SEED, number) for number in range(50)]
    assert inputs == [fuzz.make_input(sources, SEED, number) for number in range(50)]
    assert len({made.body for made in inputs}) > 45
    assert max(len(made.body) for made in inputs) <= fuzz.MAX_BYTES
    assert inputs != [fuzz.make_input(sources, SEED + 1, number) for number in range(50)]


def test_every_mutation_takes_any_page(sources):
    for number, mutation in enumerate({*fuzz.MUTATIONS}):
        for body in (b"", b"<", b"<p>words"):
            assert isinstance(mutation(fuzz.Random(number), body, sources), bytes)


def test_what_is_raised_is_found_with_its_recipe(sources, monkeypatch):
    def break_down(self: object, attributes: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setitem(html._STARTS, "meta", break_down)
    results = fuzz.run(sources, SEED, range(50), fuzz.new_judge())
    found = [result for result in results if result.failure]
    assert {result.failure for result in found} == {"RuntimeError: broken"}
    assert fuzz.make_input(sources, SEED, found[0].number).recipe.startswith("http://")
