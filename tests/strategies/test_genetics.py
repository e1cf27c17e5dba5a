from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from focuscrawl.strategies.genetics import Individual, crossover, knock_out, mutation, niche, niche_kind, sample

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
    ("kind", "expected"),
    [
        ("host", "a.example:8080"),
        ("host/0", "a.example:8080"),
        ("host/1", "a.example:8080/x"),
        ("host/2", "a.example:8080/x/y"),
        ("host/17", "a.example:8080/x/y"),
    ],
)
def test_niches(kind, expected):
    assert niche("http://a.example:8080/x/y/z.html?q=/1", kind) == expected
    assert niche("http://a.example", kind) == niche("https://a.example/page.html", kind) == "a.example"


def test_kinds_of_niches():
    assert [niche_kind(text) for text in ("host", "host/0", "host/17")] == ["host", "host/0", "host/17"]
    for text in ("", "path", "host/", "host/-1", "host/x", "host/1/2"):
        with pytest.raises(ValueError, match=text or "^$"):
            niche_kind(text)


def test_a_sample_is_drawn_in_proportion_to_weights():
    pool = {1: 0.9, 2: 0.1, 3: 0.0}
    first = Counter(sample(pool, 1, Random(seed))[0] for seed in range(1000))
    assert 870 < first[1] < 930
    assert first[3] < 5
    assert sample(pool, 2, Random(3)) == sample(dict(reversed(pool.items())), 2, Random(3))


@pytest.mark.parametrize("most", [0, 3, 9])
def test_a_sample_of_everything(most):
    assert sample({1: 0.5, 2: 0.0, 3: 0.1}, most, Random(1)) == [1, 2, 3]


def test_each_niche_loses_its_worst():
    assert {one.url_id for one in knock_out(SOME, 0.2, "host")} == {2, 3, 4, 5, 6, 7, 8, 9}
    assert {one.url_id for one in knock_out(SOME, 2, "host")} == {4, 5, 6, 7, 8, 9}
    assert knock_out(SOME, 99, "host") == []


def test_a_small_niche_loses_nothing_to_a_small_share():
    assert len(knock_out(SOME[:3], 0.1, "host")) == 3
