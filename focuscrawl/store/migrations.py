"""How a file of an older format becomes one of the current format.

Each step leads from one format to the next. A file is checked against its own format first, because it may have been
made to mislead; then all steps run in one transaction, so that a crawl that is killed on the way leaves the file as it
was. A file that is only read is not changed.

Format 1 cannot be migrated: its table `page` varied, and its columns had another order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from focuscrawl.store.schema import CELLS, FORMAT, SCHEMA, VERSION, Format, check_schema, name_of, statements

#: The oldest format that can be read as it is.
READABLE = 2
#: Why a page of a file of format 2 is withheld, in place of the column of format 3.
WITHHELD_BEFORE = (
    "CASE WHEN page.listing THEN 'listing'"
    " WHEN NOT page.matched AND ',' || page.robots || ',' LIKE '%,noindex,%' THEN 'noindex'"
    " WHEN EXISTS (SELECT 1 FROM rights WHERE rights.page = page.id AND left_out != '')"
    " THEN (SELECT 'reservation: ' || left_out FROM rights WHERE rights.page = page.id)"
    " WHEN page.duplicate_of NOT NULL THEN 'copy' END"
)


class Step(NamedTuple):
    """What leads from a format to the next."""

    before: Format
    change: Callable[[sqlite3.Connection], None]


_METADATA = next(statement for statement in statements(SCHEMA) if name_of(statement) == "metadata")
_FORMAT_3 = Format(
    3,
    SCHEMA.replace(f"{_METADATA};\n", "").replace(",\n    language_confidence REAL", ""),
    {
        table: {name: kind for name, kind in columns.items() if name != "language_confidence"}
        for table, columns in CELLS.items()
        if table != "metadata"
    },
)
_LATER_CELLS = {"page": {"withheld"}}
_FORMAT_2 = Format(
    2,
    _FORMAT_3.schema.replace(", withheld TEXT", ""),
    {
        table: {name: kind for name, kind in columns.items() if name not in _LATER_CELLS.get(table, ())}
        for table, columns in _FORMAT_3.cells.items()
    },
)


def _add_withheld(connection: sqlite3.Connection) -> None:
    """Format 3 says of each page why it is withheld from matched URLs and search."""
    connection.execute("ALTER TABLE page ADD COLUMN withheld TEXT")
    connection.execute(f"UPDATE page SET withheld = {WITHHELD_BEFORE} WHERE ({WITHHELD_BEFORE}) NOT NULL")


def _add_metadata(connection: sqlite3.Connection) -> None:
    """Format 4 keeps what pages say of themselves, and how sure their language is.

    Pages stored before get both when a later visit finds other bytes; until then `language` is what they declare.
    """
    connection.execute(_METADATA)
    connection.execute("ALTER TABLE page ADD COLUMN language_confidence REAL")


def add_empty_tables(connection: sqlite3.Connection, version: int) -> None:
    """Add the tables that a file of an older format lacks, empty and temporary: it is read like a current one."""
    if version < 4:
        connection.execute(_METADATA.replace(" TABLE ", " TEMP TABLE ", 1))


#: The steps by the format that they start from.
_STEPS = {step.before.version: step for step in (Step(_FORMAT_2, _add_withheld), Step(_FORMAT_3, _add_metadata))}


def format_of(version: object) -> Format | None:
    """The format with a number; None if this version of focuscrawl does not know it."""
    if version == VERSION:
        return FORMAT
    return _STEPS[version].before if type(version) is int and version in _STEPS else None


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a file that was checked from a format to the current one. Call inside a transaction.

    Raises DamageError if the result is not what a new file would have been.
    """
    for number in range(version, VERSION):
        _STEPS[number].change(connection)
    connection.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(VERSION),))
    check_schema(connection, FORMAT)
