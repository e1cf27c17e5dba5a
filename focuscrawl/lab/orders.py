"""Orders in which the pages of a known graph can be fetched: the limit and the floor of every comparison.

Both see what a crawler sees: a page can be fetched once a seed or a fetched page has led to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from functools import cached_property
from heapq import heappop, heappush
from random import Random


class Graph:
    """Pages by number, and the numbers of the pages that each links to, every one once."""

    def __init__(self, links: Sequence[Sequence[int]]) -> None:
        self.links = links

    def __len__(self) -> int:
        return len(self.links)

    @cached_property
    def sources(self) -> list[list[int]]:
        """The pages that link to each."""
        sources: list[list[int]] = [[] for _ in self.links]
        for page, targets in enumerate(self.links):
            for target in targets:
                sources[target].append(page)
        return sources

    def reachable(self, seeds: Iterable[int]) -> set[int]:
        """The seeds, and all that they lead to."""
        waiting = list(seeds)
        found = set(waiting)
        while waiting:
            new = [target for target in self.links[waiting.pop()] if target not in found]
            found.update(new)
            waiting += new
        return found


def random_order(graph: Graph, seeds: Sequence[int], pages: int, chance: Random) -> list[int]:
    """The first *pages* pages of a crawler that takes any page it knows of, each as likely as another."""
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

    It takes a relevant page that waits if there is one, the one that leads to most relevant pages not known yet first;
    else the page that waits on a shortest way to a relevant page, and of those next to one again the one that leads to
    most. Of equals it takes the one known for longest. It is greedy: nothing relevant is ever left waiting, but a
    longer way to more relevant pages is not weighed against a shorter one. It stops when there is nothing to find.
    """
    return _Omniscient(graph, seeds, relevant).order(pages)


class _Omniscient:
    def __init__(self, graph: Graph, seeds: Sequence[int], relevant: Collection[int]) -> None:
        self.graph = graph
        self.relevant: Set[int] = graph.reachable(seeds).intersection(relevant)
        #: Relevant pages that nothing fetched leads to.
        self.hidden = set(self.relevant)
        #: How many hidden pages each page leads to. It only ever falls, so an entry of a heap that is out of date says
        #: too much: it is put right when it comes to the top.
        self.gain = [0] * len(graph)
        for page in self.relevant:
            for source in graph.sources[page]:
                self.gain[source] += 1
        #: Pages that wait, and when they were found; heaps of those that are relevant and of the others.
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
        """The page on top of a heap, which stays there until it is fetched."""
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
        """The page that waits with the fewest steps to a hidden page."""
        level = seen = set(self.hidden)
        while level:
            level = {source for page in level for source in self.graph.sources[page]} - seen
            if found := level & self.waiting.keys():
                return min(found, key=self.waiting.__getitem__)
            seen = seen | level
        return None
