"""The accelerated focused crawler: an apprentice that has learned from the baseline where links lead.

Paper: S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and
Accelerated Focused Crawlers", IJCA 117(8), 2015; after Chakrabarti, Punera and Subramanyam, WWW 2002.

One lesson per link that the baseline followed: the words around it on its page, at most `distance` on either side, and
the relevance that the baseline measured at its end. Naive Bayes over `features` such words, chosen by `selection`, then
scores every link by the words around it, before anything of its target is known. The anchor's own words are left out,
as in the paper, unless `anchor=yes`.

`lessons` is the directory of a finished baseline crawl; with `lessons=auto` the apprentice first has the baseline crawl
`lesson_pages` pages into FOCUS_DIR/lessons. With `training=online` (Chakrabarti's variant) it goes on learning from
what it fetches itself. With `hubs_every=N` the paper's HITS extension is on: every N pages, or in a long crawl whenever
it has grown by a tenth, the best hubs of the crawled graph are found, and the links on them that wait come first.

Departs from the paper: links are ranked by log-odds, because the classifier's probabilities run into 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from focuscrawl.errors import FocusError
from focuscrawl.learning.contexts import context, learn_contexts
from focuscrawl.learning.table import WordTable, probability, squash
from focuscrawl.options import Option
from focuscrawl.page import CONTEXT_WORDS, Link, Page
from focuscrawl.spiders.baseline import FRONTIER
from focuscrawl.store.store import Store, crawl_folder, read_crawl
from focuscrawl.strategies.graph import LinkGraph, hits
from focuscrawl.strategies.learning_spider import LearningSpider
from focuscrawl.strategies.rhythm import GROWTH, Rhythm

#: Lessons below which nothing is learned from a crawl.
LEAST = 20
#: Hubs whose waiting links are put in front.
HUBS = 10


class ApprenticeSpider(LearningSpider):
    name = "apprentice"
    custom_settings = FRONTIER

    lessons = Option("", "directory of a finished baseline crawl, or auto", expects="a directory or auto")
    lesson_pages = Option(1000, "pages that the baseline crawls for lessons=auto", at_least=LEAST)
    distance = Option(CONTEXT_WORDS, "words looked at on either side of a link", at_least=1, at_most=CONTEXT_WORDS)
    anchor = Option(False, "whether the anchor's own words count, too")
    training = Option("offline", "whether it goes on learning", choices=("offline", "online"))
    hubs_every = Option(0, "pages between two searches for hubs, or a tenth of the crawl; 0: none", at_least=0)

    @classmethod
    def options_for(cls, pages: int) -> dict[str, str]:
        return {"lessons": "auto", "lesson_pages": str(max(LEAST, pages // 2))}

    def prepare(self) -> None:
        self.table: WordTable | None = None
        self._contexts: list[list[str]] = []
        self._labels: list[float] = []
        self._learned_from = 0
        self._rhythm = Rhythm(self.hubs_every)
        self._graph: LinkGraph | None = None
        if not self.lessons and self.training == "offline":
            raise FocusError(
                "spider 'apprentice' learns from a finished baseline crawl: run `scrapy crawl baseline -a topic=… -s"
                " FOCUS_DIR=DIR` and give -a lessons=DIR, or let it do both with -a lessons=auto -a lesson_pages=1000"
            )

    # ---- before the crawl

    async def before_crawl(self) -> None:
        model = self.read_model("apprentice.json")
        if model is not None:
            self._resume(model)
        elif self.lessons:
            folder = crawl_folder(self.lessons)
            if self.lessons == "auto":
                options = {name: getattr(self, name) for name in ("features", "selection", "rarity")}
                options |= {"judge": self.kind_of_judge, "max_pages": self.lesson_pages}
                folder = await self.crawl_before("baseline", "lessons", **options)
            self._study_lessons(folder)
        await super().before_crawl()
        if self.training == "online":
            for number, label, link in _lessons(self.crawl.store, after=model["pages"] if model is not None else 0):
                self._take_in(number, label, link)
        self._look_for_hubs()  # it may have been killed before it could

    def _resume(self, model: dict[str, Any]) -> None:
        self.table = WordTable.from_json(model["table"]) if model["table"] else None
        if self.training == "online":
            self._contexts, self._labels = model["contexts"], model["labels"]
            self._learned_from = model["learned_from"]

    def _study_lessons(self, folder: Path) -> None:
        """Learn from a finished crawl, and judge pages as it did."""
        with read_crawl(folder) as store:
            spider, topic = store.meta("spider"), store.meta("topic")
            if topic != self.topic.name:
                raise FocusError(
                    f"lessons {folder} are about '{topic}', not '{self.topic.name}'; give those of its topic"
                )
            if spider != "baseline":
                raise FocusError(f"lessons {folder} were crawled by '{spider}'; give those of a baseline crawl")
            for _, label, link in _lessons(store):
                self._add(label, link)
        self.table = self._learn()
        if len(self._labels) < LEAST or self.table is None:
            relevant = sum(label >= 0.5 for label in self._labels)
            raise FocusError(
                f"lessons {folder} hold {len(self._labels)} followed links, {relevant} of them to relevant pages; at"
                f" least {LEAST} and some of either kind are needed: let the baseline crawl on, with a larger max_pages"
            )
        self._keep()

    def _add(self, label: float, link: Link) -> None:
        self._contexts.append(context(link, self.distance, anchor=self.anchor))
        self._labels.append(label)

    def _learn(self) -> WordTable | None:
        self._learned_from = len(self._labels)
        return learn_contexts(self._contexts, self._labels, features=self.features, selection=self.selection)

    def _keep(self, pages: int = 0) -> None:
        """Keep the model, with how many of this crawl's pages it has seen."""
        model: dict[str, Any] = {"table": self.table.to_json() if self.table else None, "pages": pages}
        if self.training == "online":
            model |= {"contexts": self._contexts, "labels": self._labels, "learned_from": self._learned_from}
        self.write_model("apprentice.json", model)

    # ---- during the crawl

    def stored(self, page: Page) -> None:
        self._look_for_hubs()

    def _look_for_hubs(self) -> None:
        if self.hubs_every:
            due = self._rhythm.due(self.crawl.pages)
            if due > self.crawl.store.number("hubs"):
                self._promote_hubs(due)

    def score(self, page: Page) -> Sequence[float]:
        return self._worth(page.links)

    def _worth(self, links: Sequence[Link]) -> Sequence[float]:
        if self.table is None:  # nothing was learned yet
            return [0.5] * len(links)
        weights = self.table.weights
        scores = []
        for link in links:
            words = context(link, self.distance, anchor=self.anchor)
            link.why = {word: round(weights[word], 4) for word in words if word in weights}
            scores.append(squash(self.table.of_words(words)))
        return scores

    def learn(self, page: Page, via: Link) -> None:
        if self.training == "online" and not page.problem:
            self._take_in(page.number, probability(self.relevance(page)), via)

    def _take_in(self, number: int, label: float, link: Link) -> None:
        """A lesson from a page of this crawl; when there are enough new ones the table is made anew.

        The model is kept last: killed before that, the crawl learns the same once more when it is resumed.
        """
        self._add(label, link)
        if len(self._labels) >= max(LEAST, GROWTH * self._learned_from):
            self.table = self._learn() or self.table
            self.rescore_waiting(self._worth)
            self._keep(number)

    def _promote_hubs(self, due: int) -> None:
        """Put the links that wait on the best hubs among the first *due* pages in front of all others."""
        store, frontier = self.crawl.store, self.crawl.frontier
        self._graph = self._graph or LinkGraph(store)
        self._graph.read(due)
        fetched = ~np.isnan(self._graph.relevance)
        hubs, _ = hits(self._graph.matrix(), fetched.astype(float))  # only what was fetched is a page
        best = [int(node) for node in np.argsort(-hubs, kind="stable")[:HUBS] if hubs[node] > 0]
        with store.transaction():
            frontier.raise_to(dict.fromkeys(self._graph.targets_of(best), 1.0), {"on one of the best hubs": 1.0})
            store.set_meta("hubs", due)


def _lessons(store: Store, after: int = 0) -> list[tuple[int, float, Link]]:
    """The pages that a crawl found by links: number, how likely it is relevant, and the link."""
    return [
        (followed.page, probability(followed.relevance), followed.link)
        for followed in store.links.followed(after)
        if followed.problem is None and followed.relevance is not None
    ]
