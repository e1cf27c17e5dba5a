"""RevisitingSpider: what makes a strategy visit the pages it has stored, instead of new ones.

Visits go through Scrapy's engine with all its manners, but beside the frontier, for which these URLs are done. A page
that is not what it was goes through the pipelines like a new one, with a `visit`; its new links wait in the frontier.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from math import inf
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request
from scrapy.http import Response

from focuscrawl import urls
from focuscrawl.crawl.clock import now
from focuscrawl.crawl.duplicates import signature
from focuscrawl.crawl.failures import PASSING, reason_of
from focuscrawl.crawl.responses import validators
from focuscrawl.errors import FocusError
from focuscrawl.frontier.scheduler import FrontierScheduler
from focuscrawl.html import read_page
from focuscrawl.manners.sitemap import read_sitemap
from focuscrawl.middlewares.redirects import REDIRECTS, redirect_target
from focuscrawl.middlewares.scoring import ScoringMiddleware
from focuscrawl.page import Page, Visit
from focuscrawl.recrawl.revisit import BACK, CHANGED, DAY, GONE, UNCHANGED, UNREACHABLE, Due, Turns, difference, plan
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.sqlite_file import inflate
from focuscrawl.web.addresses import Networks

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

#: Longest time between two looks at what may be done next.
_HEARTBEAT = 5.0
#: Between two looks at whether the network is there.
_GLANCE = 0.05
_FOR_GOOD = (301, 308)


class _Stored(NamedTuple):
    """What the store has of a page."""

    url_id: int
    depth: int
    parent: str | None
    score: float | None
    via: int | None
    content_type: str
    etag: str | None
    last_modified: str | None
    listing: int
    signature: bytes | None
    body: bytes | None


_STORED = f"SELECT {', '.join(_Stored._fields)} FROM page WHERE id = ?"


class RevisitingSpider(FocusedSpider):
    """Goes before a strategy in the line of classes; `revisiting` puts them together."""

    #: Seconds for which a page is left alone after a visit; most pages visited (0: all); new pages fetched then.
    older_than = DAY
    most_visits = 0
    new_pages = 0
    #: Whether the seeds are known from the crawl's file alone: then they open no private network, nor this machine.
    seeds_told = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawl = spider.crawl
        spider.due = plan(crawl.store, time(), older_than=cls.older_than, pages=cls.most_visits)
        crawl.to_visit = len(spider.due)
        for due in spider.due:  # whatever the file says: a URL of file: would be read from the disk
            if not due.url.startswith(("http://", "https://")):
                raise crawl.store.broken(f"page {due.page} has the URL {due.url!r}")
        if cls.seeds_told:
            crawl.networks = Networks(everything=crawl.networks.everything)
        spider.max_pages = crawl.pages  # nothing new before the visits are done
        spider._tries = Counter()
        spider._silent = []
        return spider

    due: list[Due]
    _tries: Counter[int]
    #: Visits without an answer since the last one that got one.
    _silent: list[tuple[Due, str]]

    async def start(self) -> AsyncIterator[Any]:
        """No seeds: visits, then what waits in the frontier."""
        scheduler = FrontierScheduler.of(self.crawler)
        try:
            await self.before_crawl()
        except FocusError as error:
            scheduler.stop(str(error), "cannot_learn")
            return
        await self._visit_all(scheduler)
        if not scheduler.closing:
            self._note_silent()
            self.crawl.count()
            scheduler.admit(self.new_pages)
        return
        yield  # makes it the generator that Scrapy asks for

    async def _visit_all(self, scheduler: FrontierScheduler) -> None:
        turns = Turns(self.due, urls.host)
        running: set[asyncio.Future[None]] = set()
        while (turns or running or scheduler.probing) and not scheduler.closing:
            moment, rest = monotonic(), scheduler.hosts.rest()
            may = not rest and not scheduler.probing and len(running) < scheduler.room()
            if may and (due := turns.take(moment, scheduler.hosts.free_at)) is not None:
                running.add(asyncio.ensure_future(self._visit(due, turns)))
                continue
            pause = min(_HEARTBEAT, rest or inf, max(0.0, turns.next_time() - moment) if may else inf)
            if scheduler.probing:
                pause = _GLANCE
            if running:
                _, running = await asyncio.wait(running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            else:
                await asyncio.sleep(pause)

    async def _visit(self, due: Due, turns: Turns) -> None:
        scheduler = FrontierScheduler.of(self.crawler)
        try:
            stored = self._stored(due.page)
            response: Response | None = None
            try:
                response = await self._ask(scheduler, due, stored)
                again = response.status in self._retried()
                problem = f"HTTP {response.status}"
            except Exception as error:  # whatever keeps the page from us: it stays as it is
                again, problem = isinstance(error, PASSING), reason_of(error)
            if scheduler.closing:  # too late to store anything: the next run visits it again
                return
            self._tries[due.page] += 1
            if again and self._tries[due.page] <= self._most_retries():
                turns.again(due)
                return
            self.crawl.visited += 1
            if response is None:
                self._silent.append((due, problem))
                return
            self._note_silent()
            if again:
                self._note(due, response.status, UNREACHABLE, {"reason": problem})
            else:
                await self._conclude(due, stored, response)
        except Exception:  # one page that a strategy cannot judge does not keep us from the others
            self.logger.exception("%s was visited in vain", due.url)
            self.crawler.stats.inc_value("focus/visits/error")
        finally:
            turns.done(due.url)

    def _note_silent(self) -> None:
        """Somebody has answered, so it is not the network that was down for those who did not."""
        for due, problem in self._silent:
            self._note(due, None, UNREACHABLE, {"reason": problem})
        self._silent.clear()

    def _most_retries(self) -> int:
        return self.settings.getint("RETRY_TIMES") if self.settings.getbool("RETRY_ENABLED") else 0

    def _retried(self) -> set[int]:
        return {int(status) for status in self.settings.getlist("RETRY_HTTP_CODES")}

    def _stored(self, number: int) -> _Stored:
        return _Stored(*self.crawl.store.execute(_STORED, (number,)).fetchone())

    async def _ask(self, scheduler: FrontierScheduler, due: Due, stored: _Stored) -> Response:
        """The answer to a visit; redirects to another way to write the same URL are followed."""
        headers: dict[str, bytes] = {}
        if stored.etag:
            headers["If-None-Match"] = stored.etag.encode("latin-1", "replace")
        if stored.last_modified:
            headers["If-Modified-Since"] = stored.last_modified.encode("latin-1", "replace")
        url = due.url
        for _ in range(max(1, self.settings.getint("REDIRECT_MAX_TIMES"))):
            focus = {"id": stored.url_id, "depth": stored.depth, "parent": stored.parent, "score": stored.score}
            meta = {"dont_redirect": True, "focus": focus | {"via": stored.via}}
            response = await scheduler.download(Request(url, headers=headers, meta=meta, dont_filter=True))
            target = _target(response)
            if target is None or target == url or not self._same_page(target, due.url):
                break
            url = target
        return response

    def _same_page(self, one: str, other: str) -> bool:
        any_scheme = self.crawl.frontier.any_scheme
        return urls.key(one, any_scheme=any_scheme) == urls.key(other, any_scheme=any_scheme)

    # ---- what comes of a visit

    async def _conclude(self, due: Due, stored: _Stored, response: Response) -> None:
        status, target = response.status, _target(response)
        if status == 304 and not due.gone:
            etag, last_modified = validators(response)
            self._unchanged(due, status, (etag or stored.etag, last_modified or stored.last_modified))
        elif status in (404, 410):
            await self._gone(due, stored, status, f"HTTP {status}")
        elif status in _FOR_GOOD and target and not self._same_page(target, due.url):
            await self._gone(due, stored, status, f"moved to {target}", {"moved_to": target})
        elif not 200 <= status < 300:
            reason = f"HTTP {status}" + (f", to {target}" if target else "")
            self._note(due, status, UNREACHABLE, {"reason": reason})
        elif response.body and not due.gone and stored.body and response.body == inflate(stored.body):
            self._unchanged(due, status, validators(response))
        else:
            await self._compare(due, stored, response)

    async def _compare(self, due: Due, stored: _Stored, response: Response) -> None:
        page = self._read_listing(response) if stored.listing else self.read(response)
        if page.problem == "soft 404":
            await self._gone(due, stored, response.status, page.problem)
            return
        if page.problem:  # what could be read once is not given up for what cannot
            self._note(due, response.status, UNREACHABLE, {"reason": page.problem})
            return
        details = self._difference(due, stored, page)
        if details is None and not due.gone:
            self._unchanged(due, response.status, (page.etag, page.last_modified))
            return
        page.url = due.url
        page.visit = Visit(due.page, BACK if due.gone else CHANGED, details or {})
        scoring = self.crawler.get_spider_middleware(ScoringMiddleware)
        assert scoring is not None
        scoring.score(page, response)
        await self._store(page)

    def _difference(self, due: Due, stored: _Stored, page: Page) -> dict[str, Any] | None:
        if stored.body is None:  # a near-duplicate of another page: its text was not kept, but what tells it
            return None if signature(page) == stored.signature else {}
        old, body = Page(due.url), inflate(stored.body)
        if stored.listing:
            read_sitemap(old, body, self.settings.getint("DOWNLOAD_MAXSIZE"))
        else:
            read_page(old, body, stored.content_type)
        return difference(old, page)

    def _read_listing(self, response: Response) -> Page:
        """The page of a sitemap; the sitemaps that an index lists go to the frontier."""
        page = Page(response.url)
        for output in self.parse_sitemap(response):
            if isinstance(output, Page):
                page = output
            elif isinstance(output, Request):
                FrontierScheduler.of(self.crawler).enqueue_request(output)
        return page

    def _unchanged(self, due: Due, status: int, versions: tuple[str | None, str | None]) -> None:
        self._note(due, status, UNCHANGED, versions=versions)

    async def _gone(
        self, due: Due, stored: _Stored, status: int, problem: str, details: dict[str, Any] | None = None
    ) -> None:
        if due.gone:
            self._note(due, status, GONE, {"reason": problem})
            return
        page = Page(due.url, status, stored.depth, stored.parent, stored.score, fetched_at=now())
        page.problem = problem
        page.visit = Visit(due.page, GONE, {"reason": problem} | (details or {}))
        await self._store(page)

    async def _store(self, page: Page) -> None:
        assert page.visit is not None
        await self.crawler.engine.scraper.start_itemproc_async(page, response=None)
        self.crawler.stats.inc_value(f"focus/visits/{page.visit.outcome}")

    def _note(
        self,
        due: Due,
        status: int | None,
        outcome: str,
        details: dict[str, Any] | None = None,
        versions: tuple[str | None, str | None] | None = None,
    ) -> None:
        """Keep what came of a visit that leaves the page as it is."""
        store = self.crawl.store

        def work() -> None:
            if versions is not None:
                store.set_validators(due.page, *versions)
            store.add_visit(due.page, now(), status, outcome, details)

        FrontierScheduler.of(self.crawler).write(work)
        self.crawler.stats.inc_value(f"focus/visits/{outcome}")


def revisiting(
    strategy: type[FocusedSpider],
    *,
    older_than: float = DAY,
    most_visits: int = 0,
    new_pages: int = 0,
    seeds_told: bool = False,
) -> type[RevisitingSpider]:
    """A strategy that visits the pages it has stored."""
    options = {"older_than": older_than, "most_visits": most_visits, "new_pages": new_pages, "seeds_told": seeds_told}
    return type(strategy.__name__, (RevisitingSpider, strategy), {"__module__": strategy.__module__, **options})


def _target(response: Response) -> str | None:
    """Where a response redirects to; None if it does not."""
    location = response.headers.get("Location")
    if response.status not in REDIRECTS or not location:
        return None
    return redirect_target(response.url, location)
