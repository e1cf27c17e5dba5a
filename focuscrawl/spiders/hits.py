"""Focused HITS: what waits is ranked by its authority in the graph of the crawl.

Compared with in: H. Fan, G. Zeng, X. Li, "Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm"; after
J. Kleinberg, "Authoritative Sources in a Hyperlinked Environment", 1998.

A good hub links to good authorities, a good authority is linked from good hubs. Every `every` pages, or in a long crawl
whenever it has grown by a tenth, both are computed over all pages fetched and all that they link to. Plain HITS drifts
to whatever is linked most densely: here a page takes and hands on only as much as it is relevant, and next to nothing
below the threshold (Bharat and Henzinger, 1998, who drop such pages). Of what was not fetched the relevance is not
known; it counts as much as the mean page.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from focuscrawl.page import Page
from focuscrawl.strategies.graph import LinkGraph, hits
from focuscrawl.strategies.graph_spider import GraphSpider

#: What is left of the relevance of a page below the threshold: enough to order links when there is nothing better.
PRUNED = 0.01


class HitsSpider(GraphSpider):
    name = "hits"

    def prepare(self) -> None:
        super().prepare()
        #: What each node adds to a hub that links to it, and what one adds that is not known yet.
        self._adds: Any = None
        self._unknown = 0.0
        self._scale = 1.0

    def compute(self, graph: LinkGraph) -> Any:
        links, relevance = graph.matrix(), graph.relevance
        fetched = ~np.isnan(relevance)
        weights = np.where(relevance >= self.threshold, relevance, PRUNED * relevance)
        weights = np.where(fetched, weights, weights[fetched].mean())
        authorities = hits(links, weights)[1]
        self._adds = authorities * weights
        self._unknown = float(self._adds[~fetched].mean()) if not fetched.all() else 0.0
        # both steps of the computation scale their result, and so must one step done by hand
        total = (links.T @ ((links @ self._adds) * weights)).sum()
        self._scale = float(authorities.sum() / total) if total else 0.0
        return authorities

    def hand_on(self, page: Page) -> float:
        """The page as a hub, by the authorities it links to; before they are known all pages are alike."""
        relevance = self.relevance(page)
        weight = relevance if relevance >= self.threshold else PRUNED * relevance
        if self._adds is None:
            return weight
        find, adds = self.crawl.frontier.find, self._adds
        known = [find(link.url) or len(adds) for link in page.links]
        hub = sum(float(adds[node]) if node < len(adds) else self._unknown for node in set(known))
        return self._scale * hub * weight
