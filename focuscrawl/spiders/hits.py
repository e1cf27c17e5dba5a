"""Focused HITS: waiting URLs are ranked by their authority in the crawl's link graph.

Compared with in: H. Fan, G. Zeng, X. Li, "Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm"; after
J. Kleinberg, "Authoritative Sources in a Hyperlinked Environment", 1998.

A good hub links to good authorities, and a good authority is linked from good hubs. Every `every` pages, or in a long
crawl whenever it has grown by a tenth, both scores are computed over all fetched pages and their links. Plain HITS
drifts to the most densely linked pages. To prevent that, a page receives and passes on scores in proportion to its
relevance, and next to nothing if it is below the threshold (Bharat and Henzinger, 1998, drop such pages). The relevance
of a URL that is not fetched yet is unknown; the mean is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from focuscrawl.page import Page
from focuscrawl.strategies.graph import LinkGraph, hits
from focuscrawl.strategies.graph_spider import GraphSpider

#: Factor on the relevance of a page below the threshold: enough to order links when there is nothing better.
PRUNED = 0.01


class HitsSpider(GraphSpider):
    name = "hits"

    def prepare(self) -> None:
        super().prepare()
        #: What each node adds to the score of a hub that links to it, and what a node outside the graph adds.
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
        # each step of HITS normalises its result; `hand_on` does one step for one page and needs the same scale
        total = (links.T @ ((links @ self._adds) * weights)).sum()
        self._scale = float(authorities.sum() / total) if total else 0.0
        return authorities

    def hand_on(self, page: Page) -> float:
        """The page's hub score by the authorities it links to; before the first computation, its weight."""
        relevance = self.relevance(page)
        weight = relevance if relevance >= self.threshold else PRUNED * relevance
        if self._adds is None:
            return weight
        find, adds = self.crawl.frontier.find, self._adds
        known = [find(link.url) or len(adds) for link in page.links]
        hub = sum(float(adds[node]) if node < len(adds) else self._unknown for node in set(known))
        return self._scale * hub * weight
