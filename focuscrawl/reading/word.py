"""Word-processor files: .docx (Office Open XML) and .odt (OpenDocument).

Both are zip archives of XML files. Few of these are read, each of them unpacked and parsed piece by piece up to a
limit, so that neither a zip bomb nor an XML bomb costs more memory than an ordinary document.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

from lxml import etree

from focuscrawl.reading.draft import Draft, link, linked

#: Most bytes of one XML file in a document, unpacked.
MAX_XML = 20_000_000
#: Most files in an archive. A directory of the archive that is larger is no document's.
MAX_FILES = 20_000
_PIECE = 1 << 16

_FIELD = re.compile(r"\A\s*+HYPERLINK\s++\"([^\"]{1,2000})\"", re.IGNORECASE)
_HEADING_STYLE = re.compile(r"heading\s?(\d)", re.IGNORECASE)
_TYPE = b"mimetypeapplication/vnd.oasis.opendocument.text"


class NotWordError(Exception):
    """A document cannot be read; the message says why."""


def is_word(body: bytes) -> bool:
    """Whether a body looks like a word-processor file, whatever it is declared as."""
    return body.startswith(b"PK\x03\x04") and (_TYPE in body[:200] or b"word/" in body)


def read_word(body: bytes) -> Draft:
    """The draft of a .docx or .odt file. Raises NotWordError."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            names = set(archive.namelist())
            if len(names) > MAX_FILES:
                raise NotWordError(f"an archive of {len(names):,} files")
            if "word/document.xml" in names:
                return _read_docx(archive, names)
            if "content.xml" in names:
                return _read_odt(archive, names)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        # zipfile raises all of these; RuntimeError for an archive with a password
        raise NotWordError(str(error) or type(error).__name__) from None
    raise NotWordError("an archive without a text")


Start = Callable[[str, Mapping[str, str]], None]


class _Events:
    """What the XML parser calls; a document type, which could declare entities, ends the reading."""

    def __init__(self, start: Start, end: Callable[[str], None], data: Callable[[str], None]) -> None:
        self.start, self.end, self.data = start, end, data

    def doctype(self, *_: Any) -> None:
        raise NotWordError("XML with a document type")

    def close(self) -> None:
        pass


def _parse(archive: zipfile.ZipFile, name: str, events: Any) -> None:
    """Parse a file of an archive, as far as it is XML."""
    target = _Events(events.start, events.end, events.data)
    parser = etree.XMLParser(target=target, resolve_entities=False, no_network=True, recover=True)  # type: ignore[arg-type]
    try:
        for piece in _pieces(archive, name):
            parser.feed(piece)
    except etree.LxmlError as error:
        raise NotWordError(f"{name}: {error}") from None


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    size = 0
    with archive.open(name) as file:
        while piece := file.read(_PIECE):
            size += len(piece)
            if size > MAX_XML:
                raise NotWordError(f"{name} is larger than {MAX_XML // 1_000_000} MB when unpacked")
            yield piece


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    return {_local(name): value for name, value in attributes.items()}


class _Facts:
    """What a document says of itself: docProps/core.xml, or meta.xml."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._name = ""

    def start(self, tag: str, _: Mapping[str, str]) -> None:
        self._name = _local(tag)

    def data(self, text: str) -> None:
        if self._name:
            self.found[self._name] = (self.found.get(self._name, "") + text)[:1000]

    def end(self, _: str) -> None:
        self._name = ""

    def tell(self, draft: Draft) -> None:
        found = {name: " ".join(text.split()) for name, text in self.found.items()}
        draft.title = found.get("title", "")
        draft.description = found.get("description") or found.get("subject", "")
        draft.author = (found.get("initial-creator") or found.get("creator", ""))[:300]
        draft.language = found.get("language", "")[:35]
        draft.published = (found.get("created") or found.get("creation-date", ""))[:40]
        draft.modified = (found.get("modified") or found.get("date", ""))[:40]


class _Writer:
    """Writes paragraphs, headings and list items to a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.parts: list[str] = []
        self._text: list[str] = []
        self.target = ""
        self._in_list = False

    def say(self, text: str) -> None:
        if not self.draft.full:
            self._text.append(text)

    def aim(self, target: str) -> None:
        """What follows is the text of a link, until the target is empty."""
        self._flush()
        self.target = target

    def _flush(self) -> None:
        text = "".join(self._text)
        self._text = []
        if text:
            self.parts.append(link(self.target, escape(text)) if self.target else linked(text))

    def end(self, level: int = 0, *, item: bool = False) -> None:
        """The end of a heading of a level, a list item or a paragraph."""
        self._flush()
        if item != self._in_list:
            self.draft.mark("<ul>\n" if item else "</ul>\n")
            self._in_list = item
        markup = "".join(self.parts)
        self.parts = []
        self.draft.add(f"h{min(level, 6)}" if level else "li" if item else "p", markup)
        if level and not self.draft.title:
            self.draft.title = " ".join(re.sub(r"<[^<>]*>", "", markup).split())[:1000]

    def close(self) -> None:
        self.end()


# ---- docx


class _Pairs:
    """Reads the targets of links, or the names of styles: two attributes of an element."""

    def __init__(self, element: str) -> None:
        self.element = element
        self.found: dict[str, str] = {}
        self._id = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = _local(tag)
        if name == self.element == "Relationship":
            said = _attributes(attributes)
            if said.get("TargetMode") == "External":
                self.found[said.get("Id", "")] = said.get("Target", "")[:2000]
        elif name == "style":
            self._id = _attributes(attributes).get("styleId", "")
        elif name == "name" and self._id:
            self.found[self._id] = _attributes(attributes).get("val", "")

    def data(self, text: str) -> None:
        pass

    def end(self, tag: str) -> None:
        pass


class _Docx:
    """Reads word/document.xml."""

    def __init__(self, draft: Draft, targets: Mapping[str, str], styles: Mapping[str, str]) -> None:
        self.writer = _Writer(draft)
        self.targets, self.styles = targets, styles
        self.level = 0
        self.item = False
        #: Text is read inside <w:t> only; nothing is read inside a fallback, which repeats what is before it.
        self.in_text = self.in_field = False
        self.hidden = 0
        self.field = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = _local(tag)
        if name == "Fallback" or self.hidden:
            self.hidden += 1
        elif name == "t":
            self.in_text = True
        elif name in ("tab", "br", "cr"):
            self.writer.say(" ")
        elif name == "numPr":
            self.item = True
        elif name == "pStyle":
            style = _attributes(attributes).get("val", "")
            if found := _HEADING_STYLE.match(self.styles.get(style, style)):
                self.level = int(found[1])
            elif self.styles.get(style, style).lower() == "title":
                self.level = 1
        elif name == "outlineLvl" and (level := _attributes(attributes).get("val", "")).isdecimal():
            self.level = self.level or (int(level[:2]) + 1 if int(level[:2]) < 9 else 0)
        elif name == "hyperlink":
            self.writer.aim(self.targets.get(_attributes(attributes).get("id", ""), ""))
        elif name == "instrText":
            self.in_field, self.field = True, ""
        elif name == "fldChar":
            self._field(_attributes(attributes).get("fldCharType", ""))

    def _field(self, kind: str) -> None:
        """A link may also be a field: its instruction, a separator, its text, and an end."""
        if kind == "separate" and (found := _FIELD.match(self.field)):
            self.writer.aim(found[1])
        elif kind == "end":
            self.writer.aim("")
            self.field = ""

    def data(self, text: str) -> None:
        if self.in_text:
            self.writer.say(text)
        elif self.in_field:
            self.field = (self.field + text)[:3000]

    def end(self, tag: str) -> None:
        name = _local(tag)
        if self.hidden:
            self.hidden -= 1
        elif name == "t":
            self.in_text = False
        elif name == "instrText":
            self.in_field = False
        elif name == "hyperlink":
            self.writer.aim("")
        elif name == "p":
            self.writer.end(self.level, item=self.item and not self.level)
            self.level, self.item = 0, False


def _read_docx(archive: zipfile.ZipFile, names: set[str]) -> Draft:
    draft, facts, targets, styles = Draft(), _Facts(), _Pairs("Relationship"), _Pairs("style")
    for name, events in (
        ("docProps/core.xml", facts),
        ("word/_rels/document.xml.rels", targets),
        ("word/styles.xml", styles),
    ):
        if name in names:
            _parse(archive, name, events)
    facts.tell(draft)
    reader = _Docx(draft, targets.found, styles.found)
    _parse(archive, "word/document.xml", reader)
    reader.writer.close()
    return draft


# ---- odt


class _Odt:
    """Reads content.xml."""

    _HIDDEN = ("tracked-changes", "annotation", "note-citation", "sequence-decls")

    def __init__(self, draft: Draft) -> None:
        self.writer = _Writer(draft)
        self.level = self.lists = self.inside = self.hidden = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = _local(tag)
        if name in self._HIDDEN or self.hidden:
            self.hidden += 1
        elif name in ("p", "h"):
            self.inside += 1
            level = _attributes(attributes).get("outline-level", "1")
            self.level = (int(level[:2]) if level.isdecimal() else 1) if name == "h" else 0
        elif name == "list":
            self.lists += 1
        elif name == "a":
            self.writer.aim(_attributes(attributes).get("href", ""))
        elif name in ("s", "tab", "line-break"):
            self.writer.say(" ")

    def data(self, text: str) -> None:
        if self.inside and not self.hidden:
            self.writer.say(text)

    def end(self, tag: str) -> None:
        name = _local(tag)
        if self.hidden:
            self.hidden -= 1
        elif name in ("p", "h"):
            self.inside = max(0, self.inside - 1)
            self.writer.end(self.level, item=self.lists > 0 and not self.level)
            self.level = 0
        elif name == "list":
            self.lists = max(0, self.lists - 1)
        elif name == "a":
            self.writer.aim("")


def _read_odt(archive: zipfile.ZipFile, names: set[str]) -> Draft:
    draft, facts = Draft(), _Facts()
    if "meta.xml" in names:
        _parse(archive, "meta.xml", facts)
    facts.tell(draft)
    reader = _Odt(draft)
    _parse(archive, "content.xml", reader)
    reader.writer.close()
    return draft
