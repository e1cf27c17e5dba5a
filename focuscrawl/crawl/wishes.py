"""Wishes: what a person asks of a running crawl, from another process: to stop, to pause, to fetch more pages.

A wish is a value in the crawl's file, which the crawl reads every few seconds (`focuscrawl.extensions.wishes`). It
works across users, containers and machines that share the file, and a crawl that has ended ignores it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from focuscrawl.crawl import clock
from focuscrawl.errors import FocusError
from focuscrawl.store.errors import StoreError
from focuscrawl.store.store import Store

#: The key in `meta`.
KEY = "wish"
STOP, PAUSE, GO, MAX_PAGES = "stop", "pause", "go", "max_pages"
#: Largest max_pages that can be asked for.
MOST = 1_000_000_000


class Wish(NamedTuple):
    """Something to do, and when it was asked for."""

    do: str
    at: str
    pages: int = 0


def ask(folder: Path, do: str, pages: int = 0) -> None:
    """Ask something of the crawl in a folder; raises FocusError if its file cannot be written."""
    if do not in (STOP, PAUSE, GO, MAX_PAGES):
        raise FocusError(f"'{do}' cannot be asked of a crawl; expected stop, pause, go or max_pages")
    if do == MAX_PAGES and not 1 <= pages <= MOST:
        raise FocusError(f"max_pages={pages}: expected a whole number from 1 to {MOST:,}")
    store = Store(folder / "crawl.sqlite", check=False)
    try:
        with store.transaction():
            store.set_meta(KEY, {"do": do, "at": clock.now(), "pages": pages})
    except StoreError as error:
        raise FocusError(f"{folder} cannot be written: {error}") from None
    finally:
        store.close()


def read(store: Store) -> Wish | None:
    """The last wish; None if there is none."""
    told: Any = store.meta(KEY)
    if not isinstance(told, dict) or not isinstance(told.get("do"), str) or not isinstance(told.get("at"), str):
        return None
    pages = told.get("pages")
    return Wish(told["do"], told["at"], pages if isinstance(pages, int) and 0 <= pages <= MOST else 0)
