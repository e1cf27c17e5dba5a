"""Back-off: an overloaded host is left alone for as long as it asks."""

from __future__ import annotations

import logging
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import inf
from typing import TYPE_CHECKING

from scrapy import signals

from focuscrawl.crawl import clock
from focuscrawl.crawl.crawl import Crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: Statuses of a server that gets too many requests.
TOO_MUCH = (429, 503)


class BackoffMiddleware:
    """Backs off after 429 and 503 to any request, and obeys Retry-After; Scrapy's retry middleware retries the request.

    It sees a response before the host is free for the next request. Settings: FOCUS_BACKOFF_MAX. Stats:
    ``focus/backoff``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.hosts = Crawl.of(crawler).hosts  # raises NotConfigured for a single page, as in `scrapy shell`

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        crawler.signals.connect(middleware.answered, signals.response_downloaded)
        return middleware

    def answered(self, request: Request, response: Response) -> None:
        """Handle a response."""
        host = self.crawler.engine.downloader.get_slot_key(request)
        if response.status not in TOO_MUCH:
            self.hosts.answered(host)
            return
        asked = retry_after((response.headers.get("Retry-After") or b"").decode("latin-1"))
        rest = self.hosts.refused(host, asked, request.meta.get("focus_sent", inf))
        if rest > 0:
            logger.info("%s answered %d: backing off for %.3g s", host, response.status, rest)
            self.crawler.stats.inc_value("focus/backoff")


def retry_after(value: str) -> float | None:
    """Seconds to wait according to a Retry-After header, a number or a date; None if it is malformed."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:20])  # longer than any back-off anyway
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return max(0.0, (date - clock.utc()).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
