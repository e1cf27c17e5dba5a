"""The frontier without Scrapy: order, hosts, bounds, and what survives."""

from __future__ import annotations

from math import inf
from random import Random

import pytest

from focuscrawl import urls
from focuscrawl.frontier import frontier as frontier_module
from focuscrawl.frontier.frontier import Candidate, Frontier
from focuscrawl.frontier.opening import open_frontier
from focuscrawl.frontier.waiting import DONE, IN_FLIGHT, KNOWN
from focuscrawl.store.places import open_store
from focuscrawl.store.queue import Entry


def free(_: str) -> float:
    return 0.0


@pytest.fixture(params=["file", "server"])
def frontier(request, tmp_path):
    """Opens the frontier of a crawl, and opens it again: in a file, and on a PostgreSQL server."""
    opened: list[Frontier] = []
    place = tmp_path / "crawl.sqlite" if request.param == "file" else request.getfixturevalue("database")

    def close() -> None:
        while opened:
            opened[-1].leave()
            opened.pop().store.close()

    def make(**options) -> Frontier:
        close()
        opened.append(open_frontier(open_store(place), **options))
        return opened[-1]

    yield make
    close()


def offer(frontier: Frontier, *scored: tuple[str, float], depth: int = 1) -> list[int]:
    with frontier.store.transaction():
        ids = frontier.identify([url for url, _ in scored])
        frontier.offer(Candidate(url_id, url, score, depth) for url_id, (url, score) in zip(ids, scored, strict=True))
    return ids


def take(frontier: Frontier, count: int = 1000, free_at=free, now: float = 0.0) -> list[str]:
    taken = []
    while len(taken) < count and (entry := frontier.pop(now, free_at)) is not None:
        taken.append(entry.url)
    return taken


def finish(frontier: Frontier, url: str) -> None:
    with frontier.store.transaction():
        frontier.finish([frontier.find(url)], page_host="h")


def test_the_best_comes_first_whatever_its_host(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.3), ("http://b/1", 0.9), ("http://a/2", 0.7), ("http://c/1", 0.5))
    assert take(f) == ["http://b/1", "http://a/2", "http://c/1", "http://a/1"]


def test_equal_scores_come_in_the_order_found(frontier):
    f = frontier()
    urls = [f"http://{host}/{n}" for n in range(5) for host in "abc"]
    offer(f, *((url, 0.5) for url in urls))
    assert take(f) == urls


def test_a_page_is_queued_once_under_all_its_names(frontier):
    f = frontier()
    offer(f, ("http://www.a.example/x?b=1&a=2", 0.5), ("https://a.example/x?a=2&b=1#part", 0.5))
    assert len(f) == 1


def test_a_second_sighting_raises_the_score_but_never_lowers_it(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.3), ("http://b/1", 0.5))
    offer(f, ("http://a/1", 0.9), ("http://b/1", 0.1))
    assert take(f) == ["http://a/1", "http://b/1"]
    assert len(f) == 0


def test_the_strategy_says_how_sightings_add_up(frontier):
    f = frontier(merge=lambda old, new: min(1.0, old + new))
    offer(f, ("http://a/1", 0.3), ("http://b/1", 0.5), ("http://a/1", 0.3))
    assert take(f) == ["http://a/1", "http://b/1"]


def test_what_was_taken_or_fetched_is_not_queued_again(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.3))
    assert take(f) == ["http://a/1"]
    offer(f, ("http://a/1", 0.9))
    assert take(f) == []
    finish(f, "http://a/1")
    offer(f, ("http://a/1", 0.9))
    assert take(f) == []


def test_hosts_that_are_busy_or_delayed_are_passed_over_and_come_back(frontier):
    f = frontier()
    offer(f, ("http://busy/1", 0.9), ("http://later/1", 0.8), ("http://free/1", 0.1))
    times = {"busy": inf, "later": 5.0, "free": 0.0}
    assert take(f, free_at=times.__getitem__, now=1.0) == ["http://free/1"]
    assert f.next_time() == 5.0
    times["later"] = 0.0
    assert take(f, free_at=times.__getitem__, now=4.0) == []
    assert take(f, free_at=times.__getitem__, now=5.0) == ["http://later/1"]
    times["busy"] = 0.0
    assert take(f, free_at=times.__getitem__, now=6.0) == []  # nobody said so yet
    f.release("busy")
    assert take(f, free_at=times.__getitem__, now=6.0) == ["http://busy/1"]
    assert f.next_time() == inf


def test_a_better_link_for_a_waiting_host_is_first_when_the_host_is_free(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.5))
    assert take(f, free_at=lambda _: 9.0) == []
    offer(f, ("http://a/2", 0.8))
    assert take(f, now=9.0) == ["http://a/2", "http://a/1"]


def test_the_best_rank_among_free_hosts(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.9), ("http://b/1", 0.5))
    assert f.best_rank(0.0, free) == 0.9
    assert f.best_rank(0.0, {"a": inf, "b": 0.0}.__getitem__) == 0.5
    assert f.best_rank(0.0, lambda _: inf) == -inf


def test_a_bounded_frontier_keeps_the_best_and_what_fell_off_may_come_back(frontier):
    f = frontier(size=3)
    offer(f, *((f"http://a/{n}", n / 10) for n in range(1, 8)))
    assert (len(f), f.dropped) == (3, 4)
    assert f.store.execute("SELECT count(*) FROM frontier").fetchone() == (3,)
    offer(f, ("http://a/1", 0.95))
    assert take(f) == ["http://a/1", "http://a/7", "http://a/6"]


def test_a_bounded_frontier_never_grows_beyond_its_size(frontier):
    f = frontier(size=50)
    random = Random(1)
    for _ in range(200):
        offer(f, *((f"http://h{random.randrange(9)}/{random.randrange(5000)}", random.random()) for _ in range(20)))
        assert len(f) <= 50
        for url in take(f, 3):
            finish(f, url)
    assert len(f.waiting._worst) < 10 * 50 + 1000


def test_old_entries_rise_by_ageing(frontier):
    f = frontier(ageing=0.01)
    offer(f, ("http://a/old", 0.5))
    for n in range(20):
        with f.store.transaction():
            f.finish(f.identify([f"http://x/{n}"]), page_host="x")
    offer(f, ("http://a/new", 0.6))
    offer(f, ("http://a/newest", 0.9))
    assert take(f) == ["http://a/newest", "http://a/old", "http://a/new"]


def test_ageing_survives_a_second_sighting(frontier):
    f = frontier(ageing=0.01)
    offer(f, ("http://a/old", 0.5), ("http://a/old", 0.55))
    with f.store.transaction():
        f.finish(f.identify(["http://x/"]), page_host="x")
    offer(f, ("http://a/old", 0.6))
    assert f.best_rank(0.0, free) == pytest.approx(0.6)


def test_each_run_goes_to_as_many_hosts_as_asked_for(frontier):
    f = frontier(hosts_per_batch=3)
    offer(f, *((f"http://{host}/{n}", score) for n in range(3) for host, score in (("a", 0.9), ("b", 0.5), ("c", 0.1))))
    hosts = [url[7] for url in take(f)]
    assert [sorted(hosts[n : n + 3]) for n in (0, 3, 6)] == [["a", "b", "c"]] * 3


def test_runs_are_as_wide_as_there_are_hosts(frontier):
    f = frontier(hosts_per_batch=100)
    offer(f, *((f"http://{host}/{n}", 0.5) for n in range(4) for host in "ab"))
    assert len(take(f)) == 8


def test_a_host_gives_no_more_pages_than_it_may(frontier):
    f = frontier(pages_per_host=2)
    offer(f, *((f"http://a/{n}", 0.5) for n in range(5)), ("http://b/1", 0.1))
    assert take(f) == ["http://a/0", "http://a/1", "http://b/1"]
    for url in ("http://a/0", "http://a/1"):
        with f.store.transaction():
            f.finish([f.find(url)], page_host="a")
    assert take(f) == []
    assert (len(f), f.host_full) == (0, 3)
    offer(f, ("http://a/9", 1.0))
    assert take(f) == []


def test_a_failed_page_makes_room_for_another_of_its_host(frontier):
    f = frontier(pages_per_host=1)
    offer(f, ("http://a/1", 0.9), ("http://a/2", 0.5))
    assert take(f) == ["http://a/1"]
    with f.store.transaction():
        f.finish([f.find("http://a/1")])
    assert take(f) == ["http://a/2"]


def test_the_n_best_are_taken_before_newer_ones_are_looked_at(frontier):
    f = frontier(batch=3)
    offer(f, *((f"http://a/{n}", n / 10) for n in range(1, 6)))
    assert take(f, 1) == ["http://a/5"]
    offer(f, ("http://a/best", 1.0))
    assert take(f, 2) == ["http://a/4", "http://a/3"]
    assert take(f) == ["http://a/best", "http://a/2", "http://a/1"]


def test_a_link_seen_twice_within_a_batch_does_not_stop_it(frontier):
    f = frontier(batch=5)
    offer(f, ("http://a/1", 0.5))
    offer(f, ("http://a/1", 0.6), ("http://a/1", 0.7))
    assert take(f) == ["http://a/1"]
    offer(f, ("http://a/2", 0.5), ("http://a/2", 0.9))
    assert take(f) == ["http://a/2"]


def test_a_row_taken_out_of_the_file_is_passed_over(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.5), ("http://a/2", 0.4))
    f.store.execute("DELETE FROM frontier WHERE url = 'http://a/1'")
    assert take(f) == ["http://a/2"]
    assert len(f) == 0


def test_a_batch_that_waits_for_a_slow_host_does_not_hold_up_the_others(frontier):
    f = frontier(batch=3)
    offer(f, ("http://slow/1", 0.9), ("http://slow/2", 0.8))
    assert take(f, 1) == ["http://slow/1"]
    offer(f, ("http://quick/1", 0.1))
    assert take(f, free_at={"slow": inf, "quick": 0.0}.__getitem__) == ["http://quick/1"]


def test_a_run_that_waits_for_a_slow_host_does_not_hold_up_the_others(frontier):
    f = frontier(hosts_per_batch=10)
    offer(f, ("http://slow/1", 0.9), *((f"http://quick/{n}", 0.1) for n in range(5)))
    assert len(take(f, free_at={"slow": inf, "quick": 0.0}.__getitem__)) == 5


def test_entries_that_come_back_keep_to_the_order_of_those_on_disk(frontier):
    f = frontier(hot=3)
    offer(f, *((f"http://a/{n}", n / 100) for n in range(1, 40)))
    (last,) = offer(f, ("http://a/last", 0.995))
    assert take(f, 1) == ["http://a/last"]
    f.store.execute("UPDATE frontier SET rank = 0.2 WHERE url_id = ?", (last,))
    f.waiting.rank[last] = 0.2
    f.again(last, "a")
    assert take(f) == [f"http://a/{n}" for n in range(39, 20, -1)] + ["http://a/20", "http://a/last"] + [
        f"http://a/{n}" for n in range(19, 0, -1)
    ]


def test_a_long_chain_of_good_pages_leaves_nothing_behind(frontier):
    f = frontier()
    offer(f, *((f"http://a/poor{n}", 0.1) for n in range(100)))
    for n in range(500):
        offer(f, (f"http://a/good{n}", 0.9))
        assert take(f, 1) == [f"http://a/good{n}"]
        finish(f, f"http://a/good{n}")
    take(f, 5)
    assert len(f.turns._ready) <= 2


def test_what_fell_in_worth_is_put_back(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.9), ("http://b/1", 0.8), ("http://c/1", 0.2))
    f.rescorer = lambda entry: 0.1 if entry.url == "http://a/1" else entry.score
    assert take(f) == ["http://b/1", "http://c/1", "http://a/1"]
    f.rescorer = None


def test_what_rose_while_the_best_was_looked_at_comes_first(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.9), ("http://b/1", 0.8), ("http://c/1", 0.2), ("http://a/2", 0.1))

    def rescorer(entry):
        if entry.url == "http://a/1" and not risen:
            risen.append(entry)
            offer(f, ("http://c/1", 0.95), ("http://a/2", 1.0))
        return entry.score

    risen = []
    f.rescorer = rescorer
    assert take(f) == ["http://a/2", "http://c/1", "http://a/1", "http://b/1"]
    f.rescorer = None


def test_everything_can_be_scored_anew(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.9), ("http://b/1", 0.5), ("http://c/1", 0.2))
    assert f.rescore(lambda entry: 1 - entry.score if entry.url != "http://b/1" else entry.score) == 2
    assert take(f) == ["http://c/1", "http://b/1", "http://a/1"]


def test_a_url_in_flight_can_be_queued_again_for_another_host(frontier):
    f = frontier()
    (url_id,) = offer(f, ("http://a/1", 0.9))
    take(f)
    f.again(url_id, "b")
    assert take(f, free_at={"a": inf, "b": 0.0}.__getitem__) == ["http://a/1"]


def test_the_target_of_a_redirect_is_taken_out_of_the_queue(frontier):
    f = frontier()
    first, second = offer(f, ("http://a/1", 0.9), ("http://a/2", 0.5))
    assert take(f, 1) == ["http://a/1"]
    assert f.claim(second)
    assert not f.claim(second)
    assert take(f) == []
    with f.store.transaction():
        f.finish([first, second], page_host="a")
    assert f.waiting.state[second] == DONE


@pytest.mark.parametrize("options", [{}, {"ageing": 0.001}])
@pytest.mark.parametrize("damping", [1.0, 0.5])
def test_a_waiting_url_that_is_twice_on_a_page_has_the_best_of_its_scores(frontier, options, damping):
    f = frontier(**options)
    offer(f, ("http://a/1", 0.25))
    f.damper = lambda url: damping if url == "http://a/1" else 1.0
    offer(f, ("http://b/1", 0.5))
    if damping < 1:  # it comes to the top once and is put back
        offer(f, ("http://a/1", 0.75))
    assert take(f, 1) == ["http://b/1"]
    offer(
        f, ("http://a/1", 0.875), ("http://a/1", 0.8), ("http://c/1", 0.25), ("http://c/1", 0.75), ("http://c/1", 0.5)
    )
    assert dict(f.store.execute("SELECT url, score FROM frontier")) == {
        "http://b/1": 0.5,
        "http://a/1": 0.875,
        "http://c/1": 0.75,
    }
    assert dict(f.store.execute("SELECT url, rank FROM frontier WHERE url != 'http://b/1'")) == {
        "http://a/1": 0.875 * damping,
        "http://c/1": 0.75,
    }


def test_what_is_half_way_to_its_page_is_not_given_up(frontier):
    f = frontier(pages_per_host=9)
    first, second = offer(f, ("http://a/1", 0.9), ("http://b/2", 0.1))
    f.damper = lambda url: 1.0
    assert take(f, 1) == ["http://a/1"]
    assert f.claim(second)
    f.again(first, "b")
    f.damper = lambda url: 0.0  # its pattern is full by now
    assert take(f) == ["http://a/1"]


def test_a_trap_that_fills_the_queue_does_not_stop_the_crawl_until_all_is_put_back(frontier, monkeypatch):
    monkeypatch.setattr(frontier_module, "PUT_BACK", 10)
    f = frontier()
    offer(f, *((f"http://a/{number}", 0.5) for number in range(25)), ("http://b/1", 0.2))
    f.damper = lambda url: 0.1 if url.startswith("http://a/") else 1.0
    assert f.pop(0.0, free) is None
    assert (f.figures()["damped"], f.next_time()) == (10, 0.0)
    assert f.pop(0.0, free) is None
    assert f.pop(0.0, free).url == "http://b/1"
    assert f.next_time() == inf
    assert len(take(f)) == 25
    f.damper = lambda url: 0.0
    offer(f, *((f"http://c/{number}", 0.5) for number in range(15)))
    assert f.pop(0.0, free) is None
    assert (len(f), f.next_time()) == (5, 0.0)


def test_what_left_the_queue_is_not_counted_as_damped(frontier):
    f = frontier(size=2, pages_per_host=1)
    f.damper = lambda url: 0.5 if url.startswith("http://a/") else 1.0
    offer(f, ("http://a/1", 0.9), ("http://b/1", 0.8))
    assert take(f, 1) == ["http://b/1"]
    assert f.figures()["damped"] == 1
    offer(f, ("http://c/1", 0.9), ("http://c/2", 0.9))
    assert (f.figures()["damped"], f.dropped) == (0, 1)


def reference_order(entries: dict[str, tuple[float, int]]) -> list[str]:
    return sorted(entries, key=lambda url: (-entries[url][0], entries[url][1]))


@pytest.mark.parametrize("hot", [2, 5, 10_000])
def test_what_is_damped_keeps_to_the_order_whatever_is_kept_in_memory(frontier, hot):
    """Ever more hosts are traps, and traps of traps; binary fractions, so that ranks are exact."""
    random = Random(hot)
    f = frontier(hot=hot)
    model: dict[str, tuple[float, int]] = {}
    gone: set[str] = set()
    factors: dict[str, float] = {}

    def damper(url: str) -> float:
        return factors.get(urls.host(url), 1.0)

    f.damper = damper
    for step in range(150):
        scored = [
            (f"http://h{random.randrange(6)}/{random.randrange(300)}", random.randrange(1, 65) / 64) for _ in range(7)
        ]
        offer(f, *scored)
        for url, score in scored:
            if url not in gone:
                old, number = model.get(url, (-1.0, f.find(url)))
                model[url] = max(old, score), number
        if step % 15 == 7:
            host = f"h{random.randrange(6)}"
            factors[host] = factors.get(host, 1.0) / 4
        expected = reference_order({url: (score * damper(url), number) for url, (score, number) in model.items()})[:5]
        assert take(f, 5) == expected
        for url in expected:
            finish(f, url)
            gone.add(url)
            del model[url]
        assert f.store.queue.count() == len(model)
        if step % 30 == 20:
            f = frontier(hot=hot)
            f.damper = damper


@pytest.mark.parametrize("hot", [2, 5, 10_000])
def test_the_order_is_that_of_a_sorted_list_whatever_is_kept_in_memory(frontier, hot):
    """Random offers, takes, rescores and restarts, against the simplest model that can be right."""
    random = Random(hot)
    f = frontier(hot=hot)
    model: dict[str, tuple[float, int]] = {}
    gone: set[str] = set()
    for step in range(120):
        scored = [
            (f"http://h{random.randrange(4)}/{random.randrange(200)}", random.randrange(50) / 50) for _ in range(6)
        ]
        offer(f, *scored)
        for url, score in scored:
            if url not in gone:
                old, number = model.get(url, (-1.0, f.find(url)))
                model[url] = max(old, score), number
        if step % 20 == 10:
            change = random.random()
            f.rescore(lambda entry, change=change: round((entry.score + change) % 1, 6))
            model = {url: (round((score + change) % 1, 6), number) for url, (score, number) in model.items()}
        expected = reference_order(model)[:4]
        assert take(f, 4) == expected
        for url in expected:
            finish(f, url)
            gone.add(url)
            del model[url]
        assert f.store.queue.count() == len(model)
        if step % 30 == 20:
            f = frontier(hot=hot)
    assert take(f) == reference_order(model)


def test_what_was_not_finished_is_there_again_after_a_crash(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.9), ("http://a/2", 0.5), ("http://a/3", 0.1))
    assert take(f, 2) == ["http://a/1", "http://a/2"]
    finish(f, "http://a/1")
    f = frontier()
    assert f.waiting.state[f.find("http://a/1")] == DONE
    assert take(f) == ["http://a/2", "http://a/3"]
    assert f.waiting.state[f.find("http://a/2")] == IN_FLIGHT


def test_bounds_hold_after_a_restart(frontier):
    f = frontier(size=5, pages_per_host=3)
    offer(f, *((f"http://a/{n}", n / 100) for n in range(9)))
    f = frontier(size=5, pages_per_host=3)
    offer(f, ("http://b/1", 0.9))
    assert len(f) == 5
    assert f.waiting.state[f.find("http://a/0")] == KNOWN


def test_a_stored_url_that_was_never_asked_for_leaves_the_queue(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.9))
    finish(f, "http://a/1")
    assert (take(f), len(f)) == ([], 0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hot": 3},
        {"size": 15, "hot": 3},
        {"pages_per_host": 7, "hot": 2},
        {"hosts_per_batch": 3},
        {"hosts_per_batch": 4, "pages_per_host": 5, "size": 20},
        {"batch": 4},
        {"batch": 4, "hosts_per_batch": 3, "hot": 2, "ageing": 0.001},
        {"ageing": 0.01, "hot": 2, "size": 10},
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_options_the_queue_runs_dry_and_never_stalls(frontier, options, seed):
    """Hosts with delays and one request at a time; pages that link on, fail, are retried or redirected."""
    random = Random(seed)
    f = frontier(**options)
    now = 0.0
    next_free: dict[str, float] = {}
    flying: list[tuple[float, int, str]] = []  # (done at, url id, host)
    busy: set[str] = set()
    taken: list[int] = []

    def free_at(host: str) -> float:
        return inf if host in busy else next_free.get(host, 0.0)

    def links() -> list[tuple[str, float]]:
        return [
            (f"http://h{random.randrange(6)}/{random.randrange(150)}", random.random())
            for _ in range(random.randrange(6))
        ]

    offer(f, ("http://h0/0", 1.0), *links())
    for _ in range(20_000):
        while len(flying) < 4 and (entry := f.pop(now, free_at)) is not None:
            host = f.waiting.hosts[f.waiting.host_of[entry.url_id]].name
            busy.add(host)
            next_free[host] = now + 1.0
            flying.append((now + random.random(), entry.url_id, host))
            taken.append(entry.url_id)
        if not flying:
            if not len(f):
                break
            assert f.next_time() < inf, "something waits, but nothing will ever wake it"
            now = max(now, f.next_time())
            continue
        flying.sort(reverse=True)
        now, url_id, host = flying.pop()
        busy.discard(host)
        f.release(host)
        what = random.random()
        with f.store.transaction():
            if what < 0.1:
                f.again(url_id, random.choice([host, "h1", "elsewhere"]))
                taken.remove(url_id)
                continue
            chain = []
            if what < 0.2:
                (target,) = f.identify([f"http://h{random.randrange(6)}/{random.randrange(150)}"])
                chain = [target] if f.claim(target) else []
            f.finish([url_id, *chain], page_host=host if what < 0.9 else None)
        if random.random() < 0.5:
            offer(f, *links())
        if random.random() < 0.02:
            f.rescore(lambda _: random.random())
    else:
        pytest.fail("the queue never ran dry")
    assert len(taken) == len(set(taken))
    assert f.store.execute("SELECT count(*) FROM frontier").fetchone() == (0,)
    assert all(host.in_flight == 0 for host in f.waiting.hosts.values())


# ---- hosts that do not answer


def test_strangers_have_a_share_of_what_is_under_way(frontier):
    f = frontier()
    offer(f, *((f"http://stranger{n}/", 0.9) for n in range(8)), *((f"http://known/{n}", 0.1) for n in range(4)))
    f.host_answered("known")
    f.turns.most_strangers = 3
    assert take(f) == [*(f"http://stranger{n}/" for n in range(3)), *(f"http://known/{n}" for n in range(4))]
    f.host_answered("stranger0")  # it has answered, and makes room for the next
    assert take(f) == ["http://stranger3/"]


def test_before_anybody_has_answered_all_are_strangers(frontier):
    f = frontier()
    offer(f, *((f"http://h{n}/", 0.5) for n in range(5)))
    f.turns.most_strangers = 2
    assert len(take(f)) == 5


def test_a_known_host_that_does_not_answer_is_a_stranger_again(frontier):
    f = frontier()
    offer(f, ("http://a/1", 0.9), ("http://a/2", 0.8), ("http://b/1", 0.1))
    f.host_answered("a")
    f.host_answered("b")
    f.host_silent("a")
    f.turns.most_strangers = 0
    assert take(f) == ["http://b/1"]
    f.host_answered("a")
    assert take(f) == ["http://a/1", "http://a/2"]


def test_what_gave_no_answer_in_an_earlier_run_is_tried_last(frontier):
    f = frontier()
    offer(f, ("http://dead/", 0.9), ("http://a/1", 0.2), ("http://a/2", 0.1))
    dead = f.pop(0.0, free)
    with f.store.transaction():
        f.store.failures.add(dead.url_id, dead.url, "no answer", None, "")
        f.finish([dead.url_id], for_good=False)
    f = frontier()
    assert len(f) == 3
    offer(f, ("http://dead/", 1.0), ("http://a/3", 0.15))  # seeing it again does not change that
    order = []
    while (url := next(iter(take(f, 1)), None)) is not None:
        order.append(url)
        finish(f, url)
    assert order == ["http://a/1", "http://a/3", "http://a/2", "http://dead/"]
    assert len(f) == 0


def test_whether_anything_is_open_is_known_without_a_look_at_the_queue(frontier):
    f = frontier(floor=0.5)
    offer(f, *((f"http://a/{n}", 0.1) for n in range(50)))
    assert not f.has_open()
    offer(f, ("http://b/", 0.7))
    execute, f.store.execute = f.store.execute, None
    assert f.has_open()
    f.store.execute = execute
    assert take(f) == ["http://b/"]
    assert not f.has_open()
    finish(f, "http://b/")
    f.rescore(lambda entry: 0.6)
    assert f.has_open()
    assert frontier(floor=0.5).has_open()


def test_a_redirect_is_part_of_the_turn_that_began_it(frontier):
    f = frontier(hosts_per_batch=3)
    (url_id, *_) = offer(f, ("http://old/", 0.9), ("http://new/1", 0.8), ("http://c/", 0.1), ("http://new/2", 0.2))
    assert take(f, 2) == ["http://old/", "http://new/1"]
    f.again(url_id, "new")
    assert take(f, 2) == ["http://old/", "http://c/"]


def test_second_queues_leave_no_gaps_in_the_file(frontier):
    """However many hosts redirect, the hosts of the file are numbered one after the other."""
    f = frontier()
    for number in range(20):
        (url_id,) = offer(f, (f"http://h{number}/", 0.5))
        assert take(f) == [f"http://h{number}/"]
        f.again(url_id, f"h{number}")
        assert take(f) == [f"http://h{number}/"]
        finish(f, f"http://h{number}/")
    ids = [host_id for (host_id,) in f.store.execute("SELECT id FROM host ORDER BY id")]
    assert ids == list(range(1, len(ids) + 1))


# ---- visits to stored pages


def fetched(frontier: Frontier, *found: str) -> list[int]:
    ids = offer(frontier, *((url, 0.5) for url in found))
    take(frontier)
    for url in found:
        finish(frontier, url)
    return ids


def visit(frontier: Frontier, scored: dict[str, float]) -> None:
    frontier.visit([Entry(frontier.find(url), url, worth, 0.0, 0, None, None) for url, worth in scored.items()])


@pytest.mark.parametrize("options", [{}, {"pages_per_host": 1}, {"size": 1}, {"hot": 1}, {"batch": 5}, {"floor": 0.9}])
def test_visits_come_before_new_pages_the_best_among_the_free_hosts_first(frontier, options):
    f = frontier()
    fetched(f, "http://a/1", "http://a/2", "http://b/1", "http://c/1")
    f = frontier(**options)
    offer(f, ("http://d/new", 1.0))
    visit(f, {"http://a/1": 0.9, "http://a/2": 0.8, "http://b/1": 0.7, "http://c/1": 0.6})
    busy: set[str] = set()

    def free_at(host: str) -> float:
        return inf if host in busy else {"c": 5.0}.get(host, 0.0)

    taken = []
    while entry := f.pop(1.0, free_at):
        taken.append(entry.url)
        busy.add(urls.host(entry.url))
    assert taken == ["http://a/1", "http://b/1"]
    assert f.next_time() == 5.0
    finish(f, "http://a/1")
    busy.clear()
    f.release("a")
    assert take(f, free_at=free_at, now=5.0) == ["http://a/2", "http://c/1"]
    for url in ("http://a/2", "http://b/1", "http://c/1"):
        finish(f, url)
    assert take(f, now=5.0) == ["http://d/new"]


def test_a_visit_that_is_retried_is_still_a_visit(frontier):
    f = frontier()
    fetched(f, "http://a/1")
    offer(f, ("http://b/new", 1.0))
    visit(f, {"http://a/1": 0.1})
    assert take(f) == ["http://a/1"]
    f.again(f.find("http://a/1"), "a")
    assert take(f) == ["http://a/1"]
    finish(f, "http://a/1")
    assert (f.visits, take(f)) == (0, ["http://b/new"])


def test_a_link_to_a_page_that_waits_for_a_visit_changes_nothing(frontier):
    f = frontier()
    fetched(f, "http://a/1")
    visit(f, {"http://a/1": 0.1})
    offer(f, ("http://a/1", 1.0))
    assert not f.waits(f.find("http://a/1"))
    assert take(f) == ["http://a/1"]
    assert frontier().pop(0.0, free) is None
