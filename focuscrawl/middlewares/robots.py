"""robots.txt, shared by all spiders, read as RFC 9309 says."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from focuscrawl import urls
from focuscrawl.failures import reason_of
from focuscrawl.robots import Rules, product_token, wished_delay

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: RFC 9309, 2.4: a copy is not used for more than a day.
MAX_AGE = 24 * 3600.0
#: A host whose robots.txt could not be read is asked again after this time.
RETRY_AFTER = 3600.0


@dataclass
class _Site:
    """What is known of a site: its rules, or why they could not be read."""

    rules: Rules | None
    expires: float
    problem: str = ""
    #: Whether there is a robots.txt at all.
    found: bool = False


class RobotsUnreachable(IgnoreRequest):
    """A host could not say what it allows, so nothing is asked of it for now."""


class RobotsMiddleware:
    """Refuses what a host's robots.txt disallows.

    One fetch per host however many requests wait for it; 4xx allows everything, 5xx or no answer disallows everything
    for an hour. Crawl-delay and Request-rate slow the host down. Settings: ROBOTSTXT_OBEY, USER_AGENT,
    ROBOTSTXT_USER_AGENT, FOCUS_CRAWL_DELAY_MAX. Meta: dont_obey_robotstxt. Stats: ``robotstxt/request_count``,
    ``robotstxt/forbidden``, ``robotstxt/unreachable``, ``robotstxt/slowed``.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self.crawler = crawler
        agent = crawler.settings.get("ROBOTSTXT_USER_AGENT") or crawler.settings.get("USER_AGENT")
        self.agent = product_token(str(agent))
        self.longest_delay = crawler.settings.getfloat("FOCUS_CRAWL_DELAY_MAX")
        self._sites: dict[str, _Site | asyncio.Future[_Site]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get("dont_obey_robotstxt") or not request.url.startswith("http"):
            return
        parts = urlparse_cached(request)
        site = await self._site(f"{parts.scheme}://{parts.netloc}")
        if site.rules is None:
            self.crawler.stats.inc_value("robotstxt/unreachable")
            raise RobotsUnreachable(f"robots.txt could not be read: {site.problem}")
        if not site.rules.allows(request.url, self.agent):
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest("robots.txt disallows it")
        request.meta["robots_txt"] = "allowed" if site.found else "none"

    def sitemaps(self, site: str) -> list[str]:
        """The sitemaps that a site's robots.txt names, if it was read."""
        known = self._sites.get(site)
        if not isinstance(known, _Site) or known.rules is None:
            return []
        return [url for line in known.rules.sitemaps if (url := urls.join(f"{site}/", line)) is not None]

    async def _site(self, root: str) -> _Site:
        known = self._sites.get(root)
        if isinstance(known, asyncio.Future):
            return await known
        if known is not None and known.expires > monotonic():
            return known
        future: asyncio.Future[_Site] = asyncio.get_running_loop().create_future()
        self._sites[root] = future
        site = _Site(None, expires=monotonic() + RETRY_AFTER)
        try:
            site = await self._fetch(root)
        finally:  # whatever happens, nobody waits for ever
            self._sites[root] = site
            future.set_result(site)
        return site

    def _slow_down(self, root: str, wished: float) -> None:
        """Keep the distance that a host asks for, up to FOCUS_CRAWL_DELAY_MAX, if it is longer than ours."""
        delay = min(wished, self.longest_delay)
        scheduler: Any = self.crawler.engine.scheduler
        if not hasattr(scheduler, "keep_distance"):  # a single page, in `scrapy shell`: there is nothing to slow down
            return
        if delay and scheduler.keep_distance(urlsplit(root).hostname or "", delay):
            self.crawler.stats.inc_value("robotstxt/slowed")

    async def _fetch(self, root: str) -> _Site:
        self.crawler.stats.inc_value("robotstxt/request_count")
        request = Request(f"{root}/robots.txt", meta={"dont_obey_robotstxt": True}, callback=NO_CALLBACK)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # no answer of any kind: RFC 9309, 2.3.1.4
            problem = reason_of(error)
            logger.info("%s/robots.txt could not be read: %s", root, problem)
            return _Site(None, expires=monotonic() + RETRY_AFTER, problem=problem)
        if response.status >= 500:
            return _Site(None, expires=monotonic() + RETRY_AFTER, problem=f"HTTP {response.status}")
        found = response.status < 300
        body = response.body if found else b""  # unavailable: RFC 9309, 2.3.1.3
        self._slow_down(root, wished_delay(body, self.agent))
        return _Site(Rules.read(body), expires=monotonic() + MAX_AGE, found=found)
