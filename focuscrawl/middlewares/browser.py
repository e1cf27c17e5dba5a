"""Browser: pages that scripts fill are read with a browser, and replaced by what it shows."""

from __future__ import annotations

import logging
from math import inf
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from focuscrawl import urls
from focuscrawl.crawl.checks import number
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import HostRests
from focuscrawl.crawl.responses import content_type
from focuscrawl.middlewares.backoff import TOO_MUCH
from focuscrawl.middlewares.robots import RobotsMiddleware
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.reading.shells import IN_BROWSER, RENDERED
from focuscrawl.web.addresses import Networks
from focuscrawl.web.browser import Browser, Limits, RenderError, Rules
from focuscrawl.web.browser_choice import browser_choice, find_browser

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: Longest back-off of a host that a page waits for here, in seconds.
PATIENCE = 60.0
#: Maximum size of a page if DOWNLOAD_MAXSIZE sets none, in bytes.
LARGEST = 1 << 28
#: A shell with less text than this after its scripts have run is still one, in characters.
LITTLE = 60


class BrowserMiddleware:
    """Gives shells, or all pages of some hosts, to a browser. It is the last to see a response.

    What the browser requests for a page counts as one request to its host. robots.txt, FOCUS_DENY and the crawl's
    networks apply to each of its requests. If the browser fails, the page stays as it was fetched.
    Settings: FOCUS_BROWSER, FOCUS_BROWSER_EXECUTABLE, FOCUS_BROWSER_TIMEOUT, FOCUS_BROWSER_REQUESTS, DOWNLOAD_MAXSIZE.
    Meta: ``focus_rendered``, whether a response is the browser's; ``focus_shell``, why it still is a shell.
    Stats: ``focus/browser/pages``, ``focus/browser/requests``, ``focus/browser/failed``.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self.choice = browser_choice(settings)
        if not self.choice:
            raise NotConfigured
        self.crawler, self.stats = crawler, crawler.stats
        try:
            self.crawl: Crawl | None = Crawl.of(crawler)
            networks = self.crawl.networks
        except NotConfigured:  # a single page, as in `scrapy fetch`
            self.crawl = None
            networks = Networks(everything=settings.getbool("FOCUS_PRIVATE_HOSTS"))
        self.networks = networks
        limits = Limits(
            number(settings, "FOCUS_BROWSER_TIMEOUT") or inf,
            number(settings, "FOCUS_BROWSER_REQUESTS") or inf,
            settings.getint("DOWNLOAD_MAXSIZE") or LARGEST,
        )
        rules = Rules(networks, self._allows, self._answered, self._ends)
        self.browser = Browser(find_browser(settings), str(settings["USER_AGENT"]), limits, rules)
        self._told_of_proxy = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        crawler.signals.connect(middleware.closed, signals.spider_closed)
        return middleware

    async def closed(self) -> None:
        await self.browser.close()

    # ---- a page

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        why = self._why(request, response)
        if why is None:
            return response
        if request.meta.get("proxy"):
            self._tell_of_proxy()
            return response
        if self._is_ending(request):
            return request.copy()  # the next run reads it
        if self.crawl is None or self.crawl.throw_away is not None:
            self.networks.add_seed(request.url)
        try:
            return await self._render(request, response, why)
        except (RenderError, HostRests) as error:
            rests = isinstance(error, HostRests) and self.crawl is not None and self.crawl.is_in_flight(request)
            if rests or self._is_ending(request):
                return request.copy()
            logger.info("%s could not be read with the browser: %s", response.url, error)
            self.stats.inc_value("focus/browser/failed")
            if why:
                request.meta["focus_shell"] = f"{why}{IN_BROWSER}{error}"
            return response

    def _why(self, request: Request, response: Response) -> str | None:
        """Why a page is for the browser: what makes it a shell, or an empty text; None if it is not."""
        if response.status != 200 or not isinstance(response, HtmlResponse) or not response.body:
            return None
        if not response.url.startswith(("http:", "https:")):
            return None
        if request.callback is NO_CALLBACK or request.method != "GET":  # robots.txt and the like
            return None
        taken = self.choice.takes(response.url)
        if not taken and not self.choice.shells:
            return None
        shell = read_html(Page(response.url), response.body, content_type(response)).shell
        return shell or ("" if taken else None)

    async def _render(self, request: Request, response: Response, why: str) -> Response:
        await self._wait_for_host(request)
        headers = {name.decode("latin-1").lower(): value for name, value in _texts(response)}
        rendered = await self.browser.render(response.url, response.body, headers)
        self.stats.inc_value("focus/browser/pages")
        self.stats.inc_value("focus/browser/requests", rendered.requests)
        if rendered.private:
            self.stats.inc_value("focus/private_address", len(rendered.private))
        if self.crawl is not None:
            self.crawl.received(rendered.received)
        request.meta["focus_rendered"] = True
        if why:
            page = read_html(Page(response.url), rendered.body, RENDERED)
            if page.shell or len("".join(page.raw_text.split())) < LITTLE:
                request.meta["focus_shell"] = f"{why}{IN_BROWSER}it stays empty"
        made = response.replace(body=rendered.body, encoding="utf-8", flags=[*response.flags, "browser"])
        made.headers["Content-Type"] = RENDERED
        return made

    async def _wait_for_host(self, request: Request) -> None:
        """What the browser requests is a request to the host like any other."""
        if self.crawl is not None and self.crawl.scheduler is not None:
            host, hosts = self.crawler.engine.downloader.get_slot_key(request), self.crawl.hosts
            turn = object()
            await hosts.turn(host, turn, PATIENCE)
            hosts.left(host)

    def _ends(self) -> bool:
        return self.crawl is not None and self.crawl.is_ending()

    def _is_ending(self, request: Request) -> bool:
        return self._ends() and self.crawl is not None and self.crawl.is_in_flight(request)

    def _tell_of_proxy(self) -> None:
        if not self._told_of_proxy:
            self._told_of_proxy = True
            logger.warning("FOCUS_BROWSER has no effect on pages that are fetched through a proxy")

    # ---- what a page requests

    async def _allows(self, url: str) -> bool:
        if self.crawl is not None and self.crawl.scope.denies(url):
            return False
        robots = self.crawler.get_downloader_middleware(RobotsMiddleware)
        return robots is None or await robots.allows(url)

    def _answered(self, url: str, status: int, began: float) -> None:
        if status in TOO_MUCH and self.crawl is not None:  # many refusals to one page count once
            self.crawl.hosts.refused(urls.host(url), None, began)


def _texts(response: Response) -> list[tuple[bytes, str]]:
    """The headers of a response, the last value of each."""
    return [(name, values[-1].decode("latin-1")) for name, values in response.headers.items() if values]
