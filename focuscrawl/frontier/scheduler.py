"""The frontier as Scrapy's scheduler.

Requests are built when they are handed out, as late as possible and only for hosts whose downloader slot is free:
better requests can no longer overtake those in a slot's own queue.
"""

from __future__ import annotations

import logging
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.exceptions import CloseSpider, DontCloseSpider, NotConfigured
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import PASSING, is_no_answer, reason_of
from focuscrawl.crawl.focus import KEY, Focus
from focuscrawl.frontier import requests
from focuscrawl.frontier.alarm import Alarm
from focuscrawl.frontier.budget import Budget
from focuscrawl.frontier.engine import Engine
from focuscrawl.frontier.frontier import Candidate
from focuscrawl.frontier.guarded import AGAIN, Guarded
from focuscrawl.frontier.network import Files, Network
from focuscrawl.frontier.process import tune
from focuscrawl.frontier.throttle import Throttle
from focuscrawl.frontier.visitor import Visitor
from focuscrawl.page import Page
from focuscrawl.store.errors import StoreError
from focuscrawl.store.queue import Entry
from focuscrawl.store.sqlite_file import UNREADABLE

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

#: The share of requests in flight that may go to hosts that have never answered, or did not answer the last time.
STRANGERS = 0.75
#: The time spent is recorded this often, in seconds: a crash loses little more of it.
NOTED = 10.0


def priority(score: float) -> int:
    """A score in [0, 1] as the priority of a Request."""
    return round(score * 1_000_000)


class FrontierScheduler(Guarded, BaseScheduler):
    """Hands out the best request among the hosts that may be fetched from now.

    Stats: ``focus/priority_inversions`` counts the requests that reached the downloader while a better one was waiting
    for a host that was free when they were handed over; ``focus/queued``, ``focus/dropped`` (queue full,
    FOCUS_FRONTIER_SIZE) and ``focus/host_full`` (FOCUS_PAGES_PER_HOST) describe the queue; ``focus/failed/<reason>``
    counts the URLs that gave no page.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        self.crawl.scheduler = self
        self.frontier = self.crawl.frontier
        self.hosts = self.crawl.hosts
        self.stats = crawler.stats
        self.engine = Engine(crawler)
        outage, earlier = crawler.settings.getint("FOCUS_OUTAGE"), partial(self.crawl.store.pages.last_urls, 100)
        self.network = Network(self.engine, outage, self.stop, earlier)
        self.files = Files(self.stop)
        self.throttle = Throttle.from_crawler(crawler)
        #: Requests that are retried, redirected or cannot be stored, by URL id.
        self._live: dict[int, Request] = {}
        #: Requests that were handed out and not finished yet, by URL id.
        self._in_flight: dict[int, Request] = {}
        #: Hosts of the requests between hand-over and the end of their download, by URL id.
        self.downloading: dict[int, str] = {}
        self._inversions = 0
        self._visitor: Visitor | None = None
        self.url_limit = min(crawler.settings.getint("URLLENGTH_LIMIT") or urls.MAX_LENGTH, urls.MAX_LENGTH)
        self._alarm = Alarm(self.engine.nudge)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseScheduler:  # type: ignore[override]
        try:
            return cls(crawler)
        except NotConfigured:  # there is no crawl, as in `scrapy shell`
            return Scheduler.from_crawler(crawler)

    def open(self, spider: Spider) -> None:
        self.spider = spider
        connect = self.crawler.signals.connect
        connect(tune(self.crawler.settings["LOG_LEVEL"]), signals.engine_stopped, weak=False)
        strategy, visits = self.crawl.strategy, self.crawl.to_visit is not None
        limits = (0.0, 0.0) if visits else (strategy.max_hours, strategy.stop_below)
        self.budget = Budget(self.crawl, strategy.max_pages, *limits)
        self.budget.resume()
        self.crawl.began = None if visits else clock.monotonic()
        self.frontier.rests = self.hosts.rests
        self.hosts.bind(self.engine, lambda: self.closing or self.crawl.out_of_time())
        if (rescore := self.frontier.rescorer) is not None:
            self.frontier.rescorer = lambda entry: self.ask("rescore", entry.url, lambda: rescore(entry), entry.score)
        connect(self._reached_downloader, signals.request_reached_downloader)
        connect(self._left_downloader, signals.request_left_downloader)
        connect(self._response_received, signals.response_downloaded)
        connect(self._spider_error, signals.spider_error)
        connect(self._item_lost, signals.item_error)
        connect(self._item_lost, signals.item_dropped)
        connect(self._idle, signals.spider_idle)
        connect(self.crawl.close, signals.engine_stopped)
        if (limit := self.budget.spent()) and not visits:
            logger.warning("%s", self.budget.describe(limit))
        told = "Resuming %s: %d pages stored, %d URLs wait" if self.crawl.resumed else "The crawl is in %s"
        figures = (self.crawl.pages, len(self.frontier)) if self.crawl.resumed else ()
        logger.info(told, self.crawl.folder.absolute(), *figures)

    def close(self, reason: str) -> None:
        self._alarm.stop()
        self.frontier.patience.hold_ends(clock.monotonic())
        if reason == "stop_below":
            self.crawl.why_ended = self.budget.describe(reason)
        self.write(partial(self.crawl.note_end, reason, str(self.budget.stop_below) if self.crawl.why_ended else ""))
        self.report()

    def report(self) -> None:
        """Bring the stats up to date."""
        for name, value in (self.frontier.figures() | {"priority_inversions": self._inversions}).items():
            self.stats.set_value(f"focus/{name}", value)

    # ---- in

    def enqueue_request(self, request: Request) -> bool:
        focus = Focus.of(request)
        if focus is not None and focus.url_id in self._in_flight:
            return self.write(lambda: self._again(request, focus))
        url = urls.join(request.url, "")
        if url is None or len(url) > self.url_limit:
            self.stats.inc_value("focus/links_refused")
            return False
        if url != request.url:
            request = request.replace(url=url)
        key = None
        if request.method != "GET" or request.body:
            digest = self.crawler.request_fingerprinter.fingerprint(request)
            key = [int.from_bytes(digest[:8], "big", signed=True)]
        return self.write(lambda: self._queue(request, focus or Focus(), key))

    def _queue(self, request: Request, focus: Focus, key: list[int] | None) -> bool:
        (url_id,) = self.frontier.identify([request.url], key)
        before = len(self.frontier)
        stored = self.keep(url_id, request)
        score = 1.0 if focus.score is None else focus.score
        self.frontier.offer([Candidate(url_id, request.url, score, focus.depth, focus.via, stored)])
        if len(self.frontier) == before:
            if stored is not None and self.frontier.waits(url_id):  # as a plain link: the request is more specific
                self.crawl.store.queue.keep_request(url_id, stored)
            return False
        return True

    def keep(self, url_id: int, request: Request) -> str | None:
        """The stored form of a request that is about to be queued; None if its URL is enough.

        One that cannot be stored is kept in memory.
        """
        if requests.is_plain(request, self.spider):
            return None
        stored = requests.dump(request, self.spider)
        if stored is None and not self.frontier.waits(url_id) and not self.frontier.is_taken(url_id):
            self._live[url_id] = request
        return stored

    def _again(self, request: Request, focus: Focus) -> bool:
        """Queue a request that returns from the downloader: for a retry, or for the target of a redirect."""
        url_id = focus.url_id
        self._release(url_id)
        if request.url != self._in_flight[url_id].url:
            if not focus.visits and not self.frontier.may_fetch(urls.host(request.url)):
                self._leave_to_others(request.url, focus)
                return True
            if not focus.visits and not self._claim(request.url, focus):  # a visit is redirected to the same page only
                self._fail(focus, f"redirect to a known page: {request.url}")
                return True
            request.meta.pop("download_slot", None)  # it names the original host
        self.frontier.again(url_id, urls.host(request.url))
        self._in_flight.pop(url_id, None)
        self._live[url_id] = request
        return True

    def _leave_to_others(self, url: str, focus: Focus) -> None:
        """Queue the target of a redirect to a host that another worker holds."""
        (target,) = self.frontier.identify([url])
        self.frontier.offer([Candidate(target, url, focus.score or 0.0, focus.depth, focus.via)])
        self._fail(focus, f"redirect to another worker's host: {url}")

    def _claim(self, url: str, focus: Focus) -> bool:
        """Take the target of a redirect out of the queue; False if it was fetched already or is in flight."""
        (target,) = self.frontier.identify([url])
        if target != focus.url_id and target not in focus.chain:
            if not self.frontier.claim(target):
                return False
            focus.chain.append(target)
        return True

    def visit(self, entries: list[Entry], visitor: Visitor) -> None:
        """Revisit stored pages, the most worthwhile first, before any new page is fetched."""
        self._visitor = visitor
        self.frontier.visit(entries)
        self.engine.nudge()

    # ---- out

    def has_pending_requests(self) -> bool:
        self._reap()
        if self.crawl.fatal:
            return False
        return self.frontier.visits > 0 or (not self.budget.spent() and self.frontier.has_open())

    def next_request(self) -> Request | None:
        self._reap()
        if not self.crawl.fatal and not self._is_ready():
            self._alarm.at(clock.monotonic() + AGAIN)
            return None
        if self.crawl.seconds_to_note() >= NOTED and not self.crawl.fatal:  # the engine asks during rests, too
            self.write(self.crawl.note_seconds)
        if not self.crawl.fatal:
            self.ask("marked", "", self.crawl.marks.look, None)
        in_flight = len(self._in_flight)
        moment = clock.monotonic()
        may_ask = self.frontier.visits or self.budget.allows(in_flight)
        if self.crawl.fatal or self.network.probing or not may_ask:
            self.frontier.patience.hold_ends(moment)
            return None
        slowed = self.throttle.rest(moment, in_flight) if self.throttle is not None else 0.0
        if rest := self.hosts.rest() or max(slowed, self.files.not_before - moment, 0.0):
            self.frontier.patience.hold_ends(moment)  # it rests anyway
            self._alarm.at(moment + min(rest, self.budget.seconds_left()))
            return None
        # a page that is downloaded but not yet stored may contain the best link: wait for it
        room = self.room(moment)
        if room <= in_flight:
            return None
        self.frontier.turns.most_strangers = max(1.0, room * STRANGERS // 1) if room < inf else inf
        patience = self.frontier.patience
        patience.pages_left, patience.haste = self.budget.pages_left(in_flight), self.budget.haste(in_flight)
        try:
            entry = self.frontier.pop(moment, self.hosts.free_at)
            request = self._request(entry) if entry is not None else None
        except StoreError as error:
            self.give_up(error)
            return None
        except Exception as error:  # Scrapy would log it and wait forever
            logger.exception("choosing the next URL failed")
            self.stop(f"choosing the next URL failed: {error!r}; stored data is intact", "cannot_go_on")
            return None
        if entry is None or request is None:
            soon = moment + AGAIN if self.crawl.store.shared else inf
            self._alarm.at(min(self.frontier.next_time(), moment + self.budget.seconds_left(), soon))
            return None
        host = self.engine.host_of(request)
        self._in_flight[entry.url_id] = request
        self.downloading[entry.url_id] = host
        self.hosts.hand(host, moment)
        request.meta[KEY].handed_at = moment
        return request

    def _is_ready(self) -> bool:
        """Whether the frontier can hand out URLs; figures of other workers are taken over."""
        try:
            ready = self.frontier.ready()
        except StoreError as error:
            self.give_up(error)
            return False
        if (totals := self.frontier.totals()) is not None:
            self.crawl.pages, self.crawl.relevant, self.crawl.matched = totals
        return ready

    def _request(self, entry: Entry) -> Request:
        request = self._live.pop(entry.url_id, None)
        if request is None:
            request = self._new_request(entry)
        focus = Focus.of(request) or Focus()
        focus.url_id, focus.url, focus.rank = entry.url_id, entry.url, entry.rank
        focus.depth, focus.via = entry.depth, entry.via
        if not focus.visits:  # a visit has the score that the page was first fetched with
            focus.score = entry.score
        if entry.via and focus.parent is None:
            focus.parent = self.crawl.store.links.page_url(entry.via)
        request.meta[KEY] = focus
        request.meta["depth"] = entry.depth
        request.priority = priority(entry.score)
        request.dont_filter = True
        if request.errback != self._failed:
            focus.errback = request.errback
            request.errback = self._failed
        return request

    def _new_request(self, entry: Entry) -> Request:
        if self._visitor is not None and self.frontier.is_visit(entry.url_id):
            return self._visitor.visit_request(entry)
        try:
            return requests.load(entry, self.spider)
        except UNREADABLE as error:  # the stored request is malformed
            raise StoreError(f"the stored request for {entry.url!r} cannot be read: {error}") from error

    def room(self, moment: float) -> float:
        """Most requests in flight now."""
        room = min(self.hosts.room(), self.files.room)
        return room if self.throttle is None else min(room, self.throttle.room(moment, len(self._in_flight)))

    def is_in_flight(self, request: Request) -> bool:
        """Whether a request is one of the frontier's, handed out and not finished."""
        focus = Focus.of(request)
        return focus is not None and focus.url_id in self._in_flight

    # ---- outcomes

    def _reached_downloader(self, request: Request) -> None:
        focus = Focus.of(request)
        if focus is None or focus.url_id not in self._in_flight:
            return
        # hosts that became free after the hand-over do not count: that could not be known
        if self.frontier.best_rank(focus.handed_at, self.hosts.free_at) > focus.rank:
            self._inversions += 1

    def _left_downloader(self, request: Request) -> None:
        focus = Focus.of(request)
        if focus is not None:
            self._release(focus.url_id)

    def _response_received(self, request: Request) -> None:
        self.network.answered(request.url)
        self.files.answered()
        self.frontier.host_answered(urls.host(request.url))

    def _release(self, url_id: int) -> None:
        host = self.downloading.pop(url_id, None)
        if host is not None:
            self.hosts.release(host)
            self.frontier.release(host)

    def short_of_files(self) -> None:
        """Handle reaching the process's limit of open files."""
        self.files.ran_out(len(self._in_flight))

    def focus_of(self, url_id: int) -> Focus | None:
        """The Focus of the request in flight for a URL; None if there is none."""
        request = self._in_flight.get(url_id)
        return Focus.of(request) if request is not None else None

    def finished(self, focus: Focus, *, page_host: str | None = None, for_good: bool = True) -> None:
        """Mark a request as finished. Call inside the transaction that stores its outcome."""
        self._release(focus.url_id)
        self._in_flight.pop(focus.url_id, None)
        self.frontier.finish([focus.url_id, *focus.chain], page_host=page_host, for_good=for_good)

    def put_back(self, url_id: int) -> None:
        """Forget a request whose outcome could not be stored: its URL still waits in the store."""
        self._release(url_id)
        if self._in_flight.pop(url_id, None) is not None:
            self.frontier.put_back(url_id)

    def _failed(self, failure: Failure) -> Any:
        """The errback of all requests, for those without a response."""
        request: Request = failure.request  # type: ignore[attr-defined]
        focus = Focus.of(request)
        assert focus is not None
        error: Exception = failure.value  # type: ignore[assignment]
        passing, silent = isinstance(error, PASSING), is_no_answer(error)
        if isinstance(error, HttpError) and focus.visits and self._visitor is not None:
            return self._visitor.visit_ended(error.response)  # HTTPERROR_ALLOW_ALL is off, but 304 and 404 are answers
        if not (isinstance(error, HttpError) and self.crawl.strategy is not self.spider):  # a guest makes a page of it
            self.write(lambda: self._fail(focus, reason_of(error), for_good=not passing, silent=silent))
        if silent:
            self.no_answer(request.url)
        return focus.errback(failure) if focus.errback else None

    def no_answer(self, url: str) -> None:
        """Record that a request got no answer."""
        self.frontier.host_silent(urls.host(url))
        self.network.no_answer(url)

    def _fail(self, focus: Focus, reason: str, *, for_good: bool = True, silent: bool | None = None) -> None:
        """Record that a request gave no page. *silent*: None with a response, else whether the host did not answer."""
        if focus.url_id not in self._in_flight:
            return
        if focus.visits and self._visitor is not None:
            if silent is None:
                self._visitor.visit_lost(focus, reason)
            else:
                self._visitor.visit_failed(focus, reason, silent=silent)
            self.finished(focus)
            return
        self.stats.inc_value(f"focus/failed/{reason.partition(':')[0]}")
        if not focus.via and not focus.parent:
            logger.error("Seed %s: %s", focus.url, reason)
        self.crawl.store.failures.add(focus.url_id, focus.url, reason, focus.via, clock.now())
        self.finished(focus, for_good=for_good)

    def _fail_all(self, through: list[Focus], reason: str) -> None:
        for focus in through:
            self._fail(focus, reason)

    def _lost(self, response: Response | None, reason: str) -> None:
        focus = Focus.of(response) if isinstance(response, Response) else None
        if focus is not None and focus.url_id in self._in_flight and not self.crawl.fatal and not self.frontier.stale:
            self.write(lambda: self._fail(focus, reason))

    def _reap(self) -> None:
        """Fail the requests that Scrapy has finished without a page, because their callback returned none."""
        requests = [request for request in self._in_flight.values() if self.engine.is_through_with(request)]
        through = [focus for focus in map(Focus.of, requests) if focus is not None]
        if self.frontier.stale:
            for focus in through:
                self.put_back(focus.url_id)
        elif through and not self.crawl.fatal:
            reason = "no page: the callback returned none"
            self.write(lambda: self._fail_all(through, reason))

    def _spider_error(self, failure: Failure, response: Response | None) -> None:
        if self.crawl.strategy is not self.spider:  # a guest spider's page still arrives, with the links found so far
            return
        self._lost(response, f"spider error: {failure.value!r}")

    def _item_lost(self, item: Any, response: Response | None) -> None:
        if isinstance(item, Page):
            self._lost(response, "dropped by a pipeline")

    def _idle(self) -> None:
        """Handle an idle crawl: the strategy may have more to fetch, or the crawl is over."""
        if self.network.probing and not self.crawl.fatal:
            raise DontCloseSpider
        if self._visitor is not None and not self.crawl.fatal:
            visitor, self._visitor = self._visitor, None
            self.budget.max_pages = self.crawl.pages + visitor.visits_done()
            self.engine.nudge()
            raise DontCloseSpider
        if limit := self.budget.spent():
            raise CloseSpider(limit)
        if self.crawl.fatal:
            return
        if self.ask("refill", "", self.crawl.strategy.refill, False):
            self.engine.nudge()
            raise DontCloseSpider
