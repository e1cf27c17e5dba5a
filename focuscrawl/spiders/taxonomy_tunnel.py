"""Tunnelling by taxonomy: when the topic runs dry, look for its broader one; narrow down again when it recovers.

Reviewed in: "A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler).

The taxonomy is that of Dewey. The topic's numbers are its narrowest view; broader are their divisions (two digits),
main classes (one digit), and everything. Every page that arrives counts for the running precision, the share of
relevant pages among the last `window`. When it falls below `low` the view is broadened by a digit, when it rises above
`high` it is narrowed, and what waits is scored anew: a link inside the view scores by how much of the topic's numbers
the focus of its topical boundary shares, and by the relevance of its page; a link outside next to nothing. A view that
would change all the time stays as it is until the crawl has found enough to make scoring everything anew worth it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from focuscrawl.options import Option
from focuscrawl.page import Link, Page
from focuscrawl.strategies.dewey import DIGITS, galaxy
from focuscrawl.strategies.dewey_spider import DeweySpider

#: What is left of the score of a link outside the view.
OUTSIDE = 0.01
#: How often each link may be scored anew, on the average: a view that keeps changing would cost a page the more, the
#: longer the crawl is.
ANEW = 5


class TaxonomyTunnelSpider(DeweySpider):
    name = "taxonomy_tunnel"

    window = Option(50, "pages over which precision is watched", at_least=5)
    low = Option(0.3, "precision below which the view is broadened", at_least=0.0, at_most=1.0)
    high = Option(0.5, "precision above which it is narrowed again", at_least=0.0, at_most=1.0)

    async def before_crawl(self) -> None:
        await super().before_crawl()
        with self.crawl.store.reading():
            view = self.crawl.store.meta("view") or {"digits": DIGITS, "since": 0}
            #: Digits of the topic's numbers that a link's focus has to share, and the page since which.
            self._digits = int(view["digits"])
            self._since = int(view["since"])
            #: How many links were scored anew.
            self._rescored = int(view.get("rescored", 0))
        pages = self.crawl.store.pages.each(after=self._since)
        counted = (bool(page.relevant) for page in pages if page.problem is None and page.via is not None)
        self._last = deque(counted, self.window)
        self._look()  # it may have been killed before it could

    def learn(self, page: Page, via: Link) -> None:
        """A page that can be read counts for the precision, whether it has links or not."""
        if not page.problem:
            judgement = self.judged(page)
            self._last.append(bool(judgement and judgement.relevant))
            self._look()

    def score(self, page: Page) -> Sequence[float]:
        relevance = self.relevance(page)
        scores = []
        for link, dots in zip(page.links, self.lexicon.of_links(page), strict=True):
            focus = galaxy(dots).numbers
            link.why = {f"focus {number}": 1.0 for number in focus} | {"relevance of its page": relevance}
            scores.append(self._worth(focus, relevance))
        return scores

    def _worth(self, focus: Iterable[str], relevance: float) -> float:
        shared = max((self._shared(number) for number in focus), default=0)
        inside = shared >= self._digits
        return (shared / DIGITS * 0.5 + relevance * 0.5) * (1.0 if inside else OUTSIDE)

    def _shared(self, number: str) -> int:
        """How many digits a number shares with the topic's, all of them if it is covered by one."""
        if self.covers([number]):
            return DIGITS
        return max(
            next((digits for digits in range(DIGITS - 1, 0, -1) if number[:digits] == prefix[:digits]), 0)
            for prefix in self.prefixes
        )

    def _look(self) -> None:
        """Broaden or narrow the view, once a window of pages has been seen through it."""
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
        if self._rescored + waiting > ANEW * self.crawl.store.urls.last_id():
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
        focus = [name.removeprefix("focus ") for name in why if name.startswith("focus ")]
        return self._worth(focus, why.get("relevance of its page", 0.0))
