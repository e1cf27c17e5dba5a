"""Best-first, and N-best-first.

Compared with in: H. Fan, G. Zeng, X. Li, "Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm";
reviewed in: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling".

A link's score is the relevance of the page it is on. With `n` above 1, the n best links are taken before newly found
links are considered (N-best-first), which explores more and trusts the score less.

Departure: a batch is complete when its last request is sent, not when its last response arrives, so that one slow host
cannot stall the crawl.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider


class BestFirstSpider(FocusedSpider):
    name = "best_first"
    links_follow_page = True

    n = Option(1, "number of best links taken at a time", at_least=1)

    @property
    def batch(self) -> int:  # type: ignore[override]
        return self.n

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        return self.alike(page, relevance, {"relevance of its page": relevance})
