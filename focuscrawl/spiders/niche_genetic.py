"""The niche genetic crawler (GAFC): URLs are individuals, and their fitness is the relevance of their pages.

Paper: H. Fan, G. Zeng, X. Li, "Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm".

One generation starts from its wait queue of URLs:

* *selection*: the pages of the queue are fetched, and those with a relevance S above `threshold` are selected. A
  selected page with more than `hub_links` links is a hub, any other an authority;
* *crossover*: the unvisited links of the hubs, V1, are fetched and measured; the best `pc` share of V1 by S is Vc;
* *mutation*: of the other unvisited links on known pages that link to authorities, a random `pm` share is Vm;
* Vc and Vm together, Vn, are grouped into niches by host (with its port), or by host and first n directories. Each
  niche loses its worst `knock_out` share (a number of URLs if `knock_out` is 1 or more); the rest is the next wait
  queue.

S is the cosine of the keywords' weights with x·W, the frequency of each keyword times the weight of the tag it is in.
An unfetched URL in Vm gets the mean S of the known pages that link to it. Nothing is fetched twice. The crawl ends when
the wait queue is empty, after `generations`, after the generation that reaches `max_relevant` relevant pages, or at
`max_pages`.

The paper fetches all of V1 and has the same constants for every web. Three options change that; all are off by default.
`sample` fetches at most so many links of V1 per generation, drawn at random in proportion to the S of the best hub that
links to them; later generations may draw the others. `select` adapts the threshold to the web: after the first
generation, a selected page must also be among that best share of all pages fetched so far. `hub_links=median` adapts
the number of links that makes a hub.

Random choices depend only on `seed` and the number of the generation, so a crawl is reproducible even if it is
interrupted. The table `generation` in crawl.sqlite has the figures of each generation.

Departures: hubs above the threshold are output as well as authorities (the paper's way is `output=authorities`),
because on many sites nearly every page has more than `hub_links` links; and the links of the best hub are fetched
first, for crawls that end within a generation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from random import Random
from typing import Any

import numpy as np

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.options import Option
from focuscrawl.page import Judgement, Page
from focuscrawl.spider import HELD, OPEN, FocusedSpider
from focuscrawl.strategies.genetics import Individual, crossover, knock_out, mutation, niche_kind, sample
from focuscrawl.strategies.graph import LinkGraph

#: The value of `hub_links` that stands for the median.
MEDIAN = -1


def _hub_links(text: str) -> int:
    number = MEDIAN if text == "median" else int(text)
    if number < 0 and text != "median":
        raise ValueError(text)
    return number


class NicheGeneticSpider(FocusedSpider):
    name = "niche_genetic"
    floor = OPEN

    threshold = Option(0.05, "relevance above which a page is selected", at_least=0.0, at_most=1.0)
    pc = Option(0.6, "crossover rate: share of the measured pages that survive", at_least=0.0, at_most=1.0)
    pm = Option(
        0.4, "mutation rate: share of the unvisited links next to authorities that survive", at_least=0.0, at_most=1.0
    )
    knock_out = Option(0.1, "share of each niche that is knocked out; a number of URLs if 1 or more", at_least=0.0)
    hub_links = Option(
        15,
        "a page with more links is a hub; median: a page with at least as many as half of the fetched pages",
        expects="a whole number, at least 0, or median",
        read=_hub_links,
    )
    niche = Option(
        "host",
        "how URLs are grouped into niches: by host (with port), or by host and first n directories (host/n)",
        expects="host or host/n, as in host/2",
        read=niche_kind,
    )
    sample = Option(0, "fetch at most this many links of the hubs per generation; 0: all", at_least=0)
    select = Option(
        1.0,
        "after the first generation, select only pages among this best share of those fetched; 1: all above threshold",
        at_least=0.0,
        at_most=1.0,
    )
    output = Option("all", "which relevant pages are output", choices=("all", "authorities"))
    generations = Option(0, "stop after this many generations; 0: when nothing is left", at_least=0)
    max_relevant = Option(0, "stop after the generation that reaches this many relevant pages; 0: no limit", at_least=0)
    seed = Option(1, "random seed")

    async def before_crawl(self) -> None:
        await super().before_crawl()
        self.crawl.store.generations.make()
        self._graph = LinkGraph(self.crawl.store)
        #: The current generation: number, whether V1 is being fetched, URL ids of both queues, pages before it.
        begin = {"number": 1, "measures": False, "pages": 0}
        with self.crawl.store.reading():
            self._now: dict[str, Any] = {**(self.crawl.store.meta("generation now") or begin)}
            if not all(isinstance(self._now[name], int) for name in begin):
                raise ValueError("meta 'generation now' is malformed")

    # ---- pages

    def judge(self, page: Page) -> Judgement | None:
        return self.keywords.tag_weighted(page, self.threshold)

    def matches(self, page: Page) -> bool:
        if self.output == "all" or not super().matches(page):
            return super().matches(page)
        links = {urls.key(link.url) for link in page.links} - {urls.key(page.url)}  # as the link graph counts them
        most: int = self._now.get("most", max(0, self.hub_links))
        return len(links) <= most

    def score(self, page: Page) -> Sequence[float]:
        """Hold links until a generation selects them."""
        relevance = self.relevance(page)
        return self.alike(page, HELD * relevance, {"relevance of its page": relevance})

    # ---- generations

    def refill(self) -> bool:
        """Start the next step: measure the links of hubs, or the next generation."""
        self._graph.read()
        if not self._now["measures"] and self._measure():
            return True
        return self._next_generation()

    def _measure(self) -> bool:
        """Select pages, and queue the unvisited links of the hubs; False if there are none."""
        now = self._now
        wait = self._pages(now["wait"]) if "wait" in now else self._pages()
        least = self._least()
        selected = [page for page in wait if page.fitness > self.threshold and page.fitness >= least]
        if not selected and now["number"] == 1:
            self._nothing_selected(wait)
        sources, targets = self._graph.ends()
        links = np.bincount(sources, minlength=len(self._graph))
        most = now["most"] = self._most_links(links[links > 0])
        hubs = [page.url_id for page in selected if links[page.url_id] > most]
        now["hubs"] = len(hubs)
        now["authorities"] = [page.url_id for page in selected if links[page.url_id] <= most]
        now["measures"] = True
        on_hubs = np.isin(sources, [*hubs, *now.get("unfinished", [])])
        best = np.zeros(len(self._graph))  # relevance of the best hub that links to a URL
        np.maximum.at(best, targets[on_hubs], self._graph.relevance[sources[on_hubs]])
        found = {int(node): float(best[node]) for node in np.unique(targets[on_hubs]) if self._waits(int(node))}
        taken = sample(found, self.sample, self._chance("sample"))
        scores = {node: OPEN + OPEN * found[node] for node in taken}
        left = found.keys() - scores.keys()  # a later generation may still draw them
        now["unfinished"] = np.unique(sources[on_hubs & np.isin(targets, list(left))]).tolist()
        with self.crawl.store.transaction():
            why = {"link of a hub in generation": float(now["number"])}
            now["measured"] = self.crawl.frontier.raise_to(scores, why)
            self.crawl.store.set_meta("generation now", now)
        return bool(now["measured"])

    def _most_links(self, links: Any) -> int:
        """The most links that an authority has; *links* are those of each fetched page that has any."""
        if self.hub_links != MEDIAN:
            return self.hub_links
        return ceil(np.median(links)) - 1 if len(links) else 0

    def _least(self) -> float:
        """The relevance that a page needs to be among the best `select` of all pages fetched so far."""
        if self._now["number"] == 1:  # nothing is fetched but the seeds
            return 0.0
        relevance = self._graph.relevance
        return float(np.quantile(relevance[~np.isnan(relevance)], 1 - self.select))

    def _chance(self, *what: str) -> Random:
        """The random generator for one kind of choice in this generation, the same after an interruption."""
        return Random(" ".join([f"{self.seed}", f"{self._now['number']}", *what]))  # noqa: S311

    def _next_generation(self) -> bool:
        """Crossover, mutation and niches; False at the end of the crawl."""
        now, number = self._now, self._now["number"]
        measured = self._pages(now["measured"])
        fit = crossover(measured, self.pc)
        beside = mutation(self._beside_authorities(), self.pm, self._chance())
        survivors = knock_out([*fit, *beside], self.knock_out, self.niche)
        figures = {
            "fetched": self.crawl.pages - now["pages"],
            "hubs": now["hubs"],
            "authorities": len(now["authorities"]),
            "crossover": len(fit),
            "mutation": len(beside),
            "knocked_out": len(fit) + len(beside) - len(survivors),
        }
        self._report(number, figures)
        more = bool(survivors) and self._may_go_on(number)
        kept: dict[str, Any] = {name: now[name] for name in ("most", "unfinished") if name in now}
        self._now = {"number": number + 1, "measures": False, "pages": self.crawl.pages, **kept}
        waiting = {one.url_id: OPEN + OPEN * one.fitness for one in survivors if self._waits(one.url_id)}
        self._now["wait"] = [one.url_id for one in survivors]
        with self.crawl.store.transaction():
            self.crawl.store.generations.set(number, figures)
            if more:
                self.crawl.frontier.raise_to(waiting, {"mutation in generation": float(number)})
                self.crawl.store.set_meta("generation now", self._now)
        return more

    def _may_go_on(self, number: int) -> bool:
        if 0 < self.generations <= number:
            self.logger.info("Stopping: %d generations are done", number)
            return False
        found = self.crawl.relevant if self.output == "all" else self.crawl.matched
        if 0 < self.max_relevant <= found:
            self.logger.info("Stopping: %d relevant pages are found", found)
            return False
        return True

    def _report(self, number: int, figures: dict[str, int]) -> None:
        words = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in figures.items())
        self.logger.info("Generation %d: %s", number, words)
        self.crawler.stats.set_value("focus/generations", number)
        for name, count in figures.items():
            self.crawler.stats.set_value(f"focus/generation/{number}/{name}", count)

    def _nothing_selected(self, wait: list[Individual]) -> None:
        best = max((page.fitness for page in wait), default=0.0)
        raise FocusError(
            f"no seed page is relevant: the best of {len(wait)} has relevance {best:.4f}, which is not above"
            f" threshold={self.threshold}; give seeds on the topic, other keywords, or a lower -a threshold=…"
        )

    # ---- individuals

    def _pages(self, url_ids: Iterable[int] | None = None) -> list[Individual]:
        """The readable pages of some URLs, or all of them."""
        stored = self.crawl.store.pages
        pages = stored.each() if url_ids is None else (stored.of_url(url_id) for url_id in url_ids)
        return [
            Individual(page.url_id, page.url, page.relevance or 0.0)
            for page in pages
            if page is not None and page.problem is None
        ]

    def _waits(self, url_id: int) -> bool:
        return self.crawl.frontier.waits(url_id)

    def _beside_authorities(self) -> list[Individual]:
        """The unvisited links on known pages that also link to this generation's authorities."""
        graph = self._graph
        found = [node for node in graph.targets_of(graph.sources_of(self._now["authorities"])) if self._waits(node)]
        if not found:
            return []
        sources, targets = graph.ends()
        relevance = graph.relevance
        sums = np.bincount(targets, relevance[sources], minlength=len(graph))
        counts = np.bincount(targets, minlength=len(graph))
        url = self.crawl.store.urls.url
        return [Individual(node, url(node), float(sums[node] / counts[node])) for node in found]
