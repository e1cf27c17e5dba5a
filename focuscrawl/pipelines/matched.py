"""Matched URLs: `URLs.txt`, one a line, in the order found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuscrawl.crawl import Crawl
from focuscrawl.linefile import LineFile
from focuscrawl.page import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class MatchedUrlsPipeline:
    """Writes the URLs of matched pages to FOCUS_DIR/URLs.txt."""

    def __init__(self, crawl: Crawl) -> None:
        self.crawl = crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(Crawl.of(crawler))

    def open_spider(self) -> None:
        rows = self.crawl.store.rows(matched=True)
        self.file = LineFile(self.crawl.folder / "URLs.txt", (row["url"] for row in rows))

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.matched:
            self.file.write(item.url)
        return item

    def close_spider(self) -> None:
        self.file.close()
