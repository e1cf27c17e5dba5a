"""The process that writes to a crawl's directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from focuscrawl.crawl.lock import is_locked

#: Where Linux lists the locks that are held.
_LOCKS = Path("/proc/locks")


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
    if not is_locked(folder):
        return None
    try:
        inode = (folder / ".lock").stat().st_ino
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        return Holder(0)
    for line in lines:
        words = line.split()
        if len(words) >= 6 and words[1] == "FLOCK" and words[5].endswith(f":{inode}") and words[4].isdigit():
            return Holder(int(words[4]))
    return Holder(0)
