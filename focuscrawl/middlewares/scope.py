"""Scope: what the crawl may not ask for is not asked for, whichever way it came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from focuscrawl.crawl import Crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class ScopeMiddleware:
    """Refuses seeds, redirects and what was queued under other rules.

    What a host says about itself (robots.txt, tdmrep.json) is no page and is asked for wherever its pages are in scope.
    Settings: FOCUS_ALLOW, FOCUS_DENY, FOCUS_SCOPE. Stats: ``focus/out_of_scope``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.scope = Crawl.of(crawler).scope

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        if not self.scope or request.callback is NO_CALLBACK:
            return
        reason = self.scope.refuses(request.url)
        if reason is not None:
            self.crawler.stats.inc_value("focus/out_of_scope")
            raise IgnoreRequest(f"out of scope: {reason}")
