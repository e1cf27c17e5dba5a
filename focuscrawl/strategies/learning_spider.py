"""LearningSpider: the base class of strategies that train a judge on the topic's examples and counterexamples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.learning.pages import KINDS, LEAST, LearnedJudge
from focuscrawl.learning.texts import SELECTIONS
from focuscrawl.options import Option
from focuscrawl.page import Judgement, Page
from focuscrawl.spider import FocusedSpider


class LearningSpider(FocusedSpider):
    """Trains a judge before the first page is fetched, and stores it in the crawl's directory as judge.json.

    A resumed crawl reuses it.
    """

    needs = ("examples", "counterexamples")

    threshold = Option(0.5, "minimum relevance of a page on the topic", at_least=0.0, at_most=1.0)
    features = Option(500, "number of words that the naive Bayes judge uses", at_least=1)
    selection = Option("df", "how the words are selected: document frequency or mutual information", choices=SELECTIONS)
    kind_of_judge = Option("bayes", "kind of judge", choices=KINDS, given_as="judge")
    rarity = Option(0.1, "expected share of pages on the topic", at_least=0.0001, at_most=0.5)

    learned: LearnedJudge

    def is_trained(self) -> bool:
        """Load the models of an earlier run; False if any is missing."""
        data = self.read_model("judge.json")
        if data is not None:
            self.learned = LearnedJudge.from_json(data)
        return data is not None

    def train_on_examples(self) -> None:
        examples, counterexamples = (
            [page.counts for page in pages if not page.problem] for pages in (self.examples, self.counterexamples)
        )
        for name, found, wanted in (
            ("examples", examples, self.topic.examples),
            ("counterexamples", counterexamples, self.topic.counterexamples),
        ):
            if len(found) < LEAST:
                raise FocusError(
                    f"topic '{self.topic.name}' ({self.topic.source}): {len(found)} of its {len(wanted)} {name}"
                    f" could be read; give at least {LEAST} readable pages, better 20"
                )
        try:
            self.learned = LearnedJudge.train(
                examples,
                counterexamples,
                kind=self.kind_of_judge,
                features=self.features,
                selection=self.selection,
                rarity=self.rarity,
            )
        except ValueError as error:
            raise FocusError(f"topic '{self.topic.name}' ({self.topic.source}): {error}") from None
        self.write_model("judge.json", self.learned.to_json())

    def judge(self, page: Page) -> Judgement | None:
        return self.learned.judge(page, self.threshold)

    # ---- models in the crawl's directory

    def read_model(self, name: str) -> Any:
        """A model written by an earlier run; None if there is none."""
        path = self.crawl.folder / name
        try:
            return json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise FocusError(f"{path} cannot be read: {error}; delete it to train it again") from None

    def write_model(self, name: str, data: Mapping[str, Any]) -> None:
        """Write a model atomically."""
        path = self.crawl.folder / name
        try:
            write_whole(path, json.dumps(data))
        except OSError as error:
            raise FocusError(
                f"cannot write {path}: {error.strerror}; the pages are safe: fix this, then run the same command again"
            ) from None
