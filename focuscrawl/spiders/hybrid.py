"""The hybrid crawler: link structure and content.

Reviewed in: "A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler).

Pages are seed pages, candidates (fetched) or uncrawled, and only the links of seed pages are followed. When all of them
were, the candidate with the highest rank becomes a seed page:

    rank(p) = (links from p to seed pages + links from seed pages to p) * 0.1 + content similarity of p

The table `seed_page` in crawl.sqlite keeps which pages they are. Departures: the crawl may begin with several seeds;
the content similarity is the coverage of the topic's keywords.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from focuscrawl.graph import LinkGraph
from focuscrawl.page import Page
from focuscrawl.spider import HELD, OPEN, FocusedSpider

_TABLE = "CREATE TABLE seed_page (id INTEGER PRIMARY KEY, url_id INTEGER, rank REAL)"


class HybridSpider(FocusedSpider):
    name = "hybrid"
    floor = OPEN

    async def study(self) -> None:
        await super().study()
        store = self.crawl.store
        store.make(_TABLE)
        self._graph = LinkGraph(store)
        #: Seed pages, links to or from them, and links that were looked at, by node.
        self._seeds = np.zeros(1, dtype=bool)
        self._links = np.zeros(1)
        self._read = 0
        self._graph.read()
        self._grow()
        self._seeds[[url_id for (url_id,) in store.execute("SELECT url_id FROM seed_page")]] = True
        self._count_new()

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        if page.parent is None:
            return self.alike(page, OPEN + OPEN * relevance, {"on a seed page": 1.0})
        return self.alike(page, HELD * relevance, {"on a candidate, relevance": relevance})

    def refill(self) -> bool:
        """Make the best candidate that has a link to follow a seed page."""
        store = self.crawl.store
        self._graph.read()
        self._grow()
        self._count_new()
        with store.transaction():
            for (url_id,) in store.execute("SELECT url_id FROM page WHERE parent IS NULL").fetchall():
                if not self._seeds[url_id]:
                    self._promote(url_id, 1.0)
            relevance = self._graph.relevance
            candidate = ~np.isnan(relevance)
            while True:
                ranks = np.where(candidate & ~self._seeds, 0.1 * self._links + relevance, -1.0)
                best = int(np.argmax(ranks))
                rank = float(ranks[best])
                if rank < 0:
                    return False
                self._promote(best, rank)
                scores = dict.fromkeys(self._graph.targets_of([best]), OPEN + OPEN * rank / (1 + rank))
                if self.crawl.frontier.raise_to(scores, {"rank of its page": rank}):
                    return True

    def _promote(self, node: int, rank: float) -> None:
        self._seeds[node] = True
        np.add.at(self._links, self._graph.targets_of([node]), 1)
        np.add.at(self._links, self._graph.sources_of([node]), 1)
        self.crawl.store.execute("INSERT INTO seed_page (url_id, rank) VALUES (?, ?)", (node, rank))

    def _grow(self) -> None:
        missing = len(self._graph) - len(self._links)
        self._seeds = np.concatenate([self._seeds, np.zeros(missing, dtype=bool)])
        self._links = np.concatenate([self._links, np.zeros(missing)])

    def _count_new(self) -> None:
        """Links that came since the last time, to and from the seed pages there are."""
        sources, targets = (ends[self._read :] for ends in self._graph.ends())
        self._read += len(sources)
        np.add.at(self._links, sources, self._seeds[targets])
        np.add.at(self._links, targets, self._seeds[sources])
