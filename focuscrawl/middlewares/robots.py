"""robots.txt, shared by all spiders, read as RFC 9309 says."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: RFC 9309, 2.5: at least 500 KiB are read; the rest is not looked at.
SIZE_LIMIT = 500 * 1024
#: RFC 9309, 2.4: a copy is not used for more than a day.
MAX_AGE = 24 * 3600.0
#: A host whose robots.txt could not be read is asked again after this time.
RETRY_AFTER = 3600.0


@dataclass
class _Rules:
    """What a host allows. Without a parser: everything, or nothing if it could not be asked."""

    parser: Protego | None
    reachable: bool
    expires: float
    problem: str = ""

    def allows(self, url: str, agent: str) -> bool:
        if self.parser is None:
            return self.reachable
        return bool(self.parser.can_fetch(url, agent))


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
        #: The product token: the name before the version.
        self.agent = re.split(r"[/\s]", str(agent).strip(), maxsplit=1)[0]
        self.longest_delay = crawler.settings.getfloat("FOCUS_CRAWL_DELAY_MAX")
        self._rules: dict[str, _Rules | asyncio.Future[_Rules]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get("dont_obey_robotstxt") or not request.url.startswith("http"):
            return
        parts = urlparse_cached(request)
        rules = await self._rules_of(f"{parts.scheme}://{parts.netloc}")
        if rules.allows(request.url, self.agent):
            return
        if rules.reachable:
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest("robots.txt disallows it")
        self.crawler.stats.inc_value("robotstxt/unreachable")
        raise RobotsUnreachable(f"robots.txt could not be read: {rules.problem}")

    async def _rules_of(self, site: str) -> _Rules:
        known = self._rules.get(site)
        if isinstance(known, asyncio.Future):
            return await known
        if known is not None and known.expires > monotonic():
            return known
        future: asyncio.Future[_Rules] = asyncio.get_running_loop().create_future()
        self._rules[site] = future
        rules = _Rules(None, reachable=False, expires=monotonic() + RETRY_AFTER)
        try:
            rules = await self._fetch(site)
            if rules.parser is not None:
                self._slow_down(site, rules.parser)
        finally:  # whatever happens, nobody waits for ever
            self._rules[site] = rules
            future.set_result(rules)
        return rules

    def _slow_down(self, site: str, parser: Protego) -> None:
        """Keep the distance that a host asks for, up to FOCUS_CRAWL_DELAY_MAX, if it is longer than ours."""
        wished = float(parser.crawl_delay(self.agent) or 0.0)
        rate = parser.request_rate(self.agent)
        if rate is not None and rate.requests:
            wished = max(wished, rate.seconds / rate.requests)
        delay = min(wished, self.longest_delay)
        downloader = self.crawler.engine.downloader
        host = urlsplit(site).hostname or ""
        slot = downloader.slots.get(host)
        ours = (
            slot.delay
            if slot is not None
            else downloader.per_slot_settings.get(host, {}).get("delay", downloader._delay)
        )
        if delay <= ours:
            return
        downloader.per_slot_settings[host] = {"delay": delay, "concurrency": 1}  # for when the slot is made anew
        if slot is not None:
            slot.delay, slot.concurrency = delay, 1
        self.crawler.stats.inc_value("robotstxt/slowed")

    async def _fetch(self, site: str) -> _Rules:
        self.crawler.stats.inc_value("robotstxt/request_count")
        request = Request(f"{site}/robots.txt", meta={"dont_obey_robotstxt": True}, callback=NO_CALLBACK)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # no answer of any kind: RFC 9309, 2.3.1.4
            logger.info("%s/robots.txt could not be read: %s", site, error or type(error).__name__)
            problem = str(error) or type(error).__name__
            return _Rules(None, reachable=False, expires=monotonic() + RETRY_AFTER, problem=problem)
        if response.status >= 500:
            problem = f"HTTP {response.status}"
            return _Rules(None, reachable=False, expires=monotonic() + RETRY_AFTER, problem=problem)
        if response.status >= 300:
            return _Rules(None, reachable=True, expires=monotonic() + MAX_AGE)
        text = response.body[:SIZE_LIMIT].decode("utf-8-sig", "replace")
        return _Rules(Protego.parse(text), reachable=True, expires=monotonic() + MAX_AGE)
