"""Progress: a live view on a terminal, log lines elsewhere."""

from __future__ import annotations

import logging
import sys
from math import inf
from typing import TYPE_CHECKING, Any

from scrapy import Spider, signals
from scrapy.utils.asyncio import create_looping_call

from focuscrawl.crawl import clock
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.outlook import RECENT
from focuscrawl.page import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from focuscrawl.extensions.live_view import LiveView

logger = logging.getLogger(__name__)

#: Seconds between updates on a terminal.
REFRESH = 0.5


class Progress:
    """Shows pages, pages per second, hours, harvest, queue size and forecast.

    On a terminal, it also shows a bar towards `max_pages`, the harvest so far, hosts at work and the last matches.
    Settings: FOCUS_PROGRESS, LOGSTATS_INTERVAL (seconds between log lines).
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        wanted = crawler.settings.get("FOCUS_PROGRESS")
        self.live = sys.stderr.isatty() if wanted == "auto" else crawler.settings.getbool("FOCUS_PROGRESS")
        self.interval = REFRESH if self.live else crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self.view: LiveView | None = None
        self.loop: Any = None
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def opened(self, spider: Spider) -> None:
        self.began = clock.monotonic()
        self.pages_before = self.crawl.pages
        self.max_pages = self.crawl.strategy.max_pages
        if self.live:
            from focuscrawl.extensions.live_view import LiveView  # needs rich, which takes a while to import

            total = self.max_pages if self.crawl.to_visit is None else self.crawl.to_visit
            self.view = LiveView(self.crawl, spider.name, total or None)
            self.crawler.signals.connect(self.scraped, signals.item_scraped)
            self.view.start()
        if self.interval:
            self.loop = create_looping_call(self.show)
            self.loop.start(self.interval, now=self.live)

    def scraped(self, item: object) -> None:
        """Show a page that was stored."""
        if self.view is not None and isinstance(item, Page):
            self.view.add(item)

    def figures(self) -> list[str]:
        """The crawl in figures."""
        crawl = self.crawl
        seconds = max(1e-9, clock.monotonic() - self.began)
        goal = f"/{self.max_pages:,}" if self.max_pages else ""
        max_hours = crawl.strategy.max_hours
        parts = [f"{crawl.pages:,}{goal} pages", f"{(crawl.pages - self.pages_before) / seconds:.1f}/s"]
        if max_hours:
            parts.append(f"{crawl.seconds() / 3600:.3g}/{max_hours:g} h")
        if crawl.to_visit is not None:
            parts = [f"{crawl.visited:,}/{crawl.to_visit:,} visited", f"{crawl.visited / seconds:.1f}/s"]
            parts += [f"{new:,} new"] if (new := crawl.pages - self.pages_before) else []
        if crawl.judges:
            recent = f" (last {RECENT}: {crawl.outlook.recent_harvest:.0%})" if crawl.pages > RECENT else ""
            parts.append(f"harvest {crawl.relevant / crawl.pages if crawl.pages else 0:.0%}{recent}")
        parts.append(f"{len(crawl.frontier):,} queued")
        if crawl.outlook.last is not None:
            parts.append(crawl.outlook.last.short if self.live else str(crawl.outlook.last))
        return parts

    def notes(self) -> list[str]:
        """What slows the crawl down."""
        crawl, parts = self.crawl, []
        if crawl.frontier.patience.is_waiting:
            parts.append("waiting for better links")
        if not crawl.hosts.pace.steady and (share := crawl.hosts.share()) < 1:
            parts.append(f"at {share:.0%} of full speed" if share else "resting")
        throttle = crawl.scheduler.throttle if crawl.scheduler is not None else None
        if throttle is not None and throttle.load.room < inf:
            parts.append(f"machine busy, {throttle.load.room:.0f} at a time")
        if self.live and not self.crawler.crawling:
            parts.append("stopping (Ctrl-C again stops at once)")
        return parts

    def show(self) -> None:
        if self.view is not None:
            done = self.crawl.pages if self.crawl.to_visit is None else self.crawl.visited
            self.view.show(done, self.figures(), self.notes())
        else:
            logger.info("%s", ", ".join([*self.figures(), *self.notes()]))

    def closed(self, reason: str) -> None:
        if not hasattr(self, "began"):  # the crawl failed before it was opened
            return
        if self.loop is not None and self.loop.running:
            self.loop.stop()
        if self.view is not None:
            self.show()
            self.stop()
        else:
            logger.info("%s (%s)", ", ".join([*self.figures(), *self.notes()]), reason)

    def stop(self) -> None:
        """Restore the terminal, even if the crawl was stopped immediately."""
        if self.view is not None:
            self.view.stop()
            self.view = None
