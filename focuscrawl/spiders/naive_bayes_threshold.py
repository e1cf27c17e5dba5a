"""Naive Bayes with a threshold.

After the focused crawler of Chakrabarti, van den Berg and Dom as reviewed in "A focused crawler combinatory link and
content model based on T-Graph principles" (Treasure-Crawler).

A naive Bayes classifier, trained on example pages, judges every page. The links of a page score its relevance if that
reaches `cut`. The links of all other pages score 0: they wait until nothing else is left, in the order they were found.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.strategies.learning_spider import LearningSpider


class NaiveBayesThresholdSpider(LearningSpider):
    name = "naive_bayes_threshold"

    cut = Option(0.5, "minimum relevance of a page whose links get a score above 0", at_least=0.0, at_most=1.0)

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        counts = relevance if relevance >= self.cut else 0.0
        return self.alike(page, counts, {"relevance of its page": relevance, "counted": counts})
