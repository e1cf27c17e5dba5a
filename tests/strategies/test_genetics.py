from __future__ import annotations

from random import Random

import pytest

from focuscrawl.strategies.genetics import Individual, crossover, knock_out, mutation, niche

SOME = [Individual(n, f"http://{'ab'[n % 2]}.example/{n}", n / 10) for n in range(10)]


def test_crossover_takes_the_best_share():
    assert [one.url_id for one in crossover(SOME, 0.3)] == [9, 8, 7]
    assert crossover(SOME, 0) == []
    assert len(crossover(SOME, 1)) == 10


def test_mutation_takes_a_random_share_that_chance_alone_decides():
    taken = mutation(SOME, 0.4, Random(3))
    assert len(taken) == len(set(taken)) == 4
    assert taken == mutation(SOME[::-1], 0.4, Random(3))  # not the order they came in
    assert taken != mutation(SOME, 0.4, Random(4))


@pytest.mark.parametrize(
    ("kind", "expected"), [("host", "a.example"), ("host/1", "a.example/x"), ("host/2", "a.example/x/y")]
)
def test_niches(kind, expected):
    assert niche("http://a.example/x/y/z.html?q=/1", kind) == expected
    assert niche("http://a.example", kind) == niche("http://a.example/page.html", kind) == "a.example"


def test_each_niche_loses_its_worst():
    assert {one.url_id for one in knock_out(SOME, 0.2, "host")} == {2, 3, 4, 5, 6, 7, 8, 9}
    assert {one.url_id for one in knock_out(SOME, 2, "host")} == {4, 5, 6, 7, 8, 9}
    assert knock_out(SOME, 99, "host") == []


def test_a_small_niche_loses_nothing_to_a_small_share():
    assert len(knock_out(SOME[:3], 0.1, "host")) == 3
