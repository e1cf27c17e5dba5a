"""WARC: everything that is sent and received, into `pages.warc.gz`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured

from focuscrawl.crawl import clock
from focuscrawl.crawl.checks import keeps_warc
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import HostRests, reason_of
from focuscrawl.crawl.focus import Focus
from focuscrawl.errors import FocusError
from focuscrawl.export.warc_file import Exchange, WarcFile
from focuscrawl.export.warc_records import warc_date

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response


class WarcMiddleware:
    """Writes requests, responses and failures to FOCUS_DIR/pages.warc.gz.

    It is next to the downloader: it sees robots.txt, redirects and retries, and bodies that are still compressed.
    Settings: FOCUS_WARC. Stats: ``focus/warc_records``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawl = Crawl.of(crawler)
        self.stats = crawler.stats
        topic, spider = self.crawl.topic.name, str(self.crawl.store.meta("spider") or "")
        path = self.crawl.folder / "pages.warc.gz"
        try:
            self.file = WarcFile(path, warc_date(clock.now()), topic, spider)
        except OSError as error:
            raise FocusError(f"cannot write to {path}: {error.strerror}; move it away or repair the disk") from None
        crawler.signals.connect(self.file.close, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not keeps_warc(crawler.settings) or Crawl.of(crawler).throw_away is not None:
            raise NotConfigured
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        exchange = Exchange(
            request.url,
            warc_date(clock.now()),
            request.method,
            _pairs(request.headers),
            request.body,
            response.status,
            response.protocol or "HTTP/1.1",
            _pairs(response.headers),
            response.body,
            str(response.ip_address) if response.ip_address else None,
            "dataloss" in response.flags or "partial" in response.flags,
            _about(request),
        )
        try:
            self.file.add(exchange)
        except OSError as error:
            self.crawl.give_up(error)
            if self.crawl.is_in_flight(request):  # it is fetched again when the crawl is resumed
                return request.copy()
            return response
        self.stats.inc_value("focus/warc_records", 3 if exchange.about else 2)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        if isinstance(exception, HostRests) or (isinstance(exception, IgnoreRequest) and not str(exception)):
            return  # nothing was sent
        try:
            self.file.add_failure(request.url, warc_date(clock.now()), reason_of(exception))
        except OSError as error:
            self.crawl.give_up(error)
        else:
            self.stats.inc_value("focus/warc_records")


def _about(request: Request) -> list[tuple[str, object]]:
    """What the crawl knows of a request for a page; `via` and `hopsFromSeed` are names of the standard."""
    focus = Focus.of(request)
    if focus is None:
        return []
    return [("via", focus.parent), ("hopsFromSeed", focus.depth), ("score", focus.score)]


def _pairs(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, values in headers.items() for value in values]
