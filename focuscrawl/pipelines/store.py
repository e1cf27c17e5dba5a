"""Store: a page, its links and the frontier entries they make, in one transaction."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.storing import is_stored, store_page, store_visit
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.errors import StoreError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)


class StorePipeline:
    """Commits a page to FOCUS_DIR/crawl.sqlite and its links to the frontier, then tells the strategy.

    Notices near-duplicates and traps on the way. Settings: FOCUS_DUPLICATES, FOCUS_TRAPS, FOCUS_INDEX. Stats:
    ``focus/pages``, ``focus/relevant``, ``focus/matched``, ``focus/harvest_rate``, ``focus/duplicates``,
    ``focus/traps/<kind>``, ``focus/visits/<outcome>``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawl = Crawl.of(crawler)
        self.stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            try:
                self._store(item)
            except StoreError as error:
                self.crawl.give_up(error)
                if self.crawl.scheduler is not None:
                    self.crawl.scheduler.put_back(item.url_id)
                raise DropItem(f"not stored: {error}", log_level="DEBUG") from None
        return item

    def _store(self, page: Page) -> None:
        crawl, scheduler = self.crawl, self.crawl.scheduler
        assert scheduler is not None
        if page.visit is not None:
            store_visit(crawl, scheduler, page, page.visit)
            self.stats.inc_value(f"focus/visits/{page.visit.outcome}")
            return
        if is_stored(crawl, page):
            raise DropItem(f"{page.url} is stored already")
        traps = store_page(crawl, scheduler, page)
        if page.duplicate_of is not None:
            self.stats.inc_value("focus/duplicates")
        for trap in traps:
            logger.info("%s looks like a trap (%s): its URLs move down the queue", trap.pattern, trap.kind)
            self.stats.inc_value(f"focus/traps/{trap.kind}")
        self.stats.set_value("focus/pages", crawl.pages)
        self.stats.set_value("focus/relevant", crawl.relevant)
        self.stats.set_value("focus/matched", crawl.matched)
        self.stats.set_value("focus/harvest_rate", round(crawl.relevant / crawl.pages, 4))
        self._tell(page)
        crawl.ask("marked", page.url, crawl.marks.look, None)

    def _tell(self, page: Page) -> None:
        """Tell the strategy what became of the link that led to a page, now that the page cannot be lost any more."""
        strategy = self.crawl.strategy
        if self._learns and page.shell is None:  # nobody knows where a link to a shell has led
            self.crawl.ask("learn", page.url, lambda: self._teach(page), None)
        self.crawl.ask("stored", page.url, lambda: strategy.stored(page), None)
        self.crawl.ask("catch_up", page.url, self.crawl.catch_up.look, None)
        self.crawl.look_ahead()

    @cached_property
    def _learns(self) -> bool:
        """Whether the strategy wants to know where links have led."""
        return type(self.crawl.strategy).learn is not FocusedSpider.learn

    def _teach(self, page: Page) -> None:
        if page.via is not None:
            self.crawl.strategy.learn(page, page.via)
