"""PageRank: waiting URLs are ranked by how often a random surfer would visit them.

Reviewed in: S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and
Accelerated Focused Crawlers", IJCA 117(8), 2015; after Cho, Garcia-Molina and Page, "Efficient crawling through URL
ordering", 1998.

PR(p) = (1 - damping) + damping * sum of PR(d) / out(d) over the pages d that link to p. It is recomputed over the whole
known graph every `every` pages, in a long crawl whenever it has grown by a tenth. PageRank measures how much a page is
linked, not its topic. With `focused=yes` the surfer restarts at pages in proportion to their relevance, so the rank
measures closeness to the topic.
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
    focused = Option(False, "the surfer restarts only at pages on the topic, in proportion to their relevance")

    def prepare(self) -> None:
        super().prepare()
        #: Factor from the relevance of a page to how often the surfer restarts there.
        self._jumps = 1.0

    def compute(self, graph: LinkGraph) -> Any:
        start = np.ones(len(graph))
        relevance = np.nan_to_num(graph.relevance)
        if self.focused and relevance.any():
            self._jumps = len(graph) / float(relevance.sum())
            start = relevance * self._jumps
        # without the restart term, which fetched pages get back in `hand_on`
        return pagerank(graph.matrix(), self.damping, start) - (1 - self.damping) * start

    def hand_on(self, page: Page) -> float:
        """The share of the page's rank per link: its rank while it waited, plus its restart term."""
        waited = page.score if page.score is not None and page.score < 1 else 0.0  # a seed has no rank
        begins = self._jumps * self.relevance(page) if self.focused else 1.0
        rank = waited / (1 - waited) + (1 - self.damping) * begins
        return self.damping * rank / max(1, len({link.url for link in page.links}))
