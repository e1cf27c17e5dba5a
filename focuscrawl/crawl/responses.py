"""Responses: their headers, and error pages sent with a success status."""

from __future__ import annotations

import re

from scrapy.http import Response
from scrapy.utils.python import to_unicode

from focuscrawl.page import Page

#: Maximum length of a stored ETag and Last-Modified, in characters.
_MAX_ETAG, _MAX_DATE = 1_000, 100

_MISSING = re.compile(
    r"\b404\b|\bnot found\b|\b(?:can ?not|can.t|could not|couldn.t) be found\b|\bno longer (?:available|exists?)\b"
    r"|\b(?:does not|doesn.t) exist\b|\bnicht gefunden\b|\bintrouvable\b|\bno encontrad[ao]\b|\bnon trovat[ao]\b",
    re.IGNORECASE,
)
#: An error page is short.
_MISSING_WORDS = 150


def headers(response: Response, name: str) -> list[str]:
    """All values of a header, which may contain any bytes."""
    return [to_unicode(value, "latin-1") for value in response.headers.getlist(name)]


def content_type(response: Response) -> str:
    """The Content-Type header of a response, which may contain any bytes."""
    return to_unicode(response.headers.get("Content-Type") or b"", "latin-1")


def validators(response: Response) -> tuple[str | None, str | None]:
    """ETag and Last-Modified of a response; None for one that is missing or too long to keep."""
    etag, last_modified = (next(iter(headers(response, name)), "") for name in ("ETag", "Last-Modified"))
    return (
        etag if 0 < len(etag) <= _MAX_ETAG else None,
        last_modified if 0 < len(last_modified) <= _MAX_DATE else None,
    )


def soft_404(page: Page) -> bool:
    """Whether a page with a success status says that the page does not exist."""
    said = f"{page.title} {page.main_heading}"
    return _MISSING.search(said) is not None and len(page.words) <= _MISSING_WORDS
