"""Tunnelling by taxonomy: broaden the topic when it runs dry, and narrow it again when it recovers.

Reviewed in: "A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler).

The taxonomy is the Dewey decimal classification. The topic's numbers are the narrowest view; broader views are their
divisions (two digits), their main classes (one digit), and everything. The running precision is the share of relevant
pages among the last `window` pages. When it falls below `low` the view is broadened by a digit, when it rises above
`high` it is narrowed, and the waiting links are rescored. A link inside the view scores by the digits that the focus of
its topical boundary shares with the topic's numbers, and by the relevance of its page; a link outside scores next to
nothing. If the view would change too often, it stays until the crawl has found enough new links to justify rescoring.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from focuscrawl.options import Option
from focuscrawl.page import Link, Page
from focuscrawl.store.pages import StoredPage
from focuscrawl.strategies.dewey import DIGITS, dotted
from focuscrawl.strategies.dewey_spider import DeweySpider

#: Factor on the score of a link outside the view.
OUTSIDE = 0.01
#: How often each link may be rescored, on average. Without a limit, a view that keeps changing would make pages ever
#: more expensive as the crawl grows.
RESCORES = 5


class TaxonomyTunnelSpider(DeweySpider):
    name = "taxonomy_tunnel"

    window = Option(50, "number of recent pages over which precision is measured", at_least=5)
    low = Option(0.3, "precision below which the view is broadened", at_least=0.0, at_most=1.0)
    high = Option(0.5, "precision above which the view is narrowed again", at_least=0.0, at_most=1.0)

    async def before_crawl(self) -> None:
        await super().before_crawl()
        with self.crawl.store.reading():
            view = self.crawl.store.meta("view") or {"digits": DIGITS, "since": 0}
            #: Digits that a link's focus must share with the topic's numbers, and the page at which that was set.
            self._digits = int(view["digits"])
            self._since = int(view["since"])
            #: Number of links rescored so far.
            self._rescored = int(view.get("rescored", 0))
        self._last: deque[bool] = deque(maxlen=self.window)
        self._count(self.crawl.store.pages.each(after=self._since))
        self._look()  # the previous run may have been killed before this step

    def _count(self, pages: Iterable[StoredPage]) -> None:
        self._last += (bool(page.relevant) for page in pages if page.problem is None and page.via is not None)

    def catch_up(self, numbers: Sequence[int]) -> None:
        """Count the pages of other workers too: the precision is that of the crawl."""
        self._count(filter(None, map(self.crawl.store.pages.get, numbers)))
        self._look()

    def learn(self, page: Page, via: Link) -> None:
        """Count a readable page for the precision, whether it has links or not."""
        if not page.problem:
            judgement = self.judged(page)
            self._last.append(bool(judgement and judgement.relevant))
            self._look()

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        scores = []
        for link, focus in zip(page.links, self.lexicon.focuses(page), strict=True):
            link.why = {f"focus {dotted(number)}": 1.0 for number in focus} | {"relevance of its page": relevance}
            scores.append(self._worth(focus, relevance))
        return scores

    def _worth(self, focus: Iterable[str], relevance: float) -> float:
        shared = max((self._shared(number) for number in focus), default=0)
        inside = shared >= self._digits
        return (shared / DIGITS * 0.5 + relevance * 0.5) * (1.0 if inside else OUTSIDE)

    def _shared(self, number: str) -> int:
        """The number of digits shared with the topic's numbers; all of them if one of these covers it."""
        if self.covers([number]):
            return DIGITS
        return max(
            next((digits for digits in range(DIGITS - 1, 0, -1) if number[:digits] == prefix[:digits]), 0)
            for prefix in self.prefixes
        )

    def _look(self) -> None:
        """Broaden or narrow the view, once a full window of pages has been seen with it."""
        if len(self._last) < self.window:
            return
        precision = sum(self._last) / len(self._last)
        digits = self._digits
        if precision < self.low:
            digits = max(0, digits - 1)
        elif precision > self.high:
            digits = min(DIGITS, digits + 1)
        if digits == self._digits:
            return
        waiting = len(self.crawl.frontier)
        if self._rescored + waiting > RESCORES * self.crawl.store.urls.last_id():
            return
        self._rescored += waiting
        self.logger.info("Precision %.2f: the view is now %d digits of the topic's numbers", precision, digits)
        self._digits, self._since = digits, self.crawl.pages
        self._last.clear()
        self.rescore_waiting(lambda links: [self._again(link) for link in links])
        with self.crawl.store.transaction():
            view = {"digits": self._digits, "since": self._since, "rescored": self._rescored}
            self.crawl.store.set_meta("view", view)

    def _again(self, link: Link) -> float:
        why = link.why or {}
        focus = [name.removeprefix("focus ").replace(".", "") for name in why if name.startswith("focus ")]
        return self._worth(focus, why.get("relevance of its page", 0.0))
