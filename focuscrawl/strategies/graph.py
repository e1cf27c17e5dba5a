"""The link graph of a crawl, with HITS and PageRank.

A node is a URL id. The graph contains fetched pages and the URLs they link to; only fetched pages have outgoing links.
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

#: Maximum number of iterations, and the mean change per node at which a computation has converged.
ROUNDS = 100
TOLERANCE = 1e-6


class LinkGraph:
    """The links of a crawl, read from its file and kept in memory: sixteen bytes per link."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pages = 0
        #: By page number: its URL id, and the index of its first link.
        self._url_of = array("i", [0])
        self._begin = array("q", [0, 0])
        #: Both ends of each link, page by page, and the previous link to the same URL (-1: none).
        self._sources = array("i")
        self._targets = array("i")
        self._older = array("q")
        #: By node: the relevance of its page, the page's number (0: not fetched), and the latest link to it (-1: none).
        self._relevance = array("d", [nan])
        self._page_of = array("i", [0])
        self._newest = array("q", [-1])

    def read(self, upto: int | None = None) -> None:
        """Read the pages stored since the last call, up to the page with number *upto*."""
        if upto is None:
            upto = self._store.pages.last_number()
        bounds = self._pages, upto
        for page in self._store.pages.each(*bounds):
            self._url_of.extend([0] * (page.number - len(self._url_of)))  # numbers of pages that could not be stored
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

    def renew(self, numbers: Iterable[int]) -> None:
        """Read the relevance of some pages again: people have marked them."""
        for number in numbers:
            page = self._store.pages.get(number) if number <= self._pages else None
            if page is not None:
                self._relevance[page.url_id] = page.relevance or 0.0

    def _begin_pages(self, upto: int) -> None:
        """Set where the links of the pages up to *upto* begin; some of these pages have no links."""
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
        """How many pages were read."""
        return self._pages

    @property
    def relevance(self) -> Any:
        """The relevance of each page, by node; nan if it was not fetched."""
        return np.array(self._relevance)

    def ends(self, after: int = 0) -> tuple[Any, Any]:
        """The sources and the targets of all links, without duplicates and links of a page to itself.

        The first *after* links are left out.
        """
        return np.array(self._sources[after:]), np.array(self._targets[after:])

    def urls_of(self, after: int) -> list[int]:
        """The nodes of the pages with a number above *after*."""
        return list(self._url_of[after + 1 :])

    def is_page(self, node: int) -> bool:
        """Whether a node was fetched."""
        return self._page_of[node] > 0

    def relevance_of(self, node: int) -> float:
        """The relevance of a page; nan if it was not fetched."""
        return self._relevance[node]

    def targets_of(self, nodes: Iterable[int]) -> list[int]:
        """The distinct nodes that some nodes link to, sorted."""
        pages = [self._page_of[node] for node in nodes]
        return sorted({node for page in pages for node in self._targets[self._begin[page] : self._begin[page + 1]]})

    def sources_of(self, nodes: Iterable[int]) -> list[int]:
        """The distinct nodes that link to some nodes, sorted."""
        found: set[int] = set()
        for node in nodes:
            link = self._newest[node]
            while link >= 0:
                found.add(self._sources[link])
                link = self._older[link]
        return sorted(found)

    def matrix(self) -> Any:
        """The links as a sparse matrix, one row per source node."""
        from scipy.sparse import csr_matrix  # slow to import, and every command imports every spider

        return csr_matrix((np.ones(len(self._sources)), self.ends()), shape=(len(self), len(self)))


def hits(links: Any, weights: Any = None) -> tuple[Any, Any]:
    """Hub and authority scores (Kleinberg), each with a mean of 1 over the nodes whose score is not 0.

    With *weights*, a page receives and passes on scores in proportion to its weight, which prevents topic drift
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

    *start* is how often the surfer restarts at each node; the default is uniform.
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
