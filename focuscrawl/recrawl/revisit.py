"""Later visits to stored pages, without Scrapy: which are worth one, in which order, and what is different since.

Changes of a page are taken for a Poisson process. Its rate is the number of changes seen over the time watched, with a
prior of one change in a month: rate = (changes + 1) / (days watched + 30). The probability that a page has changed
since it last answered is then 1 - exp(-rate * days), and a visit is worth that times the page's relevance.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import heapify, heappop, heappush
from math import exp, inf
from typing import Any, NamedTuple

from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.store.store import Store

#: What may come of a visit.
UNCHANGED, CHANGED, GONE, BACK, UNREACHABLE = "unchanged", "changed", "gone", "back", "unreachable"

DAY = 86_400.0
#: What is taken for granted of a page nobody has watched: so many changes in so many seconds.
PRIOR_CHANGES, PRIOR_TIME = 1.0, 30 * DAY
#: The weight of a page that is not relevant at all, against 1 for one that is entirely.
LEAST_WEIGHT = 0.1
#: A page found gone is tried again after this time, and after twice as long each time it still is.
GONE_WAIT = 2 * DAY
#: The chance that a page found gone once is back; halved with each time.
BACK_CHANCE = 0.05
#: A page that could not be reached is tried again after this time, doubled each time in a row up to a week.
RETRY_WAIT, LONGEST_RETRY_WAIT = 3600.0, 7 * DAY
#: More would be beyond what a float can hold.
_DOUBLINGS = 500


@dataclass
class History:
    """What visits to a page have shown; times are seconds since 1970."""

    first: float
    #: When it last answered, with a page or with the news that there is none, and when it was last asked.
    answered: float = 0.0
    asked: float = 0.0
    changes: int = 0
    #: How often in a row it was found gone, and could not be reached.
    gone: int = 0
    failed: int = 0

    def __post_init__(self) -> None:
        self.answered = self.answered or self.first
        self.asked = self.asked or self.first

    def note(self, when: float, outcome: str) -> None:
        """Take in the next visit."""
        self.asked = max(self.asked, when)
        if outcome == UNREACHABLE:
            self.failed += 1
            return
        self.answered, self.failed = max(self.answered, when), 0
        self.gone = self.gone + 1 if outcome == GONE else 0
        self.changes += outcome in (CHANGED, BACK)

    @property
    def rate(self) -> float:
        """Changes a second, as far as is known."""
        return (self.changes + PRIOR_CHANGES) / (self.answered - self.first + PRIOR_TIME)

    def chance(self, now: float) -> float:
        """The probability that a visit finds something else than the last one."""
        if self.gone:
            return BACK_CHANCE / 2.0 ** min(self.gone - 1, _DOUBLINGS)
        return 1 - exp(-self.rate * max(0.0, now - self.answered))

    def due(self, now: float, older_than: float) -> bool:
        """Whether the page may be visited: it was left alone for *older_than* seconds, longer if it was in vain."""
        if self.failed and now - self.asked < min(
            LONGEST_RETRY_WAIT, RETRY_WAIT * 2.0 ** min(self.failed - 1, _DOUBLINGS)
        ):
            return False
        wait = max(older_than, GONE_WAIT * 2.0 ** min(self.gone - 1, _DOUBLINGS)) if self.gone else older_than
        return now - self.answered >= wait


def worth(relevance: float | None, chance: float) -> float:
    """What a visit is worth: the chance that it finds something, weighted by relevance (None: nobody judges)."""
    weight = 1.0 if relevance is None else LEAST_WEIGHT + (1 - LEAST_WEIGHT) * relevance
    return weight * chance


class Due(NamedTuple):
    """A stored page that is to be visited."""

    page: int
    url: str
    worth: float
    #: Whether it was gone the last time.
    gone: bool


def plan(store: Store, now: float, *, older_than: float = DAY, pages: int = 0) -> list[Due]:
    """The pages that are due, the most worthwhile first, *pages* at most (0: all)."""
    with store.reading():
        visits = list(store.visits.each())
        visited = {visit.page for visit in visits}
        found = {
            page.number: (page.url, page.relevance, History(seconds(page.first_fetched)))
            for page in store.pages.first_seen()
            if page.problem is None or page.number in visited
        }
        for visit in visits:
            found[visit.page][2].note(seconds(visit.visited_at), visit.outcome)
        due = [
            Due(number, url, worth(relevance, history.chance(now)), history.gone > 0)
            for number, (url, relevance, history) in found.items()
            if history.due(now, older_than)
        ]
    due.sort(key=lambda entry: (-entry.worth, entry.page))
    return due[:pages] if pages else due


class Turns:
    """Hands out visits: of the hosts that may be asked now, the one with the most worthwhile visit goes first."""

    def __init__(self, visits: Iterable[Due], host_of: Callable[[str], str]) -> None:
        """*visits* come in order, most worthwhile first."""
        self._host_of = host_of
        self._queues: dict[str, deque[Due]] = {}
        for visit in visits:
            self._queues.setdefault(host_of(visit.url), deque()).append(visit)
        #: (-worth, host) of the hosts that were free when last looked at, (time, host) of the others.
        self._ready = [(-queue[0].worth, host) for host, queue in self._queues.items()]
        heapify(self._ready)
        self._waiting: list[tuple[float, str]] = []
        self._busy: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._queues)

    def take(self, now: float, free_at: Callable[[str], float]) -> Due | None:
        """The next visit; None if no host may be asked now."""
        while self._waiting and self._waiting[0][0] <= now:
            self._put_ready(heappop(self._waiting)[1])
        while self._ready:
            _, host = heappop(self._ready)
            time = free_at(host)
            if time == inf:
                self._busy.add(host)
            elif time > now:
                heappush(self._waiting, (time, host))
            else:
                queue = self._queues[host]
                visit = queue.popleft()
                if queue:
                    self._put_ready(host)
                else:
                    del self._queues[host]
                return visit
        return None

    def again(self, visit: Due) -> None:
        """Put a visit back: its host has asked for a rest."""
        host = self._host_of(visit.url)
        queue = self._queues.get(host)
        if queue is None:
            self._queues[host] = deque([visit])
            self._put_ready(host)
        else:
            queue.appendleft(visit)

    def done(self, url: str) -> None:
        """A visit is over: its host may have room for the next."""
        host = self._host_of(url)
        if host in self._busy:
            self._busy.remove(host)
            self._put_ready(host)

    def next_time(self) -> float:
        """When the next host becomes free by itself; inf if none does."""
        return self._waiting[0][0] if self._waiting else inf

    def _put_ready(self, host: str) -> None:
        heappush(self._ready, (-self._queues[host][0].worth, host))


def difference(old: Page, new: Page) -> dict[str, Any] | None:
    """What a reader or the crawl would find different; None if that is nothing, whatever bytes were exchanged."""
    before, after = set(old.words), set(new.words)
    links_before, links_after = ({link.url for link in page.links} for page in (old, new))
    if old.words == new.words and links_before == links_after and old.problem == new.problem:
        return None
    return {"new_words": round(len(after - before) / len(after), 4) if after else 0.0} | (
        {"new_links": len(links_after - links_before)} if links_after - links_before else {}
    )


def changed_fields(
    old: tuple[str, float | None, int], new: tuple[str, float | None, bool]
) -> dict[str, tuple[Any, Any]]:
    """Title, relevance and match of a page before and now, as far as they are not the same."""
    before = {"title": old[0], "relevance": _rounded(old[1]), "matched": bool(old[2])}
    after = {"title": new[0], "relevance": _rounded(new[1]), "matched": bool(new[2])}
    return {name: (value, after[name]) for name, value in before.items() if value != after[name]}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


# ---- times as people write them

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY, "": DAY, "w": 7 * DAY}


def parse_age(text: str, option: str) -> float:
    """Seconds for `12h`, `7d` or `2w`; a number alone is days."""
    match = _AGE.fullmatch(text.strip().lower())
    if match is None:
        raise FocusError(f"{option} {text}: expected an age such as 12h, 7d or 2w")
    return float(match[1]) * _UNITS[match[2]]


def parse_since(text: str, now: float) -> str:
    """The moment, as the crawl's files show it, for a date, a date with a time (both in UTC), or an age such as 7d."""
    if _AGE.fullmatch(text.strip().lower()):
        age = parse_age(text, "--since")
        if age > now:
            raise FocusError(f"--since {text}: that is before there was a web")
        return moment(now - age)
    try:
        date = datetime.fromisoformat(text.strip())
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        raise FocusError(f"--since {text}: expected a date such as 2026-11-01, or an age such as 7d") from None


def seconds(when: str) -> float:
    """Seconds since 1970 for a time in the crawl's files."""
    return datetime.fromisoformat(when).timestamp()


def moment(when: float) -> str:
    """A time as the crawl's files show it."""
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
