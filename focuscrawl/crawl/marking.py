"""Marks: people say which pages are relevant. Any process may add them, also while a crawl runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.errors import FocusError
from focuscrawl.store.errors import StoreError
from focuscrawl.store.marks import VERDICTS
from focuscrawl.store.store import Store


def mark_pages(folder: Path, marks: Iterable[tuple[str, str, str]], by: str) -> int:
    """Add marks (URL, verdict, note) to the crawl in a folder, all or none, and return their number."""
    if not (folder / "crawl.sqlite").is_file():
        raise FocusError(f"{folder} holds no crawl.sqlite; give the directory of a crawl")
    store = Store(folder / "crawl.sqlite", check=False)
    try:
        any_scheme = store.meta("any_scheme") is not False
        number = 0
        with store.transaction():
            for url, verdict, note in marks:
                if verdict not in VERDICTS:
                    raise FocusError(f"verdict '{verdict}': expected one of {', '.join(VERDICTS)}")
                checked = urls.check(url)
                key = urls.key(checked, any_scheme=any_scheme)
                store.marks.add(key, checked, verdict, note=note, by=by, at=clock.now())
                number += 1
        return number
    except StoreError as error:
        raise FocusError(f"{folder} cannot be written: {error}") from None
    finally:
        store.close()
