"""PageRank: what waits is ranked by where a random surfer would be.

Reviewed in: S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and
Accelerated Focused Crawlers", IJCA 117(8), 2015; after Cho, Garcia-Molina and Page, "Efficient crawling through URL
ordering", 1998.

PR(p) = (1 - damping) + damping * sum of PR(d) / out(d) over the pages d that link to p, computed anew every `every`
pages over all that is known, in a long crawl whenever it has grown by a tenth. It says how much is linked, not what
about: with `focused=yes` the surfer begins anew at pages in proportion to their relevance only, which makes it a
measure of nearness to the topic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.strategies.graph import LinkGraph, pagerank
from focuscrawl.strategies.graph_spider import GraphSpider


class PagerankSpider(GraphSpider):
    name = "pagerank"

    damping = Option(0.85, "probability that the surfer follows a link", at_least=0.0, at_most=0.99)
    focused = Option(False, "whether the surfer begins anew at relevant pages only")

    def prepare(self) -> None:
        super().prepare()
        #: What relevance is multiplied by to say how often the surfer begins on a page.
        self._jumps = 1.0

    def compute(self, graph: LinkGraph) -> Any:
        start = np.ones(len(graph))
        relevance = np.nan_to_num(graph.relevance)
        if self.focused and relevance.any():
            self._jumps = len(graph) / float(relevance.sum())
            start = relevance * self._jumps
        # what all pages have by being there does not tell those that wait apart
        return pagerank(graph.matrix(), self.damping, start) - (1 - self.damping) * start

    def hand_on(self, page: Page) -> float:
        """A share of the page's rank: what it had while it waited, and what it has by being there."""
        waited = page.score if page.score is not None and page.score < 1 else 0.0  # a seed has waited for nobody
        begins = self._jumps * self.relevance(page) if self.focused else 1.0
        rank = waited / (1 - waited) + (1 - self.damping) * begins
        return self.damping * rank / max(1, len({link.url for link in page.links}))
