"""Rights: the ledger of what a page, its host and its headers say about the use of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.http.request import NO_CALLBACK

from focuscrawl import rights
from focuscrawl.crawl import Crawl
from focuscrawl.page import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

#: Where a host reserves its rights of text and data mining.
WELL_KNOWN = "/.well-known/tdmrep.json"
#: Seconds that the answer may take.
TIMEOUT = 10.0


class RightsPipeline:
    """Completes the rights of a page, and leaves it out of the exports if FOCUS_RIGHTS says so: it does not match.

    A host is asked for its tdmrep.json once, when it first gives a page that matches and that does not say itself; if
    what is reserved is to be left out, when it first gives any page, because feeds have them all.
    Settings: FOCUS_RIGHTS. Stats: ``focus/left_out/<reservation>``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.wanted = Crawl.of(crawler).left_out
        self._rules: dict[str, asyncio.Future[list[rights.TdmRule]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            exported = item.matched or ("tdm" in self.wanted and item.problem is None)
            if exported and item.rights.tdm_reservation is None:
                await self._ask_host(item)
            if left_out := leave_out(item, self.wanted):
                self.crawler.stats.inc_value(f"focus/left_out/{left_out}")
        return item

    async def _ask_host(self, page: Page) -> None:
        parts = urlsplit(page.url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules:
            self._rules[site] = asyncio.ensure_future(self._fetch(site))
        rule = rights.tdm_of(await self._rules[site], parts.path + (f"?{parts.query}" if parts.query else ""))
        if rule is not None:
            page.rights.tdm(rule.reservation, rule.policy, "file")

    async def _fetch(self, site: str) -> list[rights.TdmRule]:
        # the page waits for the answer: it is not worth waiting long
        request = Request(
            site + WELL_KNOWN, callback=NO_CALLBACK, meta={"download_timeout": TIMEOUT, "max_retry_times": 1}
        )
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception:  # a host that cannot be asked reserves nothing that we know of
            return []
        return rights.read_tdmrep(response.body) if response.status == 200 else []


def leave_out(page: Page, wanted: list[str]) -> str:
    """The first reservation among those *wanted* that keeps a page from matching, by what is known of it; or none."""
    ledger = page.rights
    ledger.noai, ledger.noimageai = "noai" in page.robots, "noimageai" in page.robots
    if page.problem is None:
        ledger.left_out = ledger.reserved(wanted)
    if ledger.left_out:
        page.matched = False
    return ledger.left_out


class LeaveOutPipeline:
    """Keeps pages that FOCUS_RIGHTS leaves out from Scrapy's feeds; the store has them."""

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.rights.left_out:
            raise DropItem(f"left out ({item.rights.left_out}): {item.url}", log_level="DEBUG")
        return item
