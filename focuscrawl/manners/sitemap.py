"""Sitemaps: a host's list of its pages, read as a page of links.

All formats of sitemaps.org are supported: XML (plain or gzipped), URL lists, RSS and Atom feeds. The words of a URL
serve as anchor text, so a strategy scores these links like those of an index page.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lxml import etree

from focuscrawl import urls
from focuscrawl.page import Block, Link, Page, Unread
from focuscrawl.reading import types
from focuscrawl.reading.around import anchor_text
from focuscrawl.reading.draft import iso_date
from focuscrawl.reading.links import MAX_LINKS
from focuscrawl.reading.xml import mended, split_tag
from focuscrawl.web.charsets import decode

#: Maximum number of sitemaps requested per host.
MAX_FILES = 20
#: Maximum number of URLs read from a sitemap, as in the protocol; the latest MAX_LINKS of them are used.
MAX_URLS = 50_000
#: Maximum number of members of a gzip file.
_MAX_MEMBERS = 10_000
_PIECE = 1 << 12

_SITEMAP = re.compile(rb"<(?:urlset|sitemapindex)\b")

#: The elements that are entries, by root element.
_ENTRIES = {
    "urlset": ("url", "sitemap"),
    "sitemapindex": ("sitemap", "url"),
    "rss": ("item",),
    "rdf": ("item",),
    "feed": ("entry",),
}
_PLACES = ("loc", "link", "guid")
_DATES = ("lastmod", "pubdate", "updated", "modified", "published")


def is_sitemap(body: bytes) -> bool:
    """Whether a stored body is an XML sitemap, regardless of what it was requested as."""
    return _SITEMAP.search(body, 0, 1000) is not None


def read_sitemap(page: Page, body: bytes, max_bytes: int, documents: Collection[str] = ()) -> list[str]:
    """Fill *page* with the links of a sitemap; return the sitemaps that it lists if it is an index.

    If there are more than the limits allow, the latest are used. *documents* are the kinds of documents that are read.
    """
    page.listing = True
    page.body = body
    page.title = f"Sitemap of {urls.host(page.url)}"
    try:
        text, _ = decode(_unpack(body, max_bytes))
        text = text.strip("\ufeff\x00 \t\r\n")
        if not text:
            raise ValueError("empty")
        entries = _xml_entries(text) if text.startswith("<") else _lines(text)
    except _NoSitemapError as error:
        page.problem = f"not a sitemap: {error}"
        return []
    except (etree.LxmlError, ValueError, zlib.error) as error:
        page.problem = f"unreadable sitemap: {str(error) or type(error).__name__}"
        return []
    entries.sort(key=lambda entry: entry.changed, reverse=True)
    pages: dict[str, _Entry] = {}
    sitemaps: dict[str, _Entry] = {}
    for entry in entries:
        url = urls.join(page.url, entry.place)
        if url is not None and url != page.url:
            (sitemaps if entry.lists else pages).setdefault(url, entry)
    _add_links(page, pages, documents)
    return list(sitemaps)[:MAX_FILES]


def _add_links(page: Page, entries: Mapping[str, _Entry], documents: Collection[str]) -> None:
    lines = []
    for url, entry in entries.items():
        if len(page.links) >= MAX_LINKS:
            page.links_left_out += 1
            continue
        anchor = anchor_text(entry.title) or " ".join(urls.words(url))
        kind = types.of_url(url)
        if kind is not None and (why := types.not_read(kind, documents)):
            if len(page.unread) < MAX_LINKS:
                page.unread.append(Unread(url, anchor, kind.name, why))
            continue
        changed = f"last changed {entry.changed}" if entry.changed else ""
        page.links.append(Link(url, anchor, page.title, changed, len(page.links)))
        lines.append(anchor)
    page.raw_text = "\n".join(lines)
    page.blocks.append(Block("p", 0, len(page.raw_text)))


@dataclass
class _Entry:
    """An entry of a sitemap: a page, or another sitemap."""

    lists: bool = False
    place: str = ""
    title: str = ""
    #: When it was last changed, in a form that sorts by time; empty if unknown.
    changed: str = ""


class _NoSitemapError(Exception):
    """The document is not a sitemap."""


def _unpack(body: bytes, max_bytes: int) -> bytes:
    """Unpack a sitemap that may be gzipped, in one or several members."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    unpacked = bytearray()
    position = 0
    for _ in range(_MAX_MEMBERS):
        if not body.startswith(b"\x1f\x8b", position):  # the end, or padding
            break
        member = zlib.decompressobj(wbits=31)
        try:
            while not member.eof and position < len(body):
                piece = body[position : position + _PIECE]
                unpacked += member.decompress(piece, max_bytes + 1 - len(unpacked))
                if len(unpacked) > max_bytes:
                    raise ValueError(f"more than {max_bytes:,} bytes when unpacked")
                position += len(piece) - len(member.unused_data)
        except zlib.error:
            if not unpacked:
                raise
            break  # keep what was unpacked before the damage
    return bytes(unpacked)


def _lines(text: str) -> list[_Entry]:
    """The entries of a URL list."""
    entries = []
    for line in text.splitlines():
        place = line.strip()
        if place.lower().startswith(("http://", "https://")) and len(place.split()) == 1:
            entries.append(_Entry(place=place))
            if len(entries) >= MAX_URLS:
                break
    if not entries:
        raise _NoSitemapError("text without URLs")
    return entries


def _xml_entries(text: str) -> list[_Entry]:
    """The entries of an XML sitemap or feed, as far as it can be parsed."""
    reader = _XmlReader()
    parser = etree.XMLParser(target=reader, recover=True, resolve_entities=False, encoding="utf-8")  # type: ignore[arg-type]
    # several documents may be concatenated, but XML allows one root
    data = f"<sitemaps>{mended(text)}".encode("utf-8", "replace")
    for start in range(0, len(data), _PIECE):
        parser.feed(data[start : start + _PIECE])
        if len(reader.entries) >= MAX_URLS:
            break
    reader.finish()
    if not reader.root:
        raise ValueError("not XML")
    if reader.root not in _ENTRIES:
        raise _NoSitemapError(f"<{reader.root[:100]}>")
    if not reader.entries and not reader.complete:
        raise ValueError("truncated")
    return reader.entries[:MAX_URLS]


class _XmlReader:
    """Handles the parser's events in any order: end tags may be missing or wrong."""

    def __init__(self) -> None:
        self.root = ""
        #: Whether the root has ended.
        self.complete = False
        self.entries: list[_Entry] = []
        self._entry: _Entry | None = None
        #: The namespace of the entry; elements of other namespaces, such as those for images, are ignored.
        self._namespace = ""
        #: The element whose text is being read.
        self._field = ""
        self._text: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        namespace, name = split_tag(tag)
        if not self.root:
            self.root = "" if tag == "sitemaps" else name
        elif name in _ENTRIES.get(self.root, ()):
            self.finish()
            self._entry = _Entry(lists=self.root == "sitemapindex" or name == "sitemap")
            self._namespace = namespace
        elif self._entry is not None and namespace == self._namespace:
            if name == "link" and "href" in attributes:  # Atom
                if attributes.get("rel", "alternate") == "alternate" and not self._entry.place:
                    self._entry.place = attributes["href"].strip()
            elif name == "guid" and attributes.get("isPermaLink", "").lower() == "false":
                self._field = ""
            elif name in _PLACES or name in _DATES or name == "title":
                self._field, self._text = name, []

    def data(self, text: str) -> None:
        if self._field:
            self._text.append(text)

    def end(self, tag: str) -> None:
        namespace, name = split_tag(tag)
        if self._entry is not None and name == self._field and namespace == self._namespace:
            self._set(self._entry, name, "".join(self._text).strip())
            self._field = ""
        elif name == self.root:
            self.complete = True
        elif name in _ENTRIES.get(self.root, ()):
            self.finish()

    @staticmethod
    def _set(entry: _Entry, name: str, value: str) -> None:
        if name == "title":
            entry.title = entry.title or value
        elif name == "guid":
            entry.place = entry.place or (value if value.lower().startswith(("http://", "https://")) else "")
        elif name in _PLACES:
            entry.place = value or entry.place
        elif name == "pubdate":
            entry.changed = entry.changed or iso_date(value)
        else:
            entry.changed = entry.changed or value[:40]

    def finish(self) -> None:
        """Store the current entry if it has a URL."""
        if self._entry is not None and self._entry.place:
            self.entries.append(self._entry)
        self._entry = None
        self._field = ""

    def close(self) -> None:
        pass
