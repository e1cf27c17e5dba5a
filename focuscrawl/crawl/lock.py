"""The lock on a crawl's directory: only one process at a time may write there."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from focuscrawl.errors import FocusError

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
