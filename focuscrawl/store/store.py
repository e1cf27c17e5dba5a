"""The crawl's one file, `crawl.sqlite`: pages, links, judgements, frontier.

A page, its links and their new frontier entries are committed in one transaction, in which the page's own entry leaves
the frontier. A crawl that is killed at any moment therefore resumes after the last stored page, and requests that were
in flight are sent again. The schema is described in docs/store.md.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from focuscrawl.console.program import program
from focuscrawl.errors import FocusError
from focuscrawl.store.body_files import BodyFiles
from focuscrawl.store.browse import Browse
from focuscrawl.store.errors import UnavailableError
from focuscrawl.store.examples import Examples
from focuscrawl.store.exports import Exports
from focuscrawl.store.failures import Failures
from focuscrawl.store.links import Links
from focuscrawl.store.marks import Marks
from focuscrawl.store.metadata import FUNCTIONS, PageMetadata
from focuscrawl.store.migrations import READABLE, WITHHELD_BEFORE, add_what_is_missing, format_of, migrate
from focuscrawl.store.pages import Pages
from focuscrawl.store.part import upsert
from focuscrawl.store.patterns import Patterns
from focuscrawl.store.queue import Queue
from focuscrawl.store.rights import RightsLedger
from focuscrawl.store.schema import (
    ALWAYS,
    SCHEMA,
    VERSION,
    DamageError,
    check_cells,
    check_ids,
    check_pages,
    check_schema,
    has,
    statements,
)
from focuscrawl.store.search import SearchIndex
from focuscrawl.store.sqlite_file import UNREADABLE, from_json, open_file
from focuscrawl.store.standing import Standing
from focuscrawl.store.strategy_tables import Generations, Models, Predictions, SeedPages
from focuscrawl.store.unread import UnreadFiles
from focuscrawl.store.urls import Hosts, Urls
from focuscrawl.store.verdicts import Verdicts
from focuscrawl.store.visits import Visits

logger = logging.getLogger(__name__)

#: Files up to this size are checked in full before a crawl resumes; larger ones would take too long.
CHECK_BYTES = 1 << 30

#: Seconds to wait for another process that writes, such as one that marks pages.
PATIENCE = 60.0

#: What opening a file that no crawl has written may raise.
_UNUSABLE: tuple[type[Exception], ...] = (DamageError, *UNREADABLE)
#: What a crawl records when it starts.
_NOTED: dict[str, type] = {"spider": str, "topic": str, "keywords": dict, "any_scheme": bool, "runs": list}
_SET_META = upsert("meta", "key", "value")
#: By number, not by time, which would read every page.
_LAST_TIMES = (
    "SELECT fetched_at FROM page WHERE id = (SELECT max(id) FROM page)"
    " UNION ALL SELECT visited_at FROM visit WHERE id = (SELECT max(id) FROM visit)"
)


class Store:
    """The crawl's SQLite file. One writer, any number of concurrent readers.

    The queries are in its parts: each covers one table, or a few related ones.
    """

    #: Whether several workers may write to the crawl at a time.
    shared = False

    def __init__(self, path: Path, *, create: bool = True, check: bool = True, any_thread: bool = False) -> None:
        """Open the file; without *create* read-only, without *check* without checking its contents.

        An existing file may come from an untrusted source, so it is checked before anything else. A file of an older
        format is upgraded to the current one, unless it is opened read-only.
        """
        self.path = path
        self.check = check
        self.failed: BaseException | None = None
        #: The format of the file when it was opened.
        self.version = VERSION
        self.new = not path.exists()
        if self.new and not create:
            raise FocusError(f"{path}: no such file; is {path.parent} the directory of a crawl (-s FOCUS_DIR)?")
        self._any_thread = any_thread
        self._make_parts()
        try:
            self._open(create)
        except _UNUSABLE as error:  # SQLite may quote what is not text: a UnicodeDecodeError
            self.close()
            if self.new:
                raise FocusError(f"cannot write to {path}: {error}; choose another -s FOCUS_DIR") from None
            raise self.broken(error) from None
        except FocusError:
            self.close()
            raise

    def _make_parts(self) -> None:
        self.pages = Pages(self)
        self.body_files = BodyFiles(self)
        self.metadata = PageMetadata(self)
        self.rights = RightsLedger(self)
        self.links = Links(self)
        self.urls = Urls(self)
        self.hosts = Hosts(self)
        self.queue = Queue(self)
        self.failures = Failures(self)
        self.visits = Visits(self)
        self.patterns = Patterns(self)
        self.examples = Examples(self)
        self.marks = Marks(self)
        self.verdicts = Verdicts(self)
        self.search = SearchIndex(self)
        self.unread = UnreadFiles(self)
        self.browse = Browse(self)
        self.standing = Standing(self)
        self.exports = Exports(self)
        #: Tables of individual strategies.
        self.generations = Generations(self)
        self.models = Models(self)
        self.seed_pages = SeedPages(self)
        self.predictions = Predictions(self)

    def _open(self, create: bool) -> None:
        if not self.new:
            try:
                self._connect("ro")  # reading leaves the file and its log unchanged
                self._check(create)
            except UnavailableError:
                # SQLite must first repair a file whose creation was interrupted; on a read-only medium, even readers
                # must declare that there is no writer
                self._connect("rwc" if create else "ro&immutable=1")
                self._check(create)
        if create:
            self._connect("rwc")
            self._prepare()
        else:
            add_what_is_missing(self.connection, self.version)
        self.execute("PRAGMA cache_size = -65536")

    def _connect(self, mode: str) -> None:
        self.close()
        self.connection = open_file(
            self.path, mode, any_thread=self._any_thread, cached_statements=256, timeout=PATIENCE
        )
        for name, function in FUNCTIONS.items():
            self.connection.create_function(name, 2, function, deterministic=True)
        self.execute = self.connection.execute
        self.executemany = self.connection.executemany

    def _prepare(self) -> None:
        # WAL: readers never wait for the crawl, and a commit is one append; NORMAL: a crash of the program loses no
        # page, and the file survives a power cut intact
        self.execute("PRAGMA journal_mode = WAL")
        self.execute("PRAGMA synchronous = NORMAL")
        self.execute("PRAGMA temp_store = MEMORY")
        if self.new:
            with self.transaction():
                for statement in statements(SCHEMA):
                    self.execute(statement)
                self.set_meta("version", VERSION)
        elif self.version < VERSION:
            logger.info("Upgrading %s from format %d to %d", self.path, self.version, VERSION)
            with self.transaction():
                migrate(self.connection, self.version)
            self.version = VERSION

    def _check(self, create: bool) -> None:
        """Check that this is a crawl's file, in a supported format and with valid contents."""
        tables = {name for (name,) in self.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables and not self.execute("SELECT 1 FROM sqlite_master").fetchone():
            self.new = True  # killed between creating the file and its tables
            return
        if ALWAYS - tables:
            raise FocusError(f"{self.path} is an SQLite file, but not a crawl; use another -s FOCUS_DIR")
        has(self.connection, statements(SCHEMA)[0])  # no table is read before it is known to be ours
        version = self.meta("version")
        file_format = format_of(version)
        if file_format is None:
            raise FocusError(self._unknown_format(version))
        self.version = file_format.version
        if self.version < READABLE and not create:
            raise FocusError(
                f"{self.path} has format {version}, which is too old to read; run `{program()} crawl` on it once to"
                f" upgrade it to format {VERSION}"
            )
        check_schema(self.connection, file_format)
        self._check_meta()
        migrates = create and self.version < VERSION
        if not self.check and not migrates:
            return
        check_ids(self.connection)
        if migrates or self.path.stat().st_size <= CHECK_BYTES:
            check_pages(self.connection, file_format)
            check_cells(self.connection, file_format)

    def _unknown_format(self, version: object) -> str:
        if isinstance(version, int) and version > VERSION:
            return (
                f"{self.path} was written by a newer version of focuscrawl (format {version}; this version reads up"
                f" to format {VERSION}); update focuscrawl or use another -s FOCUS_DIR"
            )
        return (
            f"{self.path} was written by another version of focuscrawl (format {version}, not {VERSION});"
            " use that version or another -s FOCUS_DIR"
        )

    def _check_meta(self) -> None:
        """Check that what a crawl records when it starts is complete or absent, and of the right types."""
        noted = {key: self.meta(key) for key in _NOTED}
        missing = [key for key, value in noted.items() if value is None]
        if missing and len(missing) < len(_NOTED):
            raise DamageError(f"meta '{missing[0]}' is missing")
        for key, value in noted.items():
            if value is not None and not isinstance(value, _NOTED[key]):
                raise DamageError(f"meta '{key}' is not a {_NOTED[key].__name__}")
        for run in self.runs():
            for name, kind in (("began", str), ("arguments", dict), ("settings", dict)):
                if not isinstance(run.get(name, kind()), kind):
                    raise DamageError(f"meta 'runs': {name} is not a {kind.__name__}")

    def broken(self, error: object) -> FocusError:
        """The message for a damaged file."""
        text = str(error) or type(error).__name__
        return FocusError(
            f"{self.path} is damaged or cannot be used ({text if len(text) <= 200 else f'{text[:200]}…'}); nothing was"
            f" changed. Restore a backup, recover what is readable with `sqlite3 {self.path} .recover`, or crawl into"
            " another directory with -s FOCUS_DIR=…"
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Report any error caused by a damaged file while reading it in one line."""
        try:
            yield
        except UNREADABLE as error:
            logger.debug("%s cannot be read", self.path, exc_info=True)
            raise self.broken(
                error if isinstance(error, sqlite3.Error) else f"{type(error).__name__}: {error}"
            ) from None

    def make(self, statement: str) -> None:
        """Create a strategy's table or view if it does not exist; raises an error if another object has its name.

        *statement* starts with CREATE TABLE or CREATE VIEW, the name and a space.
        """
        if not self.has(statement):
            self.execute(statement)

    def has(self, statement: str) -> bool:
        """Whether the table or view that a statement creates exists; raises an error if it differs."""
        try:
            return has(self.connection, statement)
        except DamageError as error:
            raise self.broken(error) from None

    def replace_view(self, earlier: str, drop: str) -> None:
        """Drop a view if it is defined as in *earlier* versions."""
        try:
            if has(self.connection, earlier):
                self.execute(drop)
        except DamageError:
            pass  # it is the current one, or `make` reports it

    def insert(self, statement: str, values: Sequence[object]) -> int:
        """Add a row to a table whose ids are assigned, and return its id."""
        number = self.execute(statement, values).lastrowid
        assert number is not None
        return number

    def small_cache(self) -> None:
        """Use little memory for this connection."""
        self.execute("PRAGMA cache_size = -4096")

    def exists(self) -> bool:
        """Whether the crawl is still there: somebody may have removed its file."""
        return self.path.exists()

    def has_table(self, name: str) -> bool:
        """Whether there is a table with a name."""
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        return self.execute(query, (name,)).fetchone() is not None

    def columns(self, table: str) -> list[str]:
        """The columns of a table, in order."""
        return [name for (name,) in self.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,))]

    def finish_copy(self) -> None:
        """Make a store that was filled by a copy ready to be crawled. Call inside a transaction."""

    def is_crawled(self) -> bool:
        """Whether workers of a shared crawl are at work; who crawls into a file has a lock on its directory."""
        return False

    def size(self) -> int:
        """The bytes that the crawl takes on disk; 0 if that is unknown."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @property
    def withheld(self) -> str:
        """Why a page is withheld, in SQL: an older file that is only read does not say so itself."""
        return "page.withheld" if self.version >= 3 else WITHHELD_BEFORE

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if hasattr(self, "connection"):
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Store everything that happens inside, or nothing.

        When a transaction fails, the frontier in memory is ahead of the file, so no further transaction is allowed: the
        crawl must stop and be resumed from the file.
        """
        if self.failed is not None:
            raise UnavailableError(f"an earlier write failed ({self.failed})")
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException as error:
            self.failed = error
            self.connection.rollback()
            raise

    def changes(self) -> int:
        """A number that changes whenever another process has written to the file."""
        number: int = self.execute("PRAGMA data_version").fetchone()[0]
        return number

    @contextmanager
    def batch(self) -> Iterator[None]:
        """A transaction, unless one is already open."""
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

    def metas(self, prefix: str) -> dict[str, Any]:
        """The values whose keys start with a prefix, by the rest of the key."""
        query = "SELECT substr(key, ?), key FROM meta WHERE substr(key, 1, ?) = ?"
        found = self.execute(query, (len(prefix) + 1, len(prefix), prefix)).fetchall()
        return {rest: self.meta(key) for rest, key in found}

    def number(self, key: str) -> int:
        """A whole number kept about the crawl; 0 if it was never set."""
        value = self.meta(key) or 0
        if not isinstance(value, int):
            raise self.broken(f"meta '{key}' is not a number")
        return value

    def runs(self) -> list[dict[str, Any]]:
        """The records of all runs (`focuscrawl.crawl.runs`), first to last; never empty."""
        runs = self.meta("runs") or [{}]
        if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
            raise self.broken("meta 'runs' is not a list of runs")
        return runs

    def newest(self) -> datetime | None:
        """About the latest time in the file: when the last page, the last visit and the last run were recorded."""
        noted = [when for (when,) in self.execute(_LAST_TIMES)] + [self.runs()[-1].get("began")]
        times = []
        for when in noted:
            with suppress(TypeError, ValueError):  # the file may say anything
                time = datetime.fromisoformat(when)
                times.append(time if time.tzinfo else time.replace(tzinfo=UTC))
        return max(times, default=None)

    def set_meta(self, key: str, value: Any) -> None:
        """Keep a value about the crawl as a whole."""
        self.execute(_SET_META, (key, json.dumps(value)))


def is_crawl(path: Path) -> bool:
    """Whether a file is a crawl's, even if damaged."""
    if not path.is_file():
        return False
    try:
        connection = open_file(path, "ro&immutable=1")
        try:
            return any(row[1] == "url_id" for row in connection.execute("PRAGMA table_info(page)"))
        finally:
            connection.close()
    except UNREADABLE:
        return False
