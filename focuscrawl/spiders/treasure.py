"""Treasure-Crawler: topics by Dewey decimal numbers, priorities by a T-Graph.

Paper: "A focused crawler combinatory link and content model based on T-Graph principles".

The topical focus of a link is determined before the link is followed. The words of its topical boundary (its paragraph
or whole list) are dots at their Dewey numbers; the galaxy, where the dots are densest, is the focus. If the focus is
not among the topic's numbers, the link gets the lowest priority, `off_topic`. Otherwise the T-Graph estimates the
distance to a target from earlier links in similar surroundings (`strategies/tgraph.py`).

The T-Graph comes from a file (`tgraph`); bottom-up from the pages that an earlier crawl found relevant (`crawl`;
`crawl=auto` runs a breadth-first crawl of `crawl_pages` first); bottom-up from the topic's examples and the pages that
link to them, known from a list or a search engine (`backlinks`); or top-down from the topic's examples and
counterexamples. Every `watchdog_every` pages a watchdog adds the paragraphs that led to relevant pages, recomputes the
distances, and drops dead nodes: those whose destinations are gone, and those that never matched. tgraph.json in the
crawl's directory holds the current T-Graph.

A page is on the topic if the galaxy of its text is. Priorities rise with time so that nothing starves (FOCUS_AGEING),
and every response is stored with its status, including failures.

Departures: the ten most similar nodes of the T-Graph decide, not the least distance of all that match
(`priority=paper`), which is 1 for almost every link; a page's relevance is the share of its dots at the topic's
numbers, in the upper half of the scale if its galaxy is on the topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scrapy.utils.asyncio import run_in_thread

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.store.places import earlier_crawl
from focuscrawl.strategies.backlinks import backlinks
from focuscrawl.strategies.dewey import dotted
from focuscrawl.strategies.dewey_spider import DeweySpider
from focuscrawl.strategies.tgraph import (
    LEVELS,
    MATCH,
    NEIGHBOURS,
    RULES,
    SIZE,
    Ascent,
    Node,
    TGraph,
    bottom_up,
    node_of,
    top_down,
)

#: Waiting links age, so that nothing starves; pages are indexed, so that the crawl can be searched at any time.
SETTINGS: dict[str, Any] = {"FOCUS_AGEING": 0.0001, "FOCUS_INDEX": True}
#: Rounds of the watchdog after which a node without a match is dropped.
PATIENCE = 5


class TreasureSpider(DeweySpider):
    name = "treasure"
    custom_settings = SETTINGS

    tgraph = Option("", "T-Graph file made by the command `tgraph build`", expects="a file")
    earlier = Option(
        "",
        "directory of an earlier crawl to build the T-Graph from, or auto",
        given_as="crawl",
        expects="a directory or auto",
    )
    links_back = Option(
        "",
        "who links to the topic's examples: a file with lines `URL PARENT`, or the address of a SearXNG instance",
        given_as="backlinks",
        expects="a file or an address",
    )
    levels = Option(LEVELS, "maximum number of downloads from a node of the T-Graph to a target", at_least=1)
    earlier_pages = Option(500, "pages of the breadth-first crawl for crawl=auto", given_as="crawl_pages", at_least=20)
    priority = Option(
        NEIGHBOURS,
        "how the T-Graph gives priorities: by its most similar nodes, or as in the paper",
        choices=RULES,
        alias="rule",
    )
    match = Option(MATCH, "minimum similarity at which a node of the T-Graph matches", at_least=0.0, at_most=1.0)
    off_topic = Option(0.01, "priority of links about other topics", at_least=0.0, at_most=0.1)
    nodes = Option(SIZE, "maximum number of nodes in the T-Graph", at_least=1)
    watchdog_every = Option(100, "pages between two rounds of the watchdog; 0: never", at_least=0)

    # ---- the T-Graph

    async def before_crawl(self) -> None:
        await super().before_crawl()
        kept = self.crawl.folder / "tgraph.json"
        #: The last page that the watchdog has processed.
        self._watched = 0
        #: The keys of gone URLs, and the last page and failure read for them.
        self._dead_urls: set[int] = set()
        self._gone_upto = 0, 0
        if kept.exists():
            self.graph = TGraph.load(kept)
            every = self.watchdog_every or 1
            self._watched = self.crawl.pages // every * every
            return
        if self.tgraph:
            self.graph = TGraph.load(Path(self.tgraph))
            if self.graph.topic != self.topic.name:
                raise FocusError(
                    f"T-Graph {self.tgraph} is about '{self.graph.topic}', not '{self.topic.name}'; give another one"
                )
        elif self.earlier:
            if self.earlier == "auto":
                self.earlier = str(await self.crawl_before("breadth_first", "earlier", max_pages=self.earlier_pages))
            self.graph = self._from_crawl()
        elif self.links_back:
            self.graph = await self._from_backlinks()
        else:
            examples = [page async for page in self._read_examples(self.topic.examples)]
            others = [page async for page in self._read_examples(self.topic.counterexamples)]
            targets = [page.url for page in examples]
            self.graph = top_down(self.topic.name, [*examples, *others], targets, self.levels)
            if not self.graph.nodes:
                self.logger.warning(
                    "The T-Graph is empty: none of the topic's %d examples links to another. All links on the topic get"
                    " the same priority until the watchdog has learned more. Give -a crawl=DIR of an earlier crawl,"
                    " -a backlinks=FILE, or -a tgraph=FILE",
                    len(self.topic.examples),
                )
        source = self.tgraph or self.earlier or self.links_back
        if source and not self.graph.nodes:
            raise FocusError(
                f"the T-Graph of {source} is empty: no link there leads to a relevant page; give a longer crawl, other"
                " back-links, or omit the option"
            )
        self.graph.save(kept)

    def _from_crawl(self) -> TGraph:
        with earlier_crawl(self.earlier, self.topic.name) as store:
            return bottom_up(self.topic.name, store, levels=self.levels, size=self.nodes)

    async def _from_backlinks(self) -> TGraph:
        """Read the pages that link to the examples, then those that link to these, until there are enough."""
        targets = [source for source in self.topic.examples if isinstance(source, str)]
        if not targets:
            raise FocusError(f"{self._lacks('examples')} that are URLs: -a backlinks looks for links to them")
        parents_of = backlinks(self.links_back)
        ascent = Ascent(self.topic.name, targets, self.levels, self.nodes)
        while wanted := await run_in_thread(ascent.wanted, parents_of):
            async for page in self._read_examples(wanted):
                ascent.add(page)
                if ascent.is_full:
                    break
        return ascent.graph

    # ---- links

    def score(self, page: Page) -> Sequence[float]:
        every = self.watchdog_every
        if every and self.crawl.pages // every * every > self._watched:
            self._watchdog()
        focuses = self.lexicon.focuses(page)
        on_topic = [index for index, focus in enumerate(focuses) if self.covers(focus)]
        scores = [self.off_topic] * len(focuses)
        for index, focus in enumerate(focuses):
            page.links[index].why = {f"focus {dotted(number)}": 1.0 for number in focus}
        matches = self.graph.match([page.links[index] for index in on_topic], self.match, self.priority)
        for index, found in zip(on_topic, matches, strict=True):
            scores[index] = max(found.priority, self.off_topic)
            page.links[index].why = {
                **(page.links[index].why or {}),
                "T-Graph priority": found.priority,
                "similarity": found.osm,
            }
        return scores

    # ---- the watchdog

    def _watchdog(self) -> None:
        """Learn from the relevant pages found since the last round, and drop dead nodes."""
        store = self.crawl.store
        upto = self.crawl.pages
        found = [page for page in store.pages.each(self._watched, upto) if page.relevant]
        self._watched = upto // self.watchdog_every * self.watchdog_every
        added = 0
        if len(self.graph.nodes) < self.nodes:
            read: dict[str, Page] = {}
            ways = (node for page in found for node in self._way_to(page.url_id, upto, read))
            added = self.graph.extend(ways, self.nodes)
        self.graph.measure_again(page.url for page in found)
        self._look_for_gone()
        dropped = self.graph.prune(self._dead_urls, upto, PATIENCE * self.watchdog_every)
        self.graph.save(self.crawl.folder / "tgraph.json")
        self.logger.info("Watchdog: %d nodes, %d new, %d dropped", len(self.graph.nodes), added, dropped)

    def _look_for_gone(self) -> None:
        """Add the URLs found gone since the last round."""
        pages, failures = self._gone_upto
        for page in self.crawl.store.pages.each(after=pages):
            pages = page.number
            if page.status in (404, 410):
                self._dead_urls.add(urls.key(page.url))
        for failure in self.crawl.store.failures.each(after=failures):
            failures = failure.number
            self._dead_urls.add(urls.key(failure.url))
        self._gone_upto = pages, failures

    def _way_to(self, url_id: int, born: int, read: dict[str, Page]) -> Iterator[Node]:
        """The paragraphs whose links led to a relevant page, each one download further away.

        *read* caches the pages on the way: many paths share the pages near the seeds.
        """
        store = self.crawl.store
        for distance in range(1, self.levels + 1):
            step = store.links.step_to(url_id)
            if step is None:
                return
            url_id, page_url, target = step
            if page_url not in read:
                read[page_url] = read_page(Page(page_url), store.pages.body(page_url) or b"")
            links = [link for link in read[page_url].links if link.url == target]
            if links:
                node = node_of(links, page_url, born)
                node.dic = {target: distance}
                yield node
