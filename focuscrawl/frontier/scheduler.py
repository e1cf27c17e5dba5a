"""The frontier as Scrapy's scheduler.

Requests are built when they are handed out. They are handed out as late as possible, and only for hosts whose
downloader slot is free, because a slot's own queue cannot be overtaken any more.
"""

from __future__ import annotations

import base64
import json
import logging
import sqlite3
import sys
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.exceptions import CloseSpider, DontCloseSpider, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import _schedule_coro
from scrapy.utils.request import request_from_dict
from twisted.python.failure import Failure

from focuscrawl import urls
from focuscrawl.crawl.clock import now
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import PASSING, HostRests, is_no_answer, reason_of
from focuscrawl.errors import FocusError
from focuscrawl.frontier.frontier import COLD, QUEUED, Candidate, Entry
from focuscrawl.page import Page
from focuscrawl.store.sqlite_file import UNREADABLE

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

#: What the frontier puts into a request's meta by itself; a request with anything more is stored whole.
_OWN_META = frozenset({"focus", "depth", "is_start_request"})


#: Hosts that answered before are asked whether the network is there, so many at most.
PROBES = 3
#: The share of requests under way that may be for hosts that did not answer yet, or not the last time.
STRANGERS = 0.75
#: With no file left, requests are tried again so often before the crawl gives up.
_FILE_TRIES = 20


def priority(score: float) -> int:
    """A score in [0, 1] as the priority of a Request."""
    return round(score * 1_000_000)


class FrontierScheduler(BaseScheduler):
    """Hands out the best request among the hosts that may be fetched now.

    Stats: ``focus/priority_inversions`` counts the requests that reached the downloader while a better one was waiting
    for a host that was free when they were handed over; ``focus/queued``, ``focus/dropped`` (fell off the end,
    FOCUS_FRONTIER_SIZE) and ``focus/host_full`` (FOCUS_PAGES_PER_HOST) describe the queue; ``focus/failed/<reason>``
    what gave no page.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        self.frontier = self.crawl.frontier
        self.stats = crawler.stats
        #: Requests that are on their way again, or cannot be stored, by URL id.
        self._live: dict[int, Request] = {}
        #: Hosts of the requests that are between here and the end of their download, by URL id.
        self._downloading: dict[int, str] = {}
        self.hosts = self.crawl.hosts
        self.crawl.scheduler = self
        #: Requests that were handed out and are not dealt with yet, by URL id.
        self._in_flight: dict[int, Request] = {}
        self._inversions = 0
        #: Requests in a row that got no answer at all, and whether somebody is asked if the network is there.
        self._outage = 0
        self.probing = False
        self.outage_limit = crawler.settings.getint("FOCUS_OUTAGE")
        #: Sites that answered, the last one last.
        self._answered: dict[str, None] = {}
        #: How many requests there are files for, and how often there was none.
        self._file_room = inf
        self._short_of_files = 0
        #: When the next request may be handed out.
        self._not_before = 0.0
        self.url_limit = min(crawler.settings.getint("URLLENGTH_LIMIT") or urls.MAX_LENGTH, urls.MAX_LENGTH)
        self._wake: Any = None
        self._wake_time = inf

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseScheduler:  # type: ignore[override]
        try:
            return cls(crawler)
        except NotConfigured:  # there is no crawl, as in `scrapy shell`
            return Scheduler.from_crawler(crawler)

    @classmethod
    def of(cls, crawler: Crawler) -> FrontierScheduler:
        """The frontier of a running crawl."""
        scheduler = crawler.engine.scheduler
        assert isinstance(scheduler, cls)
        return scheduler

    def open(self, spider: Spider) -> None:
        self.spider = spider
        self.max_pages = self.crawl.strategy.max_pages
        self._downloader = self.crawler.engine.downloader
        self.hosts.bind(self._downloader, lambda: self.closing)
        if (rescore := self.frontier.rescorer) is not None:
            self.frontier.rescorer = lambda entry: self.ask("rescore", entry.url, lambda: rescore(entry), entry.score)
        connect = self.crawler.signals.connect
        connect(self._reached_downloader, signals.request_reached_downloader)
        connect(self._left_downloader, signals.request_left_downloader)
        connect(self._response_received, signals.response_downloaded)
        connect(self._spider_error, signals.spider_error)
        connect(self._item_lost, signals.item_error)
        connect(self._item_lost, signals.item_dropped)
        connect(self._idle, signals.spider_idle)
        connect(self._stopped, signals.engine_stopped)
        if self._full() and self.crawl.to_visit is None:
            logger.warning(
                "%d pages are stored already: raise max_pages (%d) to go on", self.crawl.pages, self.max_pages
            )
        folder = self.crawl.folder.absolute()
        if self.crawl.resumed:
            logger.info("Resuming %s: %d pages stored, %d URLs wait", folder, self.crawl.pages, len(self.frontier))
        else:
            logger.info("The crawl is in %s", folder)

    def close(self, reason: str) -> None:
        if self._wake is not None:
            self._wake.cancel()
        self.report()

    def report(self) -> None:
        """Bring the stats up to date."""
        self.stats.set_value("focus/priority_inversions", self._inversions)
        self.stats.set_value("focus/queued", len(self.frontier))
        self.stats.set_value("focus/dropped", self.frontier.dropped)
        self.stats.set_value("focus/host_full", self.frontier.host_full)
        self.stats.set_value("focus/pattern_full", self.frontier.damped_out)
        self.stats.set_value("focus/damped", self.frontier.damped)

    def _stopped(self) -> None:
        self.crawl.close()

    def write(self, work: Callable[[], bool | None]) -> bool:
        """Do some work in one transaction; if the file cannot be written the crawl stops."""
        try:
            with self.crawl.store.transaction():
                return bool(work())
        except sqlite3.Error as error:
            self.give_up(error)
            return False

    def give_up(self, error: Exception) -> None:
        """The crawl cannot be written any more (disk full, read-only, damaged): stop, with what is stored intact."""
        self.stop(
            f"cannot write to {self.crawl.folder}: {error}; what was stored before is intact: free the space or mend"
            " the disk, then run the same command again to go on",
            "store_failed",
        )

    def stop(self, message: str, reason: str) -> None:
        """Stop a crawl that cannot go on."""
        if self.crawl.fatal is None:
            self.crawl.fatal = message
            logger.error("%s", message)
            _schedule_coro(self.crawler.engine.close_spider_async(reason=reason))

    def ask(self, hook: str, url: str, call: Callable[[], Answer], otherwise: Answer) -> Answer:
        """What a strategy answers, or *otherwise* if it fails: that costs what it would have said, not the page.

        What cannot be written stops the crawl.
        """
        try:
            return call()
        except sqlite3.Error as error:
            self.give_up(error)
        except FocusError as error:
            self.stop(str(error), "cannot_go_on")
        except OSError as error:
            self.stop(f"spider '{self.crawl.strategy.name}' failed in {hook}: {error}", "cannot_go_on")
        except Exception as error:
            reason = f"spider error: {hook}: {error!r}"
            logger.exception("%s on %s", reason, url)
            self.stats.inc_value("spider_exceptions/count")
            self.stats.inc_value(f"spider_exceptions/{type(error).__name__}")
            url_id = self.frontier.find(url)
            if url_id is not None and self.frontier.state(url_id) in (QUEUED, COLD):
                url_id = None  # of a link that waits it says nothing: nobody has asked for it yet
            self.write(lambda: self.crawl.store.add_failure(url_id, url, reason, None, now()))
        return otherwise

    # ---- in

    def enqueue_request(self, request: Request) -> bool:
        focus = request.meta.get("focus")
        if focus and focus.get("id") in self._in_flight:
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
        return self.write(lambda: self._queue(request, focus or {}, key))

    def _queue(self, request: Request, focus: dict[str, Any], key: list[int] | None) -> bool:
        (url_id,) = self.frontier.identify([request.url], key)
        before = len(self.frontier)
        stored = self.keep(url_id, request)
        place = focus.get("score", 1.0), focus.get("depth", 0), focus.get("via")
        self.frontier.offer([Candidate(url_id, request.url, *place, stored)])
        if len(self.frontier) == before:
            if stored is not None and self.frontier.state(url_id) in (QUEUED, COLD):
                # it waits as a link and nothing more: the request says what to do with the answer
                query = "UPDATE frontier SET request = ? WHERE url_id = ? AND request IS NULL"
                self.crawl.store.execute(query, (stored, url_id))
            return False
        return True

    def keep(self, url_id: int, request: Request) -> str | None:
        """A request that is about to be queued, as it is kept in the file; None if its URL is enough.

        One that cannot be kept there is kept in memory.
        """
        if self._plain(request):
            return None
        stored = self._dump(request)
        if stored is None and self.frontier.state(url_id) < QUEUED:
            self._live[url_id] = request
        return stored

    def _plain(self, request: Request) -> bool:
        """Whether the URL says all there is to know about a request."""
        callback = getattr(request.callback, "__func__", request.callback)
        return (
            request.method == "GET"
            and not request.body
            and not request.headers
            and not request.cb_kwargs
            and not request.cookies
            and request.errback is None
            and (callback is None or callback is getattr(type(self.spider), "parse", None))
            and _OWN_META.issuperset(request.meta)
        )

    def _dump(self, request: Request) -> str | None:
        try:
            fields = request.to_dict(spider=self.spider)
            fields["headers"] = {name.decode("latin-1"): values for name, values in fields["headers"].items()}
            return json.dumps(fields, default=_bytes_to_json)
        except (TypeError, ValueError) as error:
            logger.warning("%s cannot be stored whole and will not survive a crash as it is: %s", request, error)
            return None

    def _again(self, request: Request, focus: dict[str, Any]) -> bool:
        """A request comes back from the downloader: to be retried, or to go on at the target of a redirect."""
        url_id: int = focus["id"]
        self._release(url_id)
        chain: list[int] = focus.setdefault("chain", [])
        if request.url != self._in_flight[url_id].url:
            (target,) = self.frontier.identify([request.url])
            if target != url_id and target not in chain:
                if not self.frontier.claim(target):
                    self._fail(focus, f"redirect to a page known already: {request.url}")
                    return True
                chain.append(target)
            request.meta.pop("download_slot", None)  # it names the host that was asked first
        self.frontier.again(url_id, urls.host(request.url))
        self._in_flight.pop(url_id, None)
        self._live[url_id] = request
        return True

    # ---- out

    def has_pending_requests(self) -> bool:
        self._reap()
        return not self._full() and not self.crawl.fatal and self.frontier.has_open()

    def _full(self) -> bool:
        return self.max_pages > 0 and self.crawl.pages >= self.max_pages

    def next_request(self) -> Request | None:
        self._reap()
        in_flight = len(self._in_flight)
        if self.crawl.fatal or (self.max_pages and self.crawl.pages + in_flight >= self.max_pages):
            return None
        moment = monotonic()
        if rest := self.hosts.rest() or max(0.0, self._not_before - moment):
            self._wake_at(moment + rest)
            return None
        # a page that was downloaded but not yet stored may hold the best link of all: wait for it
        room = self.room()
        if room <= in_flight or self.probing:
            return None
        self.frontier.most_strangers = max(1.0, room * STRANGERS // 1) if room < inf else inf
        try:
            entry = self.frontier.pop(moment, self.hosts.free_at)
            request = self._request(entry) if entry is not None else None
        except sqlite3.Error as error:
            self.give_up(error)
            return None
        if entry is None or request is None:
            self._wake_at(self.frontier.next_time())
            return None
        host = self._downloader.get_slot_key(request)
        self._in_flight[entry.url_id] = request
        self._downloading[entry.url_id] = host
        self.hosts.hand(host, moment)
        request.meta["focus"]["handed_at"] = moment
        return request

    def is_in_flight(self, request: Request) -> bool:
        """Whether a request is one of the frontier's, handed out and not dealt with."""
        focus = request.meta.get("focus")
        return focus is not None and focus.get("id") in self._in_flight

    def _request(self, entry: Entry) -> Request:
        request = self._live.pop(entry.url_id, None)
        if request is None:
            try:
                request = _stored_request(entry, self.spider)
            except UNREADABLE as error:  # it came out of the file
                raise sqlite3.DataError(f"what waits for {entry.url!r} cannot be read: {error}") from error
        focus = request.meta.get("focus", {})
        focus |= {
            "id": entry.url_id,
            "url": entry.url,
            "score": entry.score,
            "rank": entry.rank,
            "depth": entry.depth,
            "via": entry.via,
        }
        if entry.via and "parent" not in focus:
            focus["parent"] = self.crawl.store.page_of_link(entry.via)
        request.meta["focus"] = focus
        request.meta["depth"] = entry.depth
        request.priority = priority(entry.score)
        request.dont_filter = True
        if request.errback != self._failed:
            focus["errback"] = request.errback
            request.errback = self._failed
        return request

    def room(self) -> float:
        """How many requests may be under way now."""
        return min(self.hosts.room(), self._file_room)

    def short_of_files(self) -> None:
        """The process may open no more files: fewer requests at a time are tried, and if that does not help, none."""
        if self._file_room == inf:
            logger.warning(
                "too many open files: the crawl goes on with fewer requests at a time; raise the limit (ulimit -n) or"
                " lower CONCURRENT_REQUESTS"
            )
        under_way = len(self._in_flight)
        if under_way > self._file_room:  # of those that were under way when there were more
            return
        self._file_room = max(1, under_way // 2)
        self._short_of_files += 1
        self._not_before = monotonic() + min(1.0, 0.05 * self._short_of_files)
        if self._short_of_files > _FILE_TRIES:
            self.stop(
                "too many open files, even with one request at a time; raise the limit (ulimit -n) and run the same"
                " command again, and nothing is lost",
                "too_many_files",
            )

    def _wake_at(self, moment: float) -> None:
        """See that the engine asks again when the next host is free; by itself it would ask every five seconds."""
        if moment == inf or (self._wake is not None and self._wake_time <= moment):
            return
        if self._wake is not None:
            self._wake.cancel()
        self._wake_time = moment
        self._wake = call_later(max(0.0, moment - monotonic()), self._woken)

    def _woken(self) -> None:
        self._wake, self._wake_time = None, inf
        self._nudge()

    def _nudge(self) -> None:
        slot = self.crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    # ---- beside the queue

    async def download(self, request: Request) -> Response:
        """Download a request that the queue knows nothing of, for a host that is free; it counts as asked.

        Raises what keeps the response from us. To be tried again is for the caller to decide: Scrapy would do it at
        once, whatever rest a host has asked for.
        """
        host = self._downloader.get_slot_key(request)
        self.hosts.hand(host, monotonic())
        request.meta["dont_retry"] = True
        try:
            return await self.crawler.engine.download_async(request)
        except Exception as error:
            if is_no_answer(error):
                self.no_answer(request.url)
            raise
        finally:
            self._release_host(host)

    def admit(self, pages: int) -> None:
        """Let so many more pages be fetched than there are."""
        self.max_pages = self.crawl.pages + pages
        self._nudge()

    @property
    def closing(self) -> bool:
        """Whether the crawl is about to end."""
        slot = self.crawler.engine._slot
        return self.crawl.fatal is not None or slot is None or slot.closing is not None

    # ---- what becomes of them

    def _reached_downloader(self, request: Request) -> None:
        focus = request.meta.get("focus")
        if not focus or focus.get("id") not in self._in_flight:
            return
        # hosts that became free after the request was handed over do not count: nobody could have known better
        if self.frontier.best_rank(focus["handed_at"], self.hosts.free_at) > focus["rank"]:
            self._inversions += 1

    def _left_downloader(self, request: Request) -> None:
        focus = request.meta.get("focus")
        if focus:
            self._release(focus.get("id", 0))

    def _response_received(self, request: Request) -> None:
        self._outage = self._short_of_files = 0
        site = urls.site(request.url)
        self._answered.pop(site, None)
        self._answered[site] = None
        if len(self._answered) > PROBES:
            del self._answered[next(iter(self._answered))]
        self.frontier.host_answered(urls.host(request.url))

    def _release(self, url_id: int) -> None:
        host = self._downloading.pop(url_id, None)
        if host is not None:
            self._release_host(host)

    def _release_host(self, host: str) -> None:
        self.hosts.release(host)
        self.frontier.release(host)

    def focus_of(self, url_id: int) -> dict[str, Any] | None:
        """What is known of the request in flight for a URL; None if there is none."""
        request = self._in_flight.get(url_id)
        return request.meta["focus"] if request is not None else None

    def finished(self, focus: dict[str, Any], *, page_host: str | None = None, for_good: bool = True) -> None:
        """A request is dealt with. Call inside the transaction that stores what came of it."""
        url_id = focus["id"]
        self._release(url_id)
        self._in_flight.pop(url_id, None)
        self.frontier.finish([url_id, *focus.get("chain", ())], page_host=page_host, for_good=for_good)

    def _failed(self, failure: Failure) -> Any:
        """The errback of every request: it gave no response."""
        request: Request = failure.request  # type: ignore[attr-defined]
        focus = request.meta["focus"]
        error: Exception = failure.value  # type: ignore[assignment]
        passing = isinstance(error, PASSING)
        if not (
            isinstance(error, HttpError) and self.crawl.strategy is not self.spider
        ):  # a guest's answer makes a page
            self.write(lambda: self._fail(focus, reason_of(error), for_good=not passing))
        if is_no_answer(error):
            self.no_answer(request.url)
        errback = focus.get("errback")
        return errback(failure) if errback else None

    def no_answer(self, url: str) -> None:
        """Nobody has answered; if that goes on, those who answered before are asked whether the network is there."""
        self._outage += 1
        self.frontier.host_silent(urls.host(url))
        if self._outage >= self.outage_limit > 0 and not self.probing:
            self.probing = True
            _schedule_coro(self._probe(url, self._outage))

    async def _probe(self, url: str, silent: int) -> None:
        """Tell dead hosts from a dead network: stop the crawl if none of those who answered before does now."""
        there = False
        for site in list(reversed(self._answered)) or self._sites_before():
            request = Request(f"{site}/robots.txt", callback=NO_CALLBACK)
            request.meta.update({"dont_obey_robotstxt": True, "dont_retry": True, "dont_redirect": True})
            request.meta["focus_patience"] = 0.0  # one that rests has answered before
            try:
                await self.crawler.engine.download_async(request)
                there = True
                break
            except HostRests:
                there = True
            except Exception as error:
                logger.info("%s does not answer either: %s", site, reason_of(error))
        if not there:
            self.stop(
                f"the network seems to be down: {silent} requests in a row got no answer, the last for {url}; run the"
                " same command again when it is back, and nothing is lost",
                "network_down",
            )
        self._outage, self.probing = 0, False
        self._nudge()

    def _sites_before(self) -> list[str]:
        """Sites that gave pages in earlier runs, the last first."""
        found: dict[str, None] = {}
        for page in self.crawl.store.last_urls(100):
            found.setdefault(urls.site(page))
        return list(found)[:PROBES]

    def _fail(self, focus: dict[str, Any], reason: str, *, for_good: bool = True) -> None:
        if focus["id"] not in self._in_flight:
            return
        url = focus["url"]
        self.stats.inc_value(f"focus/failed/{reason.partition(':')[0]}")
        if not focus.get("via") and not focus.get("parent"):
            logger.error("Seed %s: %s", url, reason)
        self.crawl.store.add_failure(focus["id"], url, reason, focus.get("via"), now())
        self.finished(focus, for_good=for_good)

    def _fail_all(self, requests: list[Request], reason: str) -> None:
        for request in requests:
            self._fail(request.meta["focus"], reason)

    def _lost(self, response: Response | None, reason: str) -> None:
        focus = response.meta.get("focus") if isinstance(response, Response) else None
        if focus and focus.get("id") in self._in_flight and not self.crawl.fatal:
            self.write(lambda: self._fail(focus, reason))

    def _reap(self) -> None:
        """Let go of requests that Scrapy is through with, but that gave no page: their callback did not make one."""
        slot = self.crawler.engine._slot
        if slot is None:
            return
        through = [request for request in self._in_flight.values() if request not in slot.inprogress]
        if through and not self.crawl.fatal:
            self.write(lambda: self._fail_all(through, "no page: its callback made none"))

    def _spider_error(self, failure: Failure, response: Response | None) -> None:
        if self.crawl.strategy is not self.spider:  # a guest's page comes, with the links it had until then
            return
        self._lost(response, f"spider error: {failure.value!r}")

    def _item_lost(self, item: Any, response: Response | None) -> None:
        if isinstance(item, Page):
            self._lost(response, "dropped by a pipeline")

    def _idle(self) -> None:
        """Nothing may be fetched and nothing is on its way: the strategy may have more, or the crawl is over."""
        if self._full():
            raise CloseSpider("max_pages")
        if self.crawl.fatal:
            return
        if self.ask("refill", "", self.crawl.strategy.refill, False):
            self._nudge()
            raise DontCloseSpider


def _stored_request(entry: Entry, spider: Spider) -> Request:
    """The request for an entry of the file, which may be somebody else's: it names no code that is not loaded here."""
    request = Request(entry.url)
    if entry.request:
        fields = json.loads(entry.request, object_hook=_bytes_from_json)
        module, _, name = fields.get("_class", "scrapy.Request").rpartition(".")
        if not issubclass(getattr(sys.modules[module], name), Request):
            raise ValueError(f"{module}.{name} is no Request")
        request = request_from_dict(fields, spider=spider)
    if not request.url.startswith(("http:", "https:")):
        raise ValueError(f"{request.url} is on no host")
    return request


def _bytes_to_json(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"a {type(value).__name__} in it")


def _bytes_from_json(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value
