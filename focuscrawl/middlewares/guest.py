"""Guests: spiders that know nothing of pages and scores, and yield requests and items of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from focuscrawl import urls
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.focus import KEY
from focuscrawl.errors import FocusError
from focuscrawl.page import Link, Page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class GuestMiddleware(BaseSpiderMiddleware):
    """Makes the Page of every response; the requests that the spider makes of it are the page's links.

    They are scored as links, with the anchor and the words around it, and queued together with the page. What a
    request is besides its URL, callback and all, is kept.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.strategy = Crawl.of(crawler).strategy
        if self.strategy is crawler.spider:
            raise NotConfigured

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            await self.strategy.before_crawl()
        except FocusError as error:
            self.strategy.crawl.stop(str(error), "cannot_learn")
            return
        async for request in start:
            if isinstance(request, Request):
                self.strategy.crawl.networks.add_seed(request.url)
            yield request

    async def process_spider_output_async(  # type: ignore[override]
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        requests: list[Request] = []
        try:
            async for output in result:
                if _is_link(output):
                    requests.append(output)
                else:
                    yield output
        except Exception:  # a callback that fails half way has made a page, too, and some links
            yield self._page(response, requests)
            raise
        yield self._page(response, requests)

    def _page(self, response: Response, requests: Iterable[Request]) -> Page:
        page = self.strategy.read(response)
        known = {link.url: link for link in reversed(page.links)}  # of several to one page, the first
        found: dict[str, Link] = {}
        for request in requests:
            request.meta.pop(KEY, None)  # that of the page, if its meta was handed on
            url = urls.join(request.url, "") or request.url
            if url not in found:
                found[url] = known.get(url) or Link(url)
                found[url].request = request
        page.links = list(found.values())
        return page


def _is_link(output: Any) -> bool:
    """Whether the URL says which page a request is for."""
    return isinstance(output, Request) and output.method == "GET" and not output.body
