"""Signing: proves to sites who crawls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from focuscrawl.crawl import clock
from focuscrawl.manners.signing import signer

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class SigningMiddleware:
    """Signs every request that leaves (Web Bot Auth), if there is a key. Settings: FOCUS_SIGN_KEY, FOCUS_SIGN_AGENT."""

    def __init__(self, crawler: Crawler) -> None:
        path = crawler.settings.get("FOCUS_SIGN_KEY")
        if not path:
            raise NotConfigured
        self.signer = signer(str(path), crawler.settings.get("FOCUS_SIGN_AGENT"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        for name, value in self.signer.headers(request.url, int(clock.utc().timestamp())).items():
            request.headers[name] = value  # a redirect comes with the signature for another host
