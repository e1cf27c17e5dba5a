"""Where a crawl is: from what a user names to an open store.

A user names a crawl by its directory, by the file in it, or by the address of a PostgreSQL database. Everything that
takes a crawl takes the result of `crawl_folder`: the directory, or the address in the form of a path. Such a path never
has the password: this module keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from focuscrawl.errors import FocusError
from focuscrawl.store.store import Store

_ADDRESS = re.compile(r"postgres(?:ql)?:/(/{0,2})")
_PASSWORD = re.compile(r"(?<=//)([^/@:]*):([^/@]*)@")

#: Passwords by the address without them.
_passwords: dict[str, str] = {}


def is_address(place: str | Path) -> bool:
    """Whether a user names a crawl on a server, not a directory or file."""
    return _ADDRESS.match(str(place)) is not None


def address_of(place: str | Path) -> str:
    """The address that a path stands for, with its password. A path has lost a slash or two."""
    text = _ADDRESS.sub("postgresql://", str(place), count=1)
    if isinstance(place, Path) and "/" not in text.removeprefix("postgresql://").partition("?")[0]:
        text = text.replace("//", "///", 1)  # only a database is named
    if text in _passwords:
        user, at, rest = text.removeprefix("postgresql://").partition("@")
        text = f"postgresql://{user}:{_passwords[text]}{at}{rest}"
    return text


def crawl_folder(place: str | Path) -> Path:
    """The directory of a crawl, which the user may also name by the file in it; or its address, as a path."""
    if is_address(place):
        text = _ADDRESS.sub("postgresql://", str(place), count=1)
        if (found := _PASSWORD.search(text)) is not None:
            text = text[: found.start()] + found[1] + "@" + text[found.end() :]
            _passwords[text] = found[2]
        return Path(text)
    path = Path(place)
    return path.parent if path.name == "crawl.sqlite" else path


def shown(folder: Path) -> str:
    """A directory or an address, as a user reads it."""
    return _ADDRESS.sub("postgresql://", str(folder), count=1)


def has_crawl(folder: Path) -> bool:
    """Whether there is a crawl in a directory, as far as can be seen without opening it."""
    return is_address(folder) or (folder / "crawl.sqlite").is_file()


def open_store(
    place: str | Path,
    *,
    create: bool = True,
    check: bool = True,
    any_thread: bool = False,
    folder: Path | None = None,
) -> Store:
    """Open the crawl that a user names by its directory, its file or its address; without *create* for reading.

    *folder*: where a worker of a shared crawl has its own files.
    """
    if is_address(place):
        try:
            from focuscrawl.store.postgres import PostgresStore
        except ImportError as error:
            raise FocusError(
                f"a crawl on PostgreSQL needs psycopg ({error}); install it with `pip install 'focuscrawl[postgres]'`"
            ) from None
        return PostgresStore(address_of(place), create=create, folder=folder)
    return Store(crawl_folder(place) / "crawl.sqlite", create=create, check=check, any_thread=any_thread)


@contextmanager
def read_crawl(folder: Path, *, check: bool = True) -> Iterator[Store]:
    """Open a crawl for reading; problems are reported in one line."""
    store = open_store(folder, create=False, check=check)
    try:
        with store.reading():
            yield store
    finally:
        store.close()


@contextmanager
def earlier_crawl(folder: str, topic: str) -> Iterator[Store]:
    """Open an earlier crawl of the same topic for reading."""
    with read_crawl(crawl_folder(folder)) as store:
        if store.meta("topic") != topic:
            raise FocusError(
                f"crawl {shown(crawl_folder(folder))} is about '{store.meta('topic')}', not '{topic}'; give a crawl of"
                " the same topic"
            )
        yield store
