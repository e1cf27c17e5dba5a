"""The schema of `crawl.sqlite`, and checks that a file was written by a crawl.

SQLite stores any value in any column, and a schema may contain more than tables. A file from an untrusted source can
mislead its reader, run code on every write, or keep a query running forever. So the schema must match ours exactly, and
all values must be of the kinds that we write.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

#: The current format version; `migrations` upgrades older files.
VERSION = 6

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE host (id INTEGER PRIMARY KEY, name TEXT, pages INTEGER DEFAULT 0);
CREATE TABLE url (id INTEGER PRIMARY KEY, key INTEGER, url TEXT, host INTEGER, done INTEGER DEFAULT 0);
CREATE TABLE page (
    id INTEGER PRIMARY KEY, url_id INTEGER UNIQUE, url TEXT, status INTEGER, depth INTEGER, parent TEXT, via INTEGER,
    score REAL, relevance REAL, relevant INTEGER, matched INTEGER, title TEXT, topics TEXT, fetched_at TEXT,
    why TEXT, problem TEXT, redirects TEXT, robots TEXT, language TEXT, content_type TEXT,
    etag TEXT, last_modified TEXT, listing INTEGER, listed INTEGER, first TEXT,
    duplicate_of INTEGER, signature BLOB, body BLOB, withheld TEXT,
    language_confidence REAL
);
CREATE INDEX page_url ON page (url);
CREATE INDEX page_copy ON page (duplicate_of) WHERE duplicate_of NOT NULL;
CREATE TABLE visit (
    id INTEGER PRIMARY KEY, page INTEGER, visited_at TEXT, status INTEGER, outcome TEXT, details TEXT
);
CREATE TABLE rights (
    page INTEGER PRIMARY KEY, robots_txt TEXT, x_robots_tag TEXT, noai INTEGER, noimageai INTEGER,
    tdm_reservation INTEGER, tdm_policy TEXT, tdm_source TEXT, licences TEXT, left_out TEXT,
    signals TEXT
);
CREATE TABLE metadata (
    page INTEGER PRIMARY KEY, authors TEXT, published TEXT, modified TEXT, site_name TEXT, description TEXT, kind TEXT
);
CREATE TABLE pattern (pattern TEXT PRIMARY KEY, pages INTEGER, stale INTEGER) WITHOUT ROWID;
CREATE TABLE link (
    id INTEGER PRIMARY KEY, page INTEGER, url_id INTEGER, position INTEGER, anchor TEXT, before TEXT, after TEXT,
    nofollow INTEGER, score REAL, why TEXT,
    start INTEGER, stop INTEGER, reason INTEGER
);
CREATE TABLE reason (id INTEGER PRIMARY KEY, why TEXT);
CREATE TABLE frontier (
    url_id INTEGER PRIMARY KEY, url TEXT, host INTEGER, score REAL, rank REAL, depth INTEGER, via INTEGER,
    cold INTEGER DEFAULT 0, request TEXT, damping REAL DEFAULT 1
);
CREATE INDEX frontier_cold ON frontier (host, rank DESC, url_id) WHERE cold;
CREATE TABLE failure (id INTEGER PRIMARY KEY, url_id INTEGER, url TEXT, reason TEXT, via INTEGER, failed_at TEXT);
CREATE TABLE example (url TEXT PRIMARY KEY, content_type TEXT, body BLOB, fetched_at TEXT) WITHOUT ROWID;
CREATE TABLE mark (
    id INTEGER PRIMARY KEY, key INTEGER, url TEXT, verdict TEXT, note TEXT, marked_by TEXT, marked_at TEXT
);
CREATE INDEX mark_key ON mark (key);
"""

#: Tables that exist in every format.
ALWAYS = frozenset({"meta", "host", "url", "page", "link", "frontier", "failure", "example"})

_AROUND = re.compile(r" ?([(),]) ?")
_NAME = re.compile(r"CREATE (?:VIRTUAL TABLE|TABLE|INDEX|VIEW) (\w+)")


class DamageError(Exception):
    """A file was not written by a crawl; the message says how it differs."""


def statements(schema: str) -> list[str]:
    """The statements of a schema."""
    return [statement for part in schema.split(";") if (statement := part.strip())]


def name_of(statement: str) -> str:
    """The name of the object that a statement creates."""
    found = _NAME.match(statement)
    assert found is not None, statement
    return found[1]


def has(connection: sqlite3.Connection, statement: str) -> bool:
    """Whether a file has the object that a statement creates; raises DamageError if it differs."""
    query = "SELECT sql FROM sqlite_master WHERE name = ? COLLATE NOCASE"
    rows = connection.execute(query, (name_of(statement),)).fetchall()
    if rows and [_folded(sql) for (sql,) in rows] != [_folded(statement)]:
        raise DamageError(f"'{name_of(statement)}' is not defined as in a crawl")
    return bool(rows)


def _folded(sql: object) -> str:
    """A statement with normalised white space: SQLite formats columns added later in its own way."""
    return _AROUND.sub(r"\1", " ".join(str(sql).split()))


class Format(NamedTuple):
    """What a file of one format version must look like."""

    version: int
    schema: str
    #: The valid values of each column, by table; the first column is the key.
    cells: Mapping[str, Mapping[str, str]]

    @property
    def tables(self) -> list[str]:
        """The names of the tables, in alphabetical order."""
        return sorted(self.cells)


def check_schema(connection: sqlite3.Connection, file_format: Format) -> None:
    """Raise DamageError unless the tables are ours and writing to them runs no code."""
    for statement in statements(file_format.schema):
        if not has(connection, statement):
            raise DamageError(f"'{name_of(statement)}' is missing")
    trigger = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchone()
    if trigger is not None:
        raise DamageError(f"it has a trigger, {trigger[0]!r}; a crawl never creates one")
    ours = {name_of(statement) for statement in statements(file_format.schema)}
    for table in file_format.tables:
        # users may add indexes, as docs/store.md says, but not on expressions
        for _, name, _, origin, partial in connection.execute(
            "SELECT * FROM pragma_index_list(?)", (table,)
        ).fetchall():
            columns = connection.execute("SELECT cid FROM pragma_index_xinfo(?)", (name,)).fetchall()
            if origin == "c" and name not in ours and (partial or (-2,) in columns):
                raise DamageError(f"its index {name!r} is on an expression; a crawl never creates one")


# ---- the contents of the tables

#: No count or id is larger; memory is allocated by the ids of URLs and hosts, so these have few gaps.
_LARGEST = 1 << 53
_GAPS = 100_000

# Each kind is a condition on a column; @ stands for the column.
_INTEGER = f"(typeof(@) = 'integer' AND @ BETWEEN 0 AND {_LARGEST})"
_ID = f"(typeof(@) = 'integer' AND @ BETWEEN 1 AND {_LARGEST})"
_ANY_ID = f"(typeof(@) = 'integer' AND @ BETWEEN -{_LARGEST} AND {_LARGEST})"
_OF_URL = "(typeof(@) = 'integer' AND @ BETWEEN 1 AND (SELECT max(id) FROM url))"
_OF_HOST = "(typeof(@) = 'integer' AND @ BETWEEN 1 AND (SELECT max(id) FROM host))"
_OF_PAGE = "(typeof(@) = 'integer' AND @ BETWEEN 1 AND (SELECT max(id) FROM page))"
_FLAG = "(@ IN (0, 1))"
_REAL = "(typeof(@) IN ('real', 'integer') AND @ BETWEEN -1e15 AND 1e15)"
_SHARE = "(typeof(@) IN ('real', 'integer') AND @ BETWEEN 0 AND 1)"
_KEY = "(typeof(@) = 'integer')"
_TEXT = "(typeof(@) = 'text')"
_URL = "(typeof(@) = 'text' AND @ GLOB 'http*://*')"
_BYTES = "(typeof(@) = 'blob')"
_REQUEST = "CASE WHEN json_valid(@) THEN json_type(@) = 'object' AND json_extract(@, '$.url') GLOB 'http*://*' END"
_DATE = "(typeof(@) = 'text' AND @ GLOB '[0-9][0-9][0-9][0-9]*' AND length(@) <= 25)"
_LIST = "CASE WHEN typeof(@) = 'text' AND json_valid(@) THEN json_type(@) = 'array' END"
_OUTCOME = "(@ IN ('unchanged', 'changed', 'gone', 'back', 'unreachable'))"
_VERDICT = "(@ IN ('yes', 'no', 'unsure', 'none'))"
_WITHHELD = (
    "(@ IN ('copy', 'noindex', 'listing')"
    " OR typeof(@) = 'text' AND (@ GLOB 'reservation: ?*' OR @ GLOB 'language: [a-z][a-z]'))"
)


def _or_none(kind: str) -> str:
    return f"(@ IS NULL OR {kind})"


def is_flag(kind: str) -> bool:
    """Whether a kind of values is true or false, kept as 1 and 0."""
    return kind in (_FLAG, _or_none(_FLAG))


CELLS: dict[str, dict[str, str]] = {
    "meta": {"key": _TEXT, "value": _TEXT},
    "host": {"id": _ID, "name": _TEXT, "pages": _INTEGER},
    "url": {"id": _ID, "key": _KEY, "url": _URL, "host": _OF_HOST, "done": _FLAG},
    "page": {
        "id": _ID,
        "url_id": _OF_URL,
        "url": _URL,
        "status": _INTEGER,
        "depth": _INTEGER,
        **dict.fromkeys(("parent", "why", "problem", "redirects", "etag", "last_modified", "first"), _or_none(_TEXT)),
        **dict.fromkeys(("via", "duplicate_of"), _or_none(_ANY_ID)),
        **dict.fromkeys(("score", "relevance"), _or_none(_REAL)),
        "relevant": _or_none(_FLAG),
        **dict.fromkeys(("matched", "listing"), _FLAG),
        **dict.fromkeys(("title", "topics", "fetched_at", "robots", "language", "content_type"), _TEXT),
        "listed": _or_none(_INTEGER),
        **dict.fromkeys(("signature", "body"), _or_none(_BYTES)),
        "withheld": _or_none(_WITHHELD),
        "language_confidence": _or_none(_SHARE),
    },
    "visit": {
        "id": _ID,
        "page": _OF_PAGE,
        "visited_at": _TEXT,
        "status": _or_none(_INTEGER),
        "outcome": _OUTCOME,
        "details": _or_none(_TEXT),
    },
    "rights": {
        "page": _ID,
        **dict.fromkeys(("robots_txt", "x_robots_tag", "tdm_policy", "tdm_source", "licences"), _or_none(_TEXT)),
        **dict.fromkeys(("noai", "noimageai", "tdm_reservation"), _or_none(_FLAG)),
        "left_out": _or_none(_TEXT),
        "signals": _or_none(_LIST),
    },
    "metadata": {
        "page": _ID,
        "authors": _or_none(_LIST),
        **dict.fromkeys(("published", "modified"), _or_none(_DATE)),
        **dict.fromkeys(("site_name", "description", "kind"), _or_none(_TEXT)),
    },
    "pattern": {"pattern": _TEXT, "pages": _INTEGER, "stale": _INTEGER},
    "frontier": {
        "url_id": _OF_URL,
        "url": _URL,
        "host": _OF_HOST,
        "score": _REAL,
        "rank": _REAL,
        "depth": _INTEGER,
        "via": _or_none(_ANY_ID),
        "cold": _FLAG,
        "request": _or_none(_REQUEST),
        "damping": _SHARE,
    },
    "failure": {
        "id": _ID,
        "url_id": _or_none(_ID),
        "url": _TEXT,
        "reason": _TEXT,
        "via": _or_none(_ANY_ID),
        "failed_at": _TEXT,
    },
    "mark": {
        "id": _ID,
        "key": _KEY,
        "url": _URL,
        "verdict": _VERDICT,
        **dict.fromkeys(("note", "marked_by", "marked_at"), _TEXT),
    },
    "example": {"url": _TEXT, "content_type": _TEXT, "body": _BYTES, "fetched_at": _TEXT},
    "link": {
        "id": _ANY_ID,
        "page": _OF_PAGE,
        "url_id": _OF_URL,
        "position": _INTEGER,
        "anchor": _TEXT,
        **dict.fromkeys(("before", "after"), _or_none(_TEXT)),
        "nofollow": _FLAG,
        "score": _or_none(_REAL),
        "why": _or_none(_TEXT),
        **dict.fromkeys(("start", "stop"), _or_none(_INTEGER)),
        "reason": _or_none(_ANY_ID),
    },
    "reason": {"id": _ANY_ID, "why": _TEXT},
}


#: The current format.
FORMAT = Format(VERSION, SCHEMA, CELLS)


def _wrong(table: str, columns: Mapping[str, str]) -> str:
    """A query for the first row with an invalid value: its key, and whether each column is valid."""
    conditions = [kind.replace("@", column) for column, kind in columns.items()]
    key = next(iter(columns))
    return f"SELECT {key}, {', '.join(conditions)} FROM {table} WHERE NOT ifnull({' AND '.join(conditions)}, 0) LIMIT 1"


_IDS = {table: f"SELECT max(id) - count(*), max(id) FROM {table}" for table in ("host", "url", "page")}


def check_ids(connection: sqlite3.Connection) -> None:
    """Raise DamageError if the ids of a table are far beyond its row count: memory is allocated by id."""
    for table, query in _IDS.items():
        found = connection.execute(query).fetchone()
        if found[0] is not None and found[0] > _GAPS:
            raise DamageError(f"table {table} has a row {found[1]}, but far fewer rows than that")


def check_pages(connection: sqlite3.Connection, file_format: Format) -> None:
    """Raise DamageError if SQLite finds a table damaged."""
    for table in file_format.tables:
        # only our tables: a foreign one may have a CHECK that never ends
        (result,) = connection.execute("SELECT * FROM pragma_quick_check(?)", (table,)).fetchone()
        if result != "ok":
            raise DamageError(str(result).splitlines()[-1])


def check_cells(connection: sqlite3.Connection, file_format: Format) -> None:
    """Raise DamageError unless all values are of the kinds that we write: about a microsecond per row."""
    for table, columns in file_format.cells.items():
        row = connection.execute(_wrong(table, columns)).fetchone()
        if row is not None:
            wrong = [name for name, fine in zip(columns, row[1:], strict=True) if not fine]
            raise DamageError(f"table {table}, row {row[0]!r}: {wrong[0]} has an invalid value")
