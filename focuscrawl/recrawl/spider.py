"""RevisitingSpider: makes a strategy revisit its stored pages, then fetch new ones.

Visits go through the frontier like any request, ranked by worth and ahead of all new pages. A changed page goes through
the pipelines like a new one, with a `visit`; its new links enter the frontier.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import Response

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.duplicates import signature
from focuscrawl.crawl.focus import KEY, Focus
from focuscrawl.crawl.responses import validators
from focuscrawl.manners.rights import HEADER, PAGE, ROBOTS_TXT
from focuscrawl.middlewares.redirects import REDIRECTS, redirect_target
from focuscrawl.page import Page, Visit
from focuscrawl.reading.documents import read_page
from focuscrawl.reading.feeds import is_feed
from focuscrawl.recrawl.revisit import BACK, CHANGED, DAY, GONE, UNCHANGED, UNREACHABLE, Due, difference, plan
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.bodies import body_of
from focuscrawl.store.page_bodies import Version
from focuscrawl.store.queue import Entry
from focuscrawl.web.addresses import Networks
from focuscrawl.web.browser_choice import browser_choice

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

#: Statuses of a permanent redirect.
_PERMANENT = (301, 308)


class RevisitingSpider(FocusedSpider):
    """A mixin that comes before a strategy in the class hierarchy; `revisiting` combines them."""

    #: Minimum seconds between two visits; maximum number of visits (0: all); number of new pages fetched afterwards.
    older_than = DAY
    most_visits = 0
    new_pages = 0
    #: Whether the seeds come from the crawl's file only. Such seeds do not open private networks or this machine.
    seeds_told = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawl = spider.crawl
        shells = bool(browser_choice(crawler.settings))
        now = clock.utc().timestamp()
        found = plan(crawl.store, now, older_than=cls.older_than, pages=cls.most_visits, shells=shells)
        spider.due = {due.url_id: due for due in found}
        crawl.to_visit = len(found)
        for due in found:  # the file is not trusted: a file: URL would be read from the disk
            if not due.url.startswith(("http://", "https://")):
                raise crawl.store.broken(f"page {due.page} has the URL {due.url!r}")
        if cls.seeds_told:
            crawl.networks = Networks(everything=crawl.networks.everything)
        spider.max_pages = crawl.pages  # no new pages before the visits are done
        spider._silent = []
        return spider

    #: The pages to visit, by URL id, the most worthwhile first.
    due: dict[int, Due]
    #: Visits without a response since the last response.
    _silent: list[tuple[Due, str]]

    async def start(self) -> AsyncIterator[Any]:
        """Queue visits instead of seeds."""
        if not await self.prepared():
            return
        scheduler = self.crawl.scheduler
        assert scheduler is not None
        scheduler.visit([self._entry(due) for due in self.due.values()], self)
        return
        yield  # makes this the async generator that Scrapy expects

    def _entry(self, due: Due) -> Entry:
        return Entry(due.url_id, due.url, due.worth, 0.0, due.depth, due.via, None)

    def visit_request(self, entry: Entry) -> Request:
        """A conditional request for a page: modified since the last visit."""
        due = self.due[entry.url_id]
        stored = self.crawl.store.pages.version(due.page)
        focus = Focus(stored.score, parent=stored.parent, visits=due.page)
        request = Request(due.url, callback=self.visit_ended, meta={KEY: focus})
        if stored.etag:
            request.headers["If-None-Match"] = stored.etag.encode("latin-1", "replace")
        if stored.last_modified:
            request.headers["If-Modified-Since"] = stored.last_modified.encode("latin-1", "replace")
        return request

    def visit_failed(self, focus: Focus, reason: str, *, silent: bool) -> None:
        """Record a failed visit; without a response, only once another host responds: the network may be down."""
        assert self.crawl.scheduler is not None
        if self.crawl.scheduler.closing:  # the next run visits it
            return
        due = self.due[focus.url_id]
        self.crawl.visited += 1
        if silent:
            self._silent.append((due, reason))
        else:
            self._note(due, None, UNREACHABLE, {"reason": reason})

    def visit_lost(self, focus: Focus, reason: str) -> None:
        """Log a page that the strategy fails on, and continue with the others."""
        self.logger.error("visit to %s failed: %s", focus.url, reason)
        self.crawler.stats.inc_value("focus/visits/error")

    def visits_done(self) -> int:
        """End the visits: recount the crawl, and return the number of new pages to fetch."""
        self._write(self._note_silent)
        self.crawl.count()
        return self.new_pages

    def _note_silent(self) -> None:
        for due, reason in self._silent:
            self._note(due, None, UNREACHABLE, {"reason": reason})
        self._silent.clear()

    def _write(self, work: Callable[[], None]) -> None:
        assert self.crawl.scheduler is not None
        self.crawl.scheduler.write(work)

    # ---- outcomes of a visit

    def visit_ended(self, response: Response) -> Iterator[Any]:
        """The callback of every visit."""
        focus = Focus.of(response)
        assert focus is not None
        self.crawl.visited += 1
        if self._silent:
            self._write(self._note_silent)
        due = self.due[focus.url_id]
        stored = self.crawl.store.pages.version(due.page)
        status, target = response.status, _target(response)
        if status == 304 and not due.gone:
            etag, last_modified = validators(response)
            self._end(focus, status, UNCHANGED, versions=(etag or stored.etag, last_modified or stored.last_modified))
        elif status in (404, 410):
            yield from self._gone(focus, stored, status, f"HTTP {status}")
        elif status in _PERMANENT and target and not self._is_same_page(target, due.url):
            yield from self._gone(focus, stored, status, f"moved to {target}", {"moved_to": target})
        elif not 200 <= status < 300:
            self._end(focus, status, UNREACHABLE, {"reason": f"HTTP {status}" + (f", to {target}" if target else "")})
        elif (
            response.body
            and not due.gone
            and stored.packed
            and response.body == body_of(stored.packed)
            and not self._refuses_otherwise(due, self._page(response), (ROBOTS_TXT, HEADER))
        ):
            self._end(focus, status, UNCHANGED, versions=validators(response))
        else:
            yield from self._compare(focus, stored, response)

    def _is_same_page(self, one: str, other: str) -> bool:
        any_scheme = self.crawl.frontier.any_scheme
        return urls.key(one, any_scheme=any_scheme) == urls.key(other, any_scheme=any_scheme)

    def _compare(self, focus: Focus, stored: Version, response: Response) -> Iterator[Any]:
        due, page = self.due[focus.url_id], Page(response.url)
        is_sitemap = stored.listing and not is_feed(response.body)  # a feed is read like a page
        for output in self.parse_sitemap(response) if is_sitemap else (self.read(response),):
            if isinstance(output, Page):
                page = output
            else:  # the sitemaps that an index lists
                yield output
        if page.problem == "soft 404":
            yield from self._gone(focus, stored, response.status, page.problem)
            return
        if page.problem:  # keep the version that was readable
            self._end(focus, response.status, UNREACHABLE, {"reason": page.problem})
            return
        details = self._difference(due, stored, page)
        if details is None and self._refuses_otherwise(due, page, (ROBOTS_TXT, HEADER, PAGE)):
            details = {}
        if details is None and not due.gone:
            self._end(focus, response.status, UNCHANGED, versions=(page.etag, page.last_modified), read=page)
            return
        page.url = due.url
        page.visit = Visit(due.page, BACK if due.gone else CHANGED, details or {})
        yield page

    def _difference(self, due: Due, stored: Version, page: Page) -> dict[str, Any] | None:
        if stored.packed is None:  # a near-duplicate of another page: only its signature is stored
            return None if signature(page) == stored.signature else {}
        old, body = Page(due.url), body_of(stored.packed)
        if stored.listing and not is_feed(body):
            self.read_sitemap(old, body)
        else:
            read_page(old, body, stored.content_type, documents=self.crawl.documents)
        return difference(old, page)

    def _refuses_otherwise(self, due: Due, page: Page, places: Sequence[str]) -> bool:
        """Whether other purposes than before are refused in these places."""
        return self.crawl.store.rights.get(due.page).refused(places) != page.rights.refused(places)

    def _gone(
        self, focus: Focus, stored: Version, status: int, problem: str, details: dict[str, Any] | None = None
    ) -> Iterator[Page]:
        due = self.due[focus.url_id]
        if due.gone:
            self._end(focus, status, GONE, {"reason": problem})
            return
        page = Page(due.url, status, stored.depth, stored.parent, stored.score, fetched_at=clock.now())
        page.url_id, page.problem = focus.url_id, problem
        page.visit = Visit(due.page, GONE, {"reason": problem} | (details or {}))
        yield page

    def _end(
        self,
        focus: Focus,
        status: int | None,
        outcome: str,
        details: dict[str, Any] | None = None,
        versions: tuple[str | None, str | None] | None = None,
        read: Page | None = None,
    ) -> None:
        """Record a visit that leaves the text of the stored page unchanged; the metadata of a page *read* is set."""
        due, scheduler = self.due[focus.url_id], self.crawl.scheduler
        assert scheduler is not None

        def work() -> None:
            if versions is not None:
                self.crawl.store.pages.set_validators(due.page, *versions)
            if read is not None:
                self.crawl.store.pages.renew_metadata(due.page, read)
            self._note(due, status, outcome, details)
            scheduler.finished(focus)

        self._write(work)

    def _note(self, due: Due, status: int | None, outcome: str, details: dict[str, Any] | None = None) -> None:
        self.crawl.store.visits.add(due.page, clock.now(), status, outcome, details)
        self.crawler.stats.inc_value(f"focus/visits/{outcome}")


def revisiting(
    strategy: type[FocusedSpider],
    *,
    older_than: float = DAY,
    most_visits: int = 0,
    new_pages: int = 0,
    seeds_told: bool = False,
) -> type[RevisitingSpider]:
    """A strategy that revisits its stored pages."""
    options = {"older_than": older_than, "most_visits": most_visits, "new_pages": new_pages, "seeds_told": seeds_told}
    return type(strategy.__name__, (RevisitingSpider, strategy), {"__module__": strategy.__module__, **options})


def _target(response: Response) -> str | None:
    """The target of a redirect; None for any other response."""
    location = response.headers.get("Location")
    if response.status not in REDIRECTS or not location:
        return None
    return redirect_target(response.url, location)
