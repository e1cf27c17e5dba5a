"""Gate: every request, whatever it is for, waits for its host's politeness delay."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import HostRests, TooManyFiles

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

#: Longest back-off in seconds that a page waits for here; for a longer one it goes back to the frontier.
PATIENCE = 5.0


class GateMiddleware:
    """The last middleware before the downloader: pages, robots.txt and all other requests wait here for their turn.

    A page goes back to the frontier if its host needs a longer back-off, if no more connections can be opened, or if
    the crawl's hours are spent.
    Meta: ``focus_patience``, the longest back-off that a request waits for; ``focus_sent``, when it was sent.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        self.hosts = self.crawl.hosts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _host(self, request: Request) -> str:
        return self.crawler.engine.downloader.get_slot_key(request)

    async def process_request(self, request: Request) -> Request | None:
        is_page = self.crawl.is_in_flight(request)
        if is_page and self.crawl.out_of_time():  # it has waited for its host's robots.txt
            return request.copy()
        patience = PATIENCE if is_page else request.meta.get("focus_patience", inf)
        try:
            request.meta["focus_sent"] = await self.hosts.turn(self._host(request), request, patience)
        except HostRests:
            if is_page:
                return request.copy()
            raise
        return None

    def process_response(self, request: Request, response: Response) -> Response:
        self.hosts.ended(self._host(request), request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        self.hosts.ended(self._host(request), request)
        if isinstance(exception, TooManyFiles):
            self.crawl.short_of_files()
            if self.crawl.is_in_flight(request):
                return request.copy()
        return None
