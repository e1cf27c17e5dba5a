"""Tables `search` and `indexed`: the full-text index of the stored pages.

`search` is a contentless FTS5 index. Entries of such an index cannot be deleted (SQLite before 3.43), so `indexed` maps
entries to pages, and entries without a page are ignored. `indexed` also has the columns that filters use: reading them
from `page`, among the bodies, would take longer than the search.

Both tables can be temporary, so that a file that is open read-only can be searched as well.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from focuscrawl.errors import FocusError
from focuscrawl.store.bodies import body_of
from focuscrawl.store.errors import DamagedError, UnavailableError
from focuscrawl.store.part import Part
from focuscrawl.store.sqlite_file import from_json

if TYPE_CHECKING:
    from focuscrawl.store.store import Store

_COLUMNS = "title, headings, text"
_TOKENS = "tokenize = 'porter unicode61 remove_diacritics 2'"

_SCHEMA = (
    f"CREATE VIRTUAL TABLE search USING fts5 ({_COLUMNS}, content = '', {_TOKENS})",
    """CREATE TABLE indexed (
        entry INTEGER PRIMARY KEY, page INTEGER UNIQUE, host TEXT, fetched_at TEXT, relevant INTEGER, matched INTEGER,
        topics TEXT
    )""",
)
_ADD_TEXTS = "INSERT INTO search VALUES (?, ?, ?)"
_ADD_ENTRY = "INSERT OR REPLACE INTO indexed VALUES (?, ?, ?, ?, ?, ?, ?)"
_HIDE = "INSERT OR REPLACE INTO indexed (entry, page) VALUES (?, ?)"
_FORGET_STRAYS = "DELETE FROM indexed WHERE page IS NULL OR page NOT IN (SELECT id FROM page)"
#: A page that may be found has an entry in the index, with its own facts; any other has none.
_DIFFERING = (
    "SELECT page.id, problem IS NULL AND {withheld} IS NULL AND body NOT NULL AS findable"
    " FROM page JOIN indexed ON indexed.page = page.id WHERE (entry > 0) IS NOT findable"
    " OR (entry > 0 AND ((indexed.fetched_at, indexed.relevant, indexed.matched)"
    " IS NOT (ifnull(page.fetched_at, ''), ifnull(page.relevant, 0), page.matched)"
    " OR NOT EXISTS (SELECT 1 FROM search_docsize WHERE id = entry)))"
)
#: The same columns and tokens, but with the texts.
_SHOWN = f"CREATE VIRTUAL TABLE search USING fts5 ({_COLUMNS}, {_TOKENS})"
_FOUND = "FROM search JOIN indexed ON entry = search.rowid WHERE search MATCH ?"


class Filter(NamedTuple):
    """Conditions on the pages to find; unset fields match every page."""

    #: One of the page's topics, ignoring case. A Dewey number includes its decimals: 512 finds 512.5.
    topic: str | None = None
    relevant: bool = False
    matched: bool = False
    #: A host and its subdomains.
    host: str | None = None
    #: Times in the format of `fetched_at`: *since* inclusive, *until* exclusive.
    since: str | None = None
    until: str | None = None
    #: Words that one of the page's authors' names and the name of its site must have, in any order.
    author: str | None = None
    site: str | None = None
    #: When the page says it was published: a year, month or day, both inclusive.
    published_since: str | None = None
    published_until: str | None = None
    #: The code of the page's language.
    language: str | None = None


class Entry(NamedTuple):
    """The columns of `indexed` for a page."""

    page: int
    host: str
    fetched_at: str
    relevant: bool
    matched: bool
    topics: list[str]


class IndexedPage(NamedTuple):
    """A stored page as the index reads it, and as hits show it."""

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
        """The bytes of the page; empty for a near-duplicate."""
        return body_of(self.packed) if self.packed else b""


_PAGE = (
    "SELECT url, fetched_at, relevance, relevant, matched, topics, problem, {withheld}, content_type, body FROM page"
    " WHERE page.id = ?"
)


class SearchIndex(Part):
    """The full-text index of a crawl, in its file or temporary."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._temporary = False

    def exists(self) -> bool:
        """Whether there is an index, complete or not."""
        if self._temporary:
            return True
        found = [self.store.has(statement) for statement in _SCHEMA]  # check both, even without one
        return all(found)

    def make(self) -> None:
        """Create the tables in the file if they do not exist."""
        if not self.exists():
            self._create(_SCHEMA)

    def make_temporary(self) -> None:
        """Create an empty index that lasts until the file is closed, and use it instead of the one in the file.

        It is in SQLite's temporary database, whose tables take precedence over tables of the same name in the file.
        """
        self._create([statement.replace(" TABLE ", " TABLE temp.", 1) for statement in _SCHEMA])
        self._temporary = True

    def _create(self, schema: Sequence[str]) -> None:
        try:
            with self.store.batch():
                for statement in schema:
                    self.store.execute(statement)
        except UnavailableError as error:
            raise FocusError(f"{self.store.path} cannot be indexed: {error}") from None

    def drop(self) -> None:
        """Remove the index."""
        with self.store.batch():
            self.store.execute("DROP TABLE search")
            self.store.execute("DROP TABLE indexed")

    def add(self, entry: Entry, texts: tuple[str, str, str]) -> None:
        """Index a page by title, headings and text. This replaces its earlier entry."""
        topics = json.dumps(entry.topics, default=str).lower() if entry.topics else None
        with self.store.batch():
            number = self.store.execute(_ADD_TEXTS, texts).lastrowid
            self.store.execute(_ADD_ENTRY, (number, *entry[:-1], topics))

    def hide(self, page: int) -> None:
        """Mark a page as seen by the index, but not to be found."""
        with self.store.batch():
            self.store.execute(_HIDE, (-page, page))

    def set_verdict(self, page: int, *, relevant: bool, matched: bool) -> None:
        """Copy the verdict on a page for filters, if there is an index. Call inside a transaction."""
        if self.exists():
            query = "UPDATE indexed SET relevant = ?, matched = ? WHERE page = ? AND entry > 0"
            self.store.execute(query, (relevant, matched, page))

    def forget(self, pages: Iterable[int]) -> None:
        """Drop what is known of pages, so that they are missing from the index."""
        with self.store.batch():
            self.store.executemany("DELETE FROM indexed WHERE page = ?", [(page,) for page in pages])

    def forget_strays(self) -> int:
        """Drop the entries of pages that are not stored, and return their number."""
        with self.store.batch():
            return self.store.execute(_FORGET_STRAYS).rowcount

    def is_sound(self) -> bool:
        """Whether the full-text index can be read in full. This reads all of it."""
        try:  # outside of a transaction, which would fail with it
            self.store.execute("INSERT INTO search (search) VALUES ('integrity-check')")
        except UnavailableError:  # the disk is full, or the file is locked
            raise
        except DamagedError:
            return False
        return True

    def differing(self) -> dict[int, bool]:
        """The pages whose entry does not say what the stored page says: their numbers, and whether to find them."""
        rows = self.store.execute(_DIFFERING.format(withheld=self.store.withheld))
        return {number: bool(findable) for number, findable in rows}

    def missing(self) -> list[int]:
        """The numbers of the stored pages that the index has not seen."""
        return self._numbers("SELECT id FROM page EXCEPT SELECT page FROM indexed")

    def seen(self) -> int:
        """The number of pages that the index has seen."""
        return self._count("SELECT count(*) FROM indexed")

    def findable(self) -> int:
        """The number of pages that can be found."""
        return self._count("SELECT count(*) FROM indexed WHERE entry > 0")

    def entries(self) -> int:
        """The number of entries in the index, including those without a page."""
        return self._count("SELECT count(*) FROM search_docsize")

    def _count(self, query: str) -> int:
        number: int = self.store.execute(query).fetchone()[0]
        return number

    def _numbers(self, query: str, values: Sequence[object] = ()) -> list[int]:
        return [number for (number,) in self.store.execute(query, values)]

    def page(self, number: int) -> IndexedPage:
        """A stored page as the index reads it."""
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
            self.store.body_files.load(packed),
        )

    def matching(self, expression: str, where: Filter, limit: int) -> list[int]:
        """The first *limit* pages that match, in the order indexed."""
        conditions, values = filter_conditions(where)
        return self._numbers(f"SELECT indexed.page {_FOUND}{conditions} LIMIT ?", (expression, *values, limit))

    def not_matching(self, expression: str, limit: int) -> list[int]:
        """The first *limit* findable pages that do not match, in the order stored; an empty expression matches none."""
        matching = " AND entry NOT IN (SELECT rowid FROM search WHERE search MATCH ?)" if expression else ""
        values = (expression, limit) if expression else (limit,)
        return self._numbers(f"SELECT page FROM indexed WHERE entry > 0{matching} ORDER BY page LIMIT ?", values)

    def ranked(
        self, expression: str, where: Filter, weights: Sequence[float], limit: int
    ) -> Iterator[tuple[float, int]]:
        """BM25 and number of the first *limit* pages that match, in the order indexed. FTS5's BM25 is negative."""
        conditions, values = filter_conditions(where)
        return self.store.execute(
            f"SELECT bm25(search, ?, ?, ?), indexed.page {_FOUND}{conditions} LIMIT ?",
            (*weights, expression, *values, limit),
        )


def highlighted(
    expression: str, texts: Sequence[tuple[str, ...]], *, marks: tuple[str, str], words: int
) -> dict[int, tuple[str, str]]:
    """Title and a snippet of *words* words for each text (title, headings, text) that matches, by position from 1.

    *marks* are put before and after each match.
    """
    index = sqlite3.connect(":memory:")
    try:
        index.execute(_SHOWN)
        index.executemany("INSERT INTO search VALUES (?, ?, ?)", texts)
        rows = index.execute(
            "SELECT rowid, highlight(search, 0, ?, ?), snippet(search, 2, ?, ?, '…', ?) FROM search"
            " WHERE search MATCH ?",
            (*marks, *marks, words, expression),
        )
        return {position: (title, snippet) for position, title, snippet in rows}
    finally:
        index.close()


#: The day of publication, or the first day of its month or year.
_PUBLISHED = "substr(published || '-01-01', 1, 10)"


def filter_conditions(where: Filter) -> tuple[str, list[str | int]]:
    """The filter as SQL conditions on `indexed` and `metadata`, and their values."""
    conditions: list[str] = []
    values: list[str | int] = []
    if where.topic is not None:
        conditions.append("(instr(indexed.topics, ?) > 0 OR instr(indexed.topics, ?) > 0)")
        quoted = json.dumps(where.topic.lower())
        values += [quoted, f"{quoted[:-1]}."]
    if where.relevant:
        conditions.append("indexed.relevant")
    if where.matched:
        conditions.append("indexed.matched")
    if where.host is not None:
        name = where.host.lower().strip(".")
        conditions.append("(indexed.host = ? OR instr(indexed.host || '|', ?) > 0)")
        values += [name, f".{name}|"]
    if where.since is not None:
        conditions.append("indexed.fetched_at >= ?")
        values.append(where.since)
    if where.until is not None:
        conditions.append("indexed.fetched_at < ?")
        values.append(where.until)
    if where.language is not None:
        conditions.append("EXISTS (SELECT 1 FROM page WHERE page.id = indexed.page AND page.language = ?)")
        values.append(where.language)
    said: list[str] = []
    if where.published_since is not None:
        said.append(f"{_PUBLISHED} >= ?")
        values.append(f"{where.published_since}-01-01"[:10])
    if where.published_until is not None:
        said.append(f"substr({_PUBLISHED}, 1, CAST(? AS INTEGER)) <= ?")
        values += [len(where.published_until), where.published_until]
    if where.author is not None:
        said.append("has_author(authors, ?)")
        values.append(where.author)
    if where.site is not None:
        said.append("has_words(site_name, ?)")
        values.append(where.site)
    if said:
        told = " AND ".join(said)
        conditions.append(f"EXISTS (SELECT 1 FROM metadata WHERE metadata.page = indexed.page AND {told})")
    return "".join(f" AND {condition}" for condition in conditions), values
