"""The base of the store's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focuscrawl.store.store import Store


class Part:
    """The queries on one table, or a few related ones. Only parts of the store use its `execute`."""

    def __init__(self, store: Store) -> None:
        self.store = store
