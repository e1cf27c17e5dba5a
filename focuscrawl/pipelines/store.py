"""Store: a page, its links and the frontier entries they make, in one transaction."""

from __future__ import annotations

import logging
import sqlite3
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import DropItem

from focuscrawl import urls
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.frontier.frontier import IN_FLIGHT, Candidate
from focuscrawl.frontier.scheduler import FrontierScheduler
from focuscrawl.manners.traps import TRIES, kind
from focuscrawl.page import Page, Visit
from focuscrawl.recrawl.revisit import GONE, changed_fields

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)


class StorePipeline:
    """Commits a page to FOCUS_DIR/crawl.sqlite and its links to the frontier.

    Notices copies and traps on the way. Settings: FOCUS_DUPLICATES, FOCUS_TRAPS, FOCUS_INDEX. Stats: ``focus/pages``,
    ``focus/relevant``, ``focus/matched``, ``focus/harvest_rate``, ``focus/duplicates``, ``focus/traps/<kind>``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            try:
                if item.visit is not None:
                    self._visited(item, item.visit)
                else:
                    self._store(item)
            except sqlite3.Error as error:
                FrontierScheduler.of(self.crawler).give_up(error)
                raise DropItem(f"not stored: {error}", log_level="DEBUG") from None
        return item

    def _visited(self, page: Page, visit: Visit) -> None:
        """A stored page was visited again and is not what it was."""
        crawl = self.crawl
        store = crawl.store
        if visit.outcome == GONE:
            with store.transaction():
                store.pages.mark_gone(visit.page, page.status, page.problem or "")
                if crawl.index is not None:
                    crawl.index.remove(visit.page)
                if target := visit.details.get("moved_to"):  # by the link that led here
                    (url_id,) = crawl.frontier.identify([target])
                    (via,) = store.execute("SELECT via FROM page WHERE id = ?", (visit.page,)).fetchone()
                    crawl.frontier.offer([Candidate(url_id, target, page.score or 0.0, page.depth, via)])
                store.visits.add(visit.page, page.fetched_at, page.status, GONE, visit.details)
            return
        if crawl.duplicates is not None:
            crawl.duplicates.mark(page)
        with store.transaction():
            *old, told_by = store.execute(
                "SELECT title, relevance, matched, signature FROM page WHERE id = ?", (visit.page,)
            ).fetchone()
            known = store.links.targets_of(visit.page)
            ids = crawl.frontier.identify([link.url for link in page.links])
            new = {url_id: link for link, url_id in zip(page.links, ids, strict=True) if url_id not in known}
            if new:
                first = store.links.add(visit.page, list(new.values()), list(new), later=True)
                crawl.frontier.offer(
                    Candidate(url_id, link.url, link.score, page.depth + 1, first + n)
                    for n, (url_id, link) in enumerate(new.items())
                    if link.score is not None
                )
            store.pages.update(visit.page, page, keeps_copies=self._says_nearly_the_same(page, told_by))
            if crawl.index is not None:
                crawl.index.add(visit.page, page)
            details = visit.details | changed_fields(tuple(old), (page.title, page.relevance, page.matched))
            store.visits.add(visit.page, page.fetched_at, page.status, visit.outcome, details)
        if crawl.duplicates is not None and page.duplicate_of is None and page.signature:
            crawl.duplicates.add(visit.page, page.signature)

    def _says_nearly_the_same(self, page: Page, told_by: bytes | None) -> bool:
        """Whether a page that changed would still be taken for a copy of what it was."""
        duplicates = self.crawl.duplicates
        if duplicates is None or page.duplicate_of is not None or not page.signature or not told_by:
            return False
        return duplicates.alike(page.signature, told_by)

    def _store(self, page: Page) -> None:
        crawl, scheduler = self.crawl, FrontierScheduler.of(self.crawler)
        store, frontier = crawl.store, crawl.frontier
        focus = scheduler.focus_of(page.url_id)
        known = frontier.find(page.url)
        if focus is None and known is not None and frontier.state(known) >= IN_FLIGHT:
            raise DropItem(f"{page.url} is stored already")
        if crawl.duplicates is not None:  # here, where nothing can be stored in between
            crawl.duplicates.mark(page)
        with store.transaction():
            if focus is None:  # a page the frontier did not ask for
                (page.url_id,) = frontier.identify([page.url])
                focus = {"id": page.url_id}
            page.number = page_id = store.pages.add(page, focus.get("via"))
            if page.links:
                ids = frontier.identify([link.url for link in page.links])
                first = store.links.add(page_id, page.links, ids)
                depth = page.depth + 1
                frontier.offer(
                    Candidate(
                        *(url_id, link.url, link.score, depth, first + n),
                        scheduler.keep(url_id, link.request) if isinstance(link.request, Request) else None,
                    )
                    for n, (link, url_id) in enumerate(zip(page.links, ids, strict=True))
                    if link.score is not None
                )
            if crawl.index is not None:
                crawl.index.add(page_id, page)
            seen = crawl.traps.notice(page)
            store.patterns.set(seen)
            scheduler.finished(focus, page_host=urls.host(page.url))
        if page.duplicate_of is not None:
            self.crawler.stats.inc_value("focus/duplicates")
        elif crawl.duplicates is not None and page.signature:
            crawl.duplicates.add(page_id, page.signature)
        for pattern, _, stale in seen:
            if stale == TRIES and crawl.traps.watch:
                logger.info("%s looks like a trap (%s): its URLs are put back", pattern, kind(pattern, page.url))
                self.crawler.stats.inc_value(f"focus/traps/{kind(pattern, page.url)}")
        crawl.pages += 1
        crawl.relevant += page.judgement is not None and page.judgement.relevant
        crawl.matched += page.matched
        stats = self.crawler.stats
        stats.set_value("focus/pages", crawl.pages)
        stats.set_value("focus/relevant", crawl.relevant)
        stats.set_value("focus/matched", crawl.matched)
        stats.set_value("focus/harvest_rate", round(crawl.relevant / crawl.pages, 4))
        self._tell(page)

    def _tell(self, page: Page) -> None:
        """Tell the strategy what became of the link that led to a page, now that the page cannot be lost any more."""
        via, strategy = page.via, self.crawl.strategy
        if via is not None:
            self.crawl.ask("learn", page.url, lambda: strategy.learn(page, via), None)
        self.crawl.ask("stored", page.url, lambda: strategy.stored(page), None)
