"""Progress: a live line on a terminal, log lines elsewhere."""

from __future__ import annotations

import logging
import sys
from math import inf
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from scrapy import Spider, signals
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.log import get_scrapy_root_handler

from focuscrawl.crawl import clock
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.outlook import RECENT

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Seconds between updates on a terminal.
REFRESH = 0.25


class Progress:
    """Shows pages, pages per second, hours, harvest, queue size and forecast, and a bar towards `max_pages`.

    Settings: FOCUS_PROGRESS, LOGSTATS_INTERVAL (seconds between log lines).
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        wanted = crawler.settings.get("FOCUS_PROGRESS")
        self.live = sys.stderr.isatty() if wanted == "auto" else crawler.settings.getbool("FOCUS_PROGRESS")
        self.interval = REFRESH if self.live else crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self.bar: Bar | None = None
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
            self._start_bar(spider.name)
        if self.interval:
            self.loop = create_looping_call(self.show)
            self.loop.start(self.interval, now=self.live)

    def _start_bar(self, name: str) -> None:
        self.bar = Bar(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[figures]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        total = self.max_pages if self.crawl.to_visit is None else self.crawl.to_visit
        self.task = self.bar.add_task(name, total=total or None, figures="")
        self.bar.start()
        # log lines then appear above the bar instead of breaking it
        handler = get_scrapy_root_handler()
        self.handler = (
            handler if isinstance(handler, logging.StreamHandler) and handler.stream is sys.__stderr__ else None
        )
        if self.handler is not None:
            self.handler.setStream(sys.stderr)

    def figures(self) -> str:
        """The crawl in one line."""
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
        if crawl.frontier.patience.is_waiting:
            parts.append("waiting for better links")
        if not crawl.hosts.pace.steady and (share := crawl.hosts.share()) < 1:
            parts.append(f"at {share:.0%} of full speed" if share else "resting")
        throttle = crawl.scheduler.throttle if crawl.scheduler is not None else None
        if throttle is not None and throttle.load.room < inf:
            parts.append(f"machine busy, {throttle.load.room:.0f} at a time")
        if self.live and not self.crawler.crawling:
            parts.append("stopping (Ctrl-C again stops at once)")
        return ", ".join(parts)

    def show(self) -> None:
        if self.bar is not None:
            done = self.crawl.pages if self.crawl.to_visit is None else self.crawl.visited
            self.bar.update(self.task, completed=done, figures=self.figures(), refresh=True)
        else:
            logger.info("%s", self.figures())

    def closed(self, reason: str) -> None:
        if not hasattr(self, "began"):  # the crawl failed before it was opened
            return
        if self.loop is not None and self.loop.running:
            self.loop.stop()
        if self.bar is not None:
            self.show()
            self.stop()
        else:
            logger.info("%s (%s)", self.figures(), reason)

    def stop(self) -> None:
        """Restore the terminal, even if the crawl was stopped immediately."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None
            if self.handler is not None:
                self.handler.setStream(sys.__stderr__)
