"""The keyword crawler.

Paper: D. H. Hameed, S. H. Hashem, "Web Pages Retrieval by Using Proposed Focused Crawler", algorithms 3 to 6.

A page is related to the keywords when the weighted share of them that its title and visible text contain, compared by
stem, reaches `match`; its URL then goes into URLs.txt. The paper does not say when a page is related, nor in which
order ToCrawl is worked off: here links of better pages come first. Links of unmatched pages are followed too, as in
the paper, unless `follow=matched`. The paper's loop runs while there is something to crawl *or* MaxURL is not reached;
here, as it must mean, it ends with whichever comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.options import Option
from focuscrawl.page import Judgement, Page
from focuscrawl.spider import FocusedSpider


def share(text: str) -> float:
    """The share of keywords that `match` asks for."""
    if text in ("any", "all"):
        return 1.0 if text == "all" else 1e-6
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError
    return value


class KeywordSpider(FocusedSpider):
    name = "keyword"

    match = Option(
        0.5,
        "share of the keywords, by weight, that a matched page contains",
        expects="any, all or a share above 0 and up to 1",
        read=share,
    )
    follow = Option("all", "whose links are followed", choices=("all", "matched"))

    def judge(self, page: Page) -> Judgement:
        return self.keywords.share(page, self.match)

    def score(self, page: Page) -> Sequence[float | None]:
        if self.follow == "matched" and not self.matches(page):
            return [None] * len(page.links)
        relevance = self.relevance(page)
        return self.alike(page, relevance, {"share of keywords on its page": relevance})
