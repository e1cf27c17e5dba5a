"""The base of the store's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from focuscrawl.store.store import Store

#: Rows that are read together where there are millions of them.
TOGETHER = 100_000

#: Numbers of many rows: an array per column.
Columns = np.ndarray[Any, np.dtype[Any]]


class Part:
    """The queries on one table, or a few related ones. Only parts of the store use its `execute`."""

    def __init__(self, store: Store) -> None:
        self.store = store


def upsert(table: str, key: str, *columns: str) -> str:
    """A statement that adds a row, or replaces the one with the same key. Its values: the key, then the columns."""
    values = ", ".join("?" * (1 + len(columns)))
    replaced = ", ".join(f"{column} = excluded.{column}" for column in columns)
    return (
        f"INSERT INTO {table} ({', '.join((key, *columns))}) VALUES ({values})"
        f" ON CONFLICT ({key}) DO UPDATE SET {replaced}"
    )
