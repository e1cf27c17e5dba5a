"""Table `metadata`: what pages say of themselves, apart from `page`, so that it is read without passing the bodies.

A page that says nothing has no row.
"""

from __future__ import annotations

import json
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from focuscrawl.page import Page
from focuscrawl.store.part import Part, upsert
from focuscrawl.store.sqlite_file import from_json

_SET = upsert("metadata", "page", "authors", "published", "modified", "site_name", "description", "kind")
_GET = "SELECT authors, published, modified, site_name, description, kind FROM metadata WHERE page = ?"
#: Characters of a text that are compared.
_MAX_TEXT = 1_000


class Metadata(NamedTuple):
    """What a page says of itself; empty or None where it says nothing."""

    authors: list[str]
    published: str | None
    modified: str | None
    site_name: str
    description: str
    kind: str


def of_page(page: Page) -> Metadata:
    """What a page that was read says of itself."""
    return Metadata(page.authors, page.published, page.modified, page.site_name, page.description, page.kind)


class PageMetadata(Part):
    """The metadata of the stored pages."""

    def set(self, number: int, page: Page) -> None:
        """Store what a page says of itself, in place of what it said before. Call inside a transaction."""
        said = of_page(page)
        if any(said):
            authors = json.dumps(said.authors, ensure_ascii=False) if said.authors else None
            self.store.execute(_SET, (number, authors, *(value or None for value in said[1:])))
        else:
            self.store.execute("DELETE FROM metadata WHERE page = ?", (number,))

    def get(self, number: int) -> Metadata:
        """What a stored page says of itself."""
        row = self.store.execute(_GET, (number,)).fetchone() or (None,) * 6
        authors, *rest = row
        published, modified, *texts = (str(text or "") for text in rest)  # the cells of a large file are not checked
        return Metadata(list(map(str, from_json(authors, list))), published or None, modified or None, *texts)


def _has_words(text: object, wanted: object) -> bool:
    """Whether a text has all the words of another, in any order, whatever their case and accents."""
    return _words(str(wanted)[:_MAX_TEXT]) <= _words(str(text or "")[:_MAX_TEXT])


def _has_author(authors: object, wanted: object) -> bool:
    """Whether one of the names in a JSON list has all the words of a text."""
    try:
        names = from_json(str(authors), list) if authors else []
    except ValueError:  # the file may say anything
        return False
    return any(_has_words(name, wanted) for name in names)


@lru_cache(maxsize=1024)  # few authors write most pages of a site
def _words(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = [char if char.isalnum() else " " for char in plain if not unicodedata.combining(char)]
    return frozenset("".join(kept).split())


#: Functions that queries use, each of two values.
FUNCTIONS = {"has_words": _has_words, "has_author": _has_author}
