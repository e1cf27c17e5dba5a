"""Documents: PDFs are read while the crawl goes on."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from focuscrawl import urls
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.responses import content_type
from focuscrawl.reading import pdf, types

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class DocumentsMiddleware:
    """Has the PDFs that arrive read by another process, one at a time; only their own pages wait.

    A thread waits for that process. What it has read is kept until the spider asks for it, a moment later.
    Settings: FOCUS_DOCUMENTS. Stats: ``focus/pdfs``.
    """

    def __init__(self, crawler: Crawler) -> None:
        if "pdf" not in Crawl.of(crawler).documents:
            raise NotConfigured
        self.stats = crawler.stats
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pdf")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        crawler.signals.connect(middleware.close, signals.engine_stopped)
        return middleware

    def close(self) -> None:
        """Let the thread go."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def process_response(self, request: Request, response: Response) -> Response:
        body = response.body
        if pdf.is_pdf(body) or (body and types.of_mime(types.mime(content_type(response))) is types.PDF):
            self.stats.inc_value("focus/pdfs")
            await asyncio.get_running_loop().run_in_executor(self._thread, pdf.ask, body, urls.host(response.url))
        return response
