"""SQLite files from untrusted sources: opened so that no code in them runs, and read within limits."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

from focuscrawl.errors import FocusError
from focuscrawl.store.bodies import DAMAGED

T = TypeVar("T")

#: Exceptions that reading a malformed file may raise.
UNREADABLE: tuple[type[Exception], ...] = (
    *(*DAMAGED, sqlite3.Error, sqlite3.Warning, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RecursionError, MemoryError),
)

#: Companion files that SQLite opens with a database.
_BESIDE = ("-journal", "-wal", "-shm")


def is_special(path: Path) -> bool:
    """Whether a path is something else than a file: a directory, a pipe, a device.

    It is asked once: SQLite's files come and go while others read the crawl.
    """
    try:
        return not S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


def open_file(path: Path, mode: str = "ro", *, any_thread: bool = False, **options: Any) -> sqlite3.Connection:
    """Open an SQLite file: `ro` to read, `rwc` to write, `ro&immutable=1` on a read-only medium.

    Triggers, views and expressions in the schema cannot call functions with side effects.
    """
    path = path.resolve()
    for file in (path, *(path.with_name(path.name + ending) for ending in _BESIDE)):
        if is_special(file):  # opening a pipe would block
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


def as_json(value: object) -> str:
    """A value as JSON that people can read in the file: `茶`, not `\\u8336`. Lone surrogates cannot be stored."""
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()


def from_json(text: str | None, kind: type[T]) -> T:
    """A JSON value of type *kind*; None gives an empty one. Raises ValueError."""
    if text is None:
        return kind()
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    if not isinstance(value, kind):
        raise ValueError(f"JSON holds a {type(value).__name__}, not a {kind.__name__}")
    return value
