"""Activity: a running crawl records every few seconds what it is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.frontier.activity import KEY, activity_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

#: Seconds between two records. One takes less than a millisecond.
INTERVAL = 2.0


class RecordActivity:
    """Records in the crawl's file what the crawl is doing, for other processes such as the dashboard."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawl = Crawl.of(crawler)
        if self.crawl.throw_away is not None:
            raise NotConfigured  # nobody else can see it
        self.loop: Any = None
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def opened(self) -> None:
        self.loop = create_looping_call(self.record)
        self.loop.start(INTERVAL, now=False)

    def closed(self) -> None:
        if self.loop is not None and self.loop.running:
            self.loop.stop()

    def record(self) -> None:
        """Record what the crawl is doing."""
        crawl, scheduler = self.crawl, self.crawl.scheduler
        if scheduler is not None and not scheduler.closing:
            scheduler.write(lambda: crawl.store.set_meta(KEY, activity_of(crawl).noted()))
