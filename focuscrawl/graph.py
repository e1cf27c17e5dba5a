"""The graph of a crawl: its links, hubs and authorities, PageRank.

A node is the id of a URL. Only what was fetched has links of its own; what it points to is in the graph, too.
"""

from __future__ import annotations

from array import array
from itertools import groupby
from math import nan
from operator import itemgetter
from typing import Any

import numpy as np

from focuscrawl.store import Store

#: Rounds after which a computation ends even if it still changes, and the change per node that ends it.
ROUNDS = 100
TOLERANCE = 1e-6


class LinkGraph:
    """The links of a crawl, straight from its file; what was read stays in memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pages = 0
        #: The URL of each page by its number, and both ends of each link.
        self._url_of = array("q", [0])
        self._sources = array("q")
        self._targets = array("q")
        self._relevance = array("d", [nan])

    def read(self, upto: int | None = None) -> None:
        """Take in what was stored since the last time, up to the page of that number."""
        bounds = self._pages, upto if upto is not None else self._store.count()
        pages = self._store.execute(
            "SELECT id, url_id, ifnull(relevance, 0) FROM page WHERE id > ? AND id <= ? ORDER BY id", bounds
        )
        for number, url_id, relevance in pages:
            self._url_of.append(url_id)
            self._grow(url_id)
            self._relevance[url_id] = relevance
            self._pages = number
        if bounds[0] == self._pages:
            return
        largest = 0
        for page, links in groupby(self._store.links_between(*bounds), itemgetter(0)):
            source = self._url_of[page]
            targets = {url_id for _, url_id in links}
            targets.discard(source)
            self._sources.extend([source] * len(targets))
            self._targets.extend(targets)
            largest = max(largest, *targets, 0)
        self._grow(largest)

    def _grow(self, url_id: int) -> None:
        missing = url_id + 1 - len(self._relevance)
        if missing > 0:
            self._relevance.extend(array("d", [nan]) * missing)

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

    def ends(self) -> tuple[Any, Any]:
        """The nodes that links come from, and those that they lead to; no link twice, and none to its own page."""
        return np.array(self._sources), np.array(self._targets)

    def targets_of(self, nodes: Any) -> list[int]:
        """What some nodes link to, each once."""
        sources, targets = self.ends()
        return [int(node) for node in np.unique(targets[np.isin(sources, nodes)])]

    def sources_of(self, nodes: Any) -> list[int]:
        """What links to some nodes, each once."""
        sources, targets = self.ends()
        return [int(node) for node in np.unique(sources[np.isin(targets, nodes)])]

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
