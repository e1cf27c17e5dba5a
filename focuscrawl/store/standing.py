"""Where a crawl stands: the outcome of its latest pages, how it ended, and what a crawl without a match lacks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import accumulate
from math import ceil
from typing import Any, NamedTuple

from focuscrawl.store.part import Part
from focuscrawl.store.sqlite_file import from_json

#: Most characters of a message in the file that are shown.
_SHOWN = 500
_NEAREST = (
    "SELECT url, title, relevance, problem, {withheld} FROM page"
    " WHERE problem IS NULL AND relevance IS NOT NULL ORDER BY relevance DESC, id LIMIT ?"
)


_HARVEST = "SELECT (id - 1) / ?, count(CASE WHEN relevant THEN 1 END) FROM page WHERE id > 0 GROUP BY 1"


class Ending(NamedTuple):
    """How the latest run ended."""

    #: Scrapy's reason; empty if the run has not ended, or was killed.
    reason: str
    when: str
    #: The limit that was reached (stop_below) or the error; empty if the reason says it all.
    detail: str


class Near(NamedTuple):
    """A page that did not match."""

    url: str
    title: str
    relevance: float
    problem: str | None
    withheld: str | None


class Standing(Part):
    """Reads what tells where a crawl stands. Writing belongs inside a transaction."""

    # ---- the latest pages

    def outcomes(self, limit: int) -> list[tuple[float, bool]]:
        """Score and relevance of the latest pages, in fetch order."""
        rows = self.store.execute("SELECT score, relevant FROM page ORDER BY id DESC LIMIT ?", (limit,)).fetchall()
        return [(float(score or 0.0), bool(relevant)) for score, relevant in reversed(rows)]

    def harvest(self, points: int) -> tuple[list[int], int]:
        """The relevant pages among the first pages, at about so many evenly spaced points; and the last page's number.

        The points are the pages themselves if there are no more.
        """
        last = self.store.pages.last_number()
        step = max(1, ceil(last / points))
        counts = [0] * ceil(last / step)
        for place, count in self.store.execute(_HARVEST, (step,)):
            counts[place] = count
        return list(accumulate(counts)), last

    def pace(self, limit: int) -> float | None:
        """Pages per second over the latest pages; None if there are too few."""
        rows = self.store.execute("SELECT fetched_at FROM page ORDER BY id DESC LIMIT ?", (limit,)).fetchall()
        try:
            last, first = (datetime.fromisoformat(rows[place][0]) for place in (0, -1))
            seconds = (last - first).total_seconds()
        except (IndexError, TypeError, ValueError):  # the file may say anything
            return None
        return (len(rows) - 1) / seconds if seconds > 0 else None

    # ---- the latest run

    def end(self, reason: str, when: str, detail: str) -> None:
        """Record how the latest run ended."""
        *earlier, last = self.store.runs()
        self.store.set_meta("runs", [*earlier, last | {"ended": when, "reason": reason, "detail": detail}])

    def fail(self, message: str) -> None:
        """Record that the latest run failed."""
        *earlier, last = self.store.runs()
        self.store.set_meta("runs", [*earlier, last | {"failed": message}])

    def failure(self) -> str:
        """Why the latest run failed; empty if it did not."""
        return _text(self.store.runs()[-1].get("failed"))

    def threshold(self) -> float | None:
        """The relevance from which a page counts in the latest run; None if its strategy has no such option."""
        options = self.store.runs()[-1].get("options")
        value = options.get("threshold") if isinstance(options, dict) else None
        return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None

    def ending(self, run: int = -1) -> Ending:
        """How the latest run ended, or an earlier one."""
        runs = self.store.runs()
        noted = runs[run] if -len(runs) <= run else {}
        return Ending(*(_text(noted.get(name)) for name in ("reason", "ended", "detail")))

    # ---- a crawl without a match

    def reasons(self, limit: int) -> set[str]:
        """The names of all parts that the relevance of the first pages is made of: of a keyword judge, the keywords."""
        query = "SELECT why FROM page WHERE why IS NOT NULL AND why != '{}' ORDER BY id LIMIT ?"
        rows = self.store.execute(query, (limit,))
        return {str(name) for (why,) in rows for name in from_json(why, dict)}

    def nearest(self, limit: int) -> list[Near]:
        """The readable pages with the highest relevance, best first."""
        rows = self.store.execute(_NEAREST.format(withheld=self.store.withheld), (limit,))
        return [Near(url, title or "", float(relevance), *rest) for url, title, relevance, *rest in rows]

    def unread_seeds(self) -> Iterator[tuple[str, str]]:
        """The seeds that gave no readable page, and why."""
        yield from self.store.execute(
            "SELECT url, problem FROM page WHERE via IS NULL AND parent IS NULL AND problem IS NOT NULL ORDER BY id"
        )
        yield from self.store.execute("SELECT url, reason FROM failure WHERE via IS NULL ORDER BY id")

    def forecast(self) -> dict[str, Any]:
        """The latest forecast as it was recorded; empty if there is none."""
        noted = self.store.meta("forecast")
        return noted if isinstance(noted, dict) else {}


def _text(value: object) -> str:
    return value[:_SHOWN] if isinstance(value, str) else ""
