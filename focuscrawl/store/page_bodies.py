"""The bytes of the stored pages: column `body` of table `page`, or what it names (`body_files.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from focuscrawl.store.bodies import body_of, text_of
from focuscrawl.store.part import Part

if TYPE_CHECKING:
    from focuscrawl.page import Page

#: The text of a page; of a near-duplicate that of the page it repeats.
_BODY = "coalesce(page.body, first.body) FROM page LEFT JOIN page AS first ON first.id = page.duplicate_of"


class Content(NamedTuple):
    """The bytes of a stored page."""

    number: int
    url: str
    content_type: str
    body: bytes


class Response(NamedTuple):
    """A stored response."""

    status: int
    content_type: str
    body: bytes


class Version(NamedTuple):
    """A stored page, as the next visit compares it."""

    depth: int
    parent: str | None
    score: float | None
    content_type: str
    etag: str | None
    last_modified: str | None
    listing: int
    signature: bytes | None
    #: Compressed; None for a near-duplicate.
    packed: bytes | None


class PageBodies(Part):
    """Reads and stores the bytes of pages."""

    def version(self, number: int) -> Version:
        """A stored page, as the next visit compares it."""
        fields = ", ".join((*Version._fields[:-1], "body"))
        *known, body = self.store.execute(f"SELECT {fields} FROM page WHERE id = ?", (number,)).fetchone()
        return Version._make((*known, self.store.body_files.load(body)))

    def body(self, url: str) -> bytes | None:
        """The bytes of a stored page; of a near-duplicate those of the page it repeats."""
        row = self.store.execute(f"SELECT {_BODY} WHERE page.url = ?", (url,)).fetchone()
        return self._body(row[0]) if row and row[0] else None

    def response(self, number: int) -> Response:
        """The stored response; for a near-duplicate, with the bytes of the page it repeats."""
        status, content_type, body = self.store.execute(
            f"SELECT page.status, page.content_type, {_BODY} WHERE page.id = ?", (number,)
        ).fetchone()
        return Response(status, content_type or "", self._body(body))

    def content(self, number: int) -> Content:
        """The bytes of a stored page; a near-duplicate has none of its own."""
        row = self.store.execute("SELECT url, content_type, body FROM page WHERE id = ?", (number,)).fetchone()
        return Content(number, row[0], row[1], self._body(row[2])) if row else Content(0, "", "", b"")

    def text(self, number: int) -> str:
        """The text around the links of a page, in which they know their places."""
        row = self.store.execute("SELECT body FROM page WHERE id = ?", (number,)).fetchone()
        stored = self.store.body_files.load(row[0]) if row else None
        return text_of(stored) if stored else ""

    def _body(self, stored: bytes | None) -> bytes:
        loaded = self.store.body_files.load(stored)
        return body_of(loaded) if loaded else b""

    def _kept(self, page: Page) -> bytes | None:
        """What is stored of the bytes of a page: nothing if it repeats another."""
        return self.store.body_files.keep(page) if page.duplicate_of is None else None
