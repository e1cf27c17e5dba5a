"""The baseline focused crawler.

Paper: S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and
Accelerated Focused Crawlers", IJCA 117(8), 2015; after Chakrabarti's focused crawler.

A naive Bayes classifier, trained on example pages before the crawl begins, judges every page; a link is worth the
relevance of the page it was found on. `features` and `selection` are the paper's: baselineDF is `selection=df`,
baselineMI `selection=mi`. What it fetches, with parent, link and relevance, is in crawl.sqlite, and is what the
apprentice learns from. The frontier holds 10,000 URLs, and every run of 100 is taken from as many hosts, as in the
paper.

Departs from the paper: links are ranked by log-odds, because the classifier's probabilities run into 0 and 1, where
everything is equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from focuscrawl.page import Page
from focuscrawl.strategies.learning_spider import LearningSpider

#: The paper's frontier.
FRONTIER: dict[str, Any] = {"FOCUS_FRONTIER_SIZE": 10_000, "FOCUS_HOSTS_PER_BATCH": 100}


class BaselineSpider(LearningSpider):
    name = "baseline"
    custom_settings = FRONTIER

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        return self.alike(page, relevance, {"relevance of its page": relevance})
