"""The limit and chance on the clock: as polite as the crawls, and no crawl finds relevant pages sooner than the limit."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from focuscrawl import urls
from focuscrawl.lab.orders import Graph, omniscient
from focuscrawl.lab.polite import Manners, Timed, polite_omniscient, polite_random
from focuscrawl.web.webs import latency

#: Of times that were computed in different ways.
CLOSE = 1e-6


class Case:
    """A random web, and how politely it is crawled."""

    def __init__(self, seed: int) -> None:
        chance = Random(seed)
        size = chance.randrange(2, 60)
        hosts = chance.randrange(1, 8)
        self.addresses = [f"http://h{chance.randrange(hosts)}.example/{page}" for page in range(size)]
        links = chance.choice([0.8, 1.5, 3]) / size
        self.graph = Graph([[t for t in range(size) if t != p and chance.random() < links] for p in range(size)])
        self.relevant = {page for page in range(size) if chance.random() < chance.choice([0.1, 0.3])}
        self.seeds = chance.sample(range(size), min(size, chance.randrange(1, 4)))
        self.pages = chance.randrange(1, size + 1)
        self.manners = Manners(chance.choice([0, 0.3, 1, 5]), chance.choice([0.0, 0.25, 2]), chance.choice([1, 2, 16]))

    def omniscient(self, pages: int | None = None) -> Timed:
        return polite_omniscient(
            self.graph, self.addresses, self.seeds, self.relevant, pages or self.pages, self.manners
        )

    def random(self, seed: int = 1) -> Timed:
        return polite_random(self.graph, self.addresses, self.seeds, self.pages, self.manners, Random(seed))

    def sent(self, order: Timed) -> dict[int, float]:
        """When each page was requested."""
        took = self.manners.latency
        return {p: time - latency(self.addresses[p], took) for p, time in zip(order.pages, order.times, strict=True)}

    def check(self, order: Timed) -> None:
        """An order is one that a polite crawler can have."""
        manners, sent = self.manners, self.sent(order)
        arrived = dict(zip(order.pages, order.times, strict=True))
        assert len(arrived) == len(order.pages) <= self.pages
        assert order.times == sorted(order.times)
        for page, moment in sent.items():
            linked = [arrived[source] for source in self.graph.sources[page] if source in arrived]
            assert page in self.seeds or min(linked) <= moment + CLOSE
            in_flight = sum(sent[other] < moment + CLOSE < arrived[other] - CLOSE for other in sent)
            assert in_flight <= manners.concurrency
        by_host: dict[str, list[int]] = {}
        for page in sorted(sent, key=lambda page: (sent[page], arrived[page])):
            by_host.setdefault(urls.host(self.addresses[page]), []).append(page)
        for host, pages in by_host.items():
            robots = latency(f"http://{host}/robots.txt", manners.latency)
            assert sent[pages[0]] >= max(manners.delay, robots) - CLOSE
            for one, other in pairwise(pages):
                assert sent[other] >= max(sent[one] + manners.delay, arrived[one]) - CLOSE


@pytest.mark.parametrize("seed", range(200))
def test_the_orders_are_polite(seed):
    case = Case(seed)
    case.check(case.omniscient())
    case.check(case.random())
    assert case.random() == case.random()


@pytest.mark.parametrize("seed", range(200))
def test_the_limit_finds_all_there_is_and_fetches_nothing_that_leads_nowhere(seed):
    case = Case(seed)
    order = case.omniscient(len(case.graph))
    assert case.relevant & {*order.pages} == case.relevant & case.graph.reachable(case.seeds)
    for page in order.pages:
        assert case.relevant & case.graph.reachable([page])


@pytest.mark.parametrize("seed", range(200))
def test_hardly_any_order_has_found_everything_before_the_limit(seed):
    case = Case(seed)
    case.pages = len(case.graph)
    if not case.relevant & case.graph.reachable(case.seeds):
        return
    limit, other = case.omniscient(), case.random()
    last = max(time for page, time in zip(other.pages, other.times, strict=True) if page in case.relevant)
    # it is greedy: it does not read the robots.txt of a host that it will need later, which chance may have read
    assert limit.times[-1] <= 1.5 * last + CLOSE


def test_a_host_gets_its_robots_txt_first_and_then_a_page_per_delay():
    addresses = ["http://a.example/0", "http://a.example/1", "http://b.example/2", "http://a.example/3"]
    graph = Graph([[1, 2, 3], [], [], []])
    order = polite_omniscient(graph, addresses, [0], {1, 2, 3}, 4, Manners(1, 0, 16))
    assert order == ([0, 2, 1, 3], [1, 2, 2, 3])


def test_requests_in_flight_are_limited():
    addresses = [f"http://h{page}.example/" for page in range(5)]
    graph = Graph([[1, 2, 3, 4], [], [], [], []])
    relevant = {1, 2, 3, 4}
    assert polite_omniscient(graph, addresses, [0], relevant, 5, Manners(1, 0, 4)).times == [1, 2, 2, 2, 2]
    assert polite_omniscient(graph, addresses, [0], relevant, 5, Manners(1, 0, 2)).times == [1, 2, 2, 3, 3]
    assert polite_omniscient(graph, addresses, [0], relevant, 5, Manners(1, 0, 1)).times == [1, 2, 3, 4, 5]


def test_the_limit_uses_a_free_host_while_relevant_pages_wait_for_a_busy_one():
    # 0 links to two relevant pages of its own host, and to a page elsewhere that leads to a relevant one
    addresses = [f"http://{host}.example/{page}" for page, host in enumerate("aaabc")]
    graph = Graph([[1, 2, 3], [], [], [4], []])
    order = polite_omniscient(graph, addresses, [0], {1, 2, 4}, 5, Manners(1, 0, 16))
    assert dict(zip(*order, strict=True)) == {0: 1, 1: 2, 3: 2, 2: 3, 4: 3}
    assert omniscient(graph, [0], {1, 2, 4}, 5) == [0, 1, 2, 3, 4]  # without a clock there is no reason to


def test_the_limit_waits_rather_than_fetch_what_leads_nowhere():
    addresses = [f"http://{host}.example/{page}" for page, host in enumerate("aaabb")]
    graph = Graph([[1, 2, 3], [], [], [4], []])
    order = polite_omniscient(graph, addresses, [0], {1, 2}, 5, Manners(1, 0, 16))
    assert order == ([0, 1, 2], [1, 2, 3])


def test_the_limit_takes_one_of_two_pages_that_lead_to_the_same():
    addresses = [f"http://h{page}.example/" for page in range(6)]
    graph = Graph([[1, 2], [3], [4], [5], [5], []])
    assert polite_omniscient(graph, addresses, [0], {5}, 6, Manners(1, 0.1, 16)).pages == [0, 1, 3, 5]


def test_chance_prefers_no_page_of_a_free_host():
    addresses = [f"http://{host}.example/{page}" for page, host in enumerate("abbcd")]
    graph = Graph([[1, 2, 3, 4], [], [], [], []])
    manners = Manners(1, 0, 1)
    firsts = [polite_random(graph, addresses, [0], 2, manners, Random(seed)).pages[1] for seed in range(2000)]
    assert all(400 < firsts.count(page) < 600 for page in (1, 2, 3, 4))


def test_manners_are_told_in_words():
    assert str(Manners(1, 0.25, 16)) == "1 s per host, 16 requests at a time, 0.25 s per request on average"
    assert str(Manners(0.5, 0, 1)) == "0.5 s per host, 1 request at a time, 0 s per request on average"
