"""robots.txt for all spiders, according to RFC 9309."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http.request import NO_CALLBACK

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import PrivateAddress, RobotsUnreachable, TooManyFiles, is_no_answer, reason_of
from focuscrawl.crawl.responses import SITE_USAGE
from focuscrawl.manners.recent import Recent
from focuscrawl.manners.robots import SIZE_LIMIT, Matcher, Rules, product_token, wished_delay
from focuscrawl.middlewares.backoff import TOO_MUCH

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)

#: RFC 9309, 2.4: a copy is not used for more than a day.
MAX_AGE = 24 * 3600.0
#: Seconds after which a robots.txt that could not be read is fetched again.
RETRY_AFTER = 3600.0
#: Bytes for all rules, and for all matchers made from them; the least recently used are dropped.
RULES_SIZE, MATCHERS_SIZE = 64 << 20, 32 << 20


@dataclass
class _Site:
    """What is known about a site: its rules, or why they could not be read."""

    rules: Rules | None
    expires: float
    problem: str = ""
    #: Whether there was no answer at all.
    silent: bool = False
    #: Whether there is a robots.txt at all.
    found: bool = False
    #: The private address that the crawl may not connect to.
    private: str = ""
    #: When robots.txt was read, by the calendar.
    read_at: str = ""


class RobotsMiddleware:
    """Rejects requests that a host's robots.txt disallows.

    It is fetched once per host, however many requests wait for it; 4xx, except 429, allows everything. After 429, 5xx
    or no answer, the crawl backs off, the host's pages go back to the frontier, and robots.txt is retried RETRY_TIMES
    times; then the host is left alone for an hour. Crawl-delay and Request-rate slow down requests to the host.
    Settings: ROBOTSTXT_OBEY, USER_AGENT, ROBOTSTXT_USER_AGENT, FOCUS_CRAWL_DELAY_MAX, RETRY_TIMES.
    Meta: dont_obey_robotstxt. Stats:
    ``robotstxt/request_count``, ``robotstxt/forbidden``, ``robotstxt/unreachable``, ``robotstxt/slowed``.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self.crawler = crawler
        agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT")
        self.agent = product_token(str(agent))
        self.longest_delay = settings.getfloat("FOCUS_CRAWL_DELAY_MAX")
        self.retries = settings.getint("RETRY_TIMES") if settings.getbool("RETRY_ENABLED") else 0
        self._sites: Recent[str, _Site] = Recent(RULES_SIZE)
        self._matchers: Recent[str, Matcher] = Recent(MATCHERS_SIZE)
        self._asked: dict[str, asyncio.Future[_Site | None]] = {}
        self._tries: Counter[str] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        if request.meta.get("dont_obey_robotstxt") or not request.url.startswith("http"):
            return None
        root = urls.site(request.url)
        while (site := await self._site(root)) is None:
            if (crawl := self._running()) is not None and crawl.is_in_flight(request):
                return request.copy()
        if site.private:
            raise PrivateAddress(site.private, urls.host(root))
        if site.rules is None:
            self.crawler.stats.inc_value("robotstxt/unreachable")
            raise RobotsUnreachable(site.problem, silent=site.silent)
        if not self._matcher(root, site.rules).allows(request.url):
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest("robots.txt disallows it")
        request.meta["robots_txt"] = "allowed" if site.found else "none"
        if site.rules.usage is not None:
            request.meta[SITE_USAGE] = site.rules.usage.of_path(request.url[len(root) :]), site.read_at
        else:  # a redirect keeps what was said about another page
            request.meta.pop(SITE_USAGE, None)
        return None

    async def allows(self, url: str) -> bool:
        """Whether a URL that a page needs may be requested; not as long as robots.txt could not be read."""
        root = urls.site(url)
        site = await self._site(root)
        return site is not None and site.rules is not None and self._matcher(root, site.rules).allows(url)

    def _running(self) -> Crawl | None:
        """The crawl; None for a single page, as in `scrapy shell`, where there is no frontier."""
        try:
            crawl = Crawl.of(self.crawler)
        except NotConfigured:
            return None
        return crawl if crawl.scheduler is not None else None

    def _matcher(self, root: str, rules: Rules) -> Matcher:
        matcher = self._matchers.get(root)
        if matcher is None:
            matcher = rules.matcher()
            self._matchers.put(root, matcher, matcher.size)
        return matcher

    def sitemaps(self, site: str) -> list[str]:
        """The sitemaps named in a site's robots.txt, if it was read."""
        known = self._sites.get(site)
        if known is None or known.rules is None:
            return []
        return [url for line in known.rules.sitemaps if (url := urls.join(f"{site}/", line)) is not None]

    async def _site(self, root: str) -> _Site | None:
        """What is known about a site; None if robots.txt will be retried."""
        if root in self._asked:
            return await self._asked[root]
        known = self._sites.get(root)
        if known is not None and known.expires > clock.monotonic():
            return known
        future: asyncio.Future[_Site | None] = asyncio.get_running_loop().create_future()
        self._asked[root] = future
        site: _Site | None = _Site(None, expires=clock.monotonic() + RETRY_AFTER)
        try:
            site = await self._fetch(root)
        finally:  # even after an error, so that no request waits forever
            self._matchers.pop(root)
            if site is not None:
                self._sites.put(root, site, site.rules.size if site.rules is not None else 500)
            del self._asked[root]
            future.set_result(site)
        return site

    def _slow_down(self, root: str, wished: float) -> None:
        """Apply the delay that a host demands, up to FOCUS_CRAWL_DELAY_MAX, if it is longer than ours."""
        delay = min(wished, self.longest_delay)
        crawl = self._running()
        if delay and crawl is not None and crawl.hosts.keep_distance(urls.host(root), delay):
            self.crawler.stats.inc_value("robotstxt/slowed")

    async def _fetch(self, root: str) -> _Site | None:
        self.crawler.stats.inc_value("robotstxt/request_count")
        request = Request(f"{root}/robots.txt", meta={"dont_obey_robotstxt": True}, callback=NO_CALLBACK)
        request.meta["dont_retry"] = True  # not immediately: it is retried after the back-off
        try:
            response = await self.crawler.engine.download_async(request)
        except PrivateAddress as error:
            return _Site(None, expires=0.0, private=error.address)
        except Exception as error:  # unreachable: RFC 9309, 2.3.1.4
            silent = is_no_answer(error)
            if silent and (crawl := self._running()) is not None:
                crawl.no_answer(request.url)
            ours = isinstance(error, TooManyFiles)
            return self._unreachable(root, reason_of(error), heard=False, silent=silent, ours=ours)
        if response.status >= 500 or response.status == 429:
            return self._unreachable(root, f"HTTP {response.status}", heard=response.status in TOO_MUCH)
        del self._tries[root]
        found = response.status < 300
        body = response.body[: SIZE_LIMIT + 1] if found else b""  # unavailable: RFC 9309, 2.3.1.3
        self._slow_down(root, wished_delay(body, self.agent))
        rules = Rules.read(body, self.agent)
        return _Site(rules, expires=clock.monotonic() + MAX_AGE, found=found, read_at=clock.now())

    def _unreachable(
        self, root: str, problem: str, *, heard: bool, silent: bool = False, ours: bool = False
    ) -> _Site | None:
        """What is known about a site without a readable robots.txt; None if it will be retried after a back-off.

        *ours*: the request did not leave this machine, so it was no try.
        """
        logger.info("%s/robots.txt could not be read: %s", root, problem)
        self._tries[root] += not ours
        if (crawl := self._running()) is not None and self._tries[root] <= self.retries:
            if not heard:  # otherwise BackoffMiddleware has done it
                crawl.hosts.refused(urls.host(root), None, clock.monotonic(), f"robots.txt: {problem}")
            return None
        del self._tries[root]
        if crawl is not None:
            crawl.hosts.block(urls.host(root), clock.monotonic() + RETRY_AFTER, f"robots.txt: {problem}")
        return _Site(None, expires=clock.monotonic() + RETRY_AFTER, problem=problem, silent=silent)
