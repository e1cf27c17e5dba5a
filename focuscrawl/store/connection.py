"""A connection to PostgreSQL that parts of the store use like one to SQLite.

Values come back as SQLite gives them, and errors are those of `focuscrawl.store.errors`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import pq, sql
from psycopg.adapt import Dumper, Loader
from psycopg.types.string import StrDumper

from focuscrawl.errors import FocusError, printable
from focuscrawl.store.dialect import LEASE_LOST, in_one_go, translated
from focuscrawl.store.errors import DamagedError, DisconnectedError, LeaseLostError, StoreError

#: The schema of a crawl whose address names none.
SCHEMA_NAME = "focuscrawl"
#: Seconds to wait for a connection, and for an answer from a server that is gone.
CONNECT, SILENT = 10, 10
#: Classes of conditions that pass by themselves or by the hands of an operator: connection, conflict, resources
#: (a full disk, memory, too many connections), shutdown, and errors of the server's system.
_PASSING = ("08", "40", "53", "55", "57", "58")


#: A page that another worker has stored.
_STORED_BY_ANOTHER = "23505"


class Address(NamedTuple):
    """Where a shared crawl is: a database, and the schema in it."""

    #: For psycopg.
    url: str
    schema: str
    #: For people: without the password.
    name: str


def parse_address(text: str) -> Address:
    """An address as a user gives it: `postgresql://user@server/database`, perhaps with `?schema=name`."""
    try:
        parts = urlsplit(text)
        host, user = parts.netloc.rpartition("@")[2], parts.username
    except ValueError as error:
        raise FocusError(f"{printable(text)}: not an address of a database: {error}") from None
    options = dict(parse_qsl(parts.query))
    schema = options.pop("schema", SCHEMA_NAME)
    if not schema.isidentifier() or len(schema) > 63 or schema != schema.lower():
        raise FocusError(f"schema '{printable(schema)}': expected lower-case letters, digits and _")
    query = urlencode(options, quote_via=quote)
    shown = urlencode({key: value for key, value in options.items() if key != "password"}, safe="/")
    shown = "&".join(filter(None, (shown, f"schema={schema}" if schema != SCHEMA_NAME else "")))
    netloc = f"{user}@{host}" if user else host
    return Address(
        urlunsplit(("postgresql", parts.netloc, parts.path, query, "")),
        schema,
        printable(f"postgresql://{netloc}{parts.path}{'?' if shown else ''}{shown}"),
    )


class _FlagLoader(Loader):
    """Reads a boolean as SQLite keeps it: 1 or 0."""

    def load(self, data: Any) -> int:
        return int(bytes(data) == b"t")


class _BinaryFlagLoader(Loader):
    format = pq.Format.BINARY

    def load(self, data: Any) -> int:
        return int(bytes(data) == b"\x01")


class _TextDumper(StrDumper):
    """Writes a text without NUL characters, which PostgreSQL does not store."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\x00", "\ufffd") if "\x00" in obj else obj)


class _ListDumper(Dumper):
    """Writes a list as an array; psycopg's own takes several times as long, and a page has a dozen of them.

    The type follows from where it is used in the statement.
    """

    def dump(self, obj: list[Any]) -> bytes:
        return f"{{{','.join(map(_element, obj))}}}".encode()


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    if not isinstance(value, str):
        return str(value)
    if "\\" in value or '"' in value or "\x00" in value:
        value = value.replace("\\", "\\\\").replace('"', '\\"').replace("\x00", "\ufffd")
    return f'"{value}"'


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise as_ours(error) from None


def as_ours(error: psycopg.Error) -> StoreError:
    """An error of psycopg as one of the store's."""
    text = " ".join((error.diag.message_primary or str(error)).split())
    state = error.sqlstate or ""
    if state in (LEASE_LOST, _STORED_BY_ANOTHER):
        return LeaseLostError(text if state == LEASE_LOST else "another worker has stored it")
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not state
    return DisconnectedError(text) if lost or state[:2] in _PASSING else DamagedError(text)


class Cursor(psycopg.Cursor[Any]):
    """The rows of a query."""

    def fetchone(self) -> Any:
        with _our_errors():
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with _our_errors():
            return super().fetchall()

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        return iter(self.fetchall())

    def __next__(self) -> Any:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row


class Connection:
    """An open connection to the schema of a crawl; without a transaction, each statement is committed by itself."""

    def __init__(self, address: Address) -> None:
        try:
            self._made = psycopg.connect(
                address.url,
                autocommit=True,
                cursor_factory=Cursor,
                connect_timeout=CONNECT,
                tcp_user_timeout=SILENT * 1000,
                keepalives_idle=SILENT // 2,
                keepalives_interval=SILENT // 4,
                keepalives_count=2,
                application_name="focuscrawl",
            )
        except psycopg.ProgrammingError as error:  # what is no address
            raise FocusError(f"{address.name}: {_line(error)}") from None
        except psycopg.OperationalError as error:
            raise DisconnectedError(_line(error)) from None
        #: Whether a transaction is open.
        self.in_transaction = False
        self._made.adapters.register_loader("bool", _FlagLoader)
        self._made.adapters.register_loader("bool", _BinaryFlagLoader)
        self._made.adapters.register_dumper(str, _TextDumper)
        self._made.adapters.register_dumper(list, _ListDumper)
        self._made.execute(sql.SQL("SET search_path TO {}, pg_temp").format(sql.Identifier(address.schema)))

    def execute(self, statement: str, values: Sequence[object] = ()) -> Cursor:
        """Run a statement of the shared SQL."""
        with _our_errors():
            return self._made.cursor().execute(translated(statement), values or None)  # type: ignore[return-value]

    def run(self, statement: str, values: Sequence[object] = ()) -> Cursor:
        """Run a statement of PostgreSQL's own SQL, with its placeholders."""
        with _our_errors():
            return self._made.cursor().execute(statement, values or None)  # type: ignore[return-value]

    def executemany(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement of the shared SQL for each row; rows are added in one go."""
        found = list(rows)
        together = in_one_go(statement) if len(found) > 1 else None
        if together is not None:
            self.run(together, list(map(list, zip(*found, strict=True))))
            return
        with _our_errors():
            if len(found) == 1:
                self._made.cursor().execute(translated(statement), found[0])
            else:
                self._made.cursor().executemany(translated(statement), found)

    @property
    def is_open(self) -> bool:
        """Whether the connection can be used, as far as is known."""
        return not self._made.closed and not self._made.broken

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run everything inside as one transaction, or undo it.

        Statements are sent without waiting for the answer to the one before, until rows are read.
        """
        self.in_transaction = True
        try:
            with _our_errors(), self._made.pipeline():
                self.execute("BEGIN")
                yield
                self.execute("COMMIT")
        except BaseException:
            self._rollback()
            raise
        finally:
            self.in_transaction = False

    def _rollback(self) -> None:
        """Undo the open transaction; an error means that the server has done so."""
        try:
            if self.is_open and self._made.info.transaction_status != pq.TransactionStatus.IDLE:
                self._made.cursor().execute("ROLLBACK")
        except psycopg.Error:
            self._made.close()

    def close(self) -> None:
        """Close the connection."""
        self._made.close()


def _line(error: Exception) -> str:
    """The message of an error in one line, without the hints of libpq."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    return printable(lines[-1] if lines else type(error).__name__)
