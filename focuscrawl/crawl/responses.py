"""Responses: their headers, and error pages sent with a success status."""

from __future__ import annotations

import re

from scrapy.http import Response
from scrapy.utils.python import to_unicode

from focuscrawl import urls
from focuscrawl.manners.rights import HEADER, ROBOTS_TXT
from focuscrawl.manners.usage import CONTENT_SIGNAL, CONTENT_USAGE, licence_links, of_headers
from focuscrawl.page import Page

#: The key in `Request.meta` for what a site's robots.txt says about the use of a page, and when it was read.
SITE_USAGE = "focus_site_usage"

#: Maximum length of a stored ETag and Last-Modified, in characters.
_MAX_ETAG, _MAX_DATE = 1_000, 100
#: Characters of a Link header that are read.
_MAX_LINK = 10_000

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


def note_signals(page: Page, response: Response) -> None:
    """Record what the site's robots.txt and the headers of a response say about the use of a page."""
    rights = page.rights
    if isinstance(robots := response.meta.get(SITE_USAGE), tuple):  # what a file has kept is a list
        statements, when = robots
        for statement in statements:
            rights.signal(statement, ROBOTS_TXT, when)
    rights.directives(page.robots, HEADER)  # its own are not read yet
    for statement in of_headers(headers(response, CONTENT_USAGE), headers(response, CONTENT_SIGNAL)):
        rights.signal(statement, HEADER)
    for link in headers(response, "Link"):
        for target, is_rsl in licence_links(link[:_MAX_LINK]) if "license" in link.lower() else ():
            url = urls.join(page.url, target) or ""
            rights.rsl(url, HEADER) if is_rsl else rights.licence(url)


def soft_404(page: Page) -> bool:
    """Whether a page with a success status says that the page does not exist."""
    said = f"{page.title} {page.main_heading}"
    return _MISSING.search(said) is not None and len(page.words) <= _MISSING_WORDS
