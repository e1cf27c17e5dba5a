"""Copying a crawl from one store to another, whole and resumable: from a file to a server, and back.

Tables are copied one after the other, in steps by key, each a transaction that also records how far the copy has come.
Link ids change on the way to a server, where they follow from the numbers of the pages (`focuscrawl.store.postgres`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from focuscrawl.errors import FocusError
from focuscrawl.store.dialect import FLAGS
from focuscrawl.store.schema import CELLS
from focuscrawl.store.store import Store

#: Rows of one step.
STEP = 2_000
#: The key under which the target records how far the copy has come.
_COPIED = "copied"
#: Tables of strategies, and of linked files that are not read; made if the source has them.
_OPTIONAL = ("unread", "opinion", "generation", "seed_page", "prediction", "model")
#: Columns that hold ids of links, besides `via`: a reason that links share has the id of the first of them.
_OF_LINKS = {("link", "id"), ("link", "reason"), ("reason", "id")}
#: The column that a table is read by.
_KEYS = {name: next(iter(columns)) for name, columns in CELLS.items()} | {
    "unread": "key",
    "opinion": "page",
    "generation": "number",
    "seed_page": "id",
    "prediction": "url_id",
    "model": "name",
}


def copy(
    source: Store, target: Store, progress: Callable[[str, int], None] = lambda table, rows: None
) -> dict[str, int]:
    """Copy a crawl into a new store, or go on with a copy that was interrupted; returns the rows of each table."""
    if source.is_crawled():
        raise FocusError("workers crawl the source; stop them first")
    done = target.meta(_COPIED)
    if done is None and target.meta("spider") is not None:
        raise FocusError("the target is a crawl already; copy to a new place")
    done = done or {}
    links = _Links(source) if target.shared and not source.shared else None
    _make_optional(source, target)
    counts: dict[str, int] = {}
    tables = [name for name in (*CELLS, *_OPTIONAL) if name != "meta" and _exists(source, name)]
    for table in tables:
        counts[table] = 0
        last = done.get(table)
        for rows in _steps(source, table, last):
            last = rows[-1][0]
            with target.transaction():
                _write(
                    target,
                    table,
                    [
                        tuple(
                            _value(source, table, name, value, links)
                            for name, value in zip(_columns(source, table), row, strict=True)
                        )
                        for row in rows
                    ],
                )
                done[table] = last
                target.set_meta(_COPIED, done)
            counts[table] += len(rows)
            progress(table, counts[table])
    with target.transaction():
        _meta(source, target)
        target.finish_copy()
        target.execute("DELETE FROM meta WHERE key = ?", (_COPIED,))
    return counts


def _meta(source: Store, target: Store) -> None:
    for key, *_ in source.execute("SELECT key FROM meta").fetchall():
        if key not in ("version", "bodies", _COPIED):  # bodies are in the rows of a copy
            target.set_meta(key, source.meta(key))


def _exists(store: Store, table: str) -> bool:
    return table in CELLS or store.has_table(table)


def _make_optional(source: Store, target: Store) -> None:
    for name, part in (
        ("unread", target.unread),
        ("opinion", target.verdicts),
        ("generation", target.generations),
        ("seed_page", target.seed_pages),
        ("prediction", target.predictions),
        ("model", target.models),
    ):
        if source.has_table(name):
            part.make()


def _columns(source: Store, table: str) -> list[str]:
    return source.columns(table)


def _steps(source: Store, table: str, last: Any) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a table by key, from after *last*."""
    key, columns = _KEYS[table], ", ".join(_columns(source, table))
    while True:
        where, values = ("", ()) if last is None else (f" WHERE {key} > ?", (last,))
        query = f"SELECT {columns} FROM {table}{where} ORDER BY {key} LIMIT ?"  # of constants
        rows = source.execute(query, (*values, STEP)).fetchall()
        if rows:
            last = rows[-1][0]
            yield rows
        if len(rows) < STEP:
            return


def _write(target: Store, table: str, rows: list[tuple[Any, ...]]) -> None:
    marks = ", ".join("?" * len(rows[0]))
    columns = ", ".join(_columns(target, table))
    query = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # of constants
    target.executemany(query, rows)


def _value(source: Store, table: str, column: str, value: Any, links: _Links | None) -> Any:
    if value is None:
        return None
    if column in FLAGS:
        return bool(value)
    if links is not None and (column == "via" or (table, column) in _OF_LINKS):
        return links.renumbered(value)
    if (table, column) == ("page", "body"):
        return source.body_files.load_packed(value)
    return value


class _Links:
    """New ids of links: the number of the page, and the place of the link on it."""

    def __init__(self, source: Store) -> None:
        self.first = array("q")
        self.page = array("q")
        for page, first in source.execute("SELECT page, min(id) FROM link WHERE id > 0 GROUP BY page ORDER BY 2"):
            self.page.append(page)
            self.first.append(first)

    def renumbered(self, link: int) -> int:
        """The new id of a link; those of later visits keep theirs."""
        from focuscrawl.store.postgres import LINKS_PER_PAGE

        if link < 0:
            return link
        place = bisect_right(self.first, link) - 1
        return self.page[place] * LINKS_PER_PAGE + link - self.first[place]
