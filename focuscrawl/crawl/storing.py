"""Storing a page: it, its links and the frontier entries they make, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request

from focuscrawl import urls
from focuscrawl.crawl.duplicates import signature, signature_of
from focuscrawl.crawl.focus import Focus
from focuscrawl.frontier.candidate import Candidate, Offer
from focuscrawl.manners.traps import TRIES, kind
from focuscrawl.recrawl.revisit import GONE, changed_fields

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl
    from focuscrawl.frontier.scheduler import FrontierScheduler
    from focuscrawl.page import Link, Page, Visit


class Trap(NamedTuple):
    """A pattern of URLs that was found to be a trap."""

    pattern: str
    kind: str


def is_stored(crawl: Crawl, page: Page) -> bool:
    """Whether a page was stored before, or is on its way by another request."""
    if crawl.scheduler is not None and crawl.scheduler.focus_of(page.url_id) is not None:
        return False
    known = crawl.frontier.find(page.url)
    return known is not None and crawl.frontier.is_taken(known)


def store_page(crawl: Crawl, scheduler: FrontierScheduler, page: Page) -> list[Trap]:
    """Store a new page; returns the traps that it gave away."""
    store, frontier = crawl.store, crawl.frontier
    focus = scheduler.focus_of(page.url_id)
    if crawl.duplicates is not None:  # here, where nothing can be stored in between
        crawl.duplicates.mark(page)
    crawl.settle(page)
    before = len(frontier)
    with store.transaction():
        if focus is None:  # a page that the frontier did not ask for
            (page.url_id,) = frontier.identify([page.url])
            focus = Focus(url_id=page.url_id)
        else:
            frontier.fence(focus.url_id)
        ids = page.link_ids = frontier.identify([link.url for link in page.links]) if page.links else []
        page.number = store.pages.add(page, focus.via)
        _store_late_signatures(crawl)
        if page.links:
            first = store.links.add(page.number, page.links, ids)
            frontier.offer(_candidates(page.links, ids, page.depth + 1, first, scheduler))
        _add_unread(crawl, page.number, page)
        if crawl.index is not None:
            crawl.index.add(page.number, page)
        seen = crawl.traps.notice(page)
        store.patterns.set(seen)
        frontier.patience.learn(focus.url_id, page.relevance or 0.0, len(frontier) - before)
        scheduler.finished(focus, page_host=urls.host(page.url))
        frontier.count_page(relevant=page.judgement is not None and page.judgement.relevant, matched=page.matched)
    if crawl.duplicates is not None:
        crawl.duplicates.add(page)
    crawl.repeated.add(page)
    crawl.marks.stored(page)
    crawl.catch_up.stored(page.number)
    crawl.pages += 1
    crawl.relevant += page.judgement is not None and page.judgement.relevant
    crawl.matched += page.matched
    crawl.outlook.add(
        focus.rank + frontier.ageing * crawl.pages if frontier.ageing else page.score or 0.0,
        page.judgement is not None and page.judgement.relevant,
    )
    return [
        Trap(pattern, kind(pattern, page.url)) for pattern, _, stale in seen if stale == TRIES and crawl.traps.watch
    ]


def _candidates(
    links: Sequence[Link], ids: Sequence[int], depth: int, first: int, scheduler: FrontierScheduler
) -> Iterator[Offer]:
    """The links that were not refused, as they are offered to the frontier; *first* is the id of the first link."""
    for via, (link, url_id) in enumerate(zip(links, ids, strict=True), first):
        if link.score is not None:
            # one by one: a request is kept unless the same URL has been queued by then
            request = scheduler.keep(url_id, link.request) if isinstance(link.request, Request) else None
            yield url_id, link.url, link.score, depth, via, request


def store_visit(crawl: Crawl, scheduler: FrontierScheduler, page: Page, visit: Visit) -> None:
    """Store what a later visit to a stored page found: the page has changed, or is gone."""
    focus = scheduler.focus_of(page.url_id)
    if visit.outcome != GONE:
        if crawl.duplicates is not None:
            crawl.duplicates.mark(page)
        crawl.settle(page)
    with crawl.store.transaction():
        if visit.outcome == GONE:
            _store_gone(crawl, page, visit)
        else:
            _store_change(crawl, scheduler, page, visit)
            _store_late_signatures(crawl)
        if focus is not None:
            scheduler.finished(focus)
    if visit.outcome != GONE and crawl.duplicates is not None:
        crawl.duplicates.add(page)


def _store_gone(crawl: Crawl, page: Page, visit: Visit) -> None:
    store = crawl.store
    heir = store.pages.mark_gone(visit.page, page.status, page.problem or "")
    if crawl.index is not None:
        crawl.index.remove(visit.page)
    _settle_heir(crawl, heir)
    if target := visit.details.get("moved_to"):  # its new URL is queued by the link that led to the old one
        (url_id,) = crawl.frontier.identify([target])
        stored = store.pages.get(visit.page)
        via = stored.via if stored is not None else None
        crawl.frontier.offer([Candidate(url_id, target, page.score or 0.0, page.depth, via)])
    store.visits.add(visit.page, page.fetched_at, page.status, GONE, visit.details)


def _store_change(crawl: Crawl, scheduler: FrontierScheduler, page: Page, visit: Visit) -> None:
    store = crawl.store
    old = store.pages.get(visit.page)
    known = store.links.targets_of(visit.page)
    ids = crawl.frontier.identify([link.url for link in page.links])
    new = {url_id: link for link, url_id in zip(page.links, ids, strict=True) if url_id not in known}
    if new:
        first = store.links.add(visit.page, list(new.values()), list(new), later=True)
        crawl.frontier.offer(_candidates(list(new.values()), list(new), page.depth + 1, first, scheduler))
    _add_unread(crawl, visit.page, page)
    heir = store.pages.update(visit.page, page, keeps_copies=_is_nearly_the_same(crawl, page, visit.page))
    if crawl.index is not None:
        crawl.index.add(visit.page, page)
    _settle_heir(crawl, heir)
    details = visit.details | (changed_fields(old, page) if old is not None else {})
    store.visits.add(visit.page, page.fetched_at, page.status, visit.outcome, details)


def _add_unread(crawl: Crawl, number: int, page: Page) -> None:
    if page.unread:
        any_scheme = crawl.frontier.any_scheme
        keys = [urls.key(file.url, any_scheme=any_scheme) for file in page.unread]
        crawl.store.unread.add(number, page.unread, keys)


def _settle_heir(crawl: Crawl, heir: int | None) -> None:
    """A copy that takes the place of its original may have been marked, and was not to be found before."""
    if heir is not None:
        crawl.marks.settle_again(heir)
        if crawl.index is not None:
            crawl.index.renew(heir)


def _is_nearly_the_same(crawl: Crawl, page: Page, number: int) -> bool:
    """Whether a stored page that changed would still count as a copy of what it was."""
    if crawl.duplicates is None or page.duplicate_of is not None:
        return False
    new, old = page.signature or signature(page), signature_of(crawl.store, number)
    return new is not None and old is not None and crawl.duplicates.alike(new, old)


def _store_late_signatures(crawl: Crawl) -> None:
    if crawl.duplicates is not None and crawl.duplicates.late:
        crawl.store.pages.set_signatures(crawl.duplicates.late)
