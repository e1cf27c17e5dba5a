"""Wishes: a running crawl does what the dashboard asks of it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from focuscrawl.crawl import wishes
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.extensions.progress import Progress
from focuscrawl.store.errors import StoreError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Seconds between two looks.
INTERVAL = 1.0


class Wishes:
    """Stops, pauses and continues the crawl, and changes its max_pages. Wishes from before this run are ignored."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        if self.crawl.throw_away is not None:
            raise NotConfigured  # nobody can ask for anything
        self.loop: Any = None
        self.last: wishes.Wish | None = None
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def opened(self) -> None:
        self.last = wishes.read(self.crawl.store)
        self.loop = create_looping_call(self.look)
        self.loop.start(INTERVAL, now=False)

    def closed(self) -> None:
        if self.loop is not None and self.loop.running:
            self.loop.stop()

    def look(self) -> None:
        """Do what was asked for since the last look."""
        try:
            wish = wishes.read(self.crawl.store)
        except StoreError:  # locked for a moment, or gone, which others report
            return
        if wish is None or wish == self.last:
            return
        self.last = wish
        engine, scheduler = self.crawler.engine, self.crawl.scheduler
        if engine is None or scheduler is None or scheduler.closing:
            return
        logger.info("Asked to %s", f"{wish.do} {wish.pages:,}" if wish.pages else wish.do)
        if wish.do == wishes.STOP:
            scheduler.engine.stop("stopped from the dashboard")
        elif wish.do == wishes.PAUSE:
            engine.pause()
        elif wish.do == wishes.GO:
            engine.unpause()
            scheduler.engine.nudge()
        elif wish.do == wishes.MAX_PAGES and wish.pages:
            scheduler.budget.max_pages = self.crawl.strategy.max_pages = wish.pages
            progress = self.crawler.get_extension(Progress)
            if progress is not None:
                progress.max_pages = wish.pages
            scheduler.engine.nudge()
