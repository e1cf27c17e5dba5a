"""A crawl: its directory, file and frontier, shared by all components of a run."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from focuscrawl.crawl import clock, start_checks
from focuscrawl.crawl.catching_up import CatchUp
from focuscrawl.crawl.checks import number, pace, yes_or_no
from focuscrawl.crawl.duplicates import Duplicates, signature_of
from focuscrawl.crawl.files import check_own_files, check_strange_files
from focuscrawl.crawl.lock import take_lock
from focuscrawl.crawl.mark_watch import MarkWatch
from focuscrawl.crawl.marking import apply_marks, write_matched
from focuscrawl.crawl.outlook import KEPT, Outlook
from focuscrawl.crawl.problem import problem_of
from focuscrawl.crawl.repeated import read_again, repeated_in
from focuscrawl.crawl.single_page import ThrowAway, has_engine
from focuscrawl.crawl.verdict import settle
from focuscrawl.errors import FocusError
from focuscrawl.frontier.candidate import Candidate
from focuscrawl.frontier.hosts import Hosts
from focuscrawl.frontier.opening import open_frontier
from focuscrawl.frontier.patience import Patience
from focuscrawl.language.wanted import Wanted, wanted_languages
from focuscrawl.manners import rights
from focuscrawl.manners.scope import Scope
from focuscrawl.manners.traps import Recall, Traps
from focuscrawl.page import Link, Page
from focuscrawl.reading import types
from focuscrawl.reading.documents import read_page
from focuscrawl.search.index import Index
from focuscrawl.store.body_files import parse_bodies
from focuscrawl.store.errors import StoreError
from focuscrawl.store.places import crawl_folder, open_store
from focuscrawl.topic import Topic, keyword_changes
from focuscrawl.web.addresses import Networks
from focuscrawl.web.browser_choice import browser_choice, find_browser

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

    from focuscrawl.frontier.scheduler import FrontierScheduler
    from focuscrawl.spider import FocusedSpider

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

#: Longest duration of all runs of a crawl, in seconds: a century.
_LONGEST = 100 * 366 * 86_400

#: The attribute of a crawler that holds its crawl. A dict keyed by crawler would keep both alive: they refer to each
#: other.
_HELD = "_focuscrawl"


def directory(settings: BaseSettings, spider: str, topic: Topic) -> Path:
    """Where a crawl lives: FOCUS_DIR, Scrapy's JOBDIR, or `crawls/<spider>-<topic>`."""
    return Path(settings.get("FOCUS_DIR") or settings.get("JOBDIR") or Path("crawls") / f"{spider}-{topic.slug}")


class Crawl:
    """The open crawl of a crawler."""

    def __init__(
        self,
        folder: Path,
        spider: str,
        topic: Topic,
        offer: str = "",
        place: str = "",
        bodies: Path | None = None,
        **frontier: Any,
    ) -> None:
        """Open a crawl with files in *folder*, its store there or at another *place*, and *bodies* in WARC files."""
        self.folder = folder
        #: What others open the crawl by.
        self.place = crawl_folder(place) if place else folder
        self.topic = topic
        #: Why the crawl had to stop, if it could not continue.
        self.fatal: str | None = None
        #: What went wrong, if the crawl ended without a readable page.
        self.problem: str | None = None
        #: Why this run ended, in Scrapy's words; empty while it runs.
        self.ending = ""
        #: The same for the user, where it needs an explanation.
        self.why_ended = ""
        self.pages = 0
        #: When this run began to fetch new pages, on the monotonic clock; None if it has not.
        self.began: float | None = None
        #: Seconds of crawling in earlier runs, and the total that was last written to the file.
        self._seconds_before = self._seconds_noted = 0
        #: Stored pages that this run revisits (None if it is not a recrawl), and how many it has visited.
        self.to_visit: int | None = None
        self.visited = 0
        #: The temporary directory of a crawl that exists only for a single page.
        self.throw_away: ThrowAway | None = None
        self._lock: IO[str] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            check_own_files(folder)
            self._lock = take_lock(folder)
        except OSError as error:
            raise FocusError(
                f"cannot write to {folder}: {error.strerror}; choose another with -s FOCUS_DIR=…"
            ) from None
        try:
            if self.place == folder:
                check_strange_files(folder)
            self.store = open_store(place or folder, folder=folder)
        except FocusError:
            self._drop_lock()
            raise
        try:
            self._claim(spider, bool(frontier.get("any_scheme", True)), offer)
            self.store.body_files.write_to(bodies)
        except FocusError:
            self.close()
            raise
        try:
            with self.store.reading():
                self.count()
                self.resumed = self.pages > 0
                #: The latest time in the file when it was opened.
                self.newest = self.store.newest()
                self._seconds_before = self._seconds_noted = self._recorded_seconds()
                self.frontier = open_frontier(self.store, **frontier)
                self.outlook = Outlook(self.pages, self.relevant, self.store.standing.outcomes(KEPT))
                self.store.unread.make()
                #: What people say of pages.
                self.marks = MarkWatch(self)
                self.catch_up = CatchUp(self)
        except FocusError:
            self.close()
            raise
        self.scope = Scope()
        #: The scheduler, once the crawl runs; None for a single page.
        self.scheduler: FrontierScheduler | None = None
        #: When requests may be sent to hosts, and which networks may be connected to.
        self.hosts = Hosts()
        self.networks = Networks()
        #: Reservations that keep a page out of the exports, and whether sitemaps are read.
        self.left_out: list[str] = []
        #: Whether pages that ask not to be indexed are withheld.
        self.robots_meta = True
        self.sitemaps = "no"
        #: The languages whose pages are exported.
        self.languages = Wanted()
        #: The kinds of documents that are read besides HTML.
        self.documents = types.ALL
        self.traps = Traps()
        self.repeated = repeated_in(self.store)
        self.duplicates: Duplicates | None = None
        #: The strategy: the spider itself, or the one that scores the links of another project's spider.
        self.strategy: FocusedSpider
        #: Indexes pages as they arrive, if enabled.
        self.index: Index | None = None

    @classmethod
    def of(cls, crawler: Crawler) -> Crawl:
        """The open crawl of a crawler; raises NotConfigured if there is none, as in `scrapy shell`."""
        crawl: Crawl | None = getattr(crawler, _HELD, None)
        if crawl is None:
            raise NotConfigured
        return crawl

    @classmethod
    def open(
        cls,
        crawler: Crawler,
        spider: str,
        topic: Topic,
        throw_away: ThrowAway | None = None,
        offer: str = "",
        **frontier: Any,
    ) -> Crawl:
        """Open the crawl of a crawler; the other components then find it with `of`.

        *throw_away*: a temporary directory to use instead of the user's. *offer*: the command that judges the stored
        pages by this topic, if they were judged by another.
        """
        settings = crawler.settings
        options = {
            "size": number(settings, "FOCUS_FRONTIER_SIZE"),
            "ageing": number(settings, "FOCUS_AGEING"),
            "hosts_per_batch": number(settings, "FOCUS_HOSTS_PER_BATCH"),
            "pages_per_host": number(settings, "FOCUS_PAGES_PER_HOST"),
            "any_scheme": yes_or_no(settings, "FOCUS_ANY_SCHEME"),
            "lease": number(settings, "FOCUS_LEASE"),
            "leases": number(settings, "FOCUS_LEASES"),
            "patience": Patience(number(settings, "FOCUS_PATIENCE"), number(settings, "FOCUS_PATIENCE_MAX")),
        }
        bounds = {
            "pages_per_pattern": number(settings, "FOCUS_PAGES_PER_PATTERN"),
            "queries_per_path": number(settings, "FOCUS_QUERIES_PER_PATH"),
            "watch": yes_or_no(settings, "FOCUS_TRAPS"),
        }
        similarity = number(settings, "FOCUS_DUPLICATES")
        searchable = yes_or_no(settings, "FOCUS_INDEX")
        hours, left_out = pace(settings), rights.check(settings.getlist("FOCUS_RIGHTS"))
        sitemaps = str(settings.get("FOCUS_SITEMAPS")).lower()
        if sitemaps not in ("no", "robots", "all"):
            raise FocusError(f"setting FOCUS_SITEMAPS={sitemaps}: expected no, robots or all")
        spoken = wanted_languages(settings.getlist("FOCUS_LANGUAGES"))
        documents = types.parse_documents(settings.get("FOCUS_DOCUMENTS") or "off")
        if browser_choice(settings):
            find_browser(settings)  # a missing one is reported now, not when the first page needs it
        file = settings.get("FOCUS_SCOPE")
        scope = Scope(settings.getlist("FOCUS_ALLOW"), settings.getlist("FOCUS_DENY"), Path(file) if file else None)
        folder = throw_away.folder if throw_away is not None else directory(settings, spider, topic)
        checked = yes_or_no(settings, "FOCUS_START_CHECKS") and throw_away is None
        offline = bool(settings.get("FOCUS_WEB"))
        warnings: list[str] = []
        if checked:
            warnings += start_checks.check_space(start_checks.free_space(folder), folder, refuse=not offline)
            warnings += start_checks.check_memory(start_checks.available_memory())
        place = "" if throw_away is not None else str(settings.get("FOCUS_STORE") or "")
        bodies = parse_bodies(str(settings.get("FOCUS_BODIES") or "")) if throw_away is None else None
        crawl = cls(folder, spider, topic, offer, place, bodies, **(options | frontier))
        if checked and not offline:
            warnings += start_checks.check_clock(clock.utc(), crawl.newest)
        for warning in warnings:
            logger.warning("%s", warning)
        crawl.scope, crawl.left_out, crawl.sitemaps = scope, left_out, sitemaps
        crawl.documents, crawl.languages = documents, spoken
        crawl.robots_meta = yes_or_no(settings, "FOCUS_ROBOTS_META")
        crawl.hosts = Hosts(hours, settings.getfloat("FOCUS_BACKOFF_MAX"))
        crawl.networks = Networks(topic.seeds, everything=yes_or_no(settings, "FOCUS_PRIVATE_HOSTS"))
        crawl.traps = Traps(crawl.store.patterns.each(), **bounds)
        crawl.frontier.damper = crawl.traps.damping
        if crawl.resumed:
            crawl.traps.recall = Recall(partial(crawl._said_before, crawl.store.pages.last_number()), crawl.words_of)
        if similarity:
            crawl.duplicates = Duplicates(
                similarity, partial(signature_of, crawl.store), crawl.store.pages.signatures()
            )
        if throw_away is not None:
            crawl.throw_away = throw_away
            crawler.signals.connect(crawl.close, signals.engine_stopped)
        elif searchable or Index(crawl.store).exists():  # an existing index is kept up to date
            crawl.index = Index(crawl.store)
            try:
                crawl.index.prepare()
            except FocusError:
                crawl.close()
                raise
        if not settings.getbool("FOCUS_NOFOLLOW"):  # which of these links are marked so is not recorded
            crawl._take_up_unread(settings.getint("DEPTH_LIMIT"))
        if not has_engine(crawler):  # the shell created its components without a crawl: so must the scheduler be
            setattr(crawler, _HELD, crawl)
        return crawl

    def ask(self, hook: str, url: str, call: Callable[[], Answer], otherwise: Answer) -> Answer:
        """The strategy's answer, or *otherwise* if it fails; for a single page, the error is raised."""
        return call() if self.scheduler is None else self.scheduler.ask(hook, url, call, otherwise)

    def stop(self, message: str, reason: str) -> None:
        """Stop a crawl that cannot continue."""
        if self.scheduler is not None:
            self.scheduler.stop(message, reason)

    def give_up(self, error: Exception) -> None:
        """Stop because the crawl can no longer be written; stored pages remain intact."""
        if self.scheduler is not None:
            self.scheduler.give_up(error)

    def is_in_flight(self, request: Request) -> bool:
        """Whether the frontier handed out a request, and can take it back."""
        return self.scheduler is not None and self.scheduler.is_in_flight(request)

    def out_of_time(self) -> bool:
        """Whether the crawl's hours are spent."""
        return self.scheduler is not None and self.scheduler.budget.seconds_left() <= 0

    def is_ending(self) -> bool:
        """Whether the crawl is about to stop."""
        return self.scheduler is not None and (self.scheduler.closing or self.out_of_time())

    def received(self, size: int) -> None:
        """Report bytes that arrived other than by Scrapy's downloader."""
        if self.scheduler is not None and self.scheduler.throttle is not None:
            self.scheduler.throttle.load.received(size, clock.monotonic())

    def no_answer(self, url: str) -> None:
        """Report that a request got no answer at all."""
        if self.scheduler is not None:
            self.scheduler.no_answer(url)

    def short_of_files(self) -> None:
        """Report that the process cannot open more files."""
        if self.scheduler is not None:
            self.scheduler.short_of_files()

    def settle(self, page: Page) -> None:
        """Decide whether a page counts, matches, or is withheld, by what is known of it now."""
        settle(
            page,
            robots_meta=self.robots_meta,
            reservations=self.left_out,
            languages=self.languages.wanted,
            mark=self.marks.of(page),
        )

    def read_stored(self, number: int) -> Page | None:
        """A stored page, read again and not judged yet; None if it could not be read, or is a list of URLs."""
        stored = self.store.pages.get(number)
        if stored is None or stored.problem is not None or stored.listing:
            return None
        response = self.store.pages.response(number)
        page = Page(stored.url, stored.status, parent=stored.parent)
        page.number, page.url_id, page.duplicate_of = number, stored.url_id, stored.duplicate_of
        page.redirects = self.store.verdicts.redirects(number)
        page.expected_languages = self.topic.languages
        page.via = self.store.links.get(stored.via)
        read_page(page, response.body, response.content_type, documents=self.documents)
        self.repeated.mark(page)
        return None if page.problem is not None else page

    def words_of(self, number: int) -> tuple[set[str], int]:
        """The words of a stored page, except numbers, and its size in bytes."""
        page = read_again(self.store, number)
        return {word for word in page.words if not word.isdigit()}, len(page.body)

    def _said_before(self, upto: int) -> Iterator[tuple[int, str, bool]]:
        """The pages up to a number, in order: number, URL, and whether they had no content of their own."""
        return (
            (page.number, page.url, page.problem is not None or page.duplicate_of is not None or page.listing)
            for page in self.store.pages.each(upto=upto)
        )

    def _take_up_unread(self, depth_limit: int) -> None:
        """Queue the files that relevant pages link to, that earlier runs did not read, and that this one does.

        Their score is the relevance of the page: the strategy scored its links long ago.
        """
        if not self.resumed or self.throw_away is not None:
            return
        names = [kind.name for kind in (types.PDF, types.WORD) if kind.kind in self.documents]
        with self.store.reading(), self.store.transaction():
            take, deepest = self.store.unread.take, depth_limit or 1 << 53
            for found in [file for name in names for file in take(name, deepest, obey_nofollow=self.robots_meta)]:
                link = Link(found.url, found.anchor, position=found.position)
                link.score, link.why = found.relevance, {"relevance of its page": found.relevance}
                (url_id,) = self.frontier.identify([found.url])
                via = self.store.links.add(found.page, [link], [url_id], later=True)
                self.frontier.offer([Candidate(url_id, found.url, found.relevance, found.depth + 1, via)])

    def count(self) -> None:
        """Read the counts from the store."""
        #: Pages stored by this and earlier runs; those judged relevant; those in URLs.txt.
        self.pages, self.relevant, self.matched, *_ = self.store.pages.figures()

    @property
    def mirrors(self) -> bool:
        """Whether the files in the directory repeat the whole store; a worker's have what it stored itself."""
        return not self.store.shared

    def _drop_lock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _claim(self, spider: str, any_scheme: bool, offer: str) -> None:
        """A directory belongs to the spider and topic that created it."""
        store, topic = self.store, self.topic
        keywords = json.loads(json.dumps({**topic.keywords, **topic.keywords_in}))
        if store.meta("spider") is None:
            if store.pages.count():
                raise store.broken("it has pages, but names no spider")
            try:
                with store.transaction():
                    store.set_meta("spider", spider)
                    store.set_meta("topic", topic.name)
                    store.set_meta("keywords", keywords)
                    store.set_meta("any_scheme", any_scheme)
                    store.set_meta("runs", [])
            except Exception as error:
                raise store.broken(error) from None
            return
        owner = store.meta("spider"), store.meta("topic"), store.meta("keywords")
        if owner == (spider, topic.name, keywords):
            if store.meta("any_scheme") != any_scheme:
                raise FocusError(f"{self.folder} was started with another FOCUS_ANY_SCHEME, which cannot change later")
            return
        same = owner[:2] == (spider, topic.name)
        if owner[0] == spider and offer:
            offer = f"; to go on with this topic, judge its pages by it first, without fetching any: `{offer}`"
        else:
            offer = ""
        raise FocusError(
            f"{self.folder} belongs to spider '{owner[0]}' and topic '{owner[1]}'"
            + (" with other keywords" if same else f", not to '{spider}' and '{topic.name}'")
            + (f": {keyword_changes(owner[2], keywords)}" if same else "")
            + f"; choose another directory with -s FOCUS_DIR=…, or move this one away{offer}"
        )

    def _recorded_seconds(self) -> int:
        """The seconds of crawling in earlier runs, by the file, which is not trusted."""
        seconds = self.store.number("seconds")
        if not 0 <= seconds <= _LONGEST:
            raise self.store.broken("meta 'seconds' is not a duration")
        return seconds

    def seconds(self) -> float:
        """The seconds of crawling so far, earlier runs included."""
        return self._seconds_before + (0.0 if self.began is None else clock.monotonic() - self.began)

    def seconds_to_note(self) -> float:
        """The seconds of crawling that are not recorded yet."""
        return self.seconds() - self._seconds_noted

    def note_seconds(self) -> None:
        """Record the seconds of crawling. Call inside a transaction."""
        self._seconds_noted = round(self.seconds())
        self.store.set_meta("seconds", self._seconds_noted)

    def note_run(self, **facts: Any) -> None:
        """Record what this run was given, so that later runs and reports know how the crawl was made."""
        with self.store.transaction():
            self.store.set_meta("runs", [*(self.store.meta("runs") or []), facts])

    @property
    def was_stopped(self) -> bool:
        """Whether the user ended this run."""
        return self.ending == "shutdown"

    @property
    def failure(self) -> str | None:
        """Why this run failed; None if it did not. A run that the user has stopped may have no page."""
        return self.fatal or (None if self.was_stopped else self.problem)

    @property
    def judges(self) -> bool:
        """Whether pages are judged at all."""
        return bool(self.topic.all_keywords or self.topic.examples or self.relevant)

    def look_ahead(self, *, now: bool = False) -> None:
        """Estimate what the next pages will bring, if it is time or must be done *now*, and record it."""
        waiting = self.frontier.waiting
        if self.judges and (self.outlook.is_due(waiting.known) or (now and self.outlook.is_behind)):
            # a URL that has waited long stands higher by its age; so did the pages when they were fetched
            forecast = self.outlook.look(waiting.open_ranks() + self.frontier.ageing * self.pages)
            with self.store.batch():
                self.store.set_meta("forecast", forecast.noted())

    def note_end(self, reason: str, detail: str = "") -> None:
        """Record how this run ended, once. Call inside a transaction."""
        if not self.ending:
            self.ending = reason
            self.note_seconds()
            self.look_ahead(now=True)
            self.store.standing.end(reason, clock.now(), detail or self.fatal or "")

    def close(self) -> None:
        """Close the store and release the directory; safe to call twice."""
        if self._lock is None:
            return
        self.problem = self.find_problem()
        if self.failure and self.ending and self.store.exists():
            with suppress(StoreError, FocusError), self.store.transaction():
                self.store.standing.fail(self.failure)
        self._take_up_last_marks()
        if hasattr(self, "frontier"):
            self.frontier.leave()
        self.store.body_files.close()
        self.store.close()
        self._drop_lock()
        if self.throw_away is not None:
            self.throw_away.remove()

    def _take_up_last_marks(self) -> None:
        """Apply the marks that were set while the crawl was ending: nobody else could."""
        if self.fatal is None and self.throw_away is None and hasattr(self, "marks") and self.store.exists():
            with suppress(StoreError, OSError, FocusError):  # the next run sees to it
                if apply_marks(self.store) and self.mirrors:
                    write_matched(self.folder, self.store)

    def find_problem(self) -> str | None:
        """Why no page could be read; None if one could."""
        return problem_of(self.store)

    def __del__(self) -> None:
        lock = getattr(self, "_lock", None)
        if lock is not None:
            lock.close()
