"""SQLite files that somebody else may have written: opened so that nothing in them runs, and read within bounds."""

from __future__ import annotations

import json
import sqlite3
import zlib
from pathlib import Path
from typing import Any, TypeVar

from focuscrawl.errors import FocusError

T = TypeVar("T")

#: What reading may raise where a file holds something else than it should.
UNREADABLE = (
    *(sqlite3.Error, sqlite3.Warning, zlib.error, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RecursionError, MemoryError),
)

#: Bytes that a stored body may have in any case; a larger one only if it is stored in a fair share of them. A bomb, a
#: gigabyte in a megabyte, is neither.
MAX_BODY = 32 * 1024 * 1024
MAX_RATIO = 50

#: Files that SQLite opens beside a database by itself.
_BESIDE = ("-journal", "-wal", "-shm")


def open_file(path: Path, mode: str = "ro", *, any_thread: bool = False, **options: Any) -> sqlite3.Connection:
    """Open an SQLite file: `ro` to read, `rwc` to write, `ro&immutable=1` on a medium that cannot be written.

    What a schema may hold beside tables (triggers, views, expressions) gets none of the functions that do anything.
    """
    path = path.resolve()
    for file in (path, *(path.with_name(path.name + ending) for ending in _BESIDE)):
        if file.exists() and not file.is_file():  # to open a pipe would wait for whoever writes to it
            raise FocusError(f"{file} is not a file; move it away")
    connection: sqlite3.Connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=not any_thread, **options
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if hasattr(connection, "setconfig"):  # Python 3.12
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # type: ignore[attr-defined,unused-ignore]
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)  # type: ignore[attr-defined,unused-ignore]
    except BaseException:
        connection.close()
        raise
    return connection


def inflate(stored: bytes) -> bytes:
    """A body as it came, from what is stored of it (zlib); raises zlib.error, and MemoryError never."""
    most = max(MAX_BODY, MAX_RATIO * len(stored))
    inflater = zlib.decompressobj()
    body = inflater.decompress(stored, most)
    if not inflater.eof:
        raise zlib.error("a body is cut off" if len(body) < most else f"a body has more than {most:,} bytes")
    return body


def from_json(text: str | None, kind: type[T]) -> T:
    """A JSON value of that kind; none at all is an empty one. Raises ValueError."""
    if text is None:
        return kind()
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("JSON is nested too deep") from None
    if not isinstance(value, kind):
        raise ValueError(f"JSON holds a {type(value).__name__}, not a {kind.__name__}")
    return value
