"""How a file of an older format becomes one of the current format.

Each step leads from one format to the next. A file is checked against its own format first, because it may have been
made to mislead; then all steps run in one transaction, so that a crawl that is killed on the way leaves the file as it
was. A file that is only read is not changed.

Format 1 cannot be migrated: its table `page` varied, and its columns had another order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from focuscrawl.store.schema import FORMAT, SCHEMA, VERSION, Format, check_schema, name_of, statements

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


_CREATE = {name_of(statement): statement for statement in statements(SCHEMA)}


def _without(later: Format, tables: Collection[str], columns: Mapping[str, str]) -> Format:
    """The format before one that added tables, indexes, and columns: their text in the schema by their names."""
    schema = later.schema
    for text in [*(f"{_CREATE[name]};\n" for name in tables), *columns.values()]:
        assert text in schema, text
        schema = schema.replace(text, "")
    cells = {
        table: {name: kind for name, kind in kinds.items() if f"{table}.{name}" not in columns}
        for table, kinds in later.cells.items()
        if table not in tables
    }
    return Format(later.version - 1, schema, cells)


_FORMAT_5 = _without(
    FORMAT,
    ["reason"],
    {
        "link.start": ",\n    start INTEGER, stop INTEGER, reason INTEGER",
        "link.stop": "",
        "link.reason": "",
    },
)
_FORMAT_4 = _without(_FORMAT_5, ["mark", "mark_key"], {"rights.signals": ",\n    signals TEXT"})
_FORMAT_3 = _without(_FORMAT_4, ["metadata"], {"page.language_confidence": ",\n    language_confidence REAL"})
_FORMAT_2 = _without(_FORMAT_3, [], {"page.withheld": ", withheld TEXT"})


def _add_withheld(connection: sqlite3.Connection) -> None:
    """Format 3 says of each page why it is withheld from matched URLs and search."""
    connection.execute("ALTER TABLE page ADD COLUMN withheld TEXT")
    connection.execute(f"UPDATE page SET withheld = {WITHHELD_BEFORE} WHERE ({WITHHELD_BEFORE}) NOT NULL")


def _add_metadata(connection: sqlite3.Connection) -> None:
    """Format 4 keeps what pages say of themselves, and how sure their language is.

    Pages stored before get both when a later visit finds other bytes; until then `language` is what they declare.
    """
    connection.execute(_CREATE["metadata"])
    connection.execute("ALTER TABLE page ADD COLUMN language_confidence REAL")


def _add_marks(connection: sqlite3.Connection) -> None:
    """Format 5 keeps what people say of pages, and every signal about the rights of a page as it was found."""
    connection.execute(_CREATE["mark"])
    connection.execute(_CREATE["mark_key"])
    connection.execute("ALTER TABLE rights ADD COLUMN signals TEXT")


def _add_places(connection: sqlite3.Connection) -> None:
    """Format 6 keeps the text around links once per page, and a reason that links share once.

    Links stored before keep the words around them and their reasons themselves; bodies stay compressed with zlib.
    """
    connection.execute(_CREATE["reason"])
    connection.execute("ALTER TABLE link ADD COLUMN start INTEGER")
    connection.execute("ALTER TABLE link ADD COLUMN stop INTEGER")
    connection.execute("ALTER TABLE link ADD COLUMN reason INTEGER")


def add_what_is_missing(connection: sqlite3.Connection, version: int) -> None:
    """Add the tables and columns that a file of an older format lacks, empty and temporary: it is read like a current
    one.
    """
    for name, since in (("metadata", 4), ("mark", 5), ("reason", 6)):
        if version < since:
            connection.execute(_CREATE[name].replace(" TABLE ", " TEMP TABLE ", 1))
    if version < 6:
        connection.execute(
            "CREATE TEMP VIEW link AS SELECT *, NULL AS start, NULL AS stop, NULL AS reason FROM main.link"
        )


#: The steps by the format that they start from.
_STEPS = {
    step.before.version: step
    for step in (
        Step(_FORMAT_2, _add_withheld),
        Step(_FORMAT_3, _add_metadata),
        Step(_FORMAT_4, _add_marks),
        Step(_FORMAT_5, _add_places),
    )
}


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
