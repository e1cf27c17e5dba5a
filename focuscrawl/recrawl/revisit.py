"""Plan revisits of stored pages and compare versions, without Scrapy.

Changes of a page are modelled as a Poisson process. Its rate is the number of observed changes over the observed time,
with a prior of one change in a month: rate = (changes + 1) / (days observed + 30). The probability that a page has
changed since it last answered is then 1 - exp(-rate * days). A visit is worth that probability times the page's
relevance.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp
from typing import Any, NamedTuple

from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.shells import is_shell
from focuscrawl.store.pages import StoredPage
from focuscrawl.store.store import Store

#: Outcomes of a visit.
UNCHANGED, CHANGED, GONE, BACK, UNREACHABLE = "unchanged", "changed", "gone", "back", "unreachable"

DAY = 86_400.0
#: The prior: number of changes, and the time in seconds in which they occur.
PRIOR_CHANGES, PRIOR_TIME = 1.0, 30 * DAY
#: The weight of a page with relevance 0; relevance 1 has weight 1.
LEAST_WEIGHT = 0.1
#: A page found gone is tried again after this time, which doubles each time it is still gone.
GONE_WAIT = 2 * DAY
#: The probability that a page found gone once is back; it is halved each further time.
BACK_CHANCE = 0.05
#: An unreachable page is retried after this time, which doubles with each failure in a row, up to a week.
RETRY_WAIT, LONGEST_RETRY_WAIT = 3600.0, 7 * DAY
#: Limit on doublings, so that floats do not overflow.
_DOUBLINGS = 500


@dataclass
class History:
    """The visits to a page; times are seconds since 1970."""

    first: float
    #: When the server last answered, with the page or that it is gone, and when it was last asked.
    answered: float = 0.0
    asked: float = 0.0
    changes: int = 0
    #: How many times in a row it was found gone, and was unreachable.
    gone: int = 0
    failed: int = 0

    def __post_init__(self) -> None:
        self.answered = self.answered or self.first
        self.asked = self.asked or self.first

    def note(self, when: float, outcome: str) -> None:
        """Add the next visit."""
        self.asked = max(self.asked, when)
        if outcome == UNREACHABLE:
            self.failed += 1
            return
        self.answered, self.failed = max(self.answered, when), 0
        self.gone = self.gone + 1 if outcome == GONE else 0
        self.changes += outcome in (CHANGED, BACK)

    @property
    def rate(self) -> float:
        """Estimated changes per second."""
        return (self.changes + PRIOR_CHANGES) / (self.answered - self.first + PRIOR_TIME)

    def chance(self, now: float) -> float:
        """The probability that a visit finds a change since the last one."""
        if self.gone:
            return BACK_CHANCE / 2.0 ** min(self.gone - 1, _DOUBLINGS)
        return 1 - exp(-self.rate * max(0.0, now - self.answered))

    def due(self, now: float, older_than: float) -> bool:
        """Whether a visit is due: the last was at least *older_than* seconds ago, or longer after failures."""
        if self.failed and now - self.asked < min(
            LONGEST_RETRY_WAIT, RETRY_WAIT * 2.0 ** min(self.failed - 1, _DOUBLINGS)
        ):
            return False
        wait = max(older_than, GONE_WAIT * 2.0 ** min(self.gone - 1, _DOUBLINGS)) if self.gone else older_than
        return now - self.answered >= wait


def worth(relevance: float | None, chance: float) -> float:
    """The worth of a visit: the probability of a change, weighted by relevance (None: not judged)."""
    weight = 1.0 if relevance is None else LEAST_WEIGHT + (1 - LEAST_WEIGHT) * relevance
    return weight * chance


class Due(NamedTuple):
    """A stored page that is due for a visit."""

    page: int
    url: str
    worth: float
    #: Whether it was gone at the last visit.
    gone: bool
    url_id: int = 0
    depth: int = 0
    #: The id of the link it was found by.
    via: int | None = None


def plan(store: Store, now: float, *, older_than: float = DAY, pages: int = 0, shells: bool = False) -> list[Due]:
    """The pages that are due, the most worthwhile first, *pages* at most (0: all).

    *shells*: whether pages that could not be read without a browser are visited, too.
    """
    with store.reading():
        visited = {visit.page for visit in store.visits.each()}
        found = {
            page.number: (page, History(seconds(page.first_fetched)))
            for page in store.pages.first_seen()
            if page.problem is None or page.number in visited or (shells and is_shell(page.problem))
        }
        for visit in store.visits.each():
            found[visit.page][1].note(seconds(visit.visited_at), visit.outcome)
        due = [
            Due(
                *(page.number, page.url, worth(page.relevance, history.chance(now)), history.gone > 0),
                *(page.url_id, page.depth, page.via),
            )
            for page, history in found.values()
            if history.due(now, older_than)
        ]
    due.sort(key=lambda entry: (-entry.worth, entry.page))
    return due[:pages] if pages else due


def difference(old: Page, new: Page) -> dict[str, Any] | None:
    """The differences in words and links; None if there are none, even if the bytes differ."""
    before, after = set(old.words), set(new.words)
    links_before, links_after = ({link.url for link in page.links} for page in (old, new))
    if old.words == new.words and links_before == links_after and old.problem == new.problem:
        return None
    return {"new_words": round(len(after - before) / len(after), 4) if after else 0.0} | (
        {"new_links": len(links_after - links_before)} if links_after - links_before else {}
    )


def changed_fields(old: StoredPage, new: Page) -> dict[str, tuple[Any, Any]]:
    """Old and new values of title, relevance and match, where they differ."""
    before = {"title": old.title, "relevance": _rounded(old.relevance), "matched": old.matched}
    after = {"title": new.title, "relevance": _rounded(new.relevance), "matched": new.matched}
    return {name: (value, after[name]) for name, value in before.items() if value != after[name]}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


# ---- parsing times

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY, "": DAY, "w": 7 * DAY}


def parse_age(text: str, option: str) -> float:
    """Seconds for `12h`, `7d` or `2w`; a number alone is days."""
    match = _AGE.fullmatch(text.strip().lower())
    if match is None:
        raise FocusError(f"{option} {text}: expected an age such as 12h, 7d or 2w")
    return float(match[1]) * _UNITS[match[2]]


def parse_since(text: str, now: float) -> str:
    """The time, as written in the crawl's files, for a date, a date with a time (both UTC), or an age such as 7d."""
    if _AGE.fullmatch(text.strip().lower()):
        age = parse_age(text, "--since")
        if age > now:
            raise FocusError(f"--since {text}: expected a time after 1970")
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
    """A time as written in the crawl's files."""
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
