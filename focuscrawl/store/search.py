"""Tables `search` and `indexed`: the full-text index of the stored pages.

`search` is an FTS5 index that holds no text. Such an index cannot forget (SQLite before 3.43), so `indexed` says which
page an entry belongs to; entries of no page are passed over. What filters ask for is in `indexed`, too: to look it up
among the bodies would take longer than the search.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from focuscrawl.errors import FocusError
from focuscrawl.store.errors import UnavailableError
from focuscrawl.store.part import Part
from focuscrawl.store.schema import DamageError, has
from focuscrawl.store.sqlite_file import from_json, inflate

#: The columns of the index, and how it splits text into words.
COLUMNS = "title, headings, text"
TOKENS = "tokenize = 'porter unicode61 remove_diacritics 2'"

_SCHEMA = (
    f"CREATE VIRTUAL TABLE search USING fts5 ({COLUMNS}, content = '', {TOKENS})",
    """CREATE TABLE indexed (
        entry INTEGER PRIMARY KEY, page INTEGER UNIQUE, host TEXT, fetched_at TEXT, relevant INTEGER, matched INTEGER,
        topics TEXT
    )""",
)
_ADD_TEXTS = "INSERT INTO search VALUES (?, ?, ?)"
_ADD_ENTRY = "INSERT OR REPLACE INTO indexed VALUES (?, ?, ?, ?, ?, ?, ?)"
_HIDE = "INSERT OR REPLACE INTO indexed (entry, page) VALUES (?, ?)"
_FOUND = "FROM search JOIN indexed ON entry = search.rowid WHERE search MATCH ?"


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


class Entry(NamedTuple):
    """What filters ask of a page in the index."""

    page: int
    host: str
    fetched_at: str
    relevant: bool
    matched: bool
    topics: list[str]


class IndexedPage(NamedTuple):
    """What the index is made of, and what is shown of a page that was found."""

    url: str
    fetched_at: str
    relevance: float | None
    relevant: bool
    matched: bool
    topics: list[str]
    problem: str | None
    withheld: str | None
    content_type: str
    packed: bytes | None

    def body(self) -> bytes:
        """The bytes of the page; none for a near-duplicate."""
        return inflate(self.packed) if self.packed else b""


_PAGE = (
    "SELECT url, fetched_at, relevance, relevant, matched, topics, problem, {withheld}, content_type, body FROM page"
    " WHERE page.id = ?"
)


class SearchIndex(Part):
    """The full-text index in the crawl's file."""

    def exists(self) -> bool:
        """Whether the file has an index, however complete."""
        try:
            found = [has(self.store.connection, statement) for statement in _SCHEMA]  # neither may be another than ours
            return all(found)
        except DamageError as error:
            raise self.store.broken(error) from None

    def make(self) -> None:
        """Make the tables if they are not there."""
        if self.exists():
            return
        try:
            with self.store.batch():
                for statement in _SCHEMA:
                    self.store.execute(statement)
        except UnavailableError as error:
            raise FocusError(f"{self.store.path} cannot be indexed: {error}") from None

    def drop(self) -> None:
        """Remove the index."""
        with self.store.batch():
            self.store.execute("DROP TABLE search")
            self.store.execute("DROP TABLE indexed")

    def add(self, entry: Entry, texts: tuple[str, str, str]) -> None:
        """Index a page by title, headings and text; an earlier entry of it is not found any more."""
        topics = json.dumps(entry.topics, default=str).lower() if entry.topics else None
        with self.store.batch():
            number = self.store.execute(_ADD_TEXTS, texts).lastrowid
            self.store.execute(_ADD_ENTRY, (number, *entry[:-1], topics))

    def hide(self, page: int) -> None:
        """Note that the index has seen a page, but that it must not be found."""
        with self.store.batch():
            self.store.execute(_HIDE, (-page, page))

    def missing(self) -> list[int]:
        """The numbers of the stored pages that the index has not seen."""
        return [number for (number,) in self.store.execute("SELECT id FROM page EXCEPT SELECT page FROM indexed")]

    def seen(self) -> int:
        """How many pages the index has seen."""
        return self._count("SELECT count(*) FROM indexed")

    def findable(self) -> int:
        """How many pages can be found."""
        return self._count("SELECT count(*) FROM indexed WHERE entry > 0")

    def entries(self) -> int:
        """How many entries the index has, those of no page included."""
        return self._count("SELECT count(*) FROM search_docsize")

    def _count(self, query: str) -> int:
        number: int = self.store.execute(query).fetchone()[0]
        return number

    def page(self, number: int) -> IndexedPage:
        """What the index is made of, for a stored page."""
        query = _PAGE.format(withheld=self.store.withheld)
        url, fetched_at, relevance, relevant, matched, topics, *rest = self.store.execute(query, (number,)).fetchone()
        problem, withheld, content_type, packed = rest
        return IndexedPage(
            url,
            fetched_at or "",
            relevance,
            bool(relevant),
            bool(matched),
            from_json(topics, list),
            problem,
            withheld,
            content_type or "",
            packed,
        )

    def matching(self, expression: str, where: Filter, limit: int) -> list[int]:
        """The first pages that match, at most *limit*, as they were indexed."""
        conditions, values = _conditions(where)
        rows = self.store.execute(f"SELECT indexed.page {_FOUND}{conditions} LIMIT ?", (expression, *values, limit))
        return [page for (page,) in rows]

    def ranked(
        self, expression: str, where: Filter, weights: Sequence[float], limit: int
    ) -> Iterator[tuple[float, int]]:
        """BM25 and number of the first pages that match, as they were indexed; the BM25 of FTS5 is negative."""
        conditions, values = _conditions(where)
        return self.store.execute(
            f"SELECT bm25(search, ?, ?, ?), indexed.page {_FOUND}{conditions} LIMIT ?",
            (*weights, expression, *values, limit),
        )


def _conditions(where: Filter) -> tuple[str, list[str | int]]:
    """What SQL has to ask of table `indexed`, and the values."""
    conditions: list[str] = []
    values: list[str | int] = []
    if where.topic is not None:
        conditions.append("instr(indexed.topics, ?)")
        values.append(json.dumps(where.topic.lower()))
    if where.relevant:
        conditions.append("indexed.relevant")
    if where.matched:
        conditions.append("indexed.matched")
    if where.host is not None:
        name = where.host.lower().strip(".")
        conditions.append("(indexed.host = ? OR substr(indexed.host, ?) = ?)")
        values += [name, -len(name) - 1, f".{name}"]
    if where.since is not None:
        conditions.append("indexed.fetched_at >= ?")
        values.append(where.since)
    if where.until is not None:
        conditions.append("indexed.fetched_at < ?")
        values.append(where.until)
    return "".join(f" AND {condition}" for condition in conditions), values
