"""Download: Scrapy's own handler for http and https, with limits on the status line and headers.

It checks every address when it connects to it, and keeps few idle connections.
"""

from __future__ import annotations

import os
from errno import EMFILE, ENFILE
from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    IgnoreRequest,
    NotConfigured,
)
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.error import ConnectBindError

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import PrivateAddress, TooManyFiles, root
from focuscrawl.frontier.engine import HeadTooLargeError, install_pool
from focuscrawl.web.addresses import Networks, is_literal

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

#: Idle connections to keep: at least this many, and this many per request that may be in flight.
IDLE, IDLE_PER_REQUEST = 32, 2


class DownloadHandler(HTTP11DownloadHandler):
    """Scrapy's handler, hardened.

    It never connects to an address outside the crawl's networks, be it for a page, robots.txt, a sitemap or a redirect.
    It rejects endless headers, which Twisted would buffer until memory is full, and invalid statuses.
    Settings: FOCUS_PRIVATE_HOSTS, CONCURRENT_REQUESTS. Stats: ``focus/private_address``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        try:
            self.crawl: Crawl | None = Crawl.of(crawler)
            self.networks = self.crawl.networks
        except NotConfigured:  # a single page, as in `scrapy fetch`: the user's URL counts as a seed
            self.crawl = None
            self.networks = Networks(everything=crawler.settings.getbool("FOCUS_PRIVATE_HOSTS"))
        self.stats = crawler.stats
        idle = max(IDLE, IDLE_PER_REQUEST * crawler.settings.getint("CONCURRENT_REQUESTS"))
        self.connections = install_pool(self, idle, self._allow, self._left)

    def _allow(self, address: str) -> None:
        if not self.networks.allow(address):
            raise PrivateAddress(address)

    def _left(self, host: str) -> None:
        if self.crawl is not None:
            self.crawl.hosts.left(host)

    async def download_request(self, request: Request) -> Response:
        host = urlparse_cached(request).hostname or ""
        looked_at = self.crawl is None or self.crawl.throw_away is not None
        if looked_at and "redirect_times" not in request.meta:
            self.networks.add_seed(request.url)
        if request.meta.get("retry_times"):  # on a new connection: an earlier response may have spoiled the others
            self.connections.drop_idle(host)
        try:
            # a proxy resolves names itself and may see other hosts; a literal address is the same for both
            if request.meta.get("proxy") and is_literal(host):
                self._allow(host)
            return await super().download_request(request)
        except PrivateAddress as error:
            self.stats.inc_value("focus/private_address")
            raise PrivateAddress(error.address, host) from None
        except DownloadCancelledError:
            raise IgnoreRequest("too large: the body exceeds DOWNLOAD_MAXSIZE") from None
        except (ConnectBindError, CannotResolveHostError) as error:
            if getattr(error, "osError", None) in (EMFILE, ENFILE) or _no_file_left():
                self.connections.drop_idle()
                raise TooManyFiles from None
            raise
        except DownloadFailedError as error:
            if isinstance(root(error), HeadTooLargeError):
                raise IgnoreRequest("too large: the headers exceed the limit") from None
            raise


def _no_file_left() -> bool:
    """Whether the process has reached its limit of open files; a failed name lookup does not report this cause."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (EMFILE, ENFILE)
    return False
