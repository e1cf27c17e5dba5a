"""Best-first, and N-best-first.

Compared with in: H. Fan, G. Zeng, X. Li, "Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm";
reviewed in: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling".

A link is as promising as the page it is on is relevant. With `n` above 1 the n best links are taken before the links
found meanwhile are looked at (N-best-first), which explores more and trusts the score less. Departure: a batch counts
as done when its last request is sent, not when the last answer is there, so that one slow host cannot stop the crawl.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider


class BestFirstSpider(FocusedSpider):
    name = "best_first"

    n = Option(1, "how many of the best links are taken at a time", at_least=1)

    @property
    def batch(self) -> int:  # type: ignore[override]
        return self.n

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        return self.alike(page, relevance, {"relevance of its page": relevance})
