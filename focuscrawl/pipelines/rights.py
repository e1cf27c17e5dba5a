"""Rights: records what a page, its host and its headers say about how it may be used."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.http.request import NO_CALLBACK

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.verdict import LANGUAGE
from focuscrawl.manners import rights
from focuscrawl.manners.recent import Recent
from focuscrawl.page import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

#: Where a host reserves its rights for text and data mining.
WELL_KNOWN = "/.well-known/tdmrep.json"
#: Timeout in seconds: the page waits for the answer.
TIMEOUT = 10.0
#: Seconds after which an unreachable host is asked again.
RETRY_AFTER = 3600.0
#: Most bytes for the rules of all hosts; the least recently used are dropped.
RULES_SIZE = 16 << 20


class RightsPipeline:
    """Completes the rights of a page. A page whose rights are reserved as FOCUS_RIGHTS says is withheld.

    A host is asked for its tdmrep.json once: when it first gives a page that matches and has no reservation of its own;
    with `tdm` or `ai-train` in FOCUS_RIGHTS, when it first gives any page, because feeds contain all pages. An
    unreachable host is asked again after an hour.
    Settings: FOCUS_RIGHTS. Stats: ``focus/left_out/<reservation>``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        self._rules: Recent[str, rights.TdmRules] = Recent(RULES_SIZE)
        self._asked: dict[str, asyncio.Future[rights.TdmRules]] = {}
        #: When unreachable hosts may be asked again.
        self._not_before: dict[str, float] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            reserved = not rights.OF_TDMREP.isdisjoint(self.crawl.left_out)
            exported = item.wanted or item.matched or (reserved and item.problem is None)
            if exported and item.rights.tdm_reservation is None:
                await self._ask_host(item)
                self.crawl.settle(item)
            if left_out := item.rights.left_out:
                self.crawler.stats.inc_value(f"focus/left_out/{left_out}")
        return item

    async def _ask_host(self, page: Page) -> None:
        site = urls.site(page.url)
        rules = await self._host_rules(site)
        rule = rules.rule_for(page.url[len(site) :])
        if rule is not None:
            page.rights.tdm(rule.reservation, rule.policy, "file", rules.read_at)

    async def _host_rules(self, site: str) -> rights.TdmRules:
        known = self._rules.get(site)
        if known is not None or self._not_before.get(site, 0.0) > clock.monotonic():
            return known or rights.TdmRules()
        if site not in self._asked:
            self._asked[site] = asyncio.ensure_future(self._fetch(site))
        try:
            return await self._asked[site]
        finally:
            self._asked.pop(site, None)

    async def _fetch(self, site: str) -> rights.TdmRules:
        request = Request(site + WELL_KNOWN, callback=NO_CALLBACK)
        request.meta.update({"download_timeout": TIMEOUT, "dont_retry": True, "focus_patience": TIMEOUT})
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception:  # an unreachable host has no known reservations
            response = None
        if response is None or response.status >= 500 or response.status == 429:
            self._not_before[site] = clock.monotonic() + RETRY_AFTER
            return rights.TdmRules()
        rules = rights.read_tdmrep(response.body) if response.status == 200 else rights.TdmRules()
        rules.read_at = clock.now()
        self._rules.put(site, rules, rules.size)
        return rules


class LeaveOutPipeline:
    """Keeps pages that FOCUS_RIGHTS or FOCUS_LANGUAGES leave out from Scrapy's feeds; they are still stored."""

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.rights.left_out:
            raise DropItem(f"left out ({item.rights.left_out}): {item.url}", log_level="DEBUG")
        if isinstance(item, Page) and (item.withheld or "").startswith(LANGUAGE):
            raise DropItem(f"left out ({item.withheld}): {item.url}", log_level="DEBUG")
        return item
