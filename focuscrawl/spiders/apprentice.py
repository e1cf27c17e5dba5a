"""The accelerated focused crawler: an apprentice that learns from the baseline where links lead.

Paper: S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and
Accelerated Focused Crawlers", IJCA 117(8), 2015; after Chakrabarti, Punera and Subramanyam, WWW 2002.

Each link that the baseline followed is one training example: the words around the link, at most `distance` on either
side, and the relevance that the baseline measured for the target. Naive Bayes over `features` of these words, selected
by `selection`, then scores every link by the words around it, before anything is known about its target. As in the
paper, the words of the anchor are left out unless `anchor=yes`, and the page that a link is on does not count unless
`parent` gives it a weight: the log-odds of the words and those of the page are then averaged.

`lessons` is the directory of a finished baseline crawl; with `lessons=auto` the apprentice first runs a baseline crawl
of `lesson_pages` pages in FOCUS_DIR/lessons. With `training=online` (Chakrabarti's variant) it keeps learning from the
pages it fetches. `hubs_every=N` enables the paper's HITS extension: every N pages, or in a long crawl whenever it has
grown by a tenth, the best hubs of the crawled graph are computed, and the waiting links on them come first.

Departures: links are ranked by log-odds, because the classifier's probabilities saturate at 0 and 1. The words around a
link are those in ten characters per word, so long words leave room for fewer than `distance`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from focuscrawl.console.program import program
from focuscrawl.errors import FocusError
from focuscrawl.learning.contexts import context, learn_contexts
from focuscrawl.learning.table import WordTable, probability, squash, unsquash
from focuscrawl.options import Option
from focuscrawl.page import CONTEXT_WORDS, Link, Page
from focuscrawl.spiders.baseline import FRONTIER
from focuscrawl.store.places import crawl_folder, read_crawl
from focuscrawl.strategies.graph import LinkGraph, hits
from focuscrawl.strategies.learning_spider import LearningSpider
from focuscrawl.strategies.lessons import lessons, wide_lessons
from focuscrawl.strategies.rhythm import GROWTH, Rhythm

#: Minimum number of training examples.
LEAST = 20
#: Number of hubs whose waiting links are promoted.
HUBS = 10


class ApprenticeSpider(LearningSpider):
    name = "apprentice"
    custom_settings = FRONTIER

    lessons = Option("", "directory of a finished baseline crawl, or auto", expects="a directory or auto")
    lesson_pages = Option(1000, "pages of the baseline crawl for lessons=auto", at_least=LEAST)
    distance = Option(10, "words used on either side of a link", at_least=1, at_most=100)
    anchor = Option(False, "also use the words of the anchor")
    parent = Option(0.0, "weight of the relevance of a link's page in its score", at_least=0.0, at_most=1.0)
    training = Option("offline", "online: keep learning from the pages it fetches", choices=("offline", "online"))
    hubs_every = Option(
        0, "pages between two computations of hubs (in a long crawl, a tenth of it); 0: never", at_least=0
    )

    @classmethod
    def options_for(cls, pages: int) -> dict[str, str]:
        return {"lessons": "auto", "lesson_pages": str(max(LEAST, pages // 2))}

    def prepare(self) -> None:
        self.context_words = max(CONTEXT_WORDS, self.distance)
        self.table: WordTable | None = None
        self._contexts: list[list[str]] = []
        self._labels: list[float] = []
        self._learned_from = 0
        self._rhythm = Rhythm(self.hubs_every)
        self._graph: LinkGraph | None = None
        if not self.lessons and self.training == "offline":
            raise FocusError(
                f"spider 'apprentice' learns from a finished baseline crawl: run `{program()} crawl baseline -a"
                " topic=… -s FOCUS_DIR=DIR` and give -a lessons=DIR, or do both in one step with -a lessons=auto -a"
                " lesson_pages=1000"
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
            self.crawl.catch_up.resume(model["pages"] if model is not None else 0)
        self._look_for_hubs()  # the previous run may have been killed before this step

    def _resume(self, model: dict[str, Any]) -> None:
        self.table = WordTable.from_json(model["table"]) if model["table"] else None
        if self.training == "online":
            self._contexts, self._labels = model["contexts"], model["labels"]
            self._learned_from = model["learned_from"]

    def _study_lessons(self, folder: Path) -> None:
        """Learn from a finished crawl."""
        self._read_lessons(folder)
        self.table = self._learn()
        if len(self._labels) < LEAST or self.table is None:
            relevant = sum(label >= 0.5 for label in self._labels)
            raise FocusError(
                f"lessons {folder} have {len(self._labels)} followed links, {relevant} of them to relevant pages; at"
                f" least {LEAST}, and some of each kind, are needed: resume the baseline crawl with a larger max_pages"
            )
        self._keep()

    def train_again(self) -> None:
        """Marked pages are examples for the judge, and the links that led to them are lessons."""
        super().train_again()
        if not self._contexts and self.lessons:  # a resumed crawl has the table only
            self._read_lessons(self.crawl.folder / "lessons" if self.lessons == "auto" else crawl_folder(self.lessons))
        self.table = self._learn() or self.table
        if self.training == "offline":
            self._keep()

    def follow_judge(self, *, at_once: bool) -> None:
        if at_once:
            self.rescore_waiting(self._worth)

    def _read_lessons(self, folder: Path) -> None:
        with read_crawl(folder) as store:
            spider, topic = store.meta("spider"), store.meta("topic")
            if topic != self.topic.name:
                raise FocusError(
                    f"lessons {folder} are about '{topic}', not '{self.topic.name}'; give a crawl of the same topic"
                )
            if spider != "baseline":
                raise FocusError(f"lessons {folder} are a crawl by '{spider}'; give a baseline crawl")
            for _, label, link in wide_lessons(store, self.distance):
                self._add(label, link)

    def _add(self, label: float, link: Link) -> None:
        self._contexts.append(context(link, self.distance, anchor=self.anchor))
        self._labels.append(label)

    def _learn(self) -> WordTable | None:
        self._learned_from = len(self._labels)
        marked = list(self.links_to_marked())
        contexts = [*self._contexts, *(context(link, self.distance, anchor=self.anchor) for link, _ in marked)]
        labels = [*self._labels, *(float(relevant) for _, relevant in marked)]
        return learn_contexts(contexts, labels, features=self.features, selection=self.selection)

    def _keep(self, pages: int = 0) -> None:
        """Store the model, with the number of this crawl's pages that it has learned from."""
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
        relevance = self.relevance(page)
        for link in page.links:
            link.page_relevance = relevance
        return self._worth(page.links)

    def _worth(self, links: Sequence[Link]) -> Sequence[float]:
        if self.table is None:  # not trained yet
            return [0.5] * len(links)
        weights = self.table.weights
        scores = []
        for link in links:
            words = context(link, self.distance, anchor=self.anchor)
            link.why = {word: round(weights[word], 4) for word in words if word in weights}
            log_odds = self.table.of_words(words)
            relevance = link.page_relevance
            if self.parent and relevance is not None:
                link.why["relevance of its page"] = round(relevance, 4)
                log_odds = (1 - self.parent) * log_odds + self.parent * unsquash(relevance)
            scores.append(squash(log_odds))
        return scores

    def learn(self, page: Page, via: Link) -> None:
        if self.training == "online" and not page.problem:
            self._take_in(page.number, probability(self.relevance(page)), via)

    def catch_up(self, numbers: Sequence[int]) -> None:
        if self.training == "online":
            for lesson in lessons(self.crawl.store, numbers):
                self._take_in(*lesson)

    def _take_in(self, number: int, label: float, link: Link) -> None:
        """Add a training example from this crawl; retrain when there are enough new ones.

        The model is stored last: if the crawl is killed before that, the next run learns the same again.
        """
        self._add(label, link)
        if len(self._labels) >= max(LEAST, GROWTH * self._learned_from):
            self.table = self._learn() or self.table
            self.rescore_waiting(self._worth)
            self._keep(number)

    def _promote_hubs(self, due: int) -> None:
        """Move the waiting links on the best hubs among the first *due* pages to the front of the frontier."""
        store, frontier = self.crawl.store, self.crawl.frontier
        self._graph = self._graph or LinkGraph(store)
        self._graph.read(due)
        fetched = ~np.isnan(self._graph.relevance)
        hubs, _ = hits(self._graph.matrix(), fetched.astype(float))  # a hub must have been fetched
        best = [int(node) for node in np.argsort(-hubs, kind="stable")[:HUBS] if hubs[node] > 0]
        with store.transaction():
            frontier.raise_to(dict.fromkeys(self._graph.targets_of(best), 1.0), {"on one of the best hubs": 1.0})
            store.set_meta("hubs", due)
