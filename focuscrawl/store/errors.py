"""The store's exceptions for errors of its file, under names that do not depend on SQLite."""

from __future__ import annotations

import sqlite3

#: Anything that keeps the store from reading or writing its file.
StoreError = sqlite3.Error

#: The file is unavailable: the disk is full or read-only, or another program holds a lock.
UnavailableError = sqlite3.OperationalError

#: The file, or a part of it, is malformed. UnavailableError is one of these to SQLite, so catch that one first.
DamagedError = sqlite3.DatabaseError


class DisconnectedError(UnavailableError):
    """The server of a shared crawl cannot be reached or cannot write for now; it is worth trying again."""


class LeaseLostError(UnavailableError):
    """A write was refused because this worker no longer holds the host that the write is about."""
