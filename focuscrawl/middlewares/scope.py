"""Scope: URLs outside the crawl's scope are never requested, wherever they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from focuscrawl import urls
from focuscrawl.crawl.crawl import Crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class ScopeMiddleware:
    """Rejects requests that are out of scope (seeds, redirects, URLs queued under other rules) or not http(s).

    Every request passes here first and continues with its URL normalised, so that later checks see what the server will
    see. A host's own files (robots.txt, tdmrep.json) are not pages and are exempt. Settings: FOCUS_ALLOW,
    FOCUS_DENY, FOCUS_SCOPE. Stats: ``focus/out_of_scope``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.scope = Crawl.of(crawler).scope

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Request | None:
        url = urls.join(request.url, "")
        if url is None:
            raise IgnoreRequest(f"bad URL: {request.url[:300]}")
        if url != request.url and (normal := request.replace(url=url)).url != request.url:
            return normal
        if not self.scope or request.callback is NO_CALLBACK:
            return None
        reason = self.scope.refuses(request.url)
        if reason is not None:
            self.crawler.stats.inc_value("focus/out_of_scope")
            raise IgnoreRequest(f"out of scope: {reason}")
        return None
