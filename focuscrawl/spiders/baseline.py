"""The baseline focused crawler.

Paper: S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and
Accelerated Focused Crawlers", IJCA 117(8), 2015; after Chakrabarti's focused crawler.

A naive Bayes classifier, trained on example pages before the crawl starts, judges every page. A link's score is the
relevance of the page it is on. `features` and `selection` are the paper's: `selection=df` is baselineDF, `selection=mi`
is baselineMI. The apprentice learns from the pages, links and relevance that the crawl stores in crawl.sqlite. As in
the paper, the frontier holds 10,000 URLs and spreads 100 consecutive requests over 100 hosts.

Departures: links are ranked by log-odds, because the classifier's probabilities saturate at 0 and 1, where all links
are equal. The judge counts stemmed words on a logarithmic scale and leaves out stop words, and its log-odds are
calibrated for the rarity of the topic (`rarity=0.5`: both classes are equally likely).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from focuscrawl.page import Page
from focuscrawl.strategies.learning_spider import LearningSpider

#: The paper's frontier size and host rotation.
FRONTIER: dict[str, Any] = {"FOCUS_FRONTIER_SIZE": 10_000, "FOCUS_HOSTS_PER_BATCH": 100}


class BaselineSpider(LearningSpider):
    name = "baseline"
    custom_settings = FRONTIER

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        return self.alike(page, relevance, {"relevance of its page": relevance})
