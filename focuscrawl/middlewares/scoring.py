"""Scoring: gives each link of a page its priority, or refuses it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from copy import copy
from functools import partial
from operator import ne
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.focus import KEY, Focus
from focuscrawl.language.languages import NAMES, code_of
from focuscrawl.page import RULE, Link, Page
from focuscrawl.spider import NOTHING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class ScoringMiddleware(BaseSpiderMiddleware):
    """Calls the spider's `score` once per page, for all its links; ordinary requests are scored as links.

    Links outside the crawl's scope are refused. Settings: DEPTH_LIMIT, URLLENGTH_LIMIT, FOCUS_NOFOLLOW,
    FOCUS_ROBOTS_META, FOCUS_LANGUAGES, FOCUS_ALLOW, FOCUS_DENY,
    FOCUS_SCOPE. Stats: ``focus/links``, ``focus/links_refused``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.spider = Crawl.of(crawler).strategy
        settings = crawler.settings
        self.depth_limit = settings.getint("DEPTH_LIMIT")
        self.url_limit = settings.getint("URLLENGTH_LIMIT")
        self.nofollow = settings.getbool("FOCUS_NOFOLLOW")
        self.robots_meta = settings.getbool("FOCUS_ROBOTS_META")
        self.languages = self.spider.crawl.languages
        self.scope = self.spider.crawl.scope

    async def process_spider_output_async(  # type: ignore[override]
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        page: Page | None = None
        async for output in result:
            if isinstance(output, Page):
                page = output
            if (output := self._process(output, response, page)) is not None:
                yield output

    def _process(self, output: Any, response: Response, page: Page | None) -> Any:
        if isinstance(output, Page):
            self.score(output, response)
        elif isinstance(output, Request):
            focus = Focus.of(output)
            if focus is None or focus.score is None or focus.url_id:
                return self.score_request(output, page or self.spider.read(response))
        return output

    def score(self, page: Page, response: Response) -> None:
        """Set the score of every link of the page."""
        spider = self.spider
        ask = spider.crawl.ask
        if ask("judge", page.url, lambda: (spider.judged(page),), None) is None:
            page.judgement = NOTHING
        focus = Focus.of(response)
        if focus is not None and focus.via:
            page.find_via = partial(spider.crawl.store.links.get, focus.via)
        if not page.links:
            return
        # if the strategy fails, these links wait behind all others
        nothing: Sequence[float | None] = [0.0] * len(page.links)
        scores = ask("score", page.url, lambda: self._scores(page), nothing)
        refused = 0
        closed = ""
        if self.depth_limit and page.depth >= self.depth_limit:
            closed = "deeper than DEPTH_LIMIT"
        elif self.robots_meta and "nofollow" in page.robots:
            closed = "its page asks that no link be followed"
        elif page.problem is None and self.languages.holds_back(page.language):
            closed = f"its page is in {NAMES[page.language]} (FOCUS_LANGUAGES)"
        has_rules = bool(closed or self.nofollow or self.scope) or not self.languages.follow
        for link, score in zip(page.links, scores, strict=True):
            if score is None:
                refused += 1
            elif (has_rules or len(link.url) > self.url_limit) and (rule := closed or self._rule_against(link)):
                link.why = {f"{RULE}{rule}": 0.0}
                refused += 1
            else:
                link.score = min(1.0, max(0.0, float(score)))
        self.crawler.stats.inc_value("focus/links", len(page.links))
        if refused:
            self.crawler.stats.inc_value("focus/links_refused", refused)

    def _scores(self, page: Page) -> Sequence[float | None]:
        """The strategy's scores, checked."""
        scores = self.spider.score(page)
        if len(scores) != len(page.links):
            raise ValueError(f"{len(scores)} scores for {len(page.links)} links")
        if any(map(ne, scores, scores)):
            link = next(link for link, score in zip(page.links, scores, strict=True) if score != score)
            raise ValueError(f"the score of {link.url} is not a number")
        return scores

    def _rule_against(self, link: Link) -> str:
        """The rule that keeps a link from being followed; empty if there is none."""
        if self.nofollow and link.nofollow:
            return "marked nofollow"
        if self.url_limit and len(link.url) > self.url_limit:
            return "longer than URLLENGTH_LIMIT"
        if link.hreflang and self.languages.holds_back(code := code_of(link.hreflang)):
            return f"its hreflang says {NAMES[code]} (FOCUS_LANGUAGES)"
        return "out of scope" if self.scope and self.scope.refuses(link.url) else ""

    def score_request(self, request: Request, page: Page) -> Request | None:
        """Score a request of the spider's own as a link of the page it came from."""
        view = copy(page)
        view.links = [Link(request.url)]
        (score,) = self.spider.score(view)
        closed = bool(self.depth_limit) and page.depth >= self.depth_limit
        if score is None or closed or self._rule_against(view.links[0]):
            self.crawler.stats.inc_value("focus/links_refused")
            return None
        request.meta[KEY] = Focus(min(1.0, max(0.0, score)), page.depth + 1, page.url)
        return request
