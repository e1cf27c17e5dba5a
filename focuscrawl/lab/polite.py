"""Orders on the clock: the limit and chance of a comparison whose crawls are polite.

Like a polite crawl, they send a host one request at a time, with a delay between two of them, and have a limited number
of requests in flight. They see the links of a page when it has arrived. Every request takes as long as it does in the
replay.

Some things are simplified, all of them in favour of these orders: a host's robots.txt costs one request before the
host's first page, but its Crawl-delay is ignored; redirects and tdmrep.json cost nothing; no host asks for back-off.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from random import Random
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.lab.orders import Graph
from focuscrawl.web.webs import latency


@dataclass(frozen=True)
class Manners:
    """The politeness of a crawl on the clock."""

    #: Seconds between two requests to a host.
    delay: float
    #: Mean seconds that a request takes.
    latency: float
    #: Most requests in flight.
    concurrency: int

    def __str__(self) -> str:
        requests = "request" if self.concurrency == 1 else "requests"
        return (
            f"{self.delay:g} s per host, {self.concurrency} {requests} at a time, {self.latency:g} s per request on"
            " average"
        )


class Timed(NamedTuple):
    """Pages in the order in which they arrived, and when they did, in seconds."""

    pages: list[int]
    times: list[float]


def polite_random(
    graph: Graph, addresses: Sequence[str], seeds: Sequence[int], pages: int, manners: Manners, chance: Random
) -> Timed:
    """The first *pages* pages of a polite crawler that takes known pages of free hosts uniformly at random."""
    return _run(_Random(addresses, chance), graph, addresses, seeds, pages, manners)


def polite_omniscient(
    graph: Graph,
    addresses: Sequence[str],
    seeds: Sequence[int],
    relevant: Collection[int],
    pages: int,
    manners: Manners,
) -> Timed:
    """The first *pages* pages of a polite crawler that knows the graph and what is relevant.

    Among the pages of free hosts, it takes the relevant page that links to the most relevant pages that no fetched or
    requested page links to. If there is none, it takes an irrelevant page that links to such pages, and the most of
    them. Otherwise it follows a shortest path to a relevant page that cannot be reached over relevant pages alone; it
    follows at most as many paths at once as it may have requests in flight. If no free host has a page that it wants,
    it waits. Ties go to the page known for longest. It is greedy, like `omniscient`, and stops when nothing relevant is
    left.
    """
    return _run(_Omniscient(graph, addresses, seeds, relevant, manners), graph, addresses, seeds, pages, manners)


class _Crawler(ABC):
    """What a crawler wants to fetch."""

    @abstractmethod
    def find(self, pages: Iterable[int]) -> None:
        """Learn that these pages exist."""

    @abstractmethod
    def take(self, busy: Set[str]) -> int | None:
        """The page to request now, not from a busy host; None to wait."""


def _run(
    crawler: _Crawler, graph: Graph, addresses: Sequence[str], seeds: Sequence[int], pages: int, manners: Manners
) -> Timed:
    """Run a crawler on the clock, from event to event: a page has arrived, or a host's delay has passed."""
    order: list[int] = []
    times: list[float] = []
    now, in_flight, requested = 0.0, 0, 0
    #: The time, a number to break ties, the host, and the page that arrives, if any.
    events: list[tuple[float, int, str, int | None]] = []
    numbers = iter(range(3 * pages + 1))
    free_at: dict[str, float] = {}
    busy: set[str] = set()
    crawler.find(seeds)
    while True:
        while in_flight < manners.concurrency and requested < pages and (page := crawler.take(busy)) is not None:
            url = addresses[page]
            host, sent = urls.host(url), now
            if host not in free_at:  # robots.txt comes first
                sent += max(manners.delay, latency(f"{urls.site(url)}/robots.txt", manners.latency))
            free_at[host] = sent + manners.delay
            busy.add(host)
            in_flight, requested = in_flight + 1, requested + 1
            heappush(events, (sent + latency(url, manners.latency), next(numbers), host, page))
        if not events:
            return Timed(order, times)
        now = events[0][0]
        while events and events[0][0] == now:
            _, _, host, arrived = heappop(events)
            if arrived is not None:
                order.append(arrived)
                times.append(now)
                in_flight -= 1
                crawler.find(graph.links[arrived])
            if free_at[host] <= now:
                busy.discard(host)
            else:
                heappush(events, (free_at[host], next(numbers), host, None))


class _Random(_Crawler):
    def __init__(self, addresses: Sequence[str], chance: Random) -> None:
        self.addresses = addresses
        self.chance = chance
        self.known: set[int] = set()
        self.waiting: dict[str, list[int]] = {}

    def find(self, pages: Iterable[int]) -> None:
        for page in pages:
            if page not in self.known:
                self.known.add(page)
                self.waiting.setdefault(urls.host(self.addresses[page]), []).append(page)

    def take(self, busy: Set[str]) -> int | None:
        free = [host for host in self.waiting if host not in busy]
        if not free:
            return None
        (host,) = self.chance.choices(free, [len(self.waiting[host]) for host in free])
        pages = self.waiting[host]
        place = self.chance.randrange(len(pages))
        page, pages[place] = pages[place], pages[-1]
        pages.pop()
        if not pages:
            del self.waiting[host]
        return page


#: By host, a heap of pages: how much they are worth (negative), when they were found, the page.
_Heaps = dict[str, list[tuple[int, int, int]]]


class _Omniscient(_Crawler):
    def __init__(
        self,
        graph: Graph,
        addresses: Sequence[str],
        seeds: Sequence[int],
        relevant: Collection[int],
        manners: Manners,
    ) -> None:
        self.graph = graph
        self.addresses = addresses
        self.relevant: Set[int] = graph.reachable(seeds).intersection(relevant)
        self.most_paths = manners.concurrency
        #: Relevant pages that no page links to that was fetched, requested or is on a path being followed.
        self.hidden = set(self.relevant)
        #: Hidden pages that cannot be reached over relevant pages alone, from those that are not hidden.
        self.remote = set(self.relevant)
        #: How many hidden pages each page links to. It never rises.
        self.gain = graph.links_to(self.relevant)
        #: Known pages that were not requested, and when they were found.
        self.waiting: dict[int, int] = {}
        self.known: set[int] = set()
        #: Pages that will be known soon.
        self.expected: set[int] = set()
        #: The pages on paths being followed; for each path, by its end, the relevant pages it leads to that are not
        #: known yet; and the reverse.
        self.paths: dict[int, int] = {}
        self.goals: dict[int, set[int]] = {}
        self.goal_of: dict[int, int] = {}
        self.stuck = False
        self.good: _Heaps = {}
        self.others: _Heaps = {}

    def find(self, pages: Iterable[int]) -> None:
        new = [page for page in dict.fromkeys(pages) if page not in self.known]
        self.known.update(new)
        self.expected.difference_update(new)
        self.stuck = False
        for page in new:
            self._reveal(page)
            if (goal := self.goal_of.pop(page, None)) is not None:
                self.goals[goal].remove(page)
                if not self.goals[goal]:
                    del self.goals[goal]
        for number, page in enumerate(new, len(self.known) - len(new)):
            self.waiting[page] = number
            self._want(page)

    def take(self, busy: Set[str]) -> int | None:
        page = self._best(self.good, busy)
        if page is None:
            page = self._best(self.others, busy)
        while page is None and self._follow_path():
            page = self._best(self.others, busy)
        if page is not None:
            del self.waiting[page]
            self._expect(page)
        return page

    def _want(self, page: int) -> None:
        if page in self.relevant or self._worth(page):
            heaps = self.good if page in self.relevant else self.others
            heap = heaps.setdefault(urls.host(self.addresses[page]), [])
            heappush(heap, (-self._worth(page), self.waiting[page], page))

    def _worth(self, page: int) -> int:
        """The hidden pages that a page links to; more than any page has, if it is on a path being followed."""
        return len(self.graph) if self.paths.get(page) in self.goals else self.gain[page]

    def _best(self, heaps: _Heaps, busy: Set[str]) -> int | None:
        """The best page of all free hosts."""
        tops = [heap[0] for host in [*heaps] if host not in busy and (heap := self._tidy(heaps, host))]
        return min(tops)[2] if tops else None

    def _tidy(self, heaps: _Heaps, host: str) -> list[tuple[int, int, int]]:
        """The heap of a host, with its best page on top. An entry in it may be too good, never too bad."""
        heap = heaps[host]
        while heap:
            worth, number, page = heap[0]
            now = -self._worth(page)
            if page not in self.waiting or not (now or page in self.relevant):
                heappop(heap)
            elif worth != now:
                heapreplace(heap, (now, number, page))
            else:
                return heap
        del heaps[host]
        return heap

    def _expect(self, page: int) -> None:
        """Count on the links of a page that is fetched or will be."""
        for target in self.graph.links[page]:
            if target not in self.known:
                self.expected.add(target)
                self._reveal(target)

    def _reveal(self, page: int) -> None:
        """Count a page as found, if it is relevant, and the relevant pages that can be reached from it as close."""
        if page not in self.hidden:
            return
        self.hidden.remove(page)
        for source in self.graph.sources[page]:
            self.gain[source] -= 1
        near = [page] if page in self.remote else []
        self.remote.difference_update(near)
        while near:
            new = [target for target in self.graph.links[near.pop()] if target in self.remote]
            self.remote.difference_update(new)
            near += new

    def _follow_path(self) -> bool:
        """Follow one more path, from a waiting page to a remote one; False if there is none for now."""
        if self.stuck or len(self.goals) >= self.most_paths:
            return False
        shortest = self._shortest()
        if not shortest:
            self.stuck = True  # until more pages are known
            return False
        *path, goal = shortest
        self.goals[goal] = {target for page in path for target in self.graph.links[page] if target in self.hidden}
        self.goal_of |= dict.fromkeys(self.goals[goal], goal)
        for page in path:
            self.paths[page] = goal
            self._expect(page)
        self._want(path[0])
        return True

    def _shortest(self) -> list[int]:
        """A shortest path from a waiting page to a remote one to which no page that will be known soon is closer."""
        onward: dict[int, int] = {}
        #: The remote page that each page leads to.
        goals = {page: page for page in sorted(self.remote)}
        level = [*goals]
        while level:
            before = []
            for page in level:
                for source in self.graph.sources[page]:
                    if source not in goals:
                        onward[source], goals[source] = page, goals[page]
                        before.append(source)
            if starts := [page for page in before if page in self.waiting]:
                path = [min(starts, key=self.waiting.__getitem__)]
                while path[-1] in onward:
                    path.append(onward[path[-1]])
                return path
            close = {goals[page] for page in before if page in self.expected}
            level = [page for page in before if goals[page] not in close]
        return []
