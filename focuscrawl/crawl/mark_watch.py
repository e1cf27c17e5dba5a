"""The marks of a running crawl: noticed while it runs, applied to verdicts, and told to the strategy."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.marking import apply_marks, marks_of_pages, set_verdicts
from focuscrawl.crawl.verdict import NO, YES

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl
    from focuscrawl.page import Page

logger = logging.getLogger(__name__)

#: New marks are looked for after this many pages or seconds, whichever comes first.
EVERY_PAGES, EVERY_SECONDS = 10, 5.0
#: Pages between two lessons of the strategy: training a judge takes longer than storing a page.
LESSON_EVERY = 25

#: How the crawl's file records up to which mark the strategy has learned.
_TAUGHT = "marks learned"


class MarkWatch:
    """The marks of an open crawl."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._store = crawl.store
        #: Called after verdicts on stored pages have changed.
        self.listeners: list[Callable[[], None]] = []
        #: By URL key: number and verdict of the last mark.
        self._by_key: dict[int, tuple[int, str]] = {}
        self._last = 0
        self._changes = -1
        self._next_page, self._next_time = 0, 0.0
        #: Marked pages that the strategy has not learned from yet, and how many of their verdicts changed.
        self._new: set[int] = set()
        self._taught_at = -LESSON_EVERY
        self._read()
        self._changed = len(apply_marks(self._store))  # those that were set since the last run
        if self._changed:
            crawl.count()
        taught = self._store.number(_TAUGHT)
        self._new |= set(
            self._store.marks.pages_of([key for key, (id_, _) in self._by_key.items() if id_ > taught]).values()
        )

    def _read(self) -> None:
        for mark in self._store.marks.after(self._last):
            self._by_key[mark.key] = mark.id, mark.verdict
            self._last = mark.id

    def of(self, page: Page) -> str | None:
        """What a person says of a page, by the URL that was requested or the one that it was found at."""
        if not self._by_key:
            return None
        any_scheme = self._crawl.frontier.any_scheme
        keys = {urls.key(url, any_scheme=any_scheme) for url in (page.url, *page.redirects[:1])}
        found = [self._by_key[key] for key in keys if key in self._by_key]
        verdict = max(found)[1] if found else None
        return verdict if verdict != "none" else None

    def stored(self, page: Page) -> None:
        """A page is stored: if somebody has marked its URL before, the strategy learns from it now."""
        if page.overruled:
            self._new.add(page.number)

    def stored_by_others(self, numbers: Collection[int]) -> None:
        """Other workers have stored pages: the strategy learns from those whose URLs were marked before, too."""
        if self._by_key:
            self._new |= marks_of_pages(self._store).keys() & set(numbers)

    def settle_again(self, number: int) -> None:
        """Let a mark overrule the verdict that a page has got from another. Call inside a transaction."""
        if self._by_key:
            set_verdicts(self._store, [number])

    # ---- while the crawl runs

    def look(self) -> None:
        """Take up new marks, every few pages or seconds."""
        pages, now = self._crawl.pages, clock.monotonic()
        if pages < self._next_page and now < self._next_time:
            return
        self._next_page, self._next_time = pages + EVERY_PAGES, now + EVERY_SECONDS
        self.take_up()
        if self._new and pages >= self._taught_at + LESSON_EVERY:
            self.teach()

    def take_up(self) -> None:
        """Let the verdicts follow new marks."""
        changes = self._store.changes()
        if changes == self._changes:
            return
        self._changes = changes
        before = self._last
        self._read()
        if self._last == before:
            return
        keys = [key for key, (number, _) in self._by_key.items() if number > before]
        self._new |= set(self._store.marks.pages_of(keys).values())
        changed = apply_marks(self._store)
        if changed:
            self._changed += len(changed)
            self._crawl.count()
            for listener in self.listeners:
                listener()

    def teach(self) -> None:
        """Let the strategy learn from the marks, and say so."""
        new, self._new = self._new, set()
        verdicts = {
            number: mark.verdict == YES
            for number, mark in marks_of_pages(self._store).items()
            if mark.verdict in (YES, NO)
        }
        if not new and not verdicts:
            return
        told = self._crawl.strategy.marked(verdicts, sorted(new))
        with self._store.batch():
            self._store.set_meta(_TAUGHT, self._last)
        self._taught_at = self._crawl.pages
        if new:
            changed, self._changed = self._changed, 0
            logger.info(
                "%d newly marked page%s, %d verdict%s changed%s",
                *(len(new), "" if len(new) == 1 else "s", changed, "" if changed == 1 else "s"),
                f": {told}" if told else "",
            )
