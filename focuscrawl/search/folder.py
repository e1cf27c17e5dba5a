"""Search a crawl in its directory, after indexing the pages that are not in the index yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from focuscrawl.crawl.lock import LockedError, locked_store
from focuscrawl.errors import FocusError
from focuscrawl.search.index import Answer, Index
from focuscrawl.search.query import Query
from focuscrawl.store.errors import UnavailableError
from focuscrawl.store.places import read_crawl, shown
from focuscrawl.store.search import Filter


def search_folder(
    folder: Path, query: Query, where: Filter, limit: int, say: Callable[[str], None]
) -> tuple[Answer, int]:
    """The answer, and how many pages are not in the index; *say* tells the user about the index."""
    # checking a large file takes longer than searching it
    with read_crawl(folder, check=False) as store:
        waiting = Index(store).waiting()
    if waiting:
        _bring_up_to_date(folder, waiting, say)
    with read_crawl(folder, check=False) as store:
        index = Index(store)
        found = index.search(query, where, limit) if index.exists() else Answer([], 0)
        return found, index.waiting() if waiting else 0


def _bring_up_to_date(folder: Path, waiting: int, say: Callable[[str], None]) -> None:
    """Index the remaining pages, unless another process is writing there; say which."""
    pages, place = f"{waiting:,} page{'s are' if waiting > 1 else ' is'}", shown(folder)
    try:
        with locked_store(folder) as store:
            say(f"indexing {place}: {pages} not in the index yet")
            try:
                Index(store).update()
            except UnavailableError as error:
                raise FocusError(
                    f"{place} cannot be indexed: {error}; free some space or check the disk, and search again"
                ) from None
    except LockedError:
        say(f"{pages} not indexed yet, because {place} is being crawled; -s FOCUS_INDEX=True indexes during a crawl")
    except OSError as error:
        say(f"{pages} not indexed and cannot be: {place} cannot be written ({error.strerror})")
