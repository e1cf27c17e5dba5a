"""Report: `report.html`, written every few minutes and when the crawl stops."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from focuscrawl.crawl import clock
from focuscrawl.crawl.checks import number
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.reports.report import crawl_report
from focuscrawl.store.places import open_store

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)

#: A report is made again after this many times the time that the last one took: large crawls take longer.
_APART = 30.0


class Report:
    """Writes FOCUS_DIR/report.html: while the crawl runs from a thread, so that the crawl does not wait for it.

    Settings: FOCUS_REPORT_MINUTES.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawl = Crawl.of(crawler)
        self.path = self.crawl.folder / "report.html"
        self.interval = 60 * number(crawler.settings, "FOCUS_REPORT_MINUTES")
        self.loop: Any = None
        self._thread: threading.Thread | None = None
        #: When the next report may be begun.
        self._not_before = 0.0
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def opened(self) -> None:
        if self.interval and self.crawl.throw_away is None:
            self.loop = create_looping_call(self.begin)
            self.loop.start(self.interval, now=False)

    def begin(self) -> None:
        """Write a report in the background, unless the last one was made just now."""
        if (self._thread is None or not self._thread.is_alive()) and clock.monotonic() >= self._not_before:
            self._thread = threading.Thread(target=self._write_so_far, name="report", daemon=True)
            self._thread.start()

    def _write_so_far(self) -> None:
        began = clock.monotonic()
        try:
            store = open_store(self.crawl.place, create=False, check=False, any_thread=True)
            try:
                store.browse.small_cache()
                write_whole(self.path, crawl_report(store, running=True))
            finally:
                store.close()
        except (OSError, FocusError) as error:
            logger.warning("%s was not written: %s", self.path, error)
        now = clock.monotonic()
        self._not_before = now + _APART * (now - began)

    def closed(self) -> None:
        if self.loop is not None and self.loop.running:
            self.loop.stop()
        if self._thread is not None:
            self._thread.join()
        crawl = self.crawl
        if crawl.store.failed is not None or not crawl.store.exists():
            return  # others report it
        try:
            write_whole(self.path, crawl_report(crawl.store))
        except OSError as error:
            logger.error("cannot write %s: %s; the crawl itself is complete", self.path, error.strerror)
        except FocusError as error:
            logger.error("%s was not written: %s", self.path, error)
