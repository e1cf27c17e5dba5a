"""Classify: is the page on the topic, and does it match."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.verdict import LISTING, NOINDEX, by_the_judge
from focuscrawl.page import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class ClassifyPipeline:
    """Sets `relevance` and `matched` of a page, by the judgement that its links were scored with.

    A page that is withheld does not match. Settings: FOCUS_ROBOTS_META, FOCUS_RIGHTS.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.spider = Crawl.of(crawler).strategy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            self.spider.judged(item)
            crawl = self.spider.crawl
            crawl.settle(item)
            if item.problem is None and item.withheld not in (LISTING, NOINDEX):
                item.wanted = crawl.ask("matches", item.url, partial(self._wants, item), False)
                crawl.settle(item)
        return item

    def _wants(self, page: Page) -> bool:
        return by_the_judge(page, lambda: self.spider.matches(page))
