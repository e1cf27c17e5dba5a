"""Feeds: RSS, Atom, RDF (RSS 1.0) and JSON Feed. Entries are links, with their summaries as the text after them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from lxml import etree

from focuscrawl import urls
from focuscrawl.reading.draft import Draft, iso_date, link
from focuscrawl.reading.xml import mended, split_tag

#: Most entries of a feed, and most characters of a summary.
MAX_ENTRIES = 5_000
MAX_SUMMARY = 2_000
_PIECE = 1 << 14

#: The root element of a feed, after what may stand before it.
_ROOT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*+(?:<\?[^>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+|<!DOCTYPE[^>\[]*+>\s*+)*+"
    rb"<(?:[\w-]{1,40}:)?(rss|feed|rdf)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_JSON = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*+\{[^{\[]{0,500}?\"version\"\s*+:\s*+\"https?:\\?/\\?/jsonfeed\.org")
#: RDF may be anything: a feed names the vocabulary of RSS.
_RSS_1 = b"purl.org/rss/1.0"
_HEAD = 4_000

_DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
_CONTENT = "http://purl.org/rss/1.0/modules/content/"
_SUMMARIES = ("description", "summary", "content", "encoded", "subtitle", "tagline")
_PUBLISHED = ("pubdate", "published", "issued", "date")
_MODIFIED = ("updated", "modified", "lastbuilddate")
_FIELDS = frozenset(
    (*_SUMMARIES, *_PUBLISHED, *_MODIFIED, "title", "link", "guid", "language", "author", "creator", "name")
)


class NotFeedError(Exception):
    """A feed cannot be read; the message says why."""


def is_feed(body: bytes) -> bool:
    """Whether a body is a feed, whatever it is declared as."""
    head = body[:_HEAD]
    found = _ROOT.match(head)
    if found is None:
        return head[:5].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and _JSON.match(head) is not None
    return found[1].lower() != b"rdf" or _RSS_1 in head


@dataclass
class _Entry:
    """A feed as a whole, or one of its entries."""

    title: str = ""
    url: str = ""
    summary: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    guid: str = ""


def read_feed(text: str, url: str) -> Draft:
    """The draft of a feed at a URL. Raises NotFeedError."""
    feed, entries = _json_feed(text) if text.lstrip("\ufeff \t\r\n").startswith("{") else _xml_feed(text)
    draft = Draft()
    draft.listing = True
    draft.title = feed.title[:1000] or f"Feed of {urls.host(url)}"
    draft.language, draft.description = feed.language[:35], feed.summary[:1000]
    draft.author, draft.published = feed.author[:300], iso_date(feed.published)
    draft.modified = iso_date(feed.modified)
    if feed.summary:
        draft.add("p", escape(feed.summary))
    for entry in entries[:MAX_ENTRIES]:
        place = entry.url or (entry.guid if entry.guid.lower().startswith(("http://", "https://")) else "")
        title = escape(entry.title or (entry.summary[:80] if place else ""))
        draft.add("p", f"{link(place, title or escape(place)) if place else title} {escape(entry.summary)}")
    return draft


def _xml_feed(text: str) -> tuple[_Entry, list[_Entry]]:
    reader = _Reader()
    parser = etree.XMLParser(target=reader, recover=True, resolve_entities=False, encoding="utf-8")  # type: ignore[arg-type]
    data = f"<feeds>{mended(text)}".encode("utf-8", "replace")
    try:
        for start in range(0, len(data), _PIECE):
            parser.feed(data[start : start + _PIECE])
            if len(reader.entries) >= MAX_ENTRIES:
                break
    except etree.LxmlError as error:
        raise NotFeedError(str(error)) from None
    return reader.feed, reader.entries


class _Reader:
    """Receives the events of the XML parser; end tags may be missing or wrong."""

    def __init__(self) -> None:
        self.feed = _Entry()
        self.entries: list[_Entry] = []
        self._current = self.feed
        self._depth = 0
        #: The depth of the fields of the current entry, or of the feed.
        self._level = 0
        self._field = ""
        self._field_depth = 0
        self._text: list[str] = []
        self._namespace: str | None = None
        self._base = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        namespace, name = split_tag(tag)
        language = attributes.get("{http://www.w3.org/XML/1998/namespace}lang", "")
        base = attributes.get("{http://www.w3.org/XML/1998/namespace}base", "")
        if name in ("rss", "feed", "rdf", "channel") and self._depth <= 3 and not self.entries:
            self._level, self._namespace = self._depth + 1, namespace
            self.feed.language = self.feed.language or language
            self._base = base or self._base
        elif name in ("item", "entry") and self._depth <= 5 and not self._field:
            self._current = _Entry(url=_about(attributes))
            self.entries.append(self._current)
            self._level, self._namespace = self._depth + 1, namespace
        elif self._field:
            self._text.append(" ")  # a tag inside XHTML content separates words
        elif name in _FIELDS and self._is_known(namespace) and self._at_its_place(name):
            self._start_field(name, attributes)

    def _is_known(self, namespace: str) -> bool:
        return namespace in (self._namespace, _DUBLIN_CORE, _CONTENT, "dc", "content")

    def _at_its_place(self, name: str) -> bool:
        """Elements inside others, such as the source of an entry, are not the entry's; only an author has a name."""
        return self._depth == self._level + (name == "name")

    def _start_field(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "link" and "href" in attributes:  # Atom
            if attributes.get("rel", "alternate") == "alternate" and not self._current.url:
                self._current.url = urls.join(self._base, attributes["href"]) or attributes["href"].strip()
            return
        if name == "author" and self._namespace and "atom" in self._namespace.lower():
            return  # its name comes in an element of its own
        if name == "guid" and attributes.get("isPermaLink", "").lower() == "false":
            return
        self._field, self._field_depth, self._text = name, self._depth, []

    def data(self, text: str) -> None:
        if self._field:
            self._text.append(text)

    def end(self, tag: str) -> None:
        name = split_tag(tag)[1]
        if self._field and self._depth <= self._field_depth:
            self._set(self._field, "".join(self._text))
            self._field = ""
        elif name in ("item", "entry") and not self._field:
            self._current = _Entry()  # what follows belongs to no entry
        self._depth -= 1

    def _set(self, name: str, value: str) -> None:
        entry = self._current
        if name == "link":
            entry.url = entry.url or value.strip()
        elif name == "guid":
            entry.guid = value.strip()
        elif name == "title":
            entry.title = entry.title or plain(value)[:1000]
        elif name in _SUMMARIES:
            entry.summary = max(entry.summary, plain(value)[:MAX_SUMMARY], key=len)
        elif name in _PUBLISHED:
            entry.published = entry.published or value.strip()
        elif name in _MODIFIED:
            entry.modified = entry.modified or value.strip()
        elif name == "language":
            entry.language = entry.language or value.strip()
        else:
            entry.author = entry.author or plain(value)

    def close(self) -> None:
        pass


def _about(attributes: Mapping[str, str]) -> str:
    """The URL of an entry of RDF, which may lack a link."""
    return next((value for name, value in attributes.items() if name.endswith("}about")), "") if attributes else ""


class _Text:
    """Collects the text of HTML."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.hidden = 0

    def start(self, tag: str, _: Mapping[str, str]) -> None:
        self.hidden += tag in ("script", "style")
        self.parts.append(" ")

    def end(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style") and self.hidden > 0
        self.parts.append(" ")

    def data(self, text: str) -> None:
        if not self.hidden:
            self.parts.append(text)

    def close(self) -> None:
        pass


def plain(markup: str) -> str:
    """The text of a summary, which may be HTML or not."""
    markup = markup[: 20 * MAX_SUMMARY]
    if "<" in markup or "&" in markup:
        reader = _Text()
        parser = etree.HTMLParser(target=reader, encoding="utf-8")  # type: ignore[arg-type]
        try:
            parser.feed(f"<p>{markup}".encode("utf-8", "replace"))
            parser.close()
        except etree.LxmlError:
            return ""
        markup = "".join(reader.parts)
    return " ".join(markup.split())


def _json_feed(text: str) -> tuple[_Entry, list[_Entry]]:
    try:
        found = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        raise NotFeedError("not JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("items"), list):
        raise NotFeedError("JSON without items")
    return _json_entry(found), [_json_entry(item) for item in found["items"] if isinstance(item, dict)]


def _json_entry(found: Mapping[str, Any]) -> _Entry:
    def said(*names: str) -> str:
        return next((value for name in names if isinstance(value := found.get(name), str) and value), "")

    authors = found.get("authors") or [found.get("author")]
    first = authors[0] if isinstance(authors, list) else None
    return _Entry(
        title=plain(said("title"))[:1000],
        url=said("url", "external_url"),
        summary=plain(said("content_text", "content_html", "summary", "description"))[:MAX_SUMMARY],
        author=str(first.get("name") or "") if isinstance(first, dict) else "",
        published=said("date_published"),
        modified=said("date_modified"),
        language=said("language"),
        guid=said("id"),
    )
