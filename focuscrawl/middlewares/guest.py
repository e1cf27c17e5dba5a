"""Guests: spiders of other projects, which yield their own requests and items instead of pages."""

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
from focuscrawl.page import Link, Page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class GuestMiddleware(BaseSpiderMiddleware):
    """Creates the Page of every response; the requests that the spider yields for it are the page's links.

    They are scored as links, with the anchor and the words around it, and queued together with the page. Their
    callbacks and other attributes are kept.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.strategy = Crawl.of(crawler).strategy
        if self.strategy is crawler.spider:
            raise NotConfigured

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if not await self.strategy.prepared():
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
        except Exception:  # a callback that fails halfway still has a page, and some links
            yield self._page(response, requests)
            raise
        yield self._page(response, requests)

    def _page(self, response: Response, requests: Iterable[Request]) -> Page:
        page = self.strategy.read(response)
        known = {link.url: link for link in reversed(page.links)}  # the first of several with the same URL
        found: dict[str, Link] = {}
        for request in requests:
            request.meta.pop(KEY, None)  # the page's own, if its meta was passed on
            url = urls.join(request.url, "") or request.url
            if url not in found:
                found[url] = known.get(url) or Link(url)
                found[url].request = request
        page.links = list(found.values())
        return page


def _is_link(output: Any) -> bool:
    """Whether the URL alone identifies a request."""
    return isinstance(output, Request) and output.method == "GET" and not output.body
