"""Queries of the dashboard: each reads little, however large the crawl is, unless it says otherwise.

The columns of `page` after the body are read only where needed: SQLite passes the whole body to reach them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from focuscrawl.store.links import WHY
from focuscrawl.store.part import Part
from focuscrawl.store.sqlite_file import from_json

#: Links of a page that are shown, and links from the end of the crawl that refusals are counted in.
MAX_LINKS = 1_000
LATEST_LINKS = 20_000


class Fact(NamedTuple):
    """The columns of a page that pages are filtered and counted by."""

    number: int
    url: str
    parent: str | None
    status: int
    score: float | None
    relevance: float | None
    relevant: int | None
    matched: int
    fetched_at: str
    language: str
    problem: int
    withheld: str | None


_FACTS = (
    "SELECT id, url, parent, status, score, relevance, relevant, matched, fetched_at, language, problem IS NOT NULL,"
    " CASE WHEN matched THEN NULL WHEN duplicate_of IS NOT NULL THEN 'copy' WHEN listing THEN 'listing'"
    " WHEN relevant OR instr(robots, 'noindex') > 0 THEN {withheld} END FROM page"
)


class Row(NamedTuple):
    """A page in a list."""

    number: int
    url: str
    title: str
    status: int
    relevance: float | None
    relevant: int | None
    matched: int
    score: float | None
    language: str
    fetched_at: str
    problem: str | None
    why_json: str | None

    @property
    def why(self) -> dict[str, Any]:
        """What its relevance is made of."""
        return from_json(self.why_json, dict)


_ROW = (
    "SELECT id, url, title, status, relevance, relevant, matched, score, language, fetched_at, problem, why FROM page"
)
_ROWS = f"{_ROW} WHERE id IN (SELECT value FROM json_each(?))"
_BORDERLINE = (
    f"{_ROW} WHERE relevant IS NOT NULL AND problem IS NULL AND duplicate_of IS NULL AND NOT listing"
    " ORDER BY abs(relevance - ?), id LIMIT ?"
)
#: The multiplier mixes the numbers (Knuth).
_AT_RANDOM = f"{_ROW} WHERE matched ORDER BY id * 2654435761 % 4294967296 LIMIT ?"
_LANGUAGES = (
    "SELECT language, count(*), count(CASE WHEN relevant THEN 1 END) FROM page WHERE problem IS NULL"
    " GROUP BY language ORDER BY 2 DESC, 1 LIMIT ?"
)


class PageDetail(NamedTuple):
    """What else is known of a page."""

    #: The URL that was requested, and its key.
    asked: str
    key: int
    depth: int
    fetched_at: str
    language: str
    language_confidence: float | None
    robots: str
    withheld: str | None
    topics: list[Any]


_DETAIL = (
    "SELECT url.url, url.key, depth, fetched_at, language, {confidence}, robots, {withheld}, topics FROM page"
    " JOIN url ON url.id = page.url_id WHERE page.id = ?"
)

_RIGHTS = ("robots_txt", "x_robots_tag", "noai", "noimageai", "tdm_reservation", "tdm_policy", "licences", "left_out")
_RIGHTS_OF = f"SELECT {', '.join(_RIGHTS)} FROM rights WHERE page = ?"


class LinkFate(NamedTuple):
    """A link of a page, and what became of it."""

    url: str
    anchor: str
    score: float | None
    why_json: str | None
    url_id: int
    done: int
    #: The page that was fetched for it, and its judgement.
    page: int | None
    relevance: float | None
    matched: int | None
    #: Its score in the queue.
    waiting: float | None

    @property
    def why(self) -> dict[str, Any]:
        """What its score is made of."""
        return from_json(self.why_json, dict)


_LINKS = (
    f"SELECT url.url, anchor, link.score, {WHY}, link.url_id, url.done, page.id, page.relevance, page.matched,"
    " frontier.score FROM link JOIN url ON url.id = link.url_id LEFT JOIN page ON page.url_id = link.url_id"
    " LEFT JOIN frontier ON frontier.url_id = link.url_id WHERE link.id >= ? AND link.id < ? ORDER BY link.id LIMIT ?"
)
_NEXT = (
    "SELECT url, score, rank, depth, via, damping, host.name FROM frontier JOIN host ON host.id = frontier.host"
    " ORDER BY rank DESC, url_id LIMIT ?"
)


class Waiting(NamedTuple):
    """A waiting URL near the front of the queue."""

    url: str
    score: float
    rank: float
    depth: int
    via: int | None
    damping: float
    host: str


class WaitingHost(NamedTuple):
    """The waiting URLs of a host."""

    name: str
    waiting: int
    best: float
    on_disk: int


_WAITING_HOSTS = (
    "SELECT host.name, waiting, best, cold FROM (SELECT host, count(*) AS waiting, max(score) AS best,"
    " total(cold) AS cold FROM frontier GROUP BY host ORDER BY 3 DESC, 2 DESC LIMIT ?) AS those"
    " JOIN host ON host.id = those.host ORDER BY best DESC, waiting DESC"
)
_REFUSED = (
    f"SELECT {WHY}, count(*) FROM (SELECT * FROM link WHERE id > 0 ORDER BY id DESC LIMIT ?) AS link"
    " WHERE score IS NULL GROUP BY 1 ORDER BY 2 DESC LIMIT ?"
)
_LAST_FAILURES = "SELECT url, reason, failed_at FROM failure ORDER BY id DESC LIMIT ?"
_OF_KEYS = (
    "SELECT url.key, page.id FROM url JOIN page ON page.url_id = url.id"
    " WHERE url.key IN (SELECT value FROM json_each(?))"
)


class Browse(Part):
    """What the dashboard shows."""

    def small_cache(self) -> None:
        """Use little memory for this connection: several are open at a time."""
        self.store.small_cache()

    # ---- pages

    def facts(self, after: int, upto: int) -> list[Fact]:
        """The facts of the pages with a number above *after*, up to *upto*."""
        query = _FACTS.format(withheld=self.store.withheld) + " WHERE id > ? AND id <= ?"
        return list(map(Fact._make, self.store.execute(query, (after, upto))))

    def facts_of(self, numbers: Sequence[int]) -> list[Fact]:
        """The facts of some pages."""
        query = _FACTS.format(withheld=self.store.withheld) + " WHERE id IN (SELECT value FROM json_each(?))"
        return list(map(Fact._make, self.store.execute(query, (json.dumps(list(numbers)),))))

    def rows(self, numbers: Sequence[int]) -> list[Row]:
        """Some pages for a list, in the order of *numbers*."""
        found = {row[0]: Row(*row) for row in self.store.execute(_ROWS, (json.dumps(list(numbers)),))}
        return [found[number] for number in numbers if number in found]

    def borderline(self, threshold: float, limit: int) -> list[Row]:
        """The readable pages whose relevance is nearest to a threshold. This reads all pages."""
        return [Row(*row) for row in self.store.execute(_BORDERLINE, (threshold, limit))]

    def at_random(self, limit: int) -> list[Row]:
        """Some matched pages, always the same of the same crawl. This reads all pages."""
        return [Row(*row) for row in self.store.execute(_AT_RANDOM, (limit,))]

    def languages(self, limit: int) -> list[tuple[str, int, int]]:
        """The languages of the readable pages: pages and relevant pages. This reads all pages."""
        return self.store.execute(_LANGUAGES, (limit,)).fetchall()

    def detail(self, number: int) -> PageDetail | None:
        """What else is known of a page."""
        confidence = "language_confidence" if self.store.version >= 4 else "NULL"
        query = _DETAIL.format(withheld=self.store.withheld, confidence=confidence)
        row = self.store.execute(query, (number,)).fetchone()
        return PageDetail._make((*row[:-1], from_json(row[-1], list))) if row else None

    def rights(self, number: int) -> dict[str, Any]:
        """What is known of the rights of a page, without what is not said."""
        row = self.store.execute(_RIGHTS_OF, (number,)).fetchone()
        said = dict(zip(_RIGHTS, row, strict=True)) if row else {}
        return {name: value for name, value in said.items() if value not in (None, "", 0)}

    def links(self, number: int) -> list[LinkFate]:
        """The links of a page as its first visit found them, and what became of them."""
        bounds = self.store.links.first_of(number), self.store.links.first_of(number + 1)
        return [LinkFate(*row) for row in self.store.execute(_LINKS, (*bounds, MAX_LINKS))]

    def failures_of(self, url_ids: Sequence[int]) -> dict[int, str]:
        """Why URLs failed, by id. This reads all failures."""
        query = "SELECT url_id, reason FROM failure WHERE url_id IN (SELECT value FROM json_each(?))"
        return dict(self.store.execute(query, (json.dumps(list(url_ids)),)))

    def last_visit(self) -> int:
        """The number of the last visit; 0 if there is none."""
        number: int = self.store.execute("SELECT coalesce(max(id), 0) FROM visit").fetchone()[0]
        return number

    def visited_after(self, visit: int) -> list[tuple[int, int]]:
        """Later visits: their numbers and those of the pages."""
        return self.store.execute(
            "SELECT id, page FROM visit WHERE id > ? ORDER BY id LIMIT 10000", (visit,)
        ).fetchall()

    def page_at(self, url: str) -> int | None:
        """The number of the page at a URL."""
        row = self.store.execute("SELECT id FROM page WHERE url = ?", (url,)).fetchone()
        return row[0] if row else None

    def pages_of_keys(self, keys: Sequence[int]) -> dict[int, int]:
        """The pages that were fetched for URLs, by the keys of these. This reads all URLs."""
        return dict(self.store.execute(_OF_KEYS, (json.dumps(list(keys)),)))

    # ---- the queue

    def next_up(self, limit: int) -> list[Waiting]:
        """The front of the queue, best first. This reads the whole queue."""
        return [Waiting(*row) for row in self.store.execute(_NEXT, (limit,))]

    def waiting_hosts(self, limit: int) -> list[WaitingHost]:
        """The hosts with the best waiting URLs. This reads the whole queue."""
        return [WaitingHost(*row) for row in self.store.execute(_WAITING_HOSTS, (limit,))]

    def refused(self, limit: int) -> list[tuple[dict[str, Any], int]]:
        """Why links were refused, among the latest ones, with their number."""
        rows = self.store.execute(_REFUSED, (LATEST_LINKS, limit))
        return [(from_json(why, dict), count) for why, count in rows]

    def last_failures(self, limit: int) -> list[tuple[str, str, str]]:
        """The latest failures: URL, reason, time."""
        return self.store.execute(_LAST_FAILURES, (limit,)).fetchall()

    def anchors(self, links: Sequence[int]) -> dict[int, tuple[str, str | None, int]]:
        """Anchor text, reasons (JSON) and page of some links, by id."""
        query = f"SELECT id, anchor, {WHY}, page FROM link WHERE id IN (SELECT value FROM json_each(?))"
        return {number: (anchor, why, page) for number, anchor, why, page in self._each(query, list(links))}

    def _each(self, query: str, values: list[int]) -> Iterator[tuple[Any, ...]]:
        return self.store.execute(query, (json.dumps(values),))
