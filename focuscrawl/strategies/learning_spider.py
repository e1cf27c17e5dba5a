"""LearningSpider: the base class of strategies that train a judge on the topic's examples and counterexamples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from focuscrawl import urls
from focuscrawl.crawl.files import write_whole
from focuscrawl.crawl.judging import examples_of
from focuscrawl.errors import FocusError
from focuscrawl.learning.pages import KINDS, LEAST, LearnedJudge
from focuscrawl.learning.texts import SELECTIONS
from focuscrawl.options import Option
from focuscrawl.page import Judgement, Link, Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.strategies.rescoring import PageWorth

#: Marked pages that the judge learns from, the latest ones.
MOST_MARKS = 2000


class LearningSpider(FocusedSpider):
    """Trains a judge before the first page is fetched, and stores it in the crawl's directory as judge.json.

    A resumed crawl reuses it. Pages that people mark are further examples and counterexamples: the judge is then
    trained again, and so is what else a strategy learns from them.
    """

    needs = ("examples", "counterexamples")

    threshold = Option(0.5, "minimum relevance of a page on the topic", at_least=0.0, at_most=1.0)
    features = Option(500, "number of words that the naive Bayes judge uses", at_least=1)
    selection = Option("df", "how the words are selected: document frequency or mutual information", choices=SELECTIONS)
    kind_of_judge = Option("bayes", "kind of judge", choices=KINDS, given_as="judge")
    rarity = Option(0.1, "expected share of pages on the topic", at_least=0.0001, at_most=0.5)

    learned: LearnedJudge
    #: The marked pages that the judge has learned from, by number.
    _marks: Mapping[int, bool] = MappingProxyType({})
    #: The examples and counterexamples of the topic, once they were read for this.
    _of_topic: tuple[list[Page], list[Page]] | None = None
    _page_worth: PageWorth | None = None

    def is_trained(self) -> bool:
        """Load the models of an earlier run; False if any is missing."""
        data = self.read_model("judge.json")
        if data is None:
            return False
        if self.judges_again and data.get("trained_on") != self._trained_on():
            return False
        self.learned = LearnedJudge.from_json(data)
        self._marks = {int(number): bool(relevant) for number, relevant in data.get("marks", {}).items()}
        return True

    def _trained_on(self) -> str:
        """What the judge is trained on and how, apart from marks."""
        return f"{examples_of(self.topic)} {self.kind_of_judge} {self.features} {self.selection} {self.rarity}"

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
        marks = {str(number): relevant for number, relevant in self._marks.items()}
        self.write_model("judge.json", {**self.learned.to_json(), "trained_on": self._trained_on(), "marks": marks})

    def judge(self, page: Page) -> Judgement | None:
        return self.learned.judge(page, self.threshold)

    # ---- marks

    def marked(self, verdicts: Mapping[int, bool], new: Sequence[int]) -> str:
        told = "waiting links re-scored"
        if verdicts != self._marks:
            before, self._marks = self._marks, dict(verdicts)
            try:
                self._take_examples(verdicts)
                self.train_again()
            except FocusError as error:
                self._marks = before
                return f"the judge stays as it is: {error}"
            counts = f"{len(self.examples)} examples and {len(self.counterexamples)} counterexamples"
            told = f"the judge was trained again on {counts}, {told}"
        elif not new:
            if verdicts:
                self.follow_judge(at_once=False)
            return ""
        self.follow_judge(at_once=True)
        return told

    def train_again(self) -> None:
        """Train on `examples` and `counterexamples`, to which marked pages were added."""
        self.train_on_examples()

    def worth(self, page: Page) -> float:
        """The score of every link of a page, if it depends on the page alone."""
        return self.relevance(page)

    def follow_judge(self, *, at_once: bool) -> None:
        """Score what waits again by the judge as it is now; not *at_once*, only what reaches the top of the queue."""
        self._page_worth = PageWorth(self, self.worth)
        if at_once:
            self._page_worth.rescore()
        else:
            self._page_worth.rescore_at_the_top()

    def links_to_marked(self) -> Iterator[tuple[Link, bool]]:
        """The links that led to the marked pages, and whether these are relevant."""
        store = self.crawl.store
        for number, relevant in self._marks.items():
            page = store.pages.get(number)
            link = store.links.get(page.via) if page is not None else None
            if link is not None:
                yield link, relevant

    def _take_examples(self, verdicts: Mapping[int, bool]) -> None:
        """Set `examples` and `counterexamples` to those of the topic and the marked pages, from the file."""
        if self._of_topic is None:
            known = (list(self.known_examples(part)) for part in (self.topic.examples, self.topic.counterexamples))
            self._of_topic = next(known), next(known)
        pages = [(page, verdicts[n]) for n in list(verdicts)[-MOST_MARKS:] if (page := self.crawl.read_stored(n))]
        own = {urls.key(page.url) for page, _ in pages}
        yes, no = ([page for page in found if urls.key(page.url) not in own] for found in self._of_topic)
        self.examples = [*yes, *(page for page, relevant in pages if relevant)]
        self.counterexamples = [*no, *(page for page, relevant in pages if not relevant)]

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
