"""Timestamps as written to the files of a crawl."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The current time in UTC, in ISO format with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
