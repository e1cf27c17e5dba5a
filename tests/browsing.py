"""A browser for tests, or a clear message that there is none; and the processes that it consists of."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.settings import Settings

from focuscrawl.errors import FocusError
from focuscrawl.web.browser_choice import find_browser


def _missing() -> str:
    try:
        find_browser(Settings({"FOCUS_BROWSER": "shells"}))
    except FocusError as error:
        return str(error)
    return ""


needs_browser = pytest.mark.skipif(bool(_missing()), reason=f"no browser for the tests: {_missing()}")


def descendants(process: int) -> set[int]:
    """The processes that a process has started, directly or not; only those that still run."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if state != "Z":
            parents[int(path.parent.name)] = int(parent)
    found: set[int] = set()
    new = {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait for something that happens sooner or later."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
