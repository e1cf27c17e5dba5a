"""Scoring waiting links again by the pages they are on, after people have marked pages or a judge has learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl
    from focuscrawl.page import Link, Page
    from focuscrawl.spider import FocusedSpider
    from focuscrawl.store.queue import Entry

#: Pages whose links are scored again at once, those with the best waiting links first; reading one takes milliseconds.
#: The links of other pages are scored again when they reach the top of the queue.
AT_ONCE = 300
#: Waiting links that are read and re-scored together: those of a long crawl would not fit into memory.
TOGETHER = 5_000


def rescore_waiting(crawl: Crawl, worth: Callable[[Sequence[Link]], Sequence[float]]) -> None:
    """Re-score all waiting links, many per call of *worth*."""
    waiting = crawl.store.queue.links()
    scores: dict[int, float] = {}
    while some := dict(islice(waiting, TOGETHER)):
        scores.update(zip(some, worth(list(some.values())), strict=True))
    crawl.frontier.rescore_to(scores)


def rescore_links_on(spider: FocusedSpider, numbers: Iterable[int]) -> int:
    """Score the links that wait on some pages again, as when the pages were fetched; returns how many changed."""
    crawl = spider.crawl
    frontier, store = crawl.frontier, crawl.store
    scores: dict[int, float] = {}
    reasons: list[tuple[float, dict[str, float], int | None]] = []
    for number in numbers:
        page = crawl.read_stored(number)
        if page is None or not page.links:
            continue
        spider.judged(page)
        for link, score in zip(page.links, spider.score(page), strict=True):
            url_id = frontier.find(link.url)
            entry = store.queue.entry(url_id) if url_id is not None and frontier.waits(url_id) else None
            if entry is not None and score is not None and store.links.page_of(entry.via) == number:
                value = min(1.0, max(0.0, float(score)))
                if value != entry.score:
                    scores[entry.url_id] = value
                    reasons.append((value, link.why or {}, entry.via))
    with store.batch():
        frontier.set_scores(scores.items())
        store.links.set_scores(reasons)
    return len(scores)


class PageWorth:
    """What the pages with waiting links are worth by the current judge; each is read again once."""

    def __init__(self, spider: FocusedSpider, worth: Callable[[Page], float]) -> None:
        self._spider = spider
        self._worth = worth
        self._known: dict[int, float | None] = {}

    def of(self, number: int) -> float | None:
        """The worth of a stored page; None if it cannot be read."""
        if number not in self._known:
            page = self._spider.crawl.read_stored(number)
            if page is not None:
                self._spider.judged(page)
            self._known[number] = None if page is None else self._worth(page)
        return self._known[number]

    def score(self, entry: Entry) -> float:
        """The score of a waiting URL by the page that it was found on."""
        number = self._spider.crawl.store.links.page_of(entry.via)
        worth = self.of(number) if number is not None else None
        return entry.score if worth is None else worth

    def rescore(self) -> None:
        """Score the links of the most promising pages again now, all others when they reach the top of the queue."""
        crawl = self._spider.crawl
        best = set(crawl.store.queue.pages(AT_ONCE))
        at = crawl.store.links.page_of
        crawl.frontier.rescore(lambda entry: self.score(entry) if at(entry.via) in best else entry.score)
        self.rescore_at_the_top()

    def rescore_at_the_top(self) -> None:
        """Score links again when they reach the top of the queue."""
        crawl = self._spider.crawl
        crawl.frontier.rescorer = lambda entry: crawl.ask("rescore", entry.url, lambda: self.score(entry), entry.score)
