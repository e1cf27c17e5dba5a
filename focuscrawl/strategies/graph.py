"""The graph of a crawl: its links, hubs and authorities, PageRank.

A node is the id of a URL. Only what was fetched has links of its own; what it points to is in the graph, too.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import groupby
from math import nan
from operator import itemgetter
from typing import Any

import numpy as np

from focuscrawl.store.store import Store

#: Rounds after which a computation ends even if it still changes, and the change per node that ends it.
ROUNDS = 100
TOLERANCE = 1e-6


class LinkGraph:
    """The links of a crawl, straight from its file; what was read stays in memory, sixteen bytes a link."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pages = 0
        #: By number of the page the URL it was found at, and where its links begin.
        self._url_of = array("i", [0])
        self._begin = array("q", [0, 0])
        #: Both ends of each link, page after page, and the link before it that leads to the same URL (-1: none).
        self._sources = array("i")
        self._targets = array("i")
        self._older = array("q")
        #: By node: the relevance of its page, the page's number (0: not fetched), the last link that leads there.
        self._relevance = array("d", [nan])
        self._page_of = array("i", [0])
        self._newest = array("q", [-1])

    def read(self, upto: int | None = None) -> None:
        """Take in what was stored since the last time, up to the page of that number."""
        if upto is None:
            upto = self._store.pages.last_number()
        bounds = self._pages, upto
        for page in self._store.pages.each(*bounds):
            self._url_of.append(page.url_id)
            self._grow(page.url_id)
            self._relevance[page.url_id] = page.relevance or 0.0
            self._page_of[page.url_id] = page.number
            self._pages = page.number
        if bounds[0] == self._pages:
            return
        for number, links in groupby(self._store.links.between(*bounds), itemgetter(0)):
            self._begin_pages(number)
            source = self._url_of[number]
            targets = {url_id for _, url_id in links}
            targets.discard(source)
            self._grow(max(targets, default=0))
            for target in targets:
                self._older.append(self._newest[target])
                self._newest[target] = len(self._targets)
                self._targets.append(target)
            self._sources.extend([source] * len(targets))
        self._begin_pages(self._pages + 1)

    def _begin_pages(self, upto: int) -> None:
        """The links of the pages up to that number, of which some have none, begin here at the earliest."""
        self._begin.extend([len(self._targets)] * (upto + 1 - len(self._begin)))

    def _grow(self, url_id: int) -> None:
        missing = url_id + 1 - len(self._relevance)
        if missing > 0:
            self._relevance.extend(array("d", [nan]) * missing)
            self._page_of.extend(array("i", [0]) * missing)
            self._newest.extend(array("q", [-1]) * missing)

    def __len__(self) -> int:
        """One more than the largest node."""
        return len(self._relevance)

    @property
    def pages(self) -> int:
        """How many pages were taken in."""
        return self._pages

    @property
    def relevance(self) -> Any:
        """The relevance of each page, by node; nan for what was not fetched."""
        return np.array(self._relevance)

    def ends(self, after: int = 0) -> tuple[Any, Any]:
        """The nodes that links come from, and those that they lead to; no link twice, and none to its own page.

        Those of the first *after* links are left out.
        """
        return np.array(self._sources[after:]), np.array(self._targets[after:])

    def urls_of(self, after: int) -> list[int]:
        """The nodes of the pages with a number above *after*."""
        return list(self._url_of[after + 1 :])

    def is_page(self, node: int) -> bool:
        """Whether a node was fetched."""
        return self._page_of[node] > 0

    def relevance_of(self, node: int) -> float:
        """The relevance of a page; nan for what was not fetched."""
        return self._relevance[node]

    def targets_of(self, nodes: Iterable[int]) -> list[int]:
        """What some nodes link to, each once, in order."""
        pages = [self._page_of[node] for node in nodes]
        return sorted({node for page in pages for node in self._targets[self._begin[page] : self._begin[page + 1]]})

    def sources_of(self, nodes: Iterable[int]) -> list[int]:
        """What links to some nodes, each once, in order."""
        found: set[int] = set()
        for node in nodes:
            link = self._newest[node]
            while link >= 0:
                found.add(self._sources[link])
                link = self._older[link]
        return sorted(found)

    def matrix(self) -> Any:
        """The links as a sparse matrix, one row per node that they come from."""
        from scipy.sparse import csr_matrix  # here, because every command imports every spider, and this takes a while

        return csr_matrix((np.ones(len(self._sources)), self.ends()), shape=(len(self), len(self)))


def hits(links: Any, weights: Any = None) -> tuple[Any, Any]:
    """Hubs and authorities (Kleinberg), each with a mean of 1 over the nodes that are any.

    With *weights* a page hands on and takes only as much as it is worth itself, which keeps the topic from drifting
    (Bharat and Henzinger).
    """
    size = links.shape[0]
    weights = np.ones(size) if weights is None else weights
    back = links.T.tocsr()
    hubs = np.ones(size)
    authorities = np.zeros(size)
    for _ in range(ROUNDS):
        before = authorities
        authorities = _to_mean_one(back @ (hubs * weights))
        hubs = _to_mean_one(links @ (authorities * weights))
        if np.abs(authorities - before).mean() < TOLERANCE:
            break
    return hubs, authorities


def pagerank(links: Any, damping: float = 0.85, start: Any = None) -> Any:
    """PR(p) = (1 - damping) start(p) + damping * sum of PR(d) / out(d) over the pages d that link to p.

    *start* says where the surfer begins anew: everywhere alike, or where it is not 0.
    """
    out = np.asarray(links.sum(axis=1)).ravel()
    back = links.T.tocsr()
    start = np.ones(links.shape[0]) if start is None else start
    ranks = start
    for _ in range(ROUNDS):
        before = ranks
        ranks = (1 - damping) * start + damping * (back @ (before / np.maximum(out, 1)))
        if np.abs(ranks - before).mean() < TOLERANCE:
            break
    return ranks


def _to_mean_one(values: Any) -> Any:
    positive = np.count_nonzero(values)
    return values * (positive / values.sum()) if positive else values
