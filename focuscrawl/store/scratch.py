"""Full-text indexes that are made for one query and then thrown away."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from focuscrawl.errors import FocusError
from focuscrawl.store.search import COLUMNS, TOKENS

#: The same as the index of a crawl, with the text in it.
_SHOWN = f"CREATE VIRTUAL TABLE search USING fts5 ({COLUMNS}, {TOKENS})"


def highlighted(
    expression: str, texts: Sequence[tuple[str, ...]], *, marks: tuple[str, str], words: int
) -> dict[int, tuple[str, str]]:
    """Title and a snippet of that many words for each text (title, headings, text) that matches, by its place from 1.

    *marks* are put before and after what matched.
    """
    index = sqlite3.connect(":memory:")
    try:
        index.execute(_SHOWN)
        index.executemany("INSERT INTO search VALUES (?, ?, ?)", texts)
        rows = index.execute(
            "SELECT rowid, highlight(search, 0, ?, ?), snippet(search, 2, ?, ?, '…', ?) FROM search"
            " WHERE search MATCH ?",
            (*marks, *marks, words, expression),
        )
        return {place: (title, snippet) for place, title, snippet in rows}
    finally:
        index.close()


class ScratchIndex:
    """An index of titles and texts by number; on disk if it is large, and gone when it is closed."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("")
        try:
            self._connection.execute("CREATE VIRTUAL TABLE entry USING fts5(title, text, content='')")
        except sqlite3.OperationalError as error:
            self._connection.close()
            raise FocusError(f"crawls cannot be searched: this Python's SQLite has no FTS5 ({error})") from None
        self._connection.execute("CREATE TABLE page (id INTEGER PRIMARY KEY)")

    def close(self) -> None:
        """Drop the index."""
        self._connection.close()

    def add(self, number: int, title: str, text: str) -> None:
        """Index a page."""
        self._connection.execute("INSERT INTO page VALUES (?)", (number,))
        self._connection.execute("INSERT INTO entry (rowid, title, text) VALUES (?, ?, ?)", (number, title, text))

    def all(self) -> list[int]:
        """The numbers of all pages, in order."""
        return [number for (number,) in self._connection.execute("SELECT id FROM page ORDER BY id")]

    def matching(self, expression: str) -> set[int]:
        """The numbers of the pages that match."""
        rows = self._connection.execute("SELECT rowid FROM entry WHERE entry MATCH ?", (expression,))
        return {number for (number,) in rows}

    def ranked(self, expression: str, title_weight: float) -> list[int]:
        """The numbers of the pages that match, best first (BM25)."""
        rows = self._connection.execute(
            "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY bm25(entry, ?, 1.0), rowid",
            (expression, title_weight),
        )
        return [number for (number,) in rows]
