"""Classify: is the page on the topic, and does it match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class ClassifyPipeline:
    """Sets `relevance` and `matched` of a page, by the judgement that its links were scored with."""

    def __init__(self, spider: FocusedSpider) -> None:
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        assert isinstance(crawler.spider, FocusedSpider)
        return cls(crawler.spider)

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            self.spider.judged(item)
            item.matched = item.problem is None and self.spider.matches(item)
        return item
