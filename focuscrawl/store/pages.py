"""Table `page`: the stored pages, numbered in the order they were fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from focuscrawl.crawl.verdict import own_verdict
from focuscrawl.language.languages import code_of
from focuscrawl.page import FIELDS, Page
from focuscrawl.store.metadata import of_page
from focuscrawl.store.page_bodies import Content as Content
from focuscrawl.store.page_bodies import PageBodies
from focuscrawl.store.sqlite_file import as_json, from_json

if TYPE_CHECKING:
    from focuscrawl.store.store import Store

#: The columns of a page that a later visit replaces.
_CONTENT = (
    *("status", "relevance", "relevant", "matched", "title", "topics", "fetched_at", "why", "problem", "robots"),
    *("language", "content_type", "etag", "last_modified", "listing", "duplicate_of", "signature", "body", "withheld"),
    "language_confidence",
)
_ADDED = ("url_id", "url", "depth", "parent", "via", "score", "redirects", "listed", *_CONTENT)
#: A line of pages.jsonl.
_RECORD = f"{', '.join(FIELDS)} FROM page LEFT JOIN metadata ON metadata.page = page.id"
_UPDATE = f"UPDATE page SET {', '.join(f'{name} = ?' for name in _CONTENT)} WHERE id = ?"
_ADD = f"INSERT INTO page ({', '.join(_ADDED)}) VALUES ({', '.join('?' * len(_ADDED))})"

#: When a page was first fetched.
_FIRST_FETCHED = "coalesce(json_extract(first, '$.fetched_at'), fetched_at)"
#: Larger than the number of any page.
_BEYOND = (1 << 63) - 1


class StoredPage(NamedTuple):
    """What the crawl knows of a stored page, without its text."""

    number: int
    url_id: int
    url: str
    status: int
    #: The URL of the page whose link led here, and the id of that link; None for a seed.
    parent: str | None
    via: int | None
    title: str
    relevance: float | None
    #: Why the page could not be read; None if it could.
    problem: str | None
    #: The number of the page it nearly duplicates.
    duplicate_of: int | None
    content_type: str
    fetched_at: str
    #: None if the page was not judged.
    relevant: bool | None
    matched: bool
    listing: bool


_PAGE = f"SELECT {', '.join(('id', *StoredPage._fields[1:]))} FROM page"
_EACH = f"{_PAGE} WHERE id > ? AND id <= ? ORDER BY id"


class Arrival(NamedTuple):
    """A page and the page whose link led to it: 0, None and False where there is none."""

    number: int
    url_id: int
    #: The requested URL, before redirects.
    asked: str
    relevance: float
    relevant: bool
    parent: int
    parent_url_id: int | None
    parent_url: str | None
    parent_content_type: str | None
    parent_is_copy: bool


_ARRIVALS = (
    "SELECT page.id, page.url_id, url.url, coalesce(page.relevance, 0), page.relevant, coalesce(link.page, 0),"
    " parent.url_id, parent.url, parent.content_type, parent.duplicate_of FROM page JOIN url ON url.id = page.url_id"
    " LEFT JOIN link ON link.id = page.via LEFT JOIN page AS parent ON parent.id = link.page"
    " WHERE page.id > ? AND page.id <= ? ORDER BY page.id"
)


class Story(NamedTuple):
    """How a page was fetched and how it was judged."""

    url: str
    title: str
    status: int
    #: The score with which it was fetched.
    score: float | None
    relevance: float | None
    matched: bool
    #: What its relevance is made of.
    why: dict[str, Any]
    problem: str | None
    via: int | None
    #: The URLs passed through by redirects.
    redirects: list[str]
    duplicate_of: int | None
    #: The reservation that keeps it out of the exports.
    left_out: str | None
    content_type: str


class FirstSeen(NamedTuple):
    """A page as it is now, and when it was first fetched."""

    number: int
    url: str
    title: str
    relevance: float | None
    matched: bool
    problem: str | None
    first_fetched: str
    url_id: int
    depth: int
    via: int | None


class Figures(NamedTuple):
    """Counts over all pages, and when the first and the last were fetched (None if there is none)."""

    pages: int
    relevant: int
    matched: int
    copies: int
    first: str | None
    last: str | None


_FIGURES = (
    "SELECT count(*), count(CASE WHEN relevant THEN 1 END), count(CASE WHEN matched THEN 1 END), count(duplicate_of),"
    " min(fetched_at), max(fetched_at) FROM page"
)


class Pages(PageBodies):
    """The stored pages."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        #: Lines of URLs.txt, once they were counted.
        self._lines: int | None = None

    # ---- writing

    def add(self, page: Page, via: int | None) -> int:
        """Store a page and return its number. Call inside a transaction."""
        redirects = json.dumps(page.redirects) if page.redirects else None
        place = self._next_line() if page.matched else None
        added = page.url_id, page.url, page.depth, page.parent, via, page.score, redirects, place
        number = self.store.insert(_ADD, (*added, *_content(page, self._kept(page))))
        self.store.rights.set(number, page.rights)
        self.store.metadata.set(number, page)
        if page.overruled:
            self.store.verdicts.set_own(number, own_verdict(page))
        return number

    def update(self, number: int, page: Page, *, keeps_copies: bool = False) -> int | None:
        """Replace the content of a stored page. Its first copy takes the old text, unless the page *keeps* its copies.

        Returns the number of that copy, if there is one. Call inside a transaction.
        """
        self.keep_first(number)
        self.store.links.keep_contexts(number)
        heir = None if keeps_copies else self._hand_on_text(number)
        self.store.execute(_UPDATE, (*_content(page, self._kept(page)), number))
        self.store.rights.set(number, page.rights)
        self.store.metadata.set(number, page)
        self.store.verdicts.set_own(number, own_verdict(page) if page.overruled else None)
        self.relist(number, matched=page.matched)
        return heir

    def mark_gone(self, number: int, status: int, problem: str) -> int | None:
        """Keep the text of a page that is gone, but no longer count it. Call inside a transaction.

        Returns the number of the copy that takes its place, if there is one.
        """
        self.keep_first(number)
        heir = self._hand_on_text(number)
        self.store.execute(
            "UPDATE page SET status = ?, problem = ?, relevant = relevant AND NOT relevant, matched = FALSE,"
            " etag = NULL, last_modified = NULL, signature = NULL WHERE id = ?",  # a new page may say the same
            (status, problem, number),
        )
        self.store.verdicts.set_own(number, None)  # a page that is gone counts no more, whatever was said of it
        self.relist(number, matched=False)
        return heir

    def set_validators(self, number: int, etag: str | None, last_modified: str | None) -> None:
        """Store the validators of a page: they tell its server which version the crawl has."""
        self.store.execute("UPDATE page SET etag = ?, last_modified = ? WHERE id = ?", (etag, last_modified, number))

    def set_redirects(self, url: str, passed: list[str]) -> None:
        """Store the URLs that led to the page at a URL by redirects, unless some are stored. Call in a transaction."""
        query = "UPDATE page SET redirects = ? WHERE url = ? AND redirects IS NULL"
        self.store.execute(query, (json.dumps(passed), url))

    def renew_metadata(self, number: int, page: Page) -> None:
        """Store what a page says of itself now, although its text is the same as before. Call inside a transaction."""
        if self.store.metadata.get(number) != of_page(page):
            self.keep_first(number)
            self.store.metadata.set(number, page)

    def _next_line(self) -> int:
        """The next line of URLs.txt."""
        if self._lines is None:
            self._lines = int(self.store.execute("SELECT coalesce(max(listed), 0) FROM page").fetchone()[0])
        self._lines += 1
        return self._lines

    def keep_first(self, number: int) -> None:
        """Keep a page's line in pages.jsonl before the page changes for the first time."""
        query = f"SELECT {_RECORD} WHERE id = ? AND first IS NULL"
        row = self.store.execute(query, (number,)).fetchone()
        if row is not None:
            line = json.dumps(_record(row), ensure_ascii=False)
            self.store.execute("UPDATE page SET first = ? WHERE id = ?", (line, number))

    def relist(self, number: int, *, matched: bool) -> None:
        """A page that begins to match goes to the end of URLs.txt; one that matched before keeps its place."""
        (listed,) = self.store.execute("SELECT listed FROM page WHERE id = ?", (number,)).fetchone()
        if matched != (listed is not None):
            place = self._next_line() if matched else None
            self.store.execute("UPDATE page SET listed = ? WHERE id = ?", (place, number))

    def _forget_mark(self, number: int) -> None:
        """A page that hands on its verdict hands on the judge's: a person's mark is about its own URL."""
        judged = self.store.verdicts.get(number)
        if judged is not None and judged.own != judged.now:
            self.store.verdicts.set(judged, judged.own._replace(matched=judged.own.matched and judged.findable), None)

    def _hand_on_text(self, number: int) -> int | None:
        """The first near-duplicate of a page that changes takes its place, with its text and its verdict."""
        row = self.store.execute("SELECT min(id) FROM page WHERE duplicate_of = ?", (number,)).fetchone()
        heir: int | None = row[0]
        if heir is None:
            return None
        self._forget_mark(number)
        self.keep_first(heir)
        self.store.verdicts.set_own(heir, None)
        self.store.execute(
            "UPDATE page SET duplicate_of = NULL, body = before.body, relevant = before.relevant,"
            " withheld = nullif(page.withheld, 'copy'), matched = before.matched AND page.withheld = 'copy'"
            " FROM (SELECT body, relevant, matched FROM page WHERE id = ?) AS before WHERE page.id = ?",
            (number, heir),
        )
        self.store.execute("UPDATE page SET duplicate_of = ? WHERE duplicate_of = ?", (heir, number))
        (matched,) = self.store.execute("SELECT matched FROM page WHERE id = ?", (heir,)).fetchone()
        self.relist(heir, matched=bool(matched))
        return heir

    # ---- counting

    def count(self) -> int:
        """The number of stored pages."""
        number: int = self.store.execute("SELECT count(*) FROM page").fetchone()[0]
        return number

    def figures(self) -> Figures:
        """Counts over all pages."""
        return Figures(*self.store.execute(_FIGURES).fetchone())

    def any_judged(self) -> bool:
        """Whether a page has been judged: without keywords or examples none is."""
        return self.store.execute("SELECT 1 FROM page WHERE relevant IS NOT NULL LIMIT 1").fetchone() is not None

    def content_types(self) -> list[tuple[str, int, int]]:
        """The Content-Type headers of the pages, each with its pages and relevant pages."""
        return self.store.execute(
            "SELECT content_type, count(*), count(CASE WHEN relevant THEN 1 END) FROM page WHERE status < 300"
            " GROUP BY content_type"
        ).fetchall()

    def last_number(self) -> int:
        """The number of the page that was stored last; 0 if there is none."""
        number: int = self.store.execute("SELECT coalesce(max(id), 0) FROM page").fetchone()[0]
        return number

    def numbers(self, after: int) -> list[int]:
        """The numbers of the pages above *after*, in order."""
        return [number for (number,) in self.store.execute("SELECT id FROM page WHERE id > ? ORDER BY id", (after,))]

    # ---- what is known of pages

    def each(self, after: int = 0, upto: int | None = None) -> Iterator[StoredPage]:
        """The pages with a number above *after*, up to the number *upto*, in fetch order."""
        return map(_stored, self.store.execute(_EACH, (after, _BEYOND if upto is None else upto)))

    def get(self, number: int) -> StoredPage | None:
        """The page with a number."""
        row = self.store.execute(f"{_PAGE} WHERE id = ?", (number,)).fetchone()
        return _stored(row) if row else None

    def of_url(self, url_id: int) -> StoredPage | None:
        """The page that was fetched for a URL of the frontier."""
        row = self.store.execute(f"{_PAGE} WHERE url_id = ?", (url_id,)).fetchone()
        return _stored(row) if row else None

    def at(self, url: str, other: str) -> StoredPage | None:
        """The page at one of two URLs."""
        row = self.store.execute(f"{_PAGE} WHERE url = ? OR url = ?", (url, other)).fetchone()
        return _stored(row) if row else None

    def matched(self) -> Iterator[StoredPage]:
        """The matched pages, in the order in which they were found to match."""
        with self.store.reading():
            yield from map(_stored, self.store.execute(f"{_PAGE} WHERE matched ORDER BY listed"))

    def best(self, limit: int) -> list[StoredPage]:
        """The matched pages with the highest relevance, best first."""
        query = f"{_PAGE} WHERE matched ORDER BY relevance DESC NULLS LAST, id LIMIT ?"
        return [_stored(row) for row in self.store.execute(query, (limit,))]

    def last_urls(self, limit: int) -> Iterator[str]:
        """The URLs of the pages that were stored last, the last first."""
        return (url for (url,) in self.store.execute("SELECT url FROM page ORDER BY id DESC LIMIT ?", (limit,)))

    def arrivals(self, after: int = 0, upto: int | None = None) -> Iterator[Arrival]:
        """The pages with a number above *after*, up to *upto*, each with the page whose link led to it."""
        bounds = after, _BEYOND if upto is None else upto
        for number, url_id, asked, relevance, relevant, *parent, copy_of in self.store.execute(_ARRIVALS, bounds):
            yield Arrival._make((number, url_id, asked, relevance, bool(relevant), *parent, copy_of is not None))

    def first_seen(self) -> Iterator[FirstSeen]:
        """All pages in fetch order, with the time when they were first fetched."""
        rows = self.store.execute(
            "SELECT id, url, title, relevance, matched, problem,"
            f" {_FIRST_FETCHED}, url_id, depth, via FROM page ORDER BY id"
        )
        for number, url, title, relevance, matched, *rest in rows:
            yield FirstSeen._make((number, url, title, relevance, bool(matched), *rest))

    def redirects(self) -> Iterator[list[str]]:
        """The URLs that each redirected request passed through, the page's own last."""
        rows = self.store.execute("SELECT redirects, url FROM page WHERE redirects IS NOT NULL")
        return ([*from_json(passed, list), url] for passed, url in rows)

    def story(self, number: int) -> Story | None:
        """How a page was fetched and how it was judged."""
        row = self.store.execute(
            "SELECT page.url, title, status, score, relevance, matched, why, problem, via, redirects, duplicate_of,"
            " left_out, content_type FROM page LEFT JOIN rights ON rights.page = id WHERE id = ?",
            (number,),
        ).fetchone()
        if row is None:
            return None
        *known, matched, why, problem, via, redirects, duplicate_of, left_out, content_type = row
        facts = problem, via, from_json(redirects, list), duplicate_of, left_out, content_type
        return Story._make((*known, bool(matched), from_json(why, dict), *facts))

    def any_readable(self) -> bool:
        """Whether any page could be read."""
        return self.store.execute("SELECT 1 FROM page WHERE problem IS NULL LIMIT 1").fetchone() is not None

    def unread(self, problem: str, detail: str) -> tuple[int, int]:
        """The number of pages whose problem begins so, and of those among them whose problem has a detail in it."""
        query = "SELECT count(*), count(nullif(instr(problem, ?), 0)) FROM page WHERE instr(problem, ?) = 1"
        shells, tried = self.store.execute(query, (detail, problem)).fetchone()
        return shells, tried

    def records(self, after: int = 0, *, withheld: str = "") -> Iterator[dict[str, Any]]:
        """The pages with a number above *after*, in fetch order, as they were first fetched (`pages.jsonl`).

        *withheld*: without the pages that are left out by their rights, or are withheld for a reason that begins so.
        """
        query = f"SELECT first, {_RECORD} WHERE id > ? ORDER BY id"
        if withheld:
            by_rights = "page.id IN (SELECT page FROM rights WHERE coalesce(left_out, '') != '')"
            kept = f"NOT {by_rights} AND NOT coalesce(instr({self.store.withheld}, ?) = 1, FALSE)"
            query = f"SELECT first, {_RECORD} WHERE id > ? AND {kept} ORDER BY id"
        with self.store.reading():
            for first, *row in self.store.execute(query, (after, withheld) if withheld else (after,)):
                # a line from before a field existed gets it, empty
                yield _record([None] * len(FIELDS)) | from_json(first, dict) if first else _record(row)

    # ---- near-duplicates

    def signature(self, number: int) -> bytes | None:
        """The signature by which near-duplicates of a page are found."""
        row = self.store.execute("SELECT signature FROM page WHERE id = ?", (number,)).fetchone()
        return row[0] if row else None

    def signatures(self) -> Iterator[tuple[int, str, bytes | None]]:
        """The stored pages that repeat no other and can be read: number, title, and the signature if it is stored."""
        return self.store.execute(
            "SELECT id, title, signature FROM page WHERE duplicate_of IS NULL AND problem IS NULL AND NOT listing"
            " ORDER BY id"
        )

    def set_signatures(self, rows: list[tuple[bytes, int]]) -> None:
        """Store signatures that were computed late: signature, number. Call inside a transaction."""
        self.store.executemany("UPDATE page SET signature = ? WHERE id = ?", rows)
        rows.clear()


def _stored(row: Sequence[Any]) -> StoredPage:
    *facts, relevant, matched, listing = row
    return StoredPage._make((*facts, None if relevant is None else bool(relevant), bool(matched), bool(listing)))


def _record(row: Sequence[Any]) -> dict[str, Any]:
    record = dict(zip(FIELDS, row, strict=True))
    record["matched"] = bool(record["matched"])
    record["topics"], record["authors"] = from_json(record["topics"], list), from_json(record["authors"], list)
    record["site_name"], record["description"] = record["site_name"] or "", record["description"] or ""
    return record


def _content(page: Page, body: bytes | None) -> tuple[object, ...]:
    """The values of the columns in _CONTENT."""
    judgement = page.judgement
    return (
        page.status,
        page.relevance,
        judgement.relevant if judgement else None,
        page.matched,
        page.title,
        as_json(page.topics),
        page.fetched_at,
        as_json(judgement.why) if judgement else None,
        page.problem,
        ",".join(sorted(page.robots)),
        code_of(page.declared_language) if page.problem else page.language,
        page.content_type,
        page.etag,
        page.last_modified,
        page.listing,
        page.duplicate_of,
        page.signature,
        body,
        page.withheld,
        None if page.problem else page.identified.confidence,
    )
