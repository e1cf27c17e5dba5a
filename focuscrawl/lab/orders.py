"""Orders in which the pages of a known graph can be fetched: the limit and the floor of every comparison.

Both see what a crawler sees: a page can be fetched if it is a seed or a fetched page links to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from functools import cached_property
from heapq import heappop, heappush
from random import Random


class Graph:
    """Pages by number, and the distinct numbers of the pages that each links to."""

    def __init__(self, links: Sequence[Sequence[int]]) -> None:
        self.links = links

    def __len__(self) -> int:
        return len(self.links)

    @cached_property
    def sources(self) -> list[list[int]]:
        """The pages that link to each page."""
        sources: list[list[int]] = [[] for _ in self.links]
        for page, targets in enumerate(self.links):
            for target in targets:
                sources[target].append(page)
        return sources

    def links_to(self, pages: Iterable[int]) -> list[int]:
        """How many of these pages each page links to."""
        counts = [0] * len(self)
        for page in pages:
            for source in self.sources[page]:
                counts[source] += 1
        return counts

    def reachable(self, seeds: Iterable[int]) -> set[int]:
        """The seeds and all pages reachable from them."""
        waiting = list(seeds)
        found = set(waiting)
        while waiting:
            new = [target for target in self.links[waiting.pop()] if target not in found]
            found.update(new)
            waiting += new
        return found


def random_order(graph: Graph, seeds: Sequence[int], pages: int, chance: Random) -> list[int]:
    """The first *pages* pages of a crawler that takes known pages uniformly at random."""
    waiting = list(dict.fromkeys(seeds))
    known = set(waiting)
    order: list[int] = []
    while waiting and len(order) < pages:
        place = chance.randrange(len(waiting))
        page, waiting[place] = waiting[place], waiting[-1]
        waiting.pop()
        order.append(page)
        for target in graph.links[page]:
            if target not in known:
                known.add(target)
                waiting.append(target)
    return order


def omniscient(graph: Graph, seeds: Sequence[int], relevant: Collection[int], pages: int) -> list[int]:
    """The first *pages* pages of a crawler that knows the graph and what is relevant.

    If relevant pages are waiting, it takes the one that links to the most relevant pages not known yet. Otherwise it
    takes the waiting page on a shortest path to a relevant page, and among pages that link to one, the page that links
    to the most. Ties go to the page known for longest. It is greedy: a longer path to more relevant pages is not
    weighed against a shorter one. It stops when nothing relevant is left.
    """
    return _Omniscient(graph, seeds, relevant).order(pages)


class _Omniscient:
    def __init__(self, graph: Graph, seeds: Sequence[int], relevant: Collection[int]) -> None:
        self.graph = graph
        self.relevant: Set[int] = graph.reachable(seeds).intersection(relevant)
        #: Relevant pages that no fetched page links to.
        self.hidden = set(self.relevant)
        #: How many hidden pages each page links to. It never rises, so a stale heap entry is too high: it is corrected
        #: when it reaches the top.
        self.gain = graph.links_to(self.relevant)
        #: Waiting pages and when they were found; heaps of the relevant ones and of the others.
        self.waiting: dict[int, int] = {}
        self.known: set[int] = set()
        self.good: list[tuple[int, int, int]] = []
        self.others: list[tuple[int, int, int]] = []
        self._find(seeds)

    def order(self, pages: int) -> list[int]:
        order: list[int] = []
        while len(order) < pages:
            page = self._best(self.good)
            if page is None and self.hidden:
                page = self._best(self.others)
                if page is not None and not self.gain[page]:
                    page = self._nearest()
            if page is None:
                break
            del self.waiting[page]
            order.append(page)
            self._find(self.graph.links[page])
        return order

    def _find(self, pages: Iterable[int]) -> None:
        new = [page for page in dict.fromkeys(pages) if page not in self.known]
        self.known.update(new)
        for page in new:
            if page in self.hidden:
                self.hidden.remove(page)
                for source in self.graph.sources[page]:
                    self.gain[source] -= 1
        for number, page in enumerate(new, len(self.known) - len(new)):
            self.waiting[page] = number
            heappush(self.good if page in self.relevant else self.others, (-self.gain[page], number, page))

    def _best(self, heap: list[tuple[int, int, int]]) -> int | None:
        """The best waiting page of a heap; it stays in the heap until it is fetched."""
        while heap:
            gain, number, page = heap[0]
            if page not in self.waiting:
                heappop(heap)
            elif -gain != self.gain[page]:
                heappop(heap)
                heappush(heap, (-self.gain[page], number, page))
            else:
                return page
        return None

    def _nearest(self) -> int | None:
        """The waiting page with the shortest path to a hidden page."""
        level = seen = set(self.hidden)
        while level:
            level = {source for page in level for source in self.graph.sources[page]} - seen
            if found := level & self.waiting.keys():
                return min(found, key=self.waiting.__getitem__)
            seen = seen | level
        return None
