"""The links of a page: from the references that were found while reading to the URLs that they lead to."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from focuscrawl import urls
from focuscrawl.page import Link, Page, Unread, attach
from focuscrawl.reading import types
from focuscrawl.reading.around import anchor_text
from focuscrawl.reading.types import FileType

#: A page with more links than this is a sitemap, a mistake or a trap.
MAX_LINKS = 5_000

# The HTML standard's "shared declarative refresh steps": a time, then a URL, optionally after `url=` and in quotes.
_REFRESH = re.compile(
    r"\A\s*+(?:\d|(?=\.))[\d.]*+(?=[;,\s])\s*+[;,]?\s*+(?:url\s*=\s*+)?(?:'([^']*)|\"([^\"]*)|(.*))",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)


#: URLs that links on earlier pages led to, with the type of their file: most pages of a site share their menu. Those
#: that come out of `urls.Base.join` as they are put together; when there are too many, it begins anew. Long ones are
#: left out: a page could fill the memory with them.
_met: dict[str, FileType | None] = {}
_MOST_MET, _LONGEST_MET = 50_000, 300

#: Tags with their attributes.
Elements = Sequence[tuple[str, Mapping[str, str]]]


class FoundLink:
    """A link while the page is being read."""

    __slots__ = ("elements", "end", "heading", "href", "in_list", "rel", "start", "text")

    def __init__(
        self, href: str, start: int, in_list: int, heading: int, rel: str, text: str, elements: Elements
    ) -> None:
        self.href, self.rel, self.elements = href, rel, elements
        self.start = self.end = start
        self.in_list, self.heading = in_list, heading
        #: Used if there is no anchor text.
        self.text = text


def refresh_target(content: str) -> str:
    """The target of a `<meta http-equiv=refresh>`; empty if it is malformed or reloads the same page."""
    match = _REFRESH.match(content)
    return "".join(filter(None, match.groups())).strip() if match else ""


def add_links(page: Page, links: Sequence[FoundLink], base: urls.Base, documents: Collection[str]) -> None:
    """Add the links of a page whose text is complete; those to files that are not read go to `page.unread`."""
    targets: dict[str, tuple[str | None, FileType | None, str]] = {}
    for found in links:
        if found.href not in targets:
            targets[found.href] = _target(found.href, base, documents)
        url, kind, why = targets[found.href]
        if url is None:
            continue
        anchor = anchor_text(page.raw_text[found.start : found.end]) or anchor_text(found.text)
        if kind is not None and why:
            if len(page.unread) < MAX_LINKS:
                page.unread.append(Unread(url, anchor, kind.name, why))
            continue
        if len(page.links) >= MAX_LINKS:
            page.links_left_out += 1
            continue
        # a link has the same position whichever kinds of files are read
        link = Link(url, anchor, position=len(page.links) + len(page.unread))
        link.elements = found.elements
        link.nofollow = bool(found.rel) and "nofollow" in found.rel.lower()
        attach(link, page, found.start, found.end, found.in_list, found.heading)
        page.links.append(link)


def _target(href: str, base: urls.Base, documents: Collection[str]) -> tuple[str | None, FileType | None, str]:
    """The URL that a link leads to, which kind of file that is, and why it is not read.

    There is no URL if the link is empty, or begins with `#`, mailto:, javascript:, tel: or data:.
    """
    href = href.strip()
    plain = base.plain(href)
    url: str | None = plain
    if plain in _met:
        kind = _met[plain]
    else:
        url = base.join(href) if href and href[0] != "#" else None
        kind = types.of_url(url) if url is not None else None
        if url == plain and base.root and len(plain) <= _LONGEST_MET:
            if len(_met) >= _MOST_MET:
                _met.clear()
            _met[plain] = kind
    return url, kind, (types.not_read(kind, documents) or "") if kind is not None else ""
