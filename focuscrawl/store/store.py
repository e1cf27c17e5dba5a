"""The crawl's one file, `crawl.sqlite`: pages, links, judgements, frontier.

What belongs together is committed together: a page, its links and the frontier entries they make are one transaction,
in which the page's own entry leaves the frontier. A crawl that is killed at any moment therefore goes on where the last
stored page left it, and what was in flight is simply fetched again. The schema is described in docs/store.md.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from focuscrawl.errors import FocusError
from focuscrawl.page import FIELDS, Link, Page
from focuscrawl.store.queue import Queue
from focuscrawl.store.schema import (
    LATER,
    SCHEMA,
    TABLES,
    VERSION,
    DamageError,
    check_cells,
    check_ids,
    check_schema,
    has,
    statements,
)
from focuscrawl.store.sqlite_file import UNREADABLE, from_json, inflate, open_file

logger = logging.getLogger(__name__)

#: Files up to this size are checked in full before a crawl goes on; larger ones would keep their user waiting.
CHECK_BYTES = 1 << 30

#: What a crawl notes when it begins.
_NOTED: dict[str, type] = {"spider": str, "topic": str, "keywords": dict, "any_scheme": bool, "runs": list}

#: The columns of a page that a later visit sets anew.
_CONTENT = (
    *("status", "relevance", "relevant", "matched", "title", "topics", "fetched_at", "why", "problem", "robots"),
    *("language", "content_type", "etag", "last_modified", "listing", "duplicate_of", "signature", "body"),
)
_ADDED = ("url_id", "url", "depth", "parent", "via", "score", "redirects", "listed", *_CONTENT)
_UPDATE_PAGE = f"UPDATE page SET {', '.join(f'{name} = ?' for name in _CONTENT)} WHERE id = ?"
_ADD_PAGE = f"INSERT INTO page ({', '.join(_ADDED)}) VALUES ({', '.join('?' * len(_ADDED))})"


class Store:
    """The crawl's SQLite file. One writer; any number of readers may look on."""

    def __init__(self, path: Path, *, create: bool = True, check: bool = True, any_thread: bool = False) -> None:
        """Open the file; without *create* only to be read, without *check* at once, whatever its size.

        A file that is there may be somebody else's, so it is looked at before anything is done with it.
        """
        self.path = path
        self.check = check
        self.failed: BaseException | None = None
        #: Lines of URLs.txt, once somebody asks.
        self._lines: int | None = None
        #: The frontier's rows.
        self.queue = Queue(self)
        self.new = not path.exists()
        if self.new and not create:
            raise FocusError(f"{path}: no such file; is {path.parent} the directory of a crawl (-s FOCUS_DIR)?")
        self._any_thread = any_thread
        try:
            self._open(create)
        except (DamageError, *UNREADABLE) as error:  # SQLite may quote what is no text: a UnicodeDecodeError
            self.close()
            if self.new:
                raise FocusError(f"cannot write to {path}: {error}; choose another -s FOCUS_DIR") from None
            raise self.broken(error) from None
        except FocusError:
            self.close()
            raise

    def _open(self, create: bool) -> None:
        if not self.new:
            try:
                self._connect("ro")  # to look at a file leaves it as it is, what stands in its log included
                self._check()
            except sqlite3.OperationalError:
                # SQLite has to mend a file first that was being made when its program was killed; and on a medium that
                # cannot be written even readers have to be told that nobody writes
                self._connect("rwc" if create else "ro&immutable=1")
                self._check()
        if create:
            self._connect("rwc")
            self._prepare()
        self.execute("PRAGMA cache_size = -65536")

    def _connect(self, mode: str) -> None:
        self.close()
        self.connection = open_file(self.path, mode, any_thread=self._any_thread, cached_statements=256)
        self.execute = self.connection.execute
        self.executemany = self.connection.executemany

    def _prepare(self) -> None:
        # WAL: readers never wait for the crawl, and a commit is one append; NORMAL: no page is lost by a crash of the
        # program, and at a power cut the file stays sound
        self.execute("PRAGMA journal_mode = WAL")
        self.execute("PRAGMA synchronous = NORMAL")
        self.execute("PRAGMA temp_store = MEMORY")
        if self.new:
            with self.transaction():
                for statement in statements(SCHEMA):
                    self.execute(statement)
                self.set_meta("version", VERSION)

    def _check(self) -> None:
        """Whether this is the file of a crawl, made by this version, and holds what a crawl writes."""
        tables = {name for (name,) in self.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables and not self.execute("SELECT 1 FROM sqlite_master").fetchone():
            self.new = True  # killed between creating the file and its tables
            return
        if (TABLES - LATER) - tables:
            raise FocusError(f"{self.path} is an SQLite file, but not of a crawl; use another -s FOCUS_DIR")
        has(self.connection, statements(SCHEMA)[0])  # nothing is read from a table before it is known to be ours
        version = self.meta("version")
        if version != VERSION or TABLES - tables:
            raise FocusError(
                f"{self.path} was written by another version of focuscrawl (format {version}, not {VERSION});"
                " use that version or another -s FOCUS_DIR"
            )
        check_schema(self.connection)
        self._check_meta()
        if not self.check:
            return
        check_ids(self.connection)
        if self.path.stat().st_size <= CHECK_BYTES:
            for table in sorted(TABLES):
                # of ours only: the table of somebody else may have a CHECK that takes for ever
                (result,) = self.execute("SELECT * FROM pragma_quick_check(?)", (table,)).fetchone()
                if result != "ok":
                    raise DamageError(str(result).splitlines()[-1])
            check_cells(self.connection)

    def _check_meta(self) -> None:
        """What a crawl notes when it begins is there all or none, and of the kinds that it writes."""
        noted = {key: self.meta(key) for key in _NOTED}
        missing = [key for key, value in noted.items() if value is None]
        if missing and len(missing) < len(_NOTED):
            raise DamageError(f"meta '{missing[0]}' is missing")
        for key, value in noted.items():
            if value is not None and not isinstance(value, _NOTED[key]):
                raise DamageError(f"meta '{key}' is no {_NOTED[key].__name__}")
        for run in self.runs():
            for name, kind in (("began", str), ("arguments", dict), ("settings", dict)):
                if not isinstance(run.get(name, kind()), kind):
                    raise DamageError(f"meta 'runs': {name} is no {kind.__name__}")

    def broken(self, error: object) -> FocusError:
        """The message for a damaged file."""
        text = str(error) or type(error).__name__
        return FocusError(
            f"{self.path} is damaged or cannot be used ({text if len(text) <= 200 else f'{text[:200]}…'}); nothing was"
            f" changed: restore it from a copy, rescue what is readable with `sqlite3 {self.path} .recover`, or crawl"
            " into another -s FOCUS_DIR"
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Whatever a damaged file makes of code that only reads it is said in one line."""
        try:
            yield
        except UNREADABLE as error:
            logger.debug("%s cannot be read", self.path, exc_info=True)
            raise self.broken(f"{type(error).__name__}: {error}") from None

    def make(self, statement: str) -> None:
        """Make a table or view that a strategy keeps in the file, if it is not there; another of that name is refused.

        *statement* begins with CREATE TABLE or CREATE VIEW, the name and a space.
        """
        try:
            if not has(self.connection, statement):
                self.execute(statement)
        except DamageError as error:
            raise self.broken(error) from None

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if hasattr(self, "connection"):
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that happens inside is stored, or nothing of it.

        The frontier in memory is ahead of the file when a transaction fails, so it is the last one: the crawl has to
        stop, and finds itself again in the file.
        """
        if self.failed is not None:
            raise sqlite3.OperationalError(f"an earlier write failed ({self.failed})")
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException as error:
            self.failed = error
            self.connection.rollback()
            raise

    @contextmanager
    def batch(self) -> Iterator[None]:
        """A transaction of its own, unless one is under way."""
        if self.connection.in_transaction:
            yield
        else:
            with self.transaction():
                yield

    # ---- meta

    def meta(self, key: str) -> Any:
        """A value kept about the crawl as a whole; None if it was never set."""
        row = self.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        try:
            return from_json(row[0], object) if row else None
        except (TypeError, ValueError):
            raise self.broken(f"meta '{key}' is {row[0]!r}") from None

    def number(self, key: str) -> int:
        """A whole number kept about the crawl; 0 if it was never set."""
        value = self.meta(key) or 0
        if not isinstance(value, int):
            raise self.broken(f"meta '{key}' is no number")
        return value

    def runs(self) -> list[dict[str, Any]]:
        """What each run has noted (`focuscrawl.crawl.runs`), first to last; never empty."""
        runs = self.meta("runs") or [{}]
        if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
            raise self.broken("meta 'runs' is no list of runs")
        return runs

    def set_meta(self, key: str, value: Any) -> None:
        """Keep a value about the crawl as a whole."""
        self.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    # ---- pages and links

    def add_page(self, page: Page, via: int | None) -> int:
        """Store a page and return its id: pages are numbered in the order they were fetched."""
        redirects = json.dumps(page.redirects) if page.redirects else None
        place = self._next_line() if page.matched else None
        added = page.url_id, page.url, page.depth, page.parent, via, page.score, redirects, place
        page_id = self.execute(_ADD_PAGE, (*added, *_content(page))).lastrowid
        assert page_id is not None
        self._set_rights(page_id, page)
        return page_id

    def _next_line(self) -> int:
        """The next line of URLs.txt."""
        if self._lines is None:
            self._lines = int(self.execute("SELECT ifnull(max(listed), 0) FROM page").fetchone()[0])
        self._lines += 1
        return self._lines

    def _set_rights(self, page_id: int, page: Page) -> None:
        rights = page.rights
        self.execute(
            "INSERT OR REPLACE INTO rights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                page_id,
                rights.robots_txt,
                rights.x_robots_tag,
                rights.noai,
                rights.noimageai,
                rights.tdm_reservation,
                rights.tdm_policy,
                rights.tdm_source,
                json.dumps(rights.licences) if rights.licences else None,
                rights.left_out,
            ),
        )

    def add_links(self, page_id: int, links: Sequence[Link], url_ids: Sequence[int], *, later: bool = False) -> int:
        """Store the links of a page; returns the id of the first, the others follow in order.

        Those found on a *later* visit get negative ids: the others stay in the order of their pages.
        """
        if later:
            first = min(0, self.execute("SELECT min(id) FROM link").fetchone()[0] or 0) - len(links)
        else:
            first = max(0, self.execute("SELECT max(id) FROM link").fetchone()[0] or 0) + 1
        rows: list[tuple[object, ...]] = []
        why: dict[str, float] | None = None
        why_text: str | None = None
        for number, (link, url_id) in enumerate(zip(links, url_ids, strict=True), first):
            if link.why is not why:  # most strategies give all links of a page the same reason
                why = link.why
                why_text = json.dumps(why, default=str) if why else None
            place = link.position, link.anchor, link.text_before(), link.text_after()
            rows.append((number, page_id, url_id, *place, link.nofollow, link.score, why_text))
        self.executemany("INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return first

    def link(self, link_id: int | None) -> Link | None:
        """A stored link, as a strategy may ask for it later."""
        row = self.execute(
            "SELECT url.url, anchor, before, after, position, score, nofollow, why FROM link"
            " JOIN url ON url.id = link.url_id WHERE link.id = ?",
            (link_id,),
        ).fetchone()
        return _link(*row) if row else None

    def rescore_links(self, rows: Iterable[tuple[float, str, int | None]]) -> None:
        """Change what links are worth: score, reason (JSON), link id."""
        self.executemany("UPDATE link SET score = ?, why = ? WHERE id = ?", rows)

    def links_between(self, after: int, upto: int) -> Iterator[tuple[int, int]]:
        """The links of the pages with those numbers: page, and the id of the URL it links to."""
        first, end = self._first_link(after + 1), self._first_link(upto + 1)
        return self.execute(
            "SELECT page, url_id FROM link WHERE id >= ? AND id < ? AND url_id <= (SELECT max(id) FROM url)",
            (first, end),
        )

    def links_of(self, page_id: int) -> Iterator[tuple[int, str, float, int, int]]:
        """The links of a stored page that were not refused: id of the URL, URL, score, depth, id of the link."""
        return self.execute(
            "SELECT link.url_id, url.url, link.score, page.depth + 1, link.id FROM link"
            " JOIN url ON url.id = link.url_id JOIN page ON page.id = link.page"
            " WHERE (link.id >= ? AND link.id < ? OR link.id < 0 AND link.page = ?) AND link.score NOT NULL",
            (self._first_link(page_id), self._first_link(page_id + 1), page_id),
        )

    def linked_from(self, page_id: int) -> set[int]:
        """The ids of the URLs that a stored page links to, or did at an earlier visit."""
        rows = self.execute(
            "SELECT url_id FROM link WHERE id >= ? AND id < ? OR id < 0 AND page = ?",
            (self._first_link(page_id), self._first_link(page_id + 1), page_id),
        )
        return {url_id for (url_id,) in rows}

    def _first_link(self, page_id: int) -> int:
        """The id of the first link of that page or a later one: links are stored page by page, and need no index."""
        last = max(0, self.execute("SELECT max(id) FROM link").fetchone()[0] or 0)

        def page_of(link: int) -> int:
            number: int = self.execute("SELECT page FROM link WHERE id >= ? LIMIT 1", (link,)).fetchone()[0]
            return number

        return bisect_left(range(1, last + 1), page_id, key=page_of) + 1

    def waiting_links(self) -> Iterator[tuple[int, Link]]:
        """The links by which the URLs that wait were found, each with the id of its URL."""
        rows = self.execute(
            "SELECT frontier.url_id, frontier.url, anchor, before, after, position, link.score, nofollow, why"
            " FROM frontier JOIN link ON link.id = frontier.via"
        )
        return ((row[0], _link(*row[1:])) for row in rows)

    def page_of_link(self, link_id: int) -> str | None:
        """The URL of the page a stored link is on."""
        row = self.execute(
            "SELECT page.url FROM link JOIN page ON page.id = link.page WHERE link.id = ?", (link_id,)
        ).fetchone()
        return row[0] if row else None

    def rows(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """The stored pages with a number above *after*, in fetch order, as they were first fetched (`pages.jsonl`)."""
        query = f"SELECT first, {', '.join(FIELDS)} FROM page WHERE id > ? ORDER BY id"
        with self.reading():
            for first, *row in self.execute(query, (after,)):
                yield from_json(first, dict) if first else _record(row)

    def matched_urls(self) -> Iterator[str]:
        """The URLs of the matched pages, in the order in which they were found to match."""
        with self.reading():
            for (url,) in self.execute("SELECT url FROM page WHERE matched ORDER BY listed"):
                yield url

    def last_urls(self, number: int) -> Iterator[str]:
        """The URLs of the pages that were stored last, the last first."""
        return (url for (url,) in self.execute("SELECT url FROM page ORDER BY id DESC LIMIT ?", (number,)))

    def body(self, url: str) -> bytes | None:
        """The bytes of a stored page; of a near-duplicate those of the page it repeats."""
        row = self.execute(
            "SELECT ifnull(page.body, first.body) FROM page LEFT JOIN page AS first ON first.id = page.duplicate_of"
            " WHERE page.url = ?",
            (url,),
        ).fetchone()
        return inflate(row[0]) if row and row[0] else None

    def page_bytes(self, number: int) -> tuple[str, str, bytes]:
        """URL, Content-Type and bytes of a stored page; a near-duplicate has none of its own."""
        row = self.execute("SELECT url, content_type, body FROM page WHERE id = ?", (number,)).fetchone()
        return (row[0], row[1], inflate(row[2]) if row[2] else b"") if row else ("", "", b"")

    def said_before(self, upto: int) -> Iterator[tuple[int, str, bool]]:
        """The pages up to a number, in order: number, URL, and whether they said nothing of their own."""
        query = (
            "SELECT id, url, problem NOT NULL OR duplicate_of NOT NULL OR listing FROM page WHERE id <= ? ORDER BY id"
        )
        return ((number, url, bool(same)) for number, url, same in self.execute(query, (upto,)))

    def signature(self, page_id: int) -> bytes | None:
        """What tells a stored page's near-duplicates."""
        row = self.execute("SELECT signature FROM page WHERE id = ?", (page_id,)).fetchone()
        return row[0] if row else None

    def signatures(self) -> Iterator[tuple[int, bytes]]:
        """The signatures of the stored pages that repeat no other."""
        return self.execute(
            "SELECT id, signature FROM page WHERE duplicate_of IS NULL AND signature NOT NULL ORDER BY id"
        )

    # ---- path patterns

    def patterns(self) -> Iterator[tuple[str, int, int]]:
        """What the patterns of URLs have given: pattern, pages, how many of the last said nothing new."""
        return self.execute("SELECT pattern, pages, stale FROM pattern")

    def set_patterns(self, rows: Iterable[tuple[str, int, int]]) -> None:
        """Keep what patterns have given."""
        self.executemany("INSERT OR REPLACE INTO pattern VALUES (?, ?, ?)", rows)

    # ---- later visits

    def visitable(self) -> Iterator[tuple[int, str, float | None, str, int, int, int | None]]:
        """The pages that could be read at some time: number, URL, relevance, first fetched at, URL id, depth, via."""
        return self.execute(
            "SELECT id, url, relevance, ifnull(json_extract(first, '$.fetched_at'), fetched_at), url_id, depth, via"
            " FROM page"
            " WHERE problem IS NULL OR id IN (SELECT page FROM visit) ORDER BY id"
        )

    def visits(self, since: str = "") -> Iterator[tuple[int, str, int | None, str, str | None]]:
        """The visits from a time on, first to last: page, time, status, outcome, details (JSON)."""
        return self.execute(
            "SELECT page, visited_at, status, outcome, details FROM visit WHERE visited_at >= ? ORDER BY id", (since,)
        )

    def add_visit(
        self, page_id: int, when: str, status: int | None, outcome: str, details: Mapping[str, Any] | None = None
    ) -> None:
        """Keep what came of a visit to a stored page."""
        self.execute(
            "INSERT INTO visit (page, visited_at, status, outcome, details) VALUES (?, ?, ?, ?, ?)",
            (page_id, when, status, outcome, json.dumps(details, ensure_ascii=False) if details else None),
        )

    def set_validators(self, page_id: int, etag: str | None, last_modified: str | None) -> None:
        """Keep what tells a page's server which version we have."""
        self.execute("UPDATE page SET etag = ?, last_modified = ? WHERE id = ?", (etag, last_modified, page_id))

    def update_page(self, page_id: int, page: Page, *, keeps_copies: bool = False) -> None:
        """A stored page says something else now; its copies are others, unless it *keeps* them.

        Call inside a transaction.
        """
        self._keep_first(page_id)
        if not keeps_copies:
            self._hand_on_text(page_id)
        self.execute(_UPDATE_PAGE, (*_content(page), page_id))
        self._set_rights(page_id, page)
        self._relist(page_id, matched=page.matched)

    def mark_gone(self, page_id: int, status: int, problem: str) -> None:
        """A stored page is not there any more: its text stays, but it counts no more. Call inside a transaction."""
        self._keep_first(page_id)
        self._hand_on_text(page_id)
        self.execute(
            "UPDATE page SET status = ?, problem = ?, relevant = relevant * 0, matched = 0,"
            " etag = NULL, last_modified = NULL, signature = NULL WHERE id = ?",  # a new page may say the same
            (status, problem, page_id),
        )
        self._relist(page_id, matched=False)

    def _keep_first(self, page_id: int) -> None:
        """Keep a page's line in pages.jsonl before the page changes for the first time."""
        query = f"SELECT {', '.join(FIELDS)} FROM page WHERE id = ? AND first IS NULL"
        row = self.execute(query, (page_id,)).fetchone()
        if row is not None:
            line = json.dumps(_record(row), ensure_ascii=False)
            self.execute("UPDATE page SET first = ? WHERE id = ?", (line, page_id))

    def _relist(self, page_id: int, *, matched: bool) -> None:
        """A page that begins to match goes to the end of URLs.txt; one that matched before keeps its place."""
        (listed,) = self.execute("SELECT listed FROM page WHERE id = ?", (page_id,)).fetchone()
        if matched != (listed is not None):
            place = self._next_line() if matched else None
            self.execute("UPDATE page SET listed = ? WHERE id = ?", (place, page_id))

    def _hand_on_text(self, page_id: int) -> None:
        """The first near-duplicate of a page whose text goes takes its place, with the text and what it is worth."""
        row = self.execute("SELECT min(id) FROM page WHERE duplicate_of = ?", (page_id,)).fetchone()
        heir: int | None = row[0]
        if heir is None:
            return
        self._keep_first(heir)
        self.execute(
            "UPDATE page SET duplicate_of = NULL, body = before.body, relevant = before.relevant,"
            " matched = before.matched AND page.robots NOT LIKE '%noindex%'"
            " AND NOT EXISTS (SELECT 1 FROM rights WHERE rights.page = page.id AND left_out != '')"
            " FROM (SELECT body, relevant, matched FROM page WHERE id = ?) AS before WHERE page.id = ?",
            (page_id, heir),
        )
        self.execute("UPDATE page SET duplicate_of = ? WHERE duplicate_of = ?", (heir, page_id))
        (matched,) = self.execute("SELECT matched FROM page WHERE id = ?", (heir,)).fetchone()
        self._relist(heir, matched=bool(matched))

    def count(self, *, matched: bool = False) -> int:
        """How many pages are stored, or how many of them matched."""
        number: int = self.execute(f"SELECT count(*) FROM page {'WHERE matched' if matched else ''}").fetchone()[0]
        return number

    def add_failure(self, url_id: int | None, url: str, reason: str, via: int | None, when: str) -> None:
        """Record why a URL gave no page."""
        self.execute(
            "INSERT INTO failure (url_id, url, reason, via, failed_at) VALUES (?, ?, ?, ?, ?)",
            (url_id, url, reason, via, when),
        )


def crawl_folder(place: str | Path) -> Path:
    """The directory of a crawl that a user has named, be it by the file in it."""
    path = Path(place)
    return path.parent if path.name == "crawl.sqlite" else path


@contextmanager
def read_crawl(folder: Path, *, check: bool = True) -> Iterator[Store]:
    """The file of a crawl, to read from; what is wrong with it is said in one line."""
    store = Store(folder / "crawl.sqlite", create=False, check=check)
    try:
        with store.reading():
            yield store
    finally:
        store.close()


@contextmanager
def earlier_crawl(folder: str, topic: str) -> Iterator[Store]:
    """The file of an earlier crawl of the same topic, to read from."""
    with read_crawl(crawl_folder(folder)) as store:
        if store.meta("topic") != topic:
            raise FocusError(f"crawl {folder} is about '{store.meta('topic')}', not '{topic}'; give one of its topic")
        yield store


def _content(page: Page) -> tuple[object, ...]:
    """What a response says of a page, in the order of _CONTENT."""
    judgement = page.judgement
    return (
        page.status,
        page.relevance,
        judgement.relevant if judgement else None,
        page.matched,
        page.title,
        json.dumps(page.topics, default=str),
        page.fetched_at,
        json.dumps(judgement.why, default=str) if judgement else None,
        page.problem,
        ",".join(sorted(page.robots)),
        page.language,
        page.content_type,
        page.etag,
        page.last_modified,
        page.listing,
        page.duplicate_of,
        page.signature,
        zlib.compress(page.body, 1) if page.duplicate_of is None else None,
    )


def _record(row: Sequence[Any]) -> dict[str, Any]:
    record = dict(zip(FIELDS, row, strict=True))
    record["matched"] = bool(record["matched"])
    record["topics"] = from_json(record["topics"], list)
    return record


def _link(
    url: str, anchor: str, before: str, after: str, position: int, score: float | None, nofollow: int, why: str | None
) -> Link:
    link = Link(url, anchor, before, after, position)
    link.score, link.nofollow = score, bool(nofollow)
    link.why = from_json(why, dict) if why else None
    return link
