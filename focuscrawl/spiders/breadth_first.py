"""The traditional crawler: breadth-first.

Paper: D. H. Hameed, S. H. Hashem, "Web Pages Retrieval by Using Proposed Focused Crawler", algorithm 2.

Pages are fetched first in, first out: by depth, then in the order their links were found. Every readable page goes into
URLs.txt. It needs only seeds; if keywords are given, pages are judged by them, but the order does not change.

The paper's ToCrawl is the frontier (table `frontier` in crawl.sqlite), and its list of URLs is URLs.txt, which is
written page by page. The paper follows `<a href>` only and keeps no list of URLs crawled, so that it would not end on
pages that link to one another; here, areas, frames and refreshes are followed too (`focuscrawl.reading.html`), and no
URL is fetched twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider


class BreadthFirstSpider(FocusedSpider):
    name = "breadth_first"
    needs = ()

    def score(self, page: Page) -> Sequence[float]:
        # the frontier breaks ties by the order in which URLs were found
        score = 1 / (2 + page.depth)
        why = {"1 / (1 + depth)": score}
        for link in page.links:
            link.why = why
        return [score] * len(page.links)

    def matches(self, page: Page) -> bool:
        return True
