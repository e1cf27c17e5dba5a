"""A crawl on PostgreSQL, which several machines share: the same tables, queries and parts as in a file.

A crawl is one schema of a database. What only a shared crawl has (workers, leases) is in `focuscrawl.store.leases`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from focuscrawl.errors import FocusError
from focuscrawl.store.connection import Address, Connection, parse_address
from focuscrawl.store.dialect import BESIDE, FUNCTIONS
from focuscrawl.store.errors import DisconnectedError, StoreError, UnavailableError
from focuscrawl.store.leases import Leases, SharedQueue
from focuscrawl.store.links import Links
from focuscrawl.store.schema import SCHEMA, VERSION, DamageError, name_of, statements
from focuscrawl.store.shared_search import SharedSearch
from focuscrawl.store.store import Store

logger = logging.getLogger(__name__)

#: The link ids of a page follow from its number, so that workers need not agree on them.
LINKS_PER_PAGE = 1 << 20
#: Seconds for which a worker that says nothing counts as being at work.
ALIVE = 60.0
#: For the lock under which a crawl is made.
_LOCK = 0x666F637573


class SharedLinks(Links):
    """The links of the stored pages, with ids that many workers can assign at once."""

    def _first_id(self, page_id: int, count: int, *, later: bool) -> int:
        if later:
            number: int = self.store.execute("SELECT nextval('later_links')").fetchone()[0]
            return -number * LINKS_PER_PAGE
        return page_id * LINKS_PER_PAGE

    def first_of(self, page_id: int) -> int:
        """The id of the first link of that page, or of a later one if it has none."""
        return page_id * LINKS_PER_PAGE


class PostgresStore(Store):
    """A crawl on a PostgreSQL server. Any number of readers and writers."""

    shared = True
    connection: Connection  # type: ignore[assignment]
    queue: SharedQueue

    def __init__(self, address: str, *, create: bool = True, folder: Path | None = None) -> None:
        """Open the crawl at an address; without *create* it must exist. *folder*: where a worker has its own files."""
        self.address: Address = parse_address(address)
        # where a worker has files of its own; others have none
        self.path = (folder or Path("/nowhere")) / "crawl.sqlite"
        self.failed = None
        #: The number of the next page, if it was reserved while its links were looked up.
        self.reserved: int | None = None
        self.version = VERSION
        self.new = False
        self.check = False
        self._make_parts()
        self.links = SharedLinks(self)
        self.queue = SharedQueue(self)
        self.search = SharedSearch(self)
        #: Workers and leases.
        self.leases = Leases(self)
        try:
            self._open(create)
        except FocusError:
            self.close()
            raise
        except DamageError as error:
            self.close()
            raise self.broken(error) from None
        except StoreError as error:
            self.close()
            raise FocusError(f"cannot open {self.address.name}: {error}") from None

    @property
    def name(self) -> str:
        """What the crawl is called in messages."""
        return self.address.name

    def _open(self, create: bool) -> None:
        self.connect()
        if create:
            with self.transaction():
                # the first worker makes the crawl; the others wait for it
                self.lock()
                if not self._is_made():
                    self._make()
        elif not self._is_made():
            raise FocusError(f"{self.name}: there is no crawl; start one with -s FOCUS_STORE=…, or check the address")
        self._check_version()
        self._check_meta()

    def lock(self) -> None:
        """Let nobody else change the tables until the open transaction ends."""
        self.execute("SELECT pg_advisory_xact_lock(?)", (_LOCK,))

    def make(self, statement: str) -> None:
        """Create a strategy's table or view if it does not exist; another worker may be about to."""
        if not self.has(statement):
            with self.batch():
                self.lock()
                if not self.has(statement):
                    self.execute(statement)

    def connect(self) -> None:
        """Connect, or connect again. Raises DisconnectedError."""
        self.close()
        self.connection = Connection(self.address)
        self.execute = self.connection.execute  # type: ignore[assignment]
        self.executemany = self.connection.executemany  # type: ignore[assignment]

    def renew(self) -> None:
        """Connect again if the connection is lost. Raises DisconnectedError."""
        if not self.connection.is_open:
            self.connect()

    def _is_made(self) -> bool:
        return self._has("meta")

    def _has(self, name: str) -> bool:
        """Whether there is such a table or view; read as any other row, because catalogue caches lag behind others."""
        query = (
            "SELECT 1 FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace"
            " WHERE relname = ? AND nspname = ?"
        )
        return self.execute(query, (name, self.address.schema)).fetchone() is not None

    def _make(self) -> None:
        self.new = True
        self.connection.run(f'CREATE SCHEMA IF NOT EXISTS "{self.address.schema}"')  # an identifier, as was checked
        for statement in (*statements(SCHEMA), *BESIDE):
            self.execute(statement)
        for function in FUNCTIONS:
            self.connection.run(function)
        self.set_meta("version", VERSION)

    def _check_version(self) -> None:
        version = self.meta("version")
        if version == VERSION:
            return
        if isinstance(version, int) and version < VERSION:
            raise FocusError(
                f"{self.name} has format {version}, but this version of focuscrawl needs format {VERSION}: copy it to a"
                " file with the version that made it, then back with this one"
            )
        raise FocusError(self._unknown_format(version))

    def _check_meta(self) -> None:
        """Nothing: only workers write to the database, unlike to a file that somebody sends."""

    def broken(self, error: object) -> FocusError:
        """The message for a crawl that cannot be used."""
        return FocusError(f"{self.name} cannot be used: {str(error)[:200] or type(error).__name__}")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Report any error while reading in one line."""
        try:
            yield
        except StoreError as error:
            raise self.broken(error) from None

    def has(self, statement: str) -> bool:
        """Whether the table or view that a statement creates exists."""
        return self._has(name_of(statement))

    def replace_view(self, earlier: str, drop: str) -> None:
        """Nothing: no earlier version made this view here."""

    def insert(self, statement: str, values: Sequence[object]) -> int:
        """Add a row to a table whose ids are assigned, and return its id."""
        if self.reserved is not None and statement.startswith("INSERT INTO page ("):
            number, self.reserved = self.reserved, None
            given = statement.replace("INSERT INTO page (", "INSERT INTO page (id, ").replace("VALUES (", "VALUES (?, ")
            self.execute(given, (number, *values))
            return number
        returning = f"{statement} RETURNING id"
        return int(self.execute(returning, values).fetchone()[0])

    def small_cache(self) -> None:
        """Nothing: the server has the cache."""

    def exists(self) -> bool:
        """Whether the crawl is still there, as far as is known."""
        return True

    def has_table(self, name: str) -> bool:
        """Whether there is a table with a name."""
        return self._has(name)

    def columns(self, table: str) -> list[str]:
        """The columns of a table, in order."""
        query = (
            "SELECT column_name::text FROM information_schema.columns WHERE table_schema = ? AND table_name = ?"
            " ORDER BY ordinal_position"
        )
        return [name for (name,) in self.execute(query, (self.address.schema, table))]

    def finish_copy(self) -> None:
        """Make a store that was filled by a copy ready to be crawled. Call inside a transaction."""
        for table in ("page", "host", "visit", "failure", "mark"):
            number = f"pg_get_serial_sequence('{table}', 'id')"
            self.connection.run(f"SELECT setval({number}, (SELECT coalesce(max(id), 0) + 1 FROM {table}), FALSE)")
        self.leases.adopt()

    def is_crawled(self) -> bool:
        """Whether workers are at work."""
        return any(not worker.gone and worker.silent < ALIVE for worker in self.leases.workers())

    def size(self) -> int:
        """The bytes that the crawl takes on the server."""
        query = (
            "SELECT sum(pg_total_relation_size(pg_class.oid))::bigint FROM pg_class JOIN pg_namespace"
            " ON pg_namespace.oid = relnamespace WHERE nspname = ? AND relkind = 'r'"
        )
        return int(self.execute(query, (self.address.schema,)).fetchone()[0] or 0)

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        if hasattr(self, "connection"):
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Store everything that happens inside, or nothing.

        After a failure, what is in memory is ahead of the database: it must be read again.
        """
        if not self.connection.is_open:
            raise DisconnectedError(f"{self.name}: the connection is lost")
        if self.failed is not None:
            raise UnavailableError(f"an earlier write failed ({self.failed})")
        try:
            with self.connection.transaction():
                yield
        except BaseException as error:
            if not isinstance(error, UnavailableError):
                self.failed = error
            raise

    def changes(self) -> int:
        """A number that changes whenever somebody has written to the database."""
        number: int = self.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").fetchone()[0]
        return number
