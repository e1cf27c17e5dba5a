"""The hybrid crawler: link structure and content.

Reviewed in: "A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler).

A page is a seed page, a candidate (fetched) or uncrawled, and only the links of seed pages are followed. When none are
left, the candidate with the highest rank becomes a seed page:

    rank(p) = (links from p to seed pages + links from seed pages to p) * (0.1 + content similarity of p)

The review prints the formula without visible brackets, but sets the two sums apart as the factors of one product, and
says of it that it emphasises links over content. Read as (links) * 0.1 + similarity, full similarity would be worth
ten links; that reading is `rank=sum`.

The table `seed_page` in crawl.sqlite lists the seed pages. Departures: the crawl may start with several seeds; the
content similarity is the coverage of the topic's keywords.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from heapq import heappop, heappush

from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.spider import HELD, OPEN, FocusedSpider
from focuscrawl.strategies.graph import LinkGraph


class HybridSpider(FocusedSpider):
    name = "hybrid"
    floor = OPEN

    rank = Option("product", "links * (0.1 + similarity), or links * 0.1 + similarity", choices=("product", "sum"))

    async def before_crawl(self) -> None:
        await super().before_crawl()
        store = self.crawl.store
        store.seed_pages.make()
        self._graph = LinkGraph(store)
        #: The seed pages, and by node the number of links between it and seed pages.
        self._seeds = store.seed_pages.url_ids()
        self._links = array("i")
        #: Heap of candidates as (-rank, node). Ranks only rise, so an entry with an old rank is skipped.
        self._candidates: list[tuple[float, int]] = []
        #: Numbers of pages and links read so far, and of pages searched for the crawl's own seeds.
        self._pages = self._read = self._begun = 0
        self._catch_up()

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        if page.parent is None:
            return self.alike(page, OPEN + OPEN * relevance, {"on a seed page": 1.0})
        return self.alike(page, HELD * relevance, {"on a candidate, relevance": relevance})

    def refill(self) -> bool:
        """Make the best candidate with waiting links a seed page."""
        store = self.crawl.store
        self._catch_up()
        with store.transaction():
            for page in list(store.pages.each(after=self._begun)):
                if page.parent is None and page.url_id not in self._seeds:
                    self._promote(page.url_id, 1.0)
            self._begun = self._pages
            while self._candidates:
                negative_rank, best = heappop(self._candidates)
                rank = -negative_rank
                if best in self._seeds or rank != self._rank(best):
                    continue
                self._promote(best, rank)
                scores = dict.fromkeys(self._graph.targets_of([best]), OPEN + OPEN * rank / (1 + rank))
                if self.crawl.frontier.raise_to(scores, {"rank of its page": rank}):
                    return True
        return False

    def _rank(self, node: int) -> float:
        links, similarity = self._links[node], self._graph.relevance_of(node)
        return links * (0.1 + similarity) if self.rank == "product" else 0.1 * links + similarity

    def _promote(self, node: int, rank: float) -> None:
        self._seeds.add(node)
        for other in (*self._graph.targets_of([node]), *self._graph.sources_of([node])):
            self._link(other)
        self.crawl.store.seed_pages.add(node, rank)

    def _link(self, node: int) -> None:
        """Count one more link between a node and a seed page."""
        self._links[node] += 1
        if self._graph.is_page(node) and node not in self._seeds:
            heappush(self._candidates, (-self._rank(node), node))

    def _catch_up(self) -> None:
        """Read the pages stored since the last call, and their links to and from seed pages."""
        graph, before = self._graph, self._pages
        graph.read()
        self._pages = graph.pages
        self._links.extend([0] * (len(graph) - len(self._links)))
        sources, targets = (ends.tolist() for ends in graph.ends(self._read))
        self._read += len(sources)
        for source, target in zip(sources, targets, strict=True):
            if target in self._seeds:
                self._link(source)
            if source in self._seeds:
                self._link(target)
        for node in graph.urls_of(before):
            if node not in self._seeds:
                heappush(self._candidates, (-self._rank(node), node))
