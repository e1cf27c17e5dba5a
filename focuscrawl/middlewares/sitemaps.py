"""Sitemaps: read after the first page on the topic from a host."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from focuscrawl import urls
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.focus import KEY, Focus
from focuscrawl.manners.sitemap import MAX_FILES
from focuscrawl.middlewares.robots import RobotsMiddleware
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class SitemapMiddleware(BaseSpiderMiddleware):
    """Queues the sitemaps that a host's robots.txt names, or its /sitemap.xml, with the relevance of the page.

    Settings: FOCUS_SITEMAPS. Stats: ``focus/sitemaps``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        wanted = Crawl.of(crawler).sitemaps
        if wanted == "no" or not isinstance(crawler.spider, FocusedSpider):  # other spiders have no parse_sitemap
            raise NotConfigured
        self.spider = crawler.spider
        self.guess = wanted == "all"
        self._asked: set[str] = set()
        self._files: Counter[str] = Counter()

    async def process_spider_output_async(  # type: ignore[override]
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if isinstance(output, Page):
                for request in self._sitemaps(output):
                    yield request
            if (output := self._bounded(output, response)) is not None:
                yield output

    def _bounded(self, output: Any, response: Response) -> Any:
        """Limit the number of sitemaps per host."""
        is_sitemap = isinstance(output, Request) and output.callback == self.spider.parse_sitemap
        return output if not is_sitemap or self._one_more(urls.host(response.url)) else None

    def _one_more(self, host: str) -> bool:
        if self._files[host] >= MAX_FILES:
            return False
        self._files[host] += 1
        self.crawler.stats.inc_value("focus/sitemaps")
        return True

    def _sitemaps(self, page: Page) -> Iterator[Request]:
        host = urls.host(page.url)
        if host in self._asked or page.problem or page.listing or page.visit is not None:
            return
        judgement = page.judgement
        if judgement is not None and not judgement.relevant:
            return
        self._asked.add(host)
        site = urls.site(page.url)
        robots = self.crawler.get_downloader_middleware(RobotsMiddleware)
        named = robots.sitemaps(site) if robots is not None else []
        if not named and self.guess:
            named = [f"{site}/sitemap.xml"]
        for url in named:
            if self._one_more(host):
                focus = Focus(judgement.relevance if judgement else 1.0, page.depth + 1, page.url)
                yield Request(url, callback=self.spider.parse_sitemap, meta={KEY: focus})
