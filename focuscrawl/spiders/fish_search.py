"""Fish-Search: schools of fish that multiply where there is food.

Reviewed in: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling"; after P. De Bra et al., "Information
Retrieval in Distributed Hypertexts", 1994.

A page is relevant or not, 1 or 0, by the keywords on it. The links of a relevant page come first: `aggressiveness`
times `width` of them with score 1; of an irrelevant page `width` of them with score 0.5; the rest waits with score 0.
A link inherits a number of steps, `depth` from a relevant page, one less than its page had from an irrelevant one: with
0 steps left its page's links are not followed, and the fish dies there.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.options import Option
from focuscrawl.page import Judgement, Page
from focuscrawl.spider import FocusedSpider

#: Scores of the first links of a relevant page, of the first links of another, and of all others.
FOOD, WATER, REST = 1.0, 0.5, 0.0


class FishSearchSpider(FocusedSpider):
    name = "fish_search"

    width = Option(15, "links of an irrelevant page that are of any promise", at_least=1)
    depth = Option(3, "steps through irrelevant pages", at_least=1)
    aggressiveness = Option(1.5, "how many times as many links of a relevant page are", at_least=1.0)

    def judge(self, page: Page) -> Judgement | None:
        """1 or 0, by simple matching of keywords."""
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
