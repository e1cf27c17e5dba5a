"""The process that writes to a crawl's directory, found without touching its lock: a test of the lock could keep a
crawl from starting."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from focuscrawl.crawl import clock

#: Where Linux lists the locks that are held.
_LOCKS = Path("/proc/locks")
#: Elsewhere, a crawl that wrote within so many seconds is taken to be running.
_RECENT = 30.0


class Holder(NamedTuple):
    """The process that holds the lock of a crawl; 0 if it is not known which one."""

    process: int

    def memory(self) -> int | None:
        """The bytes of memory that the process uses; None if that is not known."""
        try:
            pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return None
        return pages * os.sysconf("SC_PAGE_SIZE")


def holder(folder: Path) -> Holder | None:
    """The process that writes to a crawl's directory; None if there is none."""
    try:
        lock = (folder / ".lock").stat()
    except OSError:
        return None
    try:
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        return Holder(0) if _wrote_lately(folder) else None
    place = f"{os.major(lock.st_dev):02x}:{os.minor(lock.st_dev):02x}:{lock.st_ino}"
    for line in lines:
        words = line.split()
        if len(words) >= 6 and words[1] == "FLOCK" and words[5] == place:
            return Holder(int(words[4]) if words[4].isdigit() else 0)
    return None


def _wrote_lately(folder: Path) -> bool:
    """Whether the log of the crawl's file has just been written to."""
    try:
        written = (folder / "crawl.sqlite-wal").stat().st_mtime
    except OSError:
        return False
    return clock.utc().timestamp() - written < _RECENT
