"""The clock: all readings of time go through this module, so that a crawl can run on another clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime


class Clock:
    """The machine's clock."""

    def monotonic(self) -> float:
        """Seconds since some moment; never set back."""
        return time.monotonic()

    def utc(self) -> datetime:
        """The date and time in UTC."""
        return datetime.now(UTC)

    def local(self) -> datetime:
        """The local date and time, without a time zone."""
        return datetime.now()


_current = Clock()


@contextmanager
def use(clock: Clock) -> Iterator[None]:
    """Replace the clock for a while."""
    global _current
    before, _current = _current, clock
    try:
        yield
    finally:
        _current = before


def monotonic() -> float:
    """Seconds since some moment; never set back."""
    return _current.monotonic()


def machine() -> float:
    """Seconds on the machine's own clock, whatever clock a crawl runs on: for what is agreed on with others."""
    return time.monotonic()


def utc() -> datetime:
    """The date and time in UTC."""
    return _current.utc()


def local() -> datetime:
    """The local date and time, without a time zone."""
    return _current.local()


def now() -> str:
    """The time in UTC as written to the files of a crawl: in ISO format with milliseconds."""
    return utc().isoformat(timespec="milliseconds")
