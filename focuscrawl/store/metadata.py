"""Table `metadata`: what pages say of themselves, apart from `page`, so that it is read without passing the bodies.

A page that says nothing has no row.
"""

from __future__ import annotations

import json
import unicodedata
from typing import NamedTuple

from focuscrawl.page import Page
from focuscrawl.store.part import Part
from focuscrawl.store.sqlite_file import from_json

_SET = "INSERT OR REPLACE INTO metadata VALUES (?, ?, ?, ?, ?, ?, ?)"
_GET = "SELECT authors, published, modified, site_name, description, kind FROM metadata WHERE page = ?"


class Metadata(NamedTuple):
    """What a page says of itself; empty or None where it says nothing."""

    authors: list[str]
    published: str | None
    modified: str | None
    site_name: str
    description: str
    kind: str


class PageMetadata(Part):
    """The metadata of the stored pages."""

    def set(self, number: int, page: Page) -> None:
        """Store what a page says of itself, in place of what it said before. Call inside a transaction."""
        authors = json.dumps(page.authors, ensure_ascii=False) if page.authors else None
        texts = page.site_name or None, page.description or None, page.kind or None
        values = authors, page.published, page.modified, *texts
        if any(values):
            self.store.execute(_SET, (number, *values))
        else:
            self.store.execute("DELETE FROM metadata WHERE page = ?", (number,))

    def get(self, number: int) -> Metadata:
        """What a stored page says of itself."""
        row = self.store.execute(_GET, (number,)).fetchone() or (None,) * 6
        authors, published, modified, *texts = row
        return Metadata(from_json(authors, list), published, modified, *(text or "" for text in texts))


def has_words(text: str | None, wanted: str) -> bool:
    """Whether a text has all the words of another, in any order, whatever their case and accents. An SQL function."""
    found = set(folded(text or "").split())
    return all(word in found for word in folded(wanted).split())


def folded(text: str) -> str:
    """A text as lower-case words without accents, with a space between two words."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = (char if char.isalnum() else " " for char in plain if not unicodedata.combining(char))
    return " ".join("".join(kept).split())
