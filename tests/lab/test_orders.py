"""The limit and the floor: checked step by step against their rules, and against the best of all orders."""

from __future__ import annotations

from itertools import accumulate
from random import Random

import pytest

from focuscrawl.lab.orders import Graph, omniscient, random_order


def graph_of(chance: Random, pages: int, links: float) -> Graph:
    return Graph([[t for t in range(pages) if t != p and chance.random() < links / pages] for p in range(pages)])


def by_the_rules(graph: Graph, seeds: list[int], relevant: set[int], pages: int) -> list[int]:
    """The omniscient crawler as its rules are told, with no thought for speed."""

    def steps(page: int) -> float:
        """Links from a page to the nearest relevant page that was not fetched."""
        level, seen, count = {page}, {page}, 0
        while level:
            if any(p in relevant and p not in order for p in level):
                return count
            level = {t for p in level for t in graph.links[p]} - seen
            seen |= level
            count += 1
        return float("inf")

    waiting, order = list(dict.fromkeys(seeds)), []
    while waiting and len(order) < pages:
        new = {p: len({t for t in graph.links[p] if t in relevant} - {*order, *waiting}) for p in waiting}
        good = [p for p in waiting if p in relevant]
        if good:
            page = max(good, key=new.__getitem__)  # max and min take the first of equals
        else:
            distance = {p: steps(p) for p in waiting}
            nearest = min(distance.values())
            if nearest == float("inf"):
                break
            page = max((p for p in waiting if distance[p] == nearest), key=new.__getitem__)
        waiting.remove(page)
        order.append(page)
        waiting += [t for t in graph.links[page] if t not in waiting and t not in order]
    return order


def area(order: list[int], relevant: set[int], pages: int) -> int:
    curve = [*accumulate(page in relevant for page in order)]
    return sum(curve) + (pages - len(curve)) * (curve[-1] if curve else 0)


def best_area(graph: Graph, seeds: list[int], relevant: set[int], pages: int) -> int:
    """The largest area of all orders: found by trying every one."""
    known: dict[frozenset[int], int] = {}

    def best(fetched: frozenset[int]) -> int:
        if len(fetched) == pages:
            return 0
        if fetched not in known:
            waiting = ({*seeds} | {t for p in fetched for t in graph.links[p]}) - fetched
            found = len(relevant & fetched)
            rest = (pages - len(fetched)) * found
            known[fetched] = max((len(relevant & (fetched | {p})) + best(fetched | {p}) for p in waiting), default=rest)
        return known[fetched]

    return best(frozenset())


@pytest.mark.parametrize("seed", range(150))
def test_the_omniscient_crawler_keeps_its_rules(seed):
    chance = Random(seed)
    size = chance.randrange(2, 40)
    graph = graph_of(chance, size, chance.choice([0.8, 1.5, 3]))
    relevant = {page for page in range(size) if chance.random() < chance.choice([0.1, 0.3])}
    seeds = chance.sample(range(size), min(size, chance.randrange(1, 4)))
    pages = chance.randrange(1, size + 1)
    assert omniscient(graph, seeds, relevant, pages) == by_the_rules(graph, seeds, relevant, pages)


@pytest.mark.parametrize("seed", range(40))
def test_no_order_is_better_where_relevant_pages_lead_to_all_others(seed):
    chance = Random(seed)
    size = 9
    relevant = set(range(1, chance.randrange(3, size)))
    links = [{t for t in range(size) if t != p and chance.random() < 0.2} for p in range(size)]
    for page in relevant - {1}:  # each is linked from an earlier one, so that there is always one to take
        links[chance.randrange(1, page)].add(page)
    graph = Graph([sorted(targets) for targets in links])
    order = omniscient(graph, [0, 1], relevant, size)
    assert area(order, relevant, size) == best_area(graph, [0, 1], relevant, size)
    assert set(order[: len(relevant)]) == relevant


@pytest.mark.parametrize("seed", range(40))
def test_no_order_beats_it_where_one_page_is_to_be_found(seed):
    chance = Random(seed)
    graph = graph_of(chance, 9, 1.5)
    relevant = {8}
    order = omniscient(graph, [0], relevant, 9)
    assert area(order, relevant, 9) == best_area(graph, [0], relevant, 9)


@pytest.mark.parametrize("seed", range(60))
def test_it_finds_all_that_can_be_found_and_is_rarely_far_from_the_best(seed):
    chance = Random(seed)
    graph = graph_of(chance, 9, 2)
    relevant = set(chance.sample(range(9), 3))
    order = omniscient(graph, [0], relevant, 9)
    assert relevant & set(order) == relevant & graph.reachable([0])
    best = best_area(graph, [0], relevant, 9)
    assert 0.75 * best <= area(order, relevant, 9) <= best


def test_greed_can_miss_a_longer_way_to_more():
    # 0 leads to 1 and, over 2, to 3: the single page 1 links to nothing, behind 3 are many
    graph = Graph([[1, 2], [], [3], [4, 5, 6], [], [], []])
    assert omniscient(graph, [0], {1, 4, 5, 6}, 7) == [0, 1, 2, 3, 4, 5, 6]


def test_it_stops_when_there_is_nothing_to_find():
    assert omniscient(Graph([[1], [0], [1]]), [0], {2}, 3) == []
    assert omniscient(Graph([[1], [0]]), [0], {0}, 3) == [0]


def test_random_order_takes_each_known_page_once_and_repeats_itself():
    graph = graph_of(Random(1), 60, 3)
    order = random_order(graph, [0], 60, Random(5))
    assert sorted(order) == sorted(graph.reachable([0]))
    known = {0}
    for page in order:
        assert page in known
        known |= set(graph.links[page])
    assert order == random_order(graph, [0], 60, Random(5))
    assert order != random_order(graph, [0], 60, Random(6))
    assert random_order(graph, [0], 7, Random(5)) == order[:7]


def test_random_order_prefers_nothing():
    graph = Graph([[1, 2, 3, 4], [], [], [], []])
    firsts = [random_order(graph, [0], 2, Random(seed))[1] for seed in range(2000)]
    assert all(400 < firsts.count(page) < 600 for page in (1, 2, 3, 4))
