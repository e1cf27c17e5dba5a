"""The ledger: what pages are filtered, counted and sorted by, in memory, 25 bytes a page.

The file has no index for this, and a scan of a large one takes minutes. The ledger is filled from the newest page back,
a batch at a time, and then kept up to date. Views work with what it has so far, and say how much that is.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.store.browse import Fact
from focuscrawl.store.store import Store

Numbers = np.ndarray[Any, np.dtype[Any]]

KNOWN, RELEVANT, MATCHED, PROBLEM, JUDGED = 1, 2, 4, 8, 16

#: Pages read at a time.
BATCH = 2_000
#: Distinct pairs of hosts that are counted as steps from one to the other.
MAX_STEPS = 200_000
#: Languages and reasons that are told apart; the rest share the last name.
MAX_NAMES = 250


class Names:
    """Numbers for names that recur, from 0."""

    def __init__(self, limit: int = 1 << 31) -> None:
        self.limit = limit
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a name; a new one gets the next."""
        number = self._numbers.get(name)
        if number is None:
            if len(self.names) >= self.limit:
                return self.limit - 1
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        return number

    def find(self, name: str) -> int | None:
        """The number of a name that is known."""
        return self._numbers.get(name)


@dataclass
class Filters:
    """Which pages to list, and in which order."""

    state: str = ""
    withheld: str = ""
    language: str = ""
    host: str = ""
    status: str = ""
    since: str = ""
    until: str = ""
    low: str = ""
    high: str = ""
    order: str = "newest"
    q: str = ""
    #: Filters that could not be understood, by name.
    wrong: list[str] = field(default_factory=list)


#: The orders of a list: column, and whether the largest come first.
ORDERS = {
    "newest": ("number", True),
    "oldest": ("number", False),
    "best": ("relevance", True),
    "worst": ("relevance", False),
    "score": ("score", True),
}


class Ledger:
    """The facts of a crawl's pages, by their numbers."""

    flags: Numbers
    relevance: Numbers
    score: Numbers
    host: Numbers
    language: Numbers
    withheld: Numbers
    status: Numbers
    fetched: Numbers

    def __init__(self) -> None:
        self.lock = threading.Lock()
        #: All pages with numbers above `low` up to `top` are here.
        self.low = self.top = 0
        self._begun = False
        self._visit = 0
        #: The numbers of the pages between some bounds.
        self._known: tuple[tuple[int, int], Numbers] = (-1, -1), np.zeros(0, np.int64)
        self.hosts = Names()
        self.languages = Names(MAX_NAMES)
        self.reasons = Names(MAX_NAMES)
        self.reasons.number("")  # of pages that are not withheld
        #: How often a link from one host to another was followed, by the numbers of the hosts, both in one number.
        self._steps: Counter[int] = Counter()
        self._grow(1)

    @property
    def complete(self) -> bool:
        """Whether all pages are here."""
        return self._begun and self.low == 0

    def _grow(self, size: int) -> None:
        old = len(self.flags) if hasattr(self, "flags") else 0
        for name, kind in (
            ("flags", np.uint8),
            ("relevance", np.float32),
            ("score", np.float32),
            ("host", np.int32),
            ("language", np.uint8),
            ("withheld", np.uint8),
            ("status", np.int16),
            ("fetched", np.uint32),
        ):
            grown = np.zeros(size, kind)
            if old:
                grown[:old] = getattr(self, name)
            setattr(self, name, grown)

    # ---- filling

    def catch_up(self, store: Store, seconds: float) -> bool:
        """Read new pages, then older ones, for so many seconds; whether all pages are here now."""
        if not self.lock.acquire(timeout=seconds):
            return self.complete  # another thread is at it
        try:
            end = clock.monotonic() + seconds
            last = store.pages.last_number()
            if not self._begun:
                self.low = self.top = last
                self._visit = store.browse.last_visit()
                self._begun = True
            while self.top < last:
                upto = min(last, self.top + BATCH)
                self._take(store.browse.facts(self.top, upto), upto)
                self.top = upto
                if clock.monotonic() > end:
                    return False
            if self.complete:
                self._take_visits(store)
            while self.low > 0:
                if clock.monotonic() > end:
                    return False
                after = max(0, self.low - BATCH)
                self._take(store.browse.facts(after, self.low), self.low)
                self.low = after
            return True
        finally:
            self.lock.release()

    def renew(self, store: Store, pages: Collection[int]) -> None:
        """Read some pages again, which have changed."""
        with self.lock:
            here = sorted(page for page in pages if self.low < page <= self.top)
            self._take(store.browse.facts_of(here), self.top)

    def _take_visits(self, store: Store) -> None:
        """Read the pages again that were visited since."""
        visits = store.browse.visited_after(self._visit)
        if visits:
            self._visit = visits[-1][0]
            self._take(store.browse.facts_of(sorted({page for _, page in visits})), self.top)

    def _take(self, facts: list[Fact], upto: int) -> None:
        if upto >= len(self.flags):
            self._grow(upto + 1 + upto // 4)
        if not facts:
            return
        hosts = self.hosts
        columns: Any = Fact._make(zip(*facts, strict=True))
        index = np.array(columns.number, np.int64)
        of_hosts = [hosts.number(urls.host(url)) for url in columns.url]
        flags = np.full(len(facts), KNOWN, np.uint8)
        for column, flag in ((columns.relevant, RELEVANT), (columns.matched, MATCHED), (columns.problem, PROBLEM)):
            flags |= np.array([bool(value) for value in column], np.uint8) * np.uint8(flag)
        flags |= np.array([value is not None for value in columns.relevant], np.uint8) * np.uint8(JUDGED)
        self.flags[index] = flags
        self.relevance[index] = [-1.0 if value is None else value for value in columns.relevance]
        self.score[index] = [-1.0 if value is None else value for value in columns.score]
        self.host[index] = of_hosts
        self.language[index] = [self.languages.number(name) for name in columns.language]
        self.withheld[index] = [self.reasons.number(_kind(name)) for name in columns.withheld]
        self.status[index] = [min(max(int(value), 0), 999) for value in columns.status]
        self.fetched[index] = [_seconds(text[:19]) for text in columns.fetched_at]
        for host, parent in zip(of_hosts, columns.parent, strict=True):
            if parent is not None:
                step = hosts.number(urls.host(parent)) << 32 | host
                if len(self._steps) < MAX_STEPS or step in self._steps:
                    self._steps[step] += 1

    # ---- counting

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """The hosts that links led from and to, by their numbers, and how often such a link was followed."""
        for step, count in list(self._steps.items()):
            yield step >> 32, step & 0xFFFFFFFF, count

    @property
    def known(self) -> Numbers:
        """The numbers of the pages that are here, without those that another thread is just reading."""
        bounds = self.low, self.top
        if self._known[0] != bounds:
            numbers = (np.flatnonzero(self.flags[bounds[0] + 1 : bounds[1] + 1]) + (bounds[0] + 1)).astype(np.int32)
            self._known = bounds, numbers
        return self._known[1]

    def count(self, flag: int) -> int:
        """The number of pages with a flag."""
        return int(np.count_nonzero(self.flags[self.low + 1 : self.top + 1] & flag))

    def by_name(self, column: str, names: Names) -> list[tuple[str, int, int]]:
        """The names in a column, each with its pages and relevant pages, the most frequent first."""
        known = self.known
        values = getattr(self, column)[known]
        here = names.names.copy()  # another thread may add to them meanwhile
        pages = np.bincount(values, minlength=len(here))
        good = np.bincount(values[(self.flags[known] & RELEVANT) > 0], minlength=len(here))
        rows = [(name, int(pages[place]), int(good[place])) for place, name in enumerate(here)]
        return sorted((row for row in rows if row[1]), key=lambda row: (-row[1], row[0]))

    def statuses(self) -> list[tuple[int, int]]:
        """The HTTP statuses and their pages, the most frequent first."""
        counts = np.bincount(self.status[self.known], minlength=1)
        return sorted(((int(n), int(counts[n])) for n in np.flatnonzero(counts)), key=lambda row: -row[1])

    def harvest(self, points: int, window: int) -> tuple[list[float], list[float], int]:
        """Harvest in per cent at evenly spaced pages: of all so far and of the last *window*; and their number."""
        known = self.known
        total = len(known)
        if not total:
            return [], [], 0
        good = np.zeros(total + 1, np.int64)
        good[1:] = np.cumsum((self.flags[known] & RELEVANT) > 0)
        ends = np.unique(np.linspace(max(1, total // points), total, min(points, total)).round().astype(int))
        starts = np.maximum(0, ends - window)
        overall = 100 * good[ends] / ends
        recent = 100 * (good[ends] - good[starts]) / (ends - starts)
        return overall.tolist(), recent.tolist(), total

    # ---- choosing

    def select(self, filters: Filters, marked: dict[int, str]) -> Numbers:
        """The numbers of the pages that pass the filters, in order of number."""
        known = self.known
        flags = self.flags[known]
        keep = np.ones(len(known), bool)
        filters.wrong = []
        state = filters.state
        if state == "matched":
            keep &= (flags & MATCHED) > 0
        elif state == "relevant":
            keep &= (flags & RELEVANT) > 0
        elif state == "off":
            keep &= ((flags & JUDGED) > 0) & ((flags & RELEVANT) == 0)
        elif state == "problem":
            keep &= (flags & PROBLEM) > 0
        elif state == "withheld":
            keep &= self.withheld[known] > 0
        elif state in ("marked", "yes", "no", "unsure", "unmarked"):
            wanted = [page for page, verdict in marked.items() if state in ("marked", "unmarked", verdict)]
            keep &= np.isin(known, wanted, invert=state == "unmarked")
        for name, names, column in (
            ("withheld", self.reasons, self.withheld),
            ("language", self.languages, self.language),
        ):
            if text := getattr(filters, name):
                number = names.find(text)
                keep &= column[known] == (-1 if number is None else number)
        if filters.host:
            wanted_host = filters.host.strip().lower().strip(".")
            ending = f".{wanted_host}"
            among = [n for n, name in enumerate(self.hosts.names) if name == wanted_host or name.endswith(ending)]
            keep &= np.isin(self.host[known], among)
        if filters.status:
            text = filters.status
            if text.isdigit() and len(text) <= 3:
                keep &= self.status[known] == int(text)
            elif len(text) == 3 and text[0].isdigit() and text[1:] == "xx":
                keep &= self.status[known] // 100 == int(text[0])
            else:
                filters.wrong.append("status")
        for name, sign in (("since", 1), ("until", -1)):
            if text := getattr(filters, name):
                moment = _seconds(text)
                if not moment:
                    filters.wrong.append(name)
                elif sign > 0:
                    keep &= self.fetched[known] >= moment
                else:  # a date includes the whole day
                    keep &= self.fetched[known] < moment + (86_400 if len(text) <= len("2026-11-16") else 1)
        for name, sign in (("low", 1), ("high", -1)):
            if text := getattr(filters, name):
                try:
                    bound = float(text)
                except ValueError:
                    filters.wrong.append(name)
                    continue
                # a bound as it is shown, with two places, includes what is rounded to it
                near = 1e-6 * sign
                keep &= (self.relevance[known] - bound + near) * sign >= 0
                keep &= self.relevance[known] >= 0
        found: Numbers = known[keep]
        return found

    def ordered(self, numbers: Numbers, order: str, after: tuple[float, int] | None, limit: int) -> list[int]:
        """The first *limit* of some pages by an order, after the one with this value and number."""
        column, descending = ORDERS[order]
        sign = -1.0 if descending else 1.0
        values = sign * (numbers.astype(np.float64) if column == "number" else getattr(self, column)[numbers])
        if after is not None:
            value, number = sign * after[0], after[1]
            beyond = (values > value) | ((values == value) & (numbers > number))
            numbers, values = numbers[beyond], values[beyond]
        if len(numbers) > limit:
            near = values <= np.partition(values, limit - 1)[limit - 1]
            numbers, values = numbers[near], values[near]
        chosen: list[int] = numbers[np.lexsort((numbers, values))][:limit].tolist()
        return chosen

    def value(self, number: int, order: str) -> float:
        """The value of a page that an order sorts by."""
        column, _ = ORDERS[order]
        return float(number) if column == "number" else float(getattr(self, column)[number])


def _kind(withheld: str | None) -> str:
    """Why a page is withheld, without the details."""
    return (withheld or "").partition(":")[0]


@lru_cache(maxsize=4_096)
def _seconds(text: str) -> int:
    """A time in UTC as seconds since 1970; 0 if it is none."""
    try:
        moment = datetime.fromisoformat(text)
        return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))
    except (ValueError, OverflowError):
        return 0
