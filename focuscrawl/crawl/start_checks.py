"""Checks of the machine before the first request: disk space, memory and clock.

They take some system calls. What cannot be found out is not complained about. The network is not among them: a dead one
shows with the first requests (`focuscrawl.frontier.network`), and a name that can be resolved promises nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath

from focuscrawl.errors import FocusError

MB = 1_000_000
#: Free bytes on the disk below which a crawl does not start, and below which it is warned of. A thousand pages take 10
#: to 35 MB.
LEAST_SPACE, LITTLE_SPACE = 10 * MB, 100 * MB
#: Available bytes of memory below which a crawl is warned of; one of 30,000 pages takes some 350 MB.
LITTLE_MEMORY = 200 * MB
#: The year of this version: no clock that is right shows an earlier one.
YEAR = 2026
#: How far a clock may be set back without being wrong.
SET_BACK = timedelta(minutes=10)


def check_space(free: int | None, folder: Path, *, refuse: bool = True) -> Iterator[str]:
    """A warning if there is little disk space, or an error if there is too little; *free*: bytes, None: unknown."""
    if free is None or free >= LITTLE_SPACE:
        return
    told = f"only {free // MB:,} MB are free on the disk of {folder}"
    if free < LEAST_SPACE and refuse:
        raise FocusError(
            f"{told}, too little for a crawl; free some space or choose another disk with -s FOCUS_DIR=…, or skip this"
            " check with -s FOCUS_START_CHECKS=False"
        )
    yield f"{told}; a crawl stops when the disk is full, and resumes when there is space"


def check_memory(available: int | None) -> Iterator[str]:
    """A warning if little memory is available; *available*: bytes, None: unknown."""
    if available is not None and available < LITTLE_MEMORY:
        yield f"only {available // MB:,} MB of memory are available; a long crawl needs more and may be killed"


def check_clock(now: datetime, newest: datetime | None) -> Iterator[str]:
    """A warning if the clock is wrong. *newest*: the latest time in the crawl's file; both in UTC."""
    told = f"the clock of this machine says {now:%Y-%m-%d %H:%M} UTC"
    if now.year < YEAR:
        yield f"{told}, before this version of focuscrawl was made; dates in the crawl will be wrong"
    elif newest is not None and now < newest - SET_BACK:
        yield (
            f"{told}, but the crawl has entries of {newest:%Y-%m-%d %H:%M}: it is slow now, or was fast then; pages are"
            " not due for a visit until it has caught up"
        )


# ---- what the machine says


def free_space(folder: Path) -> int | None:
    """The bytes that may still be written to a directory's disk; the directory need not exist. None: unknown."""
    for path in (folder.absolute(), *folder.absolute().parents):
        try:
            usage = shutil.disk_usage(path)
        except OSError:
            continue
        return usage.free if usage.total else None  # some virtual file systems say 0 of 0
    return None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text("ascii")
    except (OSError, ValueError):
        return None


def available_memory(read: Callable[[str], str | None] = _read) -> int | None:
    """The bytes of memory that a process may still take: of the machine, and of the container. None: unknown."""
    machine = _figures(read("/proc/meminfo") or "").get("MemAvailable")
    left = [] if machine is None else [machine * 1024]
    for line in (read("/proc/self/cgroup") or "").splitlines():
        _, controllers, group = (*line.split(":", 2), "", "")[:3]
        if controllers in ("", "memory"):
            left += _left_in_groups(group, controllers, read)
    return min(left, default=None)


def _left_in_groups(group: str, controllers: str, read: Callable[[str], str | None]) -> Iterator[int]:
    """What each limit on a control group and those above it leaves; in a container, only the topmost may be visible."""
    root = "/sys/fs/cgroup/memory" if controllers else "/sys/fs/cgroup"
    limit, used = ("limit_in_bytes", "usage_in_bytes") if controllers else ("max", "current")
    path = PurePosixPath("/", group)
    for place in (path, *path.parents):
        folder = f"{root}{place}".rstrip("/")
        numbers = [read(f"{folder}/memory.{name}") for name in (limit, used)]
        if all(number and number.strip().isdigit() for number in numbers):
            most, now = (int(number or 0) for number in numbers)
            stat = _figures(read(f"{folder}/memory.stat") or "")
            # cached files count as used, but are dropped when memory is needed
            cached = stat.get("total_inactive_file", stat.get("inactive_file", 0))
            yield max(0, most - now + cached)


def _figures(text: str) -> dict[str, int]:
    """Lines of a name and a number, as in /proc/meminfo."""
    words = (line.replace(":", " ").split() for line in text.splitlines())
    return {line[0]: int(line[1]) for line in words if len(line) > 1 and line[1].isdigit()}
