"""Importing: the responses of an archive become a crawl, with its pages read, linked and, with a topic, judged.

The crawl has no frontier: nothing waits to be fetched. It can be searched, exported, released, and crawled as a web.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from scrapy import Request
from scrapy.http import Headers, Response

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.duplicates import Duplicates, signature_of
from focuscrawl.crawl.files import write_lines, write_whole
from focuscrawl.crawl.responses import content_type, headers, note_signals, soft_404, validators
from focuscrawl.crawl.verdict import settle
from focuscrawl.errors import FocusError
from focuscrawl.export.archives import Captured, Skipped, read_archive
from focuscrawl.export.output import whole
from focuscrawl.frontier.frontier import Frontier
from focuscrawl.judge import KeywordJudge
from focuscrawl.manners.robots_tags import robots_directives
from focuscrawl.page import Judgement, Page
from focuscrawl.reading import types
from focuscrawl.reading.documents import read_page
from focuscrawl.reports.report import crawl_report
from focuscrawl.store.store import Store
from focuscrawl.topic import Topic

#: The name in the place of a spider's.
SPIDER = "import"
#: Pages that are stored in one transaction.
_TOGETHER = 200
#: Redirects that are remembered.
_MAX_REDIRECTS = 1_000_000
#: Similarity from which a page is a near-duplicate, as in a crawl; relevance from which one is on topic.
_ALIKE = 0.9
THRESHOLD = 0.3
_REDIRECTS = (301, 302, 303, 307, 308)
_NOT_PAGES = ("/robots.txt", "/favicon.ico", "/ads.txt", "/.well-known/")


class Imported(NamedTuple):
    """What became of an archive."""

    pages: int
    matched: int
    skipped: dict[str, int]


class Importer:
    """Stores captured responses as the pages of a new crawl."""

    def __init__(self, store: Store, topic: Topic, threshold: float, skipped: Skipped) -> None:
        self.store = store
        self.topic = topic
        self.threshold = threshold
        self.skipped = skipped
        self.frontier = Frontier(store)
        self.duplicates = Duplicates(_ALIKE, partial(signature_of, store))
        self.judge = KeywordJudge(topic.keywords, topic.keywords_in) if topic.all_keywords else None
        #: The redirects seen so far: the first source of each target.
        self._sources: dict[str, str] = {}
        self._stored: set[int] = set()

    def add(self, captured: Captured) -> None:
        """Store one response, unless it is no page. Call inside a transaction."""
        try:
            url = urls.check(captured.url)
        except ValueError:
            self.skipped("not a URL")
            return
        url = url.partition("#")[0]
        if captured.status in _REDIRECTS:
            self._redirect(url, captured)
            return
        if captured.status == 304 or captured.status >= 500 or captured.status == 429:
            self.skipped(f"HTTP {captured.status}")
            return
        path = url[len(urls.site(url)) :]
        kind = types.of_mime(types.mime(captured.header("content-type")))
        if path.startswith(_NOT_PAGES) or (kind is not None and not kind.kind):
            self.skipped("not a page: robots.txt, images, styles, scripts and the like")
            return
        (url_id,) = self.frontier.identify([url])
        if url_id in self._stored:
            self.skipped("another version of the same page")
            return
        body = captured.body
        if captured.repeats:
            body = self.store.pages.body(captured.repeats) or b""
            if not body:
                self.skipped("a repetition of something that is not there")
                return
        self._stored.add(url_id)
        self._store(self._page(url, url_id, captured, body))

    def _redirect(self, url: str, captured: Captured) -> None:
        target = urls.join(url, captured.header("location"))
        if target is not None and target != url and len(self._sources) < _MAX_REDIRECTS:
            self._sources.setdefault(target.partition("#")[0], url)

    def _page(self, url: str, url_id: int, captured: Captured, body: bytes) -> Page:
        response = Response(url, captured.status, _headers(captured), request=Request(url))
        page = Page(url, captured.status, fetched_at=captured.fetched_at)
        page.url_id = url_id
        page.body, page.content_type = body, content_type(response)
        page.etag, page.last_modified = validators(response)
        page.declared_language = next(iter(headers(response, "Content-Language")), "").partition(",")[0]
        page.expected_languages = self.topic.languages
        tags = headers(response, "X-Robots-Tag")
        for tag in tags:
            page.robots |= robots_directives(tag, "focuscrawl")
        page.rights.x_robots_tag = ", ".join(tags)
        page.rights.robots_txt = "ignored"
        note_signals(page, response)
        page.redirects = self._chain(url)
        if captured.status >= 300:
            page.problem = f"HTTP {captured.status}"
        else:
            read_page(page, body, page.content_type)
            if not page.problem and soft_404(page):
                page.problem = "soft 404"
        for reservation in headers(response, "TDM-Reservation"):
            page.rights.tdm(reservation, next(iter(headers(response, "TDM-Policy")), ""), "header")
        return page

    def _chain(self, url: str) -> list[str]:
        """The URLs that led to a page by redirects, the first one first."""
        chain: list[str] = []
        while (source := self._sources.get(url)) is not None and source not in chain and len(chain) < 20:
            chain.insert(0, source)
            url = source
        return chain

    def finish(self) -> None:
        """Note the redirects that came after the pages they lead to. Call inside a transaction."""
        for target in self._sources:
            self.store.pages.set_redirects(target, self._chain(target))

    def _store(self, page: Page) -> None:
        store = self.store
        if self.judge is not None:
            page.judgement = self._judged(page, self.judge)
            page.relevance = page.judgement.relevance
        self.duplicates.mark(page)
        settle(page)
        page.wanted = page.judgement is not None and page.judgement.relevant
        settle(page)
        page.number = store.pages.add(page, None)
        if page.links:
            store.links.add(page.number, page.links, self.frontier.identify([link.url for link in page.links]))
        self.frontier.finish([page.url_id], page_host=urls.host(page.url))
        store.pages.set_signatures(self.duplicates.late)
        self.duplicates.add(page)

    def _judged(self, page: Page, judge: KeywordJudge) -> Judgement:
        if page.problem:
            return Judgement(0.0, False, {})
        judgement = judge.coverage(page, self.threshold)
        if judgement.relevant and (rest := page.without_lists()) is not None:
            judgement = judgement._replace(relevant=judge.coverage(rest, self.threshold).relevant)
        return judgement


def _headers(captured: Captured) -> Headers:
    found = Headers()
    for name, value in captured.headers:
        found.appendlist(name, value.encode("latin-1", "replace"))
    return found


def import_archive(
    source: Path,
    folder: Path,
    topic: Topic,
    *,
    base: str = "",
    threshold: float = THRESHOLD,
    progress: Callable[[Iterable[Captured]], Iterable[Captured]] = iter,
) -> Imported:
    """Make a crawl in *folder*, which must not exist yet, of an archive. It is there in whole, or not at all."""
    if not source.exists():
        raise FocusError(f"{source}: no such file or folder; give a WARC file, a WACZ file or a folder of pages")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FocusError(f"{folder} already exists; choose another directory")
    skipped = Skipped()
    with whole(folder, folder=True) as new:
        store = Store(new / "crawl.sqlite")
        try:
            with store.transaction():
                _note(store, source, topic)
                store.unread.make()
            importer = Importer(store, topic, threshold, skipped)
            found = iter(progress(read_archive(source, skipped, base)))
            for batch in _batches(found):
                with store.transaction():
                    for captured in batch:
                        importer.add(captured)
            with store.transaction():
                importer.finish()
                store.standing.end("imported", clock.now(), "")
            figures = store.pages.figures()
            if not figures.pages:
                reasons = "; ".join(f"{number:,} {reason}" for reason, number in skipped.reasons.items())
                raise FocusError(f"{source} has no page that can be imported{f' ({reasons})' if reasons else ''}")
            write_lines(new / "URLs.txt", (page.url for page in store.pages.matched()))
            write_lines(new / "pages.jsonl", (json.dumps(line, ensure_ascii=False) for line in store.pages.records()))
            write_whole(new / "report.html", crawl_report(store))
        finally:
            store.close()
    return Imported(figures.pages, figures.matched, skipped.reasons)


def _batches(found: Iterator[Captured]) -> Iterator[Iterator[Captured]]:
    """The responses, some at a time; each batch must be used up before the next."""
    while (first := next(found, None)) is not None:
        yield _with(first, islice(found, _TOGETHER - 1))


def _with(first: Captured, rest: Iterator[Captured]) -> Iterator[Captured]:
    yield first
    yield from rest


def _note(store: Store, source: Path, topic: Topic) -> None:
    """Note how the crawl was made, as a crawl does. Call inside a transaction."""
    store.set_meta("spider", SPIDER)
    store.set_meta("topic", topic.name)
    store.set_meta("keywords", json.loads(json.dumps({**topic.keywords, **topic.keywords_in})))
    store.set_meta("any_scheme", True)
    store.set_meta("runs", [{"began": clock.now(), "arguments": {"source": source.name}, "settings": {}}])
