"""GraphSpider: the base class of strategies that rank waiting URLs by the crawl's link graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.queue import Entry
from focuscrawl.strategies.graph import LinkGraph
from focuscrawl.strategies.rhythm import Rhythm


class GraphSpider(FocusedSpider):
    """Recomputes the worth of every URL at intervals, and rescores the waiting ones (see rhythm.py).

    In between, each page adds to the worth of the URLs it links to, so the score of a URL rises with every new link.
    """

    every = Option(200, "pages between two computations; in a long crawl, a tenth of it", at_least=1)

    def prepare(self) -> None:
        self._graph: LinkGraph | None = None
        self._rhythm = Rhythm(self.every)

    def compute(self, graph: LinkGraph) -> Any:
        """The worth of each node, on any scale that starts at 0."""
        raise NotImplementedError

    def hand_on(self, page: Page) -> float:
        """What a page adds to the worth of each URL it links to, on the scale of the last computation."""
        raise NotImplementedError

    async def before_crawl(self) -> None:
        await super().before_crawl()
        due = self._rhythm.due(self.crawl.pages)
        self._compute(due, scored=self.crawl.store.number("computed") == due)  # in a resumed crawl

    def stored(self, page: Page) -> None:
        due = self._rhythm.due(self.crawl.pages)
        if self._graph is None or self._graph.pages != due:
            self._compute(due)

    def marked(self, verdicts: Mapping[int, bool], new: Sequence[int]) -> str:
        if self._graph is not None:
            self._graph.renew(new)
        return "the next computation takes them into account" if new else ""

    def score(self, page: Page) -> Sequence[float]:
        share = self.hand_on(page)
        return self.alike(page, share / (1 + share), {"handed on by its page": share})

    def merge(self, old: float, new: float) -> float:
        if old >= 1 or new >= 1:
            return 1.0
        worth = old / (1 - old) + new / (1 - new)
        return worth / (1 + worth)

    def _compute(self, due: int, *, scored: bool = False) -> None:
        """Compute the worth of all URLs by the first *due* pages; re-score those that wait unless they are *scored*.

        Workers that share a crawl compute the same, and each re-scores what waits on its own hosts.
        """
        if self._graph is None:
            self._graph = LinkGraph(self.crawl.store)
        if not due:
            return
        self._graph.read(due)
        worth = self.compute(self._graph)
        if not scored:
            scores = worth / (1 + worth)

            def score(entry: Entry) -> float:
                # pages stored after the last one in the graph may have found further URLs
                return float(scores[entry.url_id]) if entry.via and entry.url_id < len(scores) else entry.score

            self.crawl.frontier.rescore(score)
            self.crawl.store.set_meta("computed", due)
