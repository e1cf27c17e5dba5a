"""Draft: what a document says, written down as simple HTML.

A reader of documents fills a draft; the reader of pages then makes a Page of it. So headings, paragraphs, lists, links
and their positions mean the same for all documents as for pages.
"""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from html import escape

#: Most characters of a document that are read.
MAX_TEXT = 2_000_000

#: A URL in running text; what usually follows one is cut off.
_URL = re.compile(r"\bhttps?://[^\s<>\"'`{}|\\^]{1,2000}", re.IGNORECASE)
_AFTER_URL = ".,;:!?*_~"
_ISO = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?:$|[T ])")
_BRACKETS = {")": "(", "]": "["}


class Draft:
    """The text of a document as simple HTML, and what the document says of itself. Dates are as in ISO 8601."""

    def __init__(self) -> None:
        self.title = ""
        self.language = ""
        self.description = ""
        self.author = ""
        self.published = ""
        self.modified = ""
        #: Whether it is a list of URLs without a topic of its own, such as a feed.
        self.listing = False
        self._parts: list[str] = []
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether there is no room for more text."""
        return self._size >= MAX_TEXT

    def add(self, tag: str, markup: str) -> None:
        """Add an element with some HTML in it, unless the draft is full."""
        if not self.full and markup.strip():
            self.mark(f"<{tag}>{markup}</{tag}>\n")

    def heading(self, level: int, text: str) -> None:
        """Add a heading; levels below 6 count as 6."""
        self.add(f"h{min(max(level, 1), 6)}", escape(text))

    def mark(self, markup: str) -> None:
        """Add HTML as it is, such as the tags around a list."""
        self._parts.append(markup)
        self._size += len(markup)

    def html(self) -> bytes:
        """The whole document."""
        head = [f'<html lang="{escape(self.language)}"><head><meta charset="utf-8"><title>{escape(self.title)}</title>']
        for attribute, name, content in (
            ("name", "description", self.description),
            ("name", "author", self.author),
            ("property", "article:published_time", self.published),
            ("property", "article:modified_time", self.modified),
        ):
            if content:
                head.append(f'<meta {attribute}="{name}" content="{escape(content)}">')
        return "".join([*head, "</head><body>\n", *self._parts, "</body></html>"]).encode("utf-8", "replace")


def link(url: str, markup: str) -> str:
    """A link, as HTML."""
    return f'<a href="{escape(url)}">{markup}</a>'


def linked(text: str, *, wrapped: bool = False) -> str:
    """A text as HTML, in which URLs are links.

    *wrapped*: lines were broken by a program, so a URL at the end of a line may be cut off and is no link.
    """
    parts: list[str] = []
    end = 0
    for match in _URL.finditer(text):
        url = _trimmed(match[0])
        if wrapped and text.startswith("\n", match.start() + len(url)):
            continue
        parts += [escape(text[end : match.start()]), link(url, escape(url))]
        end = match.start() + len(url)
    return "".join([*parts, escape(text[end:])])


def _trimmed(url: str) -> str:
    """A URL without the punctuation that belongs to the text around it."""
    while url and (url[-1] in _AFTER_URL or (url[-1] in _BRACKETS and _BRACKETS[url[-1]] not in url)):
        url = url[:-1]
    return url


def iso_date(text: str) -> str:
    """A date of a feed as in ISO 8601: it has that form, or the one of e-mails; empty if it has neither."""
    text = text.strip()[:100]
    if _ISO.match(text):
        return text[:40]
    try:
        moment = parsedate_to_datetime(text)
        return (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat(timespec="seconds")
    except (IndexError, OverflowError, TypeError, ValueError):
        return ""
