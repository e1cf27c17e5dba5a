"""Fish-Search: schools of fish that multiply where there is food.

Reviewed in: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling"; after P. De Bra et al., "Information
Retrieval in Distributed Hypertexts", 1994.

A page is relevant (1) or irrelevant (0), by the keywords on it. Of a relevant page, the first `aggressiveness` times
`width` links score 1; of an irrelevant page, the first `width` links score 0.5; all other links score 0. A link
inherits a number of steps: `depth` from a relevant page, and one less than its page had from an irrelevant one. A fish
with no steps left dies: the links of that page are not followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.options import Option
from focuscrawl.page import Judgement, Page
from focuscrawl.spider import FocusedSpider

#: Scores of the first links of a relevant page, of the first links of an irrelevant page, and of all other links.
FOOD, WATER, REST = 1.0, 0.5, 0.0


class FishSearchSpider(FocusedSpider):
    name = "fish_search"
    links_follow_page = True

    width = Option(15, "links of an irrelevant page that get a score above 0", at_least=1)
    depth = Option(3, "maximum number of steps through irrelevant pages", at_least=1)
    aggressiveness = Option(1.5, "factor on width for a relevant page", at_least=1.0)

    def judge(self, page: Page) -> Judgement | None:
        """1 or 0, by simple keyword matching."""
        share = self.keywords.share(page, self.threshold)
        return share._replace(relevance=float(share.relevant))

    def score(self, page: Page) -> Sequence[float | None]:
        relevant = self.relevance(page) > 0
        left = self.depth if relevant else self._steps_left(page) - 1
        if left <= 0:
            return [None] * len(page.links)
        promising = round(self.aggressiveness * self.width) if relevant else self.width
        why = {"its page is relevant": float(relevant), "steps left": float(left)}
        self.alike(page, 0.0, why)
        return [(FOOD if relevant else WATER) if n < promising else REST for n in range(len(page.links))]

    def _steps_left(self, page: Page) -> int:
        why = page.via.why if page.via is not None else None
        return int(why["steps left"]) if why and "steps left" in why else self.depth
