"""The search index of a crawl: title, headings and visible text of its pages, in the crawl's own file.

Table `search` is an FTS5 index that holds no text: what a page says is in its body, and snippets are cut from there.
Such an index cannot forget (SQLite before 3.43), so table `indexed` says which page an entry belongs to. An entry that
no page has is passed over, and gone when the index is built anew. What filters ask for is there too: to look it up
among the bodies would take longer than the search.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from focuscrawl import urls, words
from focuscrawl.errors import FocusError, printable
from focuscrawl.html import read_page
from focuscrawl.manners.sitemap import is_sitemap
from focuscrawl.page import Judgement, Page
from focuscrawl.search.query import JOINT, Query
from focuscrawl.store.schema import DamageError, has
from focuscrawl.store.sqlite_file import from_json, inflate
from focuscrawl.store.store import Store

#: How much a word counts in title, headings and text; headings are part of the text, too.
WEIGHTS = 10.0, 4.0, 1.0

#: Characters of a page that can be found, and that are searched for a snippet.
MAX_TEXT = 1_000_000
SNIPPET_TEXT = 100_000
#: Words of a snippet.
SNIPPET_WORDS = 30

#: Most pages that are ranked. Of more, only those are that have the words in title or headings; they come first, the
#: others follow as they were indexed.
MAX_RANKED = 10_000

#: Pages that are indexed in one transaction.
BATCH = 200

_COLUMNS = "title, headings, text"
_TOKENS = "tokenize = 'porter unicode61 remove_diacritics 2'"
_SCHEMA = (
    f"CREATE VIRTUAL TABLE search USING fts5 ({_COLUMNS}, content = '', {_TOKENS})",
    """CREATE TABLE indexed (
        entry INTEGER PRIMARY KEY, page INTEGER UNIQUE, host TEXT, fetched_at TEXT, relevant INTEGER, matched INTEGER,
        topics TEXT
    )""",
)
# The same with the text in it, for the few pages that are shown.
_SHOWN = f"CREATE VIRTUAL TABLE search USING fts5 ({_COLUMNS}, {_TOKENS})"
_MARK, _UNMARK = "\x02", "\x03"

#: A piece of text, and whether it is what was looked for.
Piece = tuple[str, bool]


class Filter(NamedTuple):
    """Which pages may be found; what is not given does not matter."""

    #: One of the page's topics, in any case of letters.
    topic: str | None = None
    relevant: bool = False
    matched: bool = False
    #: A host, and those below it.
    host: str | None = None
    #: Times as `fetched_at` has them: not before the first, and before the second.
    since: str | None = None
    until: str | None = None

    def conditions(self) -> tuple[str, list[str | int]]:
        """What SQL has to ask of table `indexed`, and the values."""
        conditions: list[str] = []
        values: list[str | int] = []
        if self.topic is not None:
            conditions.append("instr(indexed.topics, ?)")
            values.append(json.dumps(self.topic.lower()))
        if self.relevant:
            conditions.append("indexed.relevant")
        if self.matched:
            conditions.append("indexed.matched")
        if self.host is not None:
            name = self.host.lower().strip(".")
            conditions.append("(indexed.host = ? OR substr(indexed.host, ?) = ?)")
            values += [name, -len(name) - 1, f".{name}"]
        if self.since is not None:
            conditions.append("indexed.fetched_at >= ?")
            values.append(self.since)
        if self.until is not None:
            conditions.append("indexed.fetched_at < ?")
            values.append(self.until)
        return "".join(f" AND {condition}" for condition in conditions), values


class Hit(NamedTuple):
    """A page that was found."""

    url: str
    title: list[Piece]
    snippet: list[Piece]
    #: How well it answers the query: BM25, only to be compared within one answer; 0 if it was not ranked.
    score: float
    host: str
    fetched_at: str
    relevance: float | None
    relevant: bool
    matched: bool
    topics: list[str]


class Answer(NamedTuple):
    """The best pages for a query, how many were found, and whether there are more that were not looked at."""

    hits: list[Hit]
    total: int
    more: bool = False


class Index:
    """The search index in a crawl's file."""

    def __init__(self, store: Store) -> None:
        self.store = store

    # ---- writing

    def exists(self) -> bool:
        """Whether the file has an index, however complete."""
        try:
            found = [has(self.store.connection, statement) for statement in _SCHEMA]  # neither may be another than ours
            return all(found)
        except DamageError as error:
            raise self.store.broken(error) from None

    def prepare(self) -> None:
        """Make the tables if they are not there."""
        if self.exists():
            return
        try:
            with self.store.batch():
                for statement in _SCHEMA:
                    self.store.execute(statement)
        except sqlite3.OperationalError as error:
            raise FocusError(f"{self.store.path} cannot be indexed: {error}") from None

    def add(self, page_id: int, page: Page) -> None:
        """Make a stored page findable as it is now, whatever it was; one that must not be found is noted as seen."""
        if not findable(page):
            self.remove(page_id)
            return
        with self.store.batch():
            entry = self.store.execute("INSERT INTO search VALUES (?, ?, ?)", _texts(page)).lastrowid
            self.store.execute(
                "INSERT OR REPLACE INTO indexed VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    entry,
                    page_id,
                    urls.host(page.url),
                    page.fetched_at,
                    page.judgement is not None and page.judgement.relevant,
                    page.matched,
                    json.dumps(page.topics, default=str).lower() if page.topics else None,
                ),
            )

    def remove(self, page_id: int) -> None:
        """A stored page is no longer found."""
        with self.store.batch():
            self.store.execute("INSERT OR REPLACE INTO indexed (entry, page) VALUES (?, ?)", (-page_id, page_id))

    def waiting(self) -> int:
        """How many stored pages the index has not seen."""
        pages = self.store.count()
        return max(0, pages - self._count("SELECT count(*) FROM indexed")) if self.exists() else pages

    def update(self, progress: Callable[[int], None] = lambda done: None) -> int:
        """Index the pages that wait, and tell how many; built anew if most of its entries belong to no page.

        Nobody else may write to the file meanwhile. *progress* is told the number done so far, some hundred at a time.
        """
        store = self.store
        with store.batch():
            if self.exists() and self._worn():
                store.execute("DROP TABLE search")
                store.execute("DROP TABLE indexed")
            self.prepare()
        missing = [number for (number,) in store.execute("SELECT id FROM page EXCEPT SELECT page FROM indexed")]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            with store.batch():
                for page_id in batch:
                    self.add(page_id, self._stored(page_id))
            progress(start + len(batch))
        return len(missing)

    def _count(self, query: str) -> int:
        number: int = self.store.execute(query).fetchone()[0]
        return number

    def _worn(self) -> bool:
        entries = self._count("SELECT count(*) FROM search_docsize")
        return entries > 2 * self._count("SELECT count(*) FROM indexed WHERE entry > 0") + BATCH

    def _stored(self, page_id: int) -> Page:
        """A page as it is in the file, read again."""
        row = self.store.execute(
            "SELECT url, fetched_at, relevance, relevant, matched, topics, robots, problem, duplicate_of, content_type,"
            " body, listing, left_out FROM page LEFT JOIN rights ON rights.page = page.id WHERE page.id = ?",
            (page_id,),
        ).fetchone()
        url, fetched_at, relevance, relevant, matched, topics, robots, problem, copy, *content = row
        content_type, body, listing, left_out = content
        page = Page(url, matched=bool(matched), topics=from_json(topics, list), fetched_at=fetched_at or "")
        page.judgement = Judgement(relevance or 0.0, bool(relevant), {})
        page.problem, page.duplicate_of = problem, copy
        page.rights.left_out = left_out or ""
        page.robots = set((robots or "").split(","))
        page.listing = bool(listing)
        if body is None:
            page.problem = page.problem or "no body"
        if findable(page):  # or there is no need to read it
            unpacked = inflate(body)
            page.listing = is_sitemap(unpacked)
            read_page(page, unpacked, content_type or "")
        return page

    # ---- reading

    def search(self, query: Query, where: Filter | None = None, limit: int = 10) -> Answer:
        """The best pages for a query, at most *limit*."""
        conditions, values = (where or Filter()).conditions()
        match = query.expression()
        found = self._pages(match, conditions, values)
        more = len(found) > MAX_RANKED
        ranked = self._ranked(query.expression("title headings") if more else match, conditions, values, limit)
        for page_id in found if more else ():
            if len(ranked) >= limit:
                break
            ranked.setdefault(page_id, 0.0)
        return Answer(self._hits(match, list(ranked.items())), min(len(found), MAX_RANKED), more)

    def _pages(self, match: str, conditions: str, values: list[str | int]) -> list[int]:
        """The first pages that match: one more than are ranked, if there are that many."""
        rows = self.store.execute(
            "SELECT indexed.page FROM search JOIN indexed ON entry = search.rowid"
            f" WHERE search MATCH ?{conditions} LIMIT ?",
            (match, *values, MAX_RANKED + 1),
        )
        return [page_id for (page_id,) in rows]

    def _ranked(self, match: str, conditions: str, values: list[str | int], limit: int) -> dict[int, float]:
        """The best of the first pages that match, in order, of equals the first; the BM25 of FTS5 is negative."""
        rows = self.store.execute(
            "SELECT bm25(search, ?, ?, ?), indexed.page FROM search JOIN indexed ON entry = search.rowid"
            f" WHERE search MATCH ?{conditions} LIMIT ?",
            (*WEIGHTS, match, *values, MAX_RANKED),
        )
        return {page_id: -score for score, page_id in nsmallest(limit, rows)}

    def _hits(self, match: str, ranked: Sequence[tuple[int, float]]) -> list[Hit]:
        pages: list[tuple[Any, ...]] = []
        texts: list[tuple[str, ...]] = []
        for page_id, _ in ranked:
            *facts, content_type, body = self.store.execute(
                "SELECT url, fetched_at, relevance, relevant, matched, topics, content_type, body FROM page"
                " WHERE id = ?",
                (page_id,),
            ).fetchone()
            page = read_page(Page(facts[0]), inflate(body) if body else b"", content_type or "")
            pages.append(tuple(facts))
            texts.append(tuple(" ".join(printable(text[:SNIPPET_TEXT]).split()) for text in _texts(page)))
        hits = []
        marked = zip(pages, ranked, _marked(match, texts), strict=True)
        for (url, fetched_at, relevance, relevant, matched, topics), (_, score), (title, snippet) in marked:
            facts = [_number(relevance), bool(relevant), bool(matched), list(map(str, from_json(topics, list)))]
            hits.append(Hit(url, title, snippet, score, urls.host(url), str(fetched_at), *facts))
        return hits


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def findable(page: Page) -> bool:
    """Whether a page belongs into the index: it can be read, repeats no other, and nobody asked to leave it out."""
    return (
        page.problem is None
        and page.duplicate_of is None
        and not page.listing
        and not page.rights.left_out
        and "noindex" not in page.robots
    )


def _texts(page: Page) -> tuple[str, str, str]:
    """Title, headings and text as the index has them."""
    headings = "\n".join(heading.text for heading in page.headings)
    title, headings, text = (words.apart(part[:MAX_TEXT], JOINT) for part in (page.title, headings, page.raw_text))
    return title, headings, text


def _marked(match: str, texts: Sequence[tuple[str, ...]]) -> list[tuple[list[Piece], list[Piece]]]:
    """Title and snippet of each text: an index of these few, which does hold them, knows what matched and where."""
    small = sqlite3.connect(":memory:")
    try:
        small.execute(_SHOWN)
        small.executemany("INSERT INTO search VALUES (?, ?, ?)", texts)
        found = {
            row[0]: row[1:]
            for row in small.execute(
                "SELECT rowid, highlight(search, 0, ?, ?), snippet(search, 2, ?, ?, '…', ?) FROM search"
                " WHERE search MATCH ?",
                (_MARK, _UNMARK, _MARK, _UNMARK, SNIPPET_WORDS, match),
            )
        }
    finally:
        small.close()
    marked = []
    for number, (title, _, text) in enumerate(texts, 1):
        # what matched may stand beyond the part of the text that is searched here
        shown = found.get(number) or (title, " ".join(text[:1000].split()[:SNIPPET_WORDS]))
        marked.append((_pieces(shown[0]), _pieces(shown[1])))
    return marked


def _pieces(text: str) -> list[Piece]:
    pieces: list[Piece] = []
    for number, part in enumerate(text.replace(JOINT, "").split(_MARK)):
        inside, mark, after = part.partition(_UNMARK)
        pieces += [(inside, number > 0), (after, False)] if mark else [(part, False)]
    return [piece for piece in pieces if piece[0]]
