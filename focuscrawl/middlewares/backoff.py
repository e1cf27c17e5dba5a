"""Back off: a host that says it has had enough is left alone for as long as it asks."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.utils.httpobj import urlparse_cached

from focuscrawl.crawl import Crawl
from focuscrawl.frontier.scheduler import FrontierScheduler

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: Statuses by which a server says that it is asked too much.
TOO_MUCH = (429, 503)
#: Seconds of rest for a host that does not say how many; doubled with each time in a row.
FIRST_REST = 1.0


class BackoffMiddleware:
    """Obeys Retry-After and rests after 429 and 503; the request is tried again by Scrapy's retry middleware.

    Settings: FOCUS_BACKOFF_MAX. Stats: ``focus/backoff``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.longest = crawler.settings.getfloat("FOCUS_BACKOFF_MAX")
        self._in_a_row: dict[str, int] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        Crawl.of(crawler)  # for a single page, as in `scrapy shell`, there is none
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        host = urlparse_cached(request).hostname or ""
        if response.status not in TOO_MUCH:
            self._in_a_row.pop(host, None)
            return response
        times = self._in_a_row[host] = self._in_a_row.get(host, 0) + 1
        asked = retry_after((response.headers.get("Retry-After") or b"").decode("latin-1"))
        rest = min(self.longest, asked if asked is not None else FIRST_REST * 2 ** (times - 1))
        if rest > 0:
            logger.info("%s answers %d: resting for %.0f s", host, response.status, rest)
            self.crawler.stats.inc_value("focus/backoff")
            FrontierScheduler.of(self.crawler).hold(host, monotonic() + rest)
        return response


def retry_after(value: str) -> float | None:
    """Seconds to wait by a Retry-After header, a number or a date; None if it says nothing."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
