"""Naive Bayes with a threshold, for the scores of links.

After the crawler of Taylan et al. as reviewed in "A focused crawler combinatory link and content model based on T-Graph
principles" (Treasure-Crawler).

A naive Bayes classifier, trained on example pages, scores every link by its own words: those of the URL, of the anchor
and of the text around it. A score counts only if it reaches `cut`. All other links score 0: they wait until nothing
else is left, in the order they were found.

The review does not say which words the classifier reads, nor the threshold: both are ours. With `reads=page`, the
classifier reads the whole page that a link is on, and the links of a page all score the same. The other form in the
review, a classifier that is updated during the crawl, is `training=online` of spider `apprentice`.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl import words
from focuscrawl.learning.pages import bayes_for_links
from focuscrawl.learning.table import WordTable, squash
from focuscrawl.options import Option
from focuscrawl.page import Link, Page
from focuscrawl.strategies.learning_spider import LearningSpider

_MODEL = "links.json"


class NaiveBayesThresholdSpider(LearningSpider):
    name = "naive_bayes_threshold"

    cut = Option(0.5, "minimum score of a link; lower scores count as 0", at_least=0.0, at_most=1.0)
    reads = Option("link", "what a link is scored by: its own words, or its page", choices=("link", "page"))

    #: What each word of a link adds to the log-odds that it leads to the topic.
    table: WordTable

    def is_trained(self) -> bool:
        data = self.read_model(_MODEL)
        if data is not None:
            self.table = WordTable.from_json(data)
        return super().is_trained() and data is not None

    def train_on_examples(self) -> None:
        super().train_on_examples()
        examples, counterexamples = (
            [page.counts for page in pages if not page.problem] for pages in (self.examples, self.counterexamples)
        )
        self.table = bayes_for_links(
            examples, counterexamples, features=self.features, selection=self.selection, rarity=self.rarity
        )
        self.write_model(_MODEL, self.table.to_json())

    def score(self, page: Page) -> Sequence[float]:
        if self.reads == "page":
            relevance = self.relevance(page)
            counted = self._counted(relevance)
            return self.alike(page, counted, {"relevance of its page": relevance, "counted": counted})
        scores = []
        for link in page.links:
            score = squash(self.table.of_words(_words(link)))
            scores.append(self._counted(score))
            link.why = {"words of the link": score, "counted": scores[-1]}
        return scores

    def worth(self, page: Page) -> float:
        return self._counted(self.relevance(page))

    def follow_judge(self, *, at_once: bool) -> None:
        if self.reads == "page":
            super().follow_judge(at_once=at_once)
        elif at_once:
            self.rescore_waiting(lambda links: [self._worth_of(link) for link in links])

    def _worth_of(self, link: Link) -> float:
        return self._counted(squash(self.table.of_words(_words(link))))

    def _counted(self, score: float) -> float:
        return score if score >= self.cut else 0.0


def _words(link: Link) -> Sequence[str]:
    """The distinct stems of a link: of its URL, its anchor and the text around it."""
    found = [*link.url_words, *words.tokenize(link.anchor), *link.before(), *link.after()]
    return list(dict.fromkeys(link.stems(found)))
