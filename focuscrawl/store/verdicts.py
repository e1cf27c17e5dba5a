"""The verdicts on stored pages, and table `opinion`: what the judge says of the pages that a person has marked.

A mark changes `relevance`, `relevant` and `matched` of a page. The judge's own values move to `opinion`, and come back
when the mark is taken back. The table is created with the first such page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from focuscrawl.crawl.verdict import Verdict
from focuscrawl.store.part import Part, upsert
from focuscrawl.store.sqlite_file import from_json

_OPINION = "CREATE TABLE opinion (page INTEGER PRIMARY KEY, relevance REAL, relevant INTEGER, wanted INTEGER)"

#: Whether the strategy wants a page that is withheld is not stored: its judgement says so.
_WANTED = "CASE WHEN page.withheld IS NULL THEN page.matched ELSE coalesce(page.relevant, FALSE) END"
_PAGE = (
    "page.id, page.url_id, page.url, page.title, page.problem, page.withheld, page.listing, page.duplicate_of,"
    " page.why, page.redirects, page.relevance, page.relevant, page.matched"
)
_OWN = "opinion.page IS NOT NULL, opinion.relevance, opinion.relevant, opinion.wanted"
_JOIN = "LEFT JOIN opinion ON opinion.page = page.id"
_FIRST_RELEVANCE = (
    "SELECT coalesce(CAST(json_extract(first, '$.relevance') AS DOUBLE PRECISION), relevance) FROM page WHERE id = ?"
)
_SET = "UPDATE page SET relevance = ?, relevant = ?, matched = ? WHERE id = ?"
_SET_OPINION = upsert("opinion", "page", "relevance", "relevant", "wanted")


class Judged(NamedTuple):
    """A stored page with its verdict."""

    number: int
    url_id: int
    url: str
    title: str
    problem: str | None
    withheld: str | None
    listing: bool
    duplicate_of: int | None
    #: What the judge's relevance is made of.
    why: dict[str, Any]
    redirects: list[str]
    #: The verdict that counts, and the judge's own.
    now: Verdict
    own: Verdict

    @property
    def counts(self) -> bool:
        """Whether the page is no list of URLs and repeats no other."""
        return not self.listing and self.duplicate_of is None

    @property
    def findable(self) -> bool:
        """Whether the page may be in URLs.txt."""
        return self.problem is None and self.withheld is None


class Verdicts(Part):
    """The verdicts on stored pages."""

    def make(self) -> None:
        """Create the table if it does not exist."""
        self.store.make(_OPINION)

    def _exists(self) -> bool:
        return self.store.has(_OPINION)

    def get(self, number: int) -> Judged | None:
        """The verdict on the page with a number."""
        return next(self._select("WHERE page.id = ?", number), None)

    def first_relevance(self, number: int) -> float | None:
        """The relevance that a page had when it arrived."""
        row = self.store.execute(_FIRST_RELEVANCE, (number,)).fetchone()
        return None if row is None or row[0] is None else float(row[0])

    def overruled(self) -> dict[int, bool]:
        """The pages that a mark overrules, and whether the judge wanted them."""
        rows = self.store.execute("SELECT page, wanted FROM opinion") if self._exists() else ()
        return {page: bool(wanted) for page, wanted in rows}

    def redirects(self, number: int) -> list[str]:
        """The URLs that the request for a page passed through."""
        row = self.store.execute("SELECT redirects FROM page WHERE id = ?", (number,)).fetchone()
        return from_json(row[0], list) if row else []

    def each(self, after: int = 0) -> Iterator[Judged]:
        """The verdicts on all pages with a number above *after*, in fetch order."""
        return self._select("WHERE page.id > ? ORDER BY page.id", after)

    def _select(self, where: str, value: int) -> Iterator[Judged]:
        withheld = self.store.withheld
        page = _PAGE if withheld == "page.withheld" else _PAGE.replace("page.withheld", withheld)
        wanted = _WANTED.replace("page.withheld", f"({withheld})")
        own, join = (_OWN, _JOIN) if self._exists() else ("FALSE, NULL, NULL, NULL", "")
        query = f"SELECT {page}, {wanted}, {own} FROM page {join} {where}"  # of constants
        return (_judged(*row) for row in self.store.execute(query, (value,)))

    def set(self, judged: Judged, verdict: Verdict, own: Verdict | None) -> None:
        """Set the verdict on a page, and the judge's *own* if a person overrules it. Call inside a transaction."""
        number = judged.number
        if verdict != judged.now:
            self.store.pages.keep_first(number)
            self.store.execute(_SET, (*verdict, number))
            self.store.pages.relist(number, matched=verdict.matched)
            self.store.search.set_verdict(number, relevant=bool(verdict.relevant), matched=verdict.matched)
        self.set_own(number, own)

    def set_own(self, number: int, own: Verdict | None) -> None:
        """Keep what the judge says of a page that a person has marked; None if no mark overrules it."""
        if own is not None:
            self.make()
            self.store.execute(_SET_OPINION, (number, *own))
        elif self._exists():
            self.store.execute("DELETE FROM opinion WHERE page = ?", (number,))

    def set_why(self, number: int, why: Mapping[str, float]) -> None:
        """Set what the judge's relevance of a page is made of. Call inside a transaction."""
        self.store.execute("UPDATE page SET why = ? WHERE id = ?", (json.dumps(why, default=str), number))


def _judged(*row: Any) -> Judged:
    number, url_id, url, title, problem, withheld, listing, duplicate_of, why, redirects, *rest = row
    relevance, relevant, matched, wanted, overruled, own_relevance, own_relevant, own_wanted = rest
    now = Verdict(relevance, None if relevant is None else bool(relevant), bool(matched))
    if overruled:
        own = Verdict(own_relevance, None if own_relevant is None else bool(own_relevant), bool(own_wanted))
    else:
        own = now._replace(matched=bool(wanted))
    facts = from_json(why, dict), from_json(redirects, list)
    return Judged(number, url_id, url, title or "", problem, withheld, bool(listing), duplicate_of, *facts, now, own)
