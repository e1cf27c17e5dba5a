"""The lock on a crawl's directory: only one process at a time may write there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from focuscrawl.crawl.files import check_own_files
from focuscrawl.errors import FocusError
from focuscrawl.store.store import Store

try:
    import fcntl
except ImportError:  # Windows: two crawls in one directory are not detected
    fcntl = None  # type: ignore[assignment]


class LockedError(FocusError):
    """Another process holds the lock."""


def take_lock(folder: Path) -> IO[str]:
    """Lock a directory until the returned file is closed or the process ends."""
    file = (folder / ".lock").open("a")
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise LockedError(
                f"{folder} is in use by another crawl or search; wait for it or choose another with -s FOCUS_DIR=…"
            ) from None
    return file


@contextmanager
def wait_for_turn(path: Path) -> Iterator[None]:
    """Wait until no other process holds this lock, and hold it. For work that takes moments."""
    with path.open("a") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def locked_store(folder: Path) -> Iterator[Store]:
    """Lock a crawl's directory and open its file for writing, without a crawl. Raises OSError if that is not allowed.

    The contents are not checked: for a large file, that takes long.
    """
    check_own_files(folder)
    lock = take_lock(folder)
    try:
        store = Store(folder / "crawl.sqlite", check=False)
        try:
            with store.reading():
                yield store
        finally:
            store.close()  # before the lock is released, because closing writes
    finally:
        lock.close()
