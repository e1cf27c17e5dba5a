"""Report: `report.html`, written when the crawl stops."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.errors import FocusError
from focuscrawl.reports.report import crawl_report

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)


class Report:
    """Writes FOCUS_DIR/report.html."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawl = Crawl.of(crawler)
        crawler.signals.connect(self.closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def closed(self) -> None:
        crawl = self.crawl
        if not crawl.fatal and crawl.store.exists():
            path = crawl.folder / "report.html"
            try:
                path.write_text(crawl_report(crawl.store), "utf-8")
            except OSError as error:
                logger.error("cannot write %s: %s; the crawl itself is complete", path, error.strerror)
            except FocusError as error:
                logger.error("%s was not written: %s", path, error)
