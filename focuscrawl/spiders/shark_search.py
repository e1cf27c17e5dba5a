"""Shark-Search: Fish-Search with a sense of smell.

Reviewed in: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling"; after M. Hersovici et al., "The
Shark-Search Algorithm. An Application: Tailored Web Site Mapping", 1998.

    score        = inheritance * inherited + (1 - inheritance) * neighbourhood
    inherited    = decay * (relevance of its page, or, if that is 0, what that page inherited)
    neighbourhood = anchors * sim(anchor) + (1 - anchors) * context
    context      = 1 if sim(anchor) > 0, else sim(text around the link)

sim is the cosine with the keywords.

Departure: the relevance of a page is the coverage of the keywords, as in the other strategies.
With the cosine of raw counts, one frequent keyword would stand for the whole topic.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl import words
from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider


class SharkSearchSpider(FocusedSpider):
    name = "shark_search"
    links_follow_page = True

    decay = Option(0.5, "share of a page's relevance that its links inherit", at_least=0.0, at_most=1.0)
    inheritance = Option(0.5, "weight of the inherited score, against anchor and context", at_least=0.0, at_most=1.0)
    anchors = Option(0.8, "weight of the anchor, against the text around the link", at_least=0.0, at_most=1.0)

    def score(self, page: Page) -> Sequence[float]:
        inherited = self.decay * (self.relevance(page) or self._inherited(page))
        scores = []
        for link in page.links:
            anchor = self.keywords.cosine(words.tokenize(link.anchor), page.language)
            context = 1.0 if anchor else self.keywords.cosine([*link.before(), *link.after()], page.language)
            neighbourhood = self.anchors * anchor + (1 - self.anchors) * context
            link.why = {"inherited": inherited, "anchor": anchor, "context": context}
            scores.append(self.inheritance * inherited + (1 - self.inheritance) * neighbourhood)
        return scores

    def _inherited(self, page: Page) -> float:
        why = page.via.why if page.via is not None else None
        return why.get("inherited", 0.0) if why else 0.0
