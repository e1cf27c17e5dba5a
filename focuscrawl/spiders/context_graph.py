"""The context-graph crawler: it estimates how many links away from the topic a page is.

Compared with in: "A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler);
after M. Diligenti et al., "Focused Crawling using Context Graphs", VLDB 2000.

Layer 0 consists of the topic's examples, layer k of pages that are k links away from a page of layer 0. The link graph
comes from an earlier crawl (`crawl`). If that crawl contains too few of the examples, the pages that the judge finds
relevant in it replace them. A classifier over the layers assigns each page to a layer, or to the class "other", which
is trained on the counterexamples. The page's links enter the queue of that layer; the queue of layer 0 comes first,
then that of layer 1, and so on.

Departures: the original asked a search engine for the link graph; there is one naive Bayes classifier over all layers
instead of one per layer with its own threshold; within a queue, links of pages with a higher probability for the layer
come first.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.console.program import program
from focuscrawl.errors import FocusError
from focuscrawl.learning.layers import OTHER, Layers
from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.store.places import earlier_crawl
from focuscrawl.store.store import Store
from focuscrawl.strategies.graph import LinkGraph
from focuscrawl.strategies.learning_spider import LearningSpider
from focuscrawl.strategies.tgraph import back_distances

#: Minimum and maximum number of pages of a layer; a smaller layer is left out.
LEAST, MOST = 3, 100


class ContextGraphSpider(LearningSpider):
    name = "context_graph"

    layers = Option(3, "number of layers around the topic", at_least=1, at_most=8)
    earlier = Option(
        "", "directory of an earlier crawl of the topic, or auto", given_as="crawl", expects="a directory or auto"
    )
    earlier_pages = Option(500, "pages of the breadth-first crawl for crawl=auto", given_as="crawl_pages", at_least=20)

    def prepare(self) -> None:
        if not self.earlier:
            raise FocusError(
                "spider 'context_graph' needs the link graph of an earlier crawl: run another spider first, such as"
                f" `{program()} crawl breadth_first -a topic=… -s FOCUS_DIR=DIR`, and give -a crawl=DIR, or do both"
                " in one step with -a crawl=auto"
            )

    @classmethod
    def options_for(cls, pages: int) -> dict[str, str]:
        return {"crawl": "auto", "crawl_pages": str(max(20, pages // 2))}

    async def before_crawl(self) -> None:
        if self.earlier == "auto" and not self.is_trained():
            self.earlier = str(await self.crawl_before("breadth_first", "earlier", max_pages=self.earlier_pages))
        await super().before_crawl()

    def is_trained(self) -> bool:
        data = self.read_model("context_graph.json")
        if data is not None:
            self.model = Layers.from_json(data)
        return super().is_trained() and data is not None

    def train_on_examples(self) -> None:
        super().train_on_examples()
        pages = {
            0: [page.counts for page in self.examples if not page.problem],
            OTHER: [page.counts for page in self.counterexamples if not page.problem],
        }
        earlier = str(self.crawl.folder / "earlier") if self.earlier == "auto" else self.earlier
        with earlier_crawl(earlier, self.topic.name) as store:
            graph = LinkGraph(store)
            graph.read()
            # start from the examples if the crawl contains them, otherwise from the pages that the judge finds relevant
            distances = back_distances(store, graph, [page.url for page in self.examples], self.layers)
            if len(distances) <= len(self.examples):
                distances = back_distances(store, graph, self._relevant(store), self.layers)
            for page in store.pages.each():
                layer = distances.get(page.url_id, 0) if page.problem is None else 0
                if layer and len(pages.setdefault(layer, [])) < MOST:
                    pages[layer].append(read_page(Page(page.url), store.pages.body(page.url) or b"").counts)
        pages = {layer: found for layer, found in pages.items() if len(found) >= LEAST}
        if max(pages) < 1:
            raise FocusError(
                f"crawl {earlier} has fewer than {LEAST} pages that link to the topic; give a longer crawl"
            )
        self.logger.info(
            "Context graph: %s", ", ".join(f"{len(pages[n])} pages in layer {n}" for n in sorted(pages) if n >= 0)
        )
        self.model = Layers.train(pages, self.features, self.selection)
        self.write_model("context_graph.json", self.model.to_json())

    def _relevant(self, store: Store) -> list[str]:
        """The pages of a crawl that the judge finds relevant."""
        urls = (page.url for page in store.pages.each() if page.problem is None)
        pages = (read_page(Page(url), store.pages.body(url) or b"") for url in urls)
        return [page.url for page in pages if self.learned.judge(page, self.threshold).relevant]

    def score(self, page: Page) -> Sequence[float]:
        score, queue, likely = self._place(page)
        return self.alike(page, score, {"layer of its page": float(queue), "likely": likely})

    def worth(self, page: Page) -> float:
        return self._place(page)[0]

    def _place(self, page: Page) -> tuple[float, int, float]:
        """The score of the links of a page, the queue they enter, and how likely it is the right one."""
        likely = self.model.probabilities(page.counts)
        layer = max(likely, key=lambda layer: likely[layer])
        queues = max(self.model.layers) + 2  # the last queue is that of OTHER
        queue = layer if layer != OTHER else queues - 1
        score = (queues - queue - 1 + likely[layer if layer != OTHER else 0]) / queues
        return score, queue, likely[layer]
