"""Watch: visits to the stored pages in rounds, each followed by a comparison of the search index with the pages.

This is the database checker of the Treasure-Crawler, for the crawls of any spider.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from focuscrawl.crawl import clock
from focuscrawl.crawl.lock import LockedError, locked_store
from focuscrawl.errors import FocusError
from focuscrawl.recrawl.changes import NEW, Changes, changes_since
from focuscrawl.recrawl.revisit import moment, plan
from focuscrawl.search.index import Index, Mended
from focuscrawl.store.errors import UnavailableError
from focuscrawl.store.places import read_crawl


class Round(NamedTuple):
    """What one round did."""

    number: int
    changes: Changes
    #: None if the index could not be compared.
    mended: Mended | None
    #: What went wrong; the next round tries again.
    problems: list[str]

    def line(self, next_at: float) -> str:
        """The round in one line; *next_at* is the time of the next one, in seconds since 1970."""
        visits = self.changes.visits
        parts = [f"{count:,} {outcome}" for outcome, count in sorted(visits.items())]
        total = sum(visits.values())
        told = [f"{total:,} visits ({', '.join(parts)})" if total else "no visits"]
        told.append(f"{len(self.changes.of_kind(NEW)):,} new pages")
        if self.mended is not None:
            rebuilt = "rebuilt, " if self.mended.rebuilt else ""
            told.append(f"index {rebuilt}{self.mended.added:,} added, {self.mended.removed:,} removed")
        told += self.problems
        return f"round {self.number}: {'; '.join(told)}; next round at {moment(next_at)[:19].replace('T', ' ')} UTC"


class Watch:
    """Rounds of visits to the stored pages of the crawl in *folder*, one *every* so many seconds, until `stop`.

    *visit* visits the pages that are due and returns what went wrong, or an empty text. *tell* is told of each round,
    and of the time of the next one. A round in which no page is due and no new pages are wanted sends no requests.
    """

    def __init__(
        self,
        folder: Path,
        every: float,
        visit: Callable[[], Awaitable[str]],
        tell: Callable[[Round, float], None],
        *,
        older_than: float,
        new_pages: int,
    ) -> None:
        self.folder = folder
        self.every = every
        self.older_than = older_than
        self.new_pages = new_pages
        self._visit = visit
        self._tell = tell
        #: Rounds completed.
        self.rounds = 0
        #: Whether the last visits ended well: otherwise the crawl's text files may be behind its store.
        self._in_step = False
        self._stopping = asyncio.Event()

    def stop(self) -> bool:
        """End after the requests in flight, without the rest of the round. Returns whether this is the first call."""
        first = not self._stopping.is_set()
        self._stopping.set()
        return first

    async def run(self) -> None:
        """Run rounds until `stop` is called. An error in the first round is raised, later ones are told."""
        while not self._stopping.is_set():
            began = clock.monotonic()
            done = await self._round()
            if done is None:
                return
            self.rounds += 1
            rest = max(0.0, began + self.every - clock.monotonic())
            self._tell(done, clock.utc().timestamp() + rest)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), rest)

    async def _round(self) -> Round | None:
        """One round; None if it was stopped on the way."""
        since = clock.now()
        problems: list[str] = []
        try:
            if self.new_pages or not self._in_step or self._any_due():
                problem = await self._visit()
                self._in_step = not problem
                problems += [problem] if problem else []
        except FocusError as error:
            if not self.rounds and not isinstance(error, LockedError):
                raise
            self._in_step = False
            problems.append(str(error))
        if self._stopping.is_set():
            return None
        mended = None
        try:
            mended = await asyncio.to_thread(self._check_index)
        except LockedError as error:
            problems += [] if problems else [str(error)]  # the visits have said so
        except FocusError as error:
            problems.append(str(error))
        except _StoppedError:
            return None
        with read_crawl(self.folder, check=False) as store:
            return Round(self.rounds + 1, changes_since(store, since), mended, problems)

    def _any_due(self) -> bool:
        with read_crawl(self.folder, check=False) as store:
            return bool(plan(store, clock.utc().timestamp(), older_than=self.older_than, pages=1))

    def _check_index(self) -> Mended:
        try:
            with locked_store(self.folder) as store:
                try:
                    return Index(store).mend(self._progress)
                except UnavailableError as error:
                    raise OSError(str(error)) from None
        except OSError as error:
            raise FocusError(f"the index was not compared: {error}") from None

    def _progress(self, done: int) -> None:
        if self._stopping.is_set():
            raise _StoppedError


class _StoppedError(Exception):
    """The comparison of the index was stopped; what it has done so far is stored."""
