"""Looking at the seeds of a topic before a crawl: are they reachable, allowed by robots.txt, and about the topic?

They are fetched as a crawl would fetch them, with the same downloader and the same manners; nothing is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import IgnoreRequest
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings

from focuscrawl import urls
from focuscrawl.crawl.failures import RobotsUnreachable, reason_of
from focuscrawl.crawl.introduction import introduce
from focuscrawl.crawl.responses import content_type
from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.seeding.seed_sources import Wish, best, is_list, links_of, public

if TYPE_CHECKING:
    from scrapy.http import Response

#: Relevance by keywords from which a seed is about the topic, as in a crawl by keywords.
THRESHOLD = 0.3
#: A page with at least this share of that relevance touches the topic.
_NEAR = 0.3
_LATE = "no answer in time"
_OFF_TOPIC = "not about the topic"


@dataclass
class Seen:
    """A seed that was looked at."""

    url: str
    #: Why it cannot be used; empty if it can.
    problem: str = ""
    relevance: float = 0.0
    title: str = ""
    #: It is one of many links: unless it is about the topic, it is not used.
    listed: bool = False
    page: Page | None = None

    @property
    def verdict(self) -> str:
        """What was found, in a few words."""
        if self.problem:
            return self.problem
        if self.relevance >= THRESHOLD:
            return "about the topic"
        return "touches the topic" if self.relevance >= _NEAR * THRESHOLD else _OFF_TOPIC


def look(
    settings: BaseSettings, wished: Sequence[Wish], keywords: Mapping[str, float], *, most: int, seconds: float
) -> list[Seen]:
    """Fetch the seeds, in the order wished for; pages that list seeds are replaced by at most *most* of them."""
    process = AsyncCrawlerProcess(_our_settings(settings))
    crawler = process.create_crawler(_Looker)
    looks: list[Seen] = []
    process.crawl(crawler, wished=wished, keywords=keywords, most=most, seconds=seconds, looks=looks)
    process.start()
    return looks


def _our_settings(given: BaseSettings) -> Settings:
    """focuscrawl's settings, whatever project the command runs in, with what the user has set for us."""
    ours = Settings()
    ours.setmodule("focuscrawl.settings", priority="project")
    for name in given:
        priority = given.getpriority(name) or 0
        if priority >= SETTINGS_PRIORITIES["cmdline"] or name.startswith(("FOCUS_", "LOG_")):
            ours.set(name, given[name], priority=max(priority, SETTINGS_PRIORITIES["project"]))
    ours.set("FEEDS", {}, priority="cmdline")
    return ours


class _Looker(Spider):
    """Fetches the seeds and judges them."""

    name = "look"

    def __init__(
        self,
        wished: Sequence[Wish],
        keywords: Mapping[str, float],
        most: int,
        seconds: float,
        looks: list[Seen],
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self.wished = wished
        self.judge = KeywordJudge(keywords)
        self.keywords = keywords
        self.most = most
        self.seconds = seconds
        self.looks = looks

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        introduce(settings)
        settings.set("RETRY_ENABLED", False, priority="spider")

    async def start(self) -> AsyncIterator[Any]:
        """Look at everything; there is nothing to crawl."""
        found = [[Seen(wish.url, _LATE, listed=wish.listed)] for wish in self.wished]
        tasks = [asyncio.ensure_future(self._wish(wish, seen)) for wish, seen in zip(self.wished, found, strict=True)]
        if tasks:
            await asyncio.wait(tasks, timeout=self.seconds)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        distinct: dict[int, Seen] = {}
        for seen in (one for several in found for one in several):
            distinct.setdefault(urls.key(seen.url), seen)
        self.looks += distinct.values()
        return
        yield

    async def _wish(self, wish: Wish, found: list[Seen]) -> None:
        """Look at a seed, or at the seeds that a page lists; *found* is what is known about them so far."""
        response, problem = await self._fetch(wish.url)
        if response is None:
            found[0].problem = problem
        elif wish.links or is_list(response.body):
            page = Page(response.url)
            links = public(links_of(page, response.body, content_type(response)), urls.host(response.url))
            if listed := best(links, self.keywords, self.most):
                found[:] = [Seen(link.url, _LATE, listed=True) for link in listed]
                await asyncio.gather(*(self._look(seen) for seen in found))
            else:
                found[0].problem = "no link to a page on it"
        else:
            self._judge(found[0], response)

    async def _look(self, seen: Seen) -> None:
        response, seen.problem = await self._fetch(seen.url)
        if response is not None:
            self._judge(seen, response)

    def _judge(self, seen: Seen, response: Response) -> None:
        page = read_page(Page(response.url), response.body, content_type(response))
        seen.problem = page.problem or ""
        if not page.problem:
            seen.page, seen.title = page, page.title
            seen.relevance = self.judge.coverage(page, THRESHOLD).relevance
            if seen.listed and seen.verdict == _OFF_TOPIC:
                seen.problem = _OFF_TOPIC

    async def _fetch(self, url: str) -> tuple[Response | None, str]:
        """The response, or why there is none."""
        try:
            response = await self.crawler.engine.download_async(Request(url))
        except Exception as error:  # whatever a host does, the other seeds are looked at
            refused = isinstance(error, IgnoreRequest) and not isinstance(error, RobotsUnreachable)
            return None, reason_of(error) if refused else f"not reachable: {reason_of(error)}"
        if response.status >= 300:
            return None, f"not reachable: HTTP {response.status}"
        return response, ""
