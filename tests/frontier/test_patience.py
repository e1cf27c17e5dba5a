"""Patience: poor links are held back while a much better one waits for its host."""

from __future__ import annotations

from math import inf
from random import Random

import pytest

from focuscrawl.frontier.frontier import Candidate, Frontier
from focuscrawl.frontier.patience import Patience
from focuscrawl.store.store import Store


class Hosts:
    """Hosts with a delay after each request, and perhaps a request that is not answered yet."""

    def __init__(self, delay: float = 1.0) -> None:
        self.delay = delay
        self.free: dict[str, float] = {}

    def free_at(self, name: str) -> float:
        return self.free.get(name, 0.0)


class Crawl:
    """A frontier, its hosts, and a clock."""

    def __init__(self, store: Store, share: float = 0.5, wait: float = 5.0, **options) -> None:
        self.patience = Patience(share, wait)
        self.frontier = Frontier(store, patience=self.patience, **options)
        self.hosts = Hosts()
        self.now = 100.0

    def offer(self, **scores: float) -> None:
        """Queue links of stored pages: a_1 is http://a/1."""
        with self.frontier.store.transaction():
            found = [f"http://{name.replace('_', '/')}" for name in scores]
            ids = self.frontier.identify(found)
            links = zip(ids, found, scores.values(), strict=True)
            self.frontier.offer(Candidate(url_id, url, score, 1, via=1) for url_id, url, score in links)

    def fill(self, count: int, score: float, host: str = "poor") -> None:
        """Queue many links of one host."""
        self.offer(**{f"{host}_{score}_{n}": score for n in range(count)})

    def pop(self) -> str | None:
        """Take a link, and have its host rest."""
        entry = self.frontier.pop(self.now, self.hosts.free_at)
        if entry is None:
            return None
        host = entry.url.split("/")[2]
        self.hosts.free[host] = self.now + self.hosts.delay
        return entry.url

    def fetch(self, worth: dict[str, float]) -> str | None:
        """Take a link and store its page, which is worth what its host's pages are."""
        url = self.pop()
        if url is not None:
            with self.frontier.store.transaction():
                url_id = self.frontier.find(url)
                self.patience.learn(url_id, worth.get(url.split("/")[2], 0.0), 5)
                self.frontier.finish([url_id])
        return url

    def learn(self, good: float = 0.8, poor: float = 0.0, rounds: int = 30) -> None:
        """Fetch pages from links of all standings, so that it is known what they are worth; many links remain."""
        tiers = {"known": (0.95, 60), "fair": (0.008, 60), "dull": (0.006, 90), "dullest": (0.004, 100)}
        for host, (score, count) in tiers.items():
            self.offer(**{f"{host}_{n}": score for n in range(count)})
        self.patience.share, share = 0.0001, self.patience.share  # none is held back
        for _ in range(rounds):
            for _ in tiers:
                assert self.fetch(dict.fromkeys(tiers, poor) | {"known": good}) is not None
            self.now += self.hosts.delay
        self.patience.share = share
        for host in tiers:
            self.hosts.free[host] = self.now + 10_000  # they play no further part


@pytest.fixture
def start(tmp_path):
    opened: list[Store] = []

    def make(share: float = 0.5, wait: float = 5.0, **options) -> Crawl:
        while opened:
            opened.pop().close()
        opened.append(Store(tmp_path / "crawl.sqlite"))
        return Crawl(opened[-1], share, wait, **options)

    yield make
    while opened:
        opened.pop().close()


def good_and_poor(crawl: Crawl) -> None:
    """Ten good links of one host, and a hundred poor ones of another."""
    crawl.offer(**{f"good_{n}": 0.9 - n / 1000 for n in range(10)})
    crawl.fill(100, 0.01)


def test_a_poor_link_waits_while_a_much_better_one_waits_for_its_host(start):
    crawl = start()
    crawl.learn()
    good_and_poor(crawl)
    for n in range(9):
        assert crawl.pop() == f"http://good/{n}"
        assert crawl.pop() is None
        assert crawl.frontier.next_time() == crawl.now + 1
        crawl.now += 1
    assert [crawl.pop(), crawl.pop()] == ["http://good/9", "http://poor/0.01/0"]  # nothing better is left
    assert crawl.patience.held == 9
    assert crawl.patience.seconds == pytest.approx(9)


def test_without_patience_the_line_is_kept_busy(start):
    crawl = start(share=0)
    crawl.learn()
    good_and_poor(crawl)
    assert [crawl.pop(), crawl.pop(), crawl.pop()] == ["http://good/0", "http://poor/0.01/0", None]


def test_calibrated_scores_tell_at_once_what_links_are_worth(start):
    crawl = start(share=0.5)
    crawl.patience.calibrated = True
    crawl.offer(a_1=0.9, a_2=0.8, b_1=0.3, c_1=0.5)
    crawl.fill(50, 0.1)
    assert crawl.pop() == "http://a/1"
    assert crawl.pop() == "http://c/1"  # more than half of the 0.8 that waits for its host
    assert crawl.pop() is None
    crawl.now += 1
    assert crawl.pop() == "http://a/2"
    assert crawl.pop() == "http://b/1"  # nothing better is left


def test_full_patience_is_strict_order(start):
    crawl = start(share=1)
    crawl.offer(a_1=0.9, a_2=0.8, b_1=0.79)
    assert [crawl.pop(), crawl.pop()] == ["http://a/1", None]
    crawl.now += 1
    assert [crawl.pop(), crawl.pop()] == ["http://a/2", "http://b/1"]


def test_only_time_is_scarce_so_nothing_waits(start):
    crawl = start()
    crawl.learn()
    good_and_poor(crawl)
    crawl.patience.haste = inf
    assert [crawl.pop(), crawl.pop()] == ["http://good/0", "http://poor/0.01/0"]


def test_a_host_in_a_long_back_off_is_not_waited_for_until_it_is_nearly_over(start):
    crawl = start()
    crawl.learn()
    good_and_poor(crawl)
    crawl.hosts.free["good"] = crawl.now + 600
    crawl.hosts.delay = 0.0
    assert crawl.pop() == "http://poor/0.01/0"
    crawl.now += 590
    assert crawl.pop() == "http://poor/0.01/1"
    crawl.now += 6
    assert crawl.pop() is None
    assert crawl.frontier.next_time() == crawl.now + 4
    crawl.now += 4
    assert crawl.pop() == "http://good/0"


def test_a_second_back_off_is_not_taken_for_the_end_of_the_first(start):
    crawl = start()
    crawl.learn()
    crawl.offer(good_1=0.9)
    crawl.hosts.free["good"] = crawl.now + 600
    assert crawl.pop() is None
    crawl.now += 600
    crawl.hosts.free["good"] = crawl.now + 600
    good_and_poor(crawl)
    assert crawl.pop() == "http://poor/0.01/0"


def test_a_host_that_does_not_answer_is_not_waited_for_any_longer(start):
    crawl = start()
    crawl.learn()
    good_and_poor(crawl)
    crawl.hosts.free["good"] = inf  # it has a request under way
    crawl.hosts.delay = 0.0
    assert crawl.pop() is None
    assert crawl.frontier.next_time() == crawl.now + 5
    crawl.now += 5
    assert crawl.pop() == "http://poor/0.01/0"
    crawl.hosts.free["good"] = 0.0
    crawl.frontier.release("good")
    assert crawl.pop() == "http://good/0"


def test_a_better_link_found_meanwhile_is_waited_for(start):
    crawl = start()
    crawl.learn()
    crawl.fill(100, 0.01)
    crawl.hosts.free["late"] = crawl.now + 3
    crawl.offer(late_1=0.001)
    assert crawl.pop() == "http://poor/0.01/0"
    crawl.hosts.free.pop("poor")
    crawl.offer(late_2=0.9)
    assert crawl.pop() is None
    crawl.now += 3
    assert crawl.pop() == "http://late/2"


def test_the_best_of_the_queue_are_not_held_back(start):
    crawl = start()
    crawl.learn()
    good_and_poor(crawl)
    crawl.offer(other_1=0.5)
    assert [crawl.pop(), crawl.pop(), crawl.pop()] == ["http://good/0", "http://other/1", None]


def test_near_the_end_only_what_can_still_be_fetched_is_the_best(start):
    crawl = start()
    crawl.learn()
    crawl.offer(**{f"good_{n}": 0.99 for n in range(10)}, **{f"other_{n}": 0.5 for n in range(10)})
    crawl.fill(200, 0.01)
    crawl.patience.pages_left = 200
    assert [crawl.pop(), crawl.pop()] == ["http://good/0", "http://other/0"]
    crawl.now += 1
    crawl.patience.pages_left = 5
    assert crawl.pop() == "http://good/1"
    assert crawl.pop() is None


def test_links_are_not_held_back_if_poor_ones_pay_as_well(start):
    crawl = start()
    crawl.learn(good=0.3, poor=0.3)
    good_and_poor(crawl)
    assert [crawl.pop(), crawl.pop()] == ["http://good/0", "http://poor/0.01/0"]


def test_links_that_lead_to_no_page_are_not_waited_for_any_longer(start):
    crawl = start()
    crawl.learn()
    crawl.offer(**{f"good_{n}": 0.9 for n in range(300)})
    crawl.fill(3000, 0.01)
    failed = 0
    while (url := crawl.pop()) != "http://poor/0.01/0":
        if url is None:
            crawl.now = crawl.frontier.next_time()
        else:
            failed += 1
            with crawl.frontier.store.transaction():
                crawl.frontier.finish([crawl.frontier.find(url)])  # not found
    assert 1 < failed < 100


def test_nothing_is_held_back_if_everything_can_be_fetched_anyway(start):
    crawl = start()
    crawl.learn()
    for _ in range(200):
        crawl.patience.learn(0, 0.0, 0)  # pages bring no new links
    good_and_poor(crawl)
    crawl.patience.pages_left = 1000
    assert [crawl.pop(), crawl.pop()] == ["http://good/0", "http://poor/0.01/0"]


@pytest.mark.parametrize("left", [-1, 0, 1])
@pytest.mark.parametrize("waiting", [1, 2, 3])
def test_the_last_pages_and_the_last_links(start, left, waiting):
    crawl = start()
    crawl.offer(**{f"a_{n}": 0.5 for n in range(waiting)})
    crawl.hosts.delay = 0.0
    crawl.patience.pages_left = left
    assert [crawl.pop() for _ in range(waiting + 1)] == [*(f"http://a/{n}" for n in range(waiting)), None]


@pytest.mark.parametrize("ageing", [0.0, 0.01, 1.0])
def test_ages_and_negative_ranks_do_not_matter(start, ageing):
    crawl = start(ageing=ageing)
    crawl.frontier._pages = 1000  # what is found now has a lower rank than its score
    crawl.learn()
    good_and_poor(crawl)
    assert [crawl.pop(), crawl.pop()] == ["http://good/0", None]


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0])
def test_the_scale_of_the_scores_does_not_matter(start, scale):
    crawl = start()
    crawl.learn()
    crawl.offer(**{f"good_{n}": 0.5 + scale * 0.4 for n in range(10)}, **{f"poor_{n}": 0.5 for n in range(100)})
    assert [crawl.pop(), crawl.pop()] == ["http://good/0", None]


def test_links_below_a_floor_do_not_count(start):
    crawl = start(floor=0.001)
    crawl.learn()
    crawl.fill(1000, 0.0005, "held")
    good_and_poor(crawl)
    assert [crawl.pop(), crawl.pop()] == ["http://good/0", None]


def test_how_much_score_was_given_up_is_counted(start):
    crawl = start(share=0)
    crawl.offer(a_1=0.9, a_2=0.8, b_1=0.3, c_1=0.1)
    crawl.hosts.free["c"] = crawl.now + 1000
    assert [crawl.pop(), crawl.pop()] == ["http://a/1", "http://b/1"]
    assert crawl.frontier.taken == 2
    assert crawl.frontier.given_up == pytest.approx(0.5)
    crawl.now += 1
    assert crawl.pop() == "http://a/2"
    assert crawl.frontier.given_up == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("share", [0.05, 0.2, 0.6, 1.0])
def test_a_crawl_never_stands_still(start, seed, share):
    random = Random(seed)
    crawl = start(share=share, hosts_per_batch=random.choice([0, 3]), size=random.choice([0, 40]))
    names = "abcdefgh"
    for n in range(10):
        crawl.offer(**{f"{random.choice(names)}_s{n}": random.random()})
    fetched = 0
    busy: dict[str, float] = {}
    for step in range(2000):
        for host in [host for host, until in busy.items() if until <= crawl.now]:
            del busy[host]
            crawl.hosts.free[host] = crawl.now + random.choice([0.1, 1.0, 30.0, 700.0])
            crawl.frontier.release(host)
        crawl.patience.pages_left = random.choice([inf, 5, 50])
        url = crawl.fetch({name: random.random() for name in names})
        if url is not None:
            fetched += 1
            host = url.split("/")[2]
            if random.random() < 0.5:
                crawl.hosts.free[host] = inf
                busy[host] = crawl.now + random.choice([0.1, 1.0, 20.0])
            if fetched < 150:
                crawl.offer(**{f"{random.choice(names)}_{step}n{n}": random.random() for n in range(2)})
            continue
        if not len(crawl.frontier):
            break
        wake = min(crawl.frontier.next_time(), *busy.values(), inf)
        assert crawl.now < wake < inf
        crawl.now = wake
    assert not len(crawl.frontier)


def test_the_memory_for_hosts_that_rest_is_bounded(start):
    crawl = start()
    for n in range(20):
        crawl.offer(**{f"h{n}_{m}": m / 1000 for m in range(300)})
    while len(crawl.frontier):
        if crawl.pop() is None:
            crawl.now = crawl.frontier.next_time()
    turns = crawl.frontier.turns
    assert len(turns._soon) + len(turns._later) <= 2 * (2 * 20 + 101)
