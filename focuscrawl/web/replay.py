"""Replay: a download handler that answers from a web file, without sockets."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import NotConfigured
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.web import webs

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


def answer_from_web(settings: BaseSettings) -> None:
    """Answer all requests from the web that FOCUS_WEB names."""
    handlers = dict.fromkeys(("http", "https"), "focuscrawl.web.replay.ReplayHandler")
    settings.set("DOWNLOAD_HANDLERS", handlers, priority="spider")


class ReplayHandler(BaseDownloadHandler):
    """Answers http and https requests from the web that FOCUS_WEB names.

    Settings: FOCUS_WEB, FOCUS_WEB_LATENCY.
    """

    lazy = True
    #: Requests answered in this process so far, over all crawls, including those that a crawl starts itself.
    answered: ClassVar[int] = 0

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.web = webs.open_web(crawler.settings["FOCUS_WEB"])
        self.latency = crawler.settings.getfloat("FOCUS_WEB_LATENCY")
        try:
            self.crawl: Crawl | None = Crawl.of(crawler)
        except NotConfigured:  # a single page, as in `scrapy fetch`
            self.crawl = None

    async def download_request(self, request: Request) -> Response:
        ReplayHandler.answered += 1
        if self.crawl is not None:
            self.crawl.hosts.left(urls.host(request.url))
        if self.latency:
            began = clock.monotonic()
            await asyncio.sleep(webs.latency(request.url, self.latency))
            request.meta["download_latency"] = clock.monotonic() - began
        said = [(request.headers.get(name) or b"").decode("latin-1") for name in ("If-None-Match", "If-Modified-Since")]
        answer = webs.conditional(self.web.get(request.url), *said)
        headers = Headers({"Content-Type": answer.content_type})
        if answer.location:
            headers["Location"] = answer.location
        for name, value in answer.headers:
            headers.appendlist(name, value)
        cls = responsetypes.from_args(headers=headers, url=request.url, body=answer.body)
        return cls(url=request.url, status=answer.status, headers=headers, body=answer.body)
