"""The frontier of a store: of a file, or of a crawl that is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from focuscrawl.frontier.frontier import Frontier
from focuscrawl.frontier.shared import SharedFrontier


def open_frontier(store: Any, **options: Any) -> Frontier:
    """The frontier of a store; *leases* and *lease* are options of a shared one."""
    make: Callable[..., Frontier] = SharedFrontier if store.shared else Frontier
    if not store.shared:
        options = {name: value for name, value in options.items() if name not in ("leases", "lease")}
    return make(store, **options)
