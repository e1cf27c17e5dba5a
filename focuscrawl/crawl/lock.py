"""The lock on a crawl's directory: only one process at a time may write there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import sleep
from typing import IO

from focuscrawl.crawl.files import check_own_files
from focuscrawl.errors import FocusError
from focuscrawl.store.places import is_address, open_store
from focuscrawl.store.store import Store

try:
    import fcntl
except ImportError:  # Windows: two crawls in one directory are not detected
    fcntl = None  # type: ignore[assignment]


#: Seconds after which a lock that was only looked at is free again.
_MOMENT = 0.05


class LockedError(FocusError):
    """Another process holds the lock."""


def take_lock(folder: Path) -> IO[str]:
    """Lock a directory until the returned file is closed or the process ends."""
    file = (folder / ".lock").open("a")
    if fcntl is not None:
        try:
            _take(file)
        except BlockingIOError:
            file.close()
            raise LockedError(
                f"{folder} is in use by another crawl or search; wait for it or choose another with -s FOCUS_DIR=…"
            ) from None
    return file


def _take(file: IO[str]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # `is_locked` holds it for a moment
        sleep(_MOMENT)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(folder: Path) -> bool:
    """Whether a process holds the lock of a directory."""
    if fcntl is None:
        return False
    try:
        with (folder / ".lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is no lock, or it cannot be read
        return False
    return False


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
    if not is_address(folder):
        check_own_files(folder)
    with nullcontext() if is_address(folder) else take_lock(folder):
        store = open_store(folder, check=False)
        try:
            with store.reading():
                yield store
        finally:
            store.close()  # before the lock is released, because closing writes
