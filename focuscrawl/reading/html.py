"""One pass over the bytes of a response: from HTML to a Page.

lxml reads the document and calls `_Reader` for each tag and piece of text, in document order. No tree is built:
nesting depth does not matter, and ten megabytes of nested tags cost no more memory than their text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from inspect import signature

from lxml import etree

from focuscrawl import urls
from focuscrawl.manners.rights import PAGE, schema_licences
from focuscrawl.manners.robots import product_token
from focuscrawl.manners.robots_tags import robots_directives
from focuscrawl.manners.usage import RSL_TYPE, is_rsl
from focuscrawl.page import Block, Heading, Page
from focuscrawl.reading import markup, types
from focuscrawl.reading.around import anchor_text
from focuscrawl.reading.content import NotTextError, is_plain, text_of
from focuscrawl.reading.links import FoundLink, add_links, refresh_target
from focuscrawl.reading.markup import BODY, BREAK_OUT, PARTS
from focuscrawl.reading.metadata import Clues, watched
from focuscrawl.reading.shells import mark_shell, why_shell

#: Tags nested deeper than this are a mistake or a trap; libxml2's running time is quadratic in the depth.
MAX_DEPTH = 1_000

#: Lists nested deeper than this are merged; otherwise the blocks of their links would repeat the same text.
MAX_LISTS = 10
#: Elements in the tag path of a link: its own and those around it.
PATH = 5
_PIECE = 1 << 16


def read_html(
    page: Page,
    body: bytes,
    content_type: str = "",
    *,
    agent: str = "focuscrawl",
    documents: Collection[str] = types.ALL,
) -> Page:
    """Fill *page* from the bytes of its response. Any bytes are accepted; if they cannot be read,
    `page.problem` says why.

    *agent* is our product token, by which meta tags may address us instead of as `robots`. *documents* are the kinds
    of documents that are followed. `documents.read_page` reads these documents, too; this one reads HTML and text.
    """
    page.body = body
    page.content_type = content_type
    try:
        text, codec = text_of(body, content_type)
    except NotTextError as error:
        page.problem = str(error)
        return page
    closed = text.rfind("-->") + 1
    if text.find("<!--", closed) >= 0:  # never closed: it would hide the rest of the page, so it ends at the next >
        text = text[:closed] + text[closed:].replace("<!--", "<!")
    if is_plain(text, content_type):
        page.raw_text = text
        page.blocks.append(Block("p", 0, len(text)))
        return page
    reader = _Reader(page, agent, codec, documents)
    reader.read(text)
    reader.finish()
    if page.problem is None and (why := why_shell(page, text)) is not None:
        mark_shell(page, why)
    return page


class _Reader:
    """Receives the parser's events and builds the page around one string of text."""

    def __init__(self, page: Page, agent: str, codec: str, documents: Collection[str] = ()) -> None:
        self.page = page
        self.agent = agent
        self.documents = documents
        self.base = urls.Base(page.url, codec)
        self.base_seen = False
        self.parts: list[str] = []
        self.length = 0
        self.inked = False
        self.block_start = 0
        self.hidden = 0
        self.too_deep = False
        #: The open elements: tag and attributes.
        self.open: list[tuple[str, Mapping[str, str]]] = []
        self.title: list[str] | None = None
        #: Hidden text that is still needed, while it is being read: schema.org data, the content of <noframes>.
        self.raw: list[str] | None = None
        self.noframes_seen = False
        #: Number of open templates, and of open drawings and formulas.
        self.templates = self.foreign = 0
        self.tdm_reservation = self.tdm_policy = ""
        self.clues = Clues()
        self.heading_start = -1
        self.heading_level = 0
        #: The part of the page that is being read, the depth of the tag that began it, and the parts around it.
        self.part, self.part_depth = BODY, 0
        self.open_parts: list[tuple[str, int]] = []
        self.open_headings: list[int] = []
        self.open_lists: list[int] = []
        self.list_starts: list[int] = []
        self.list_ends: list[int] = []
        self.open_link: FoundLink | None = None
        self.found: list[FoundLink] = []
        #: The tag handlers of the current context: HTML, a drawing or a template.
        self.starts, self.ends = _STARTS, _ENDS

    def read(self, text: str) -> None:
        """Feed the text of a page to the parser, piece by piece."""
        target = watched(self.clues, self, text)
        parser = etree.HTMLParser(target=target, encoding="utf-8")  # type: ignore[arg-type]
        data = text.encode("utf-8", "replace")
        try:
            for start in range(0, len(data), _PIECE):
                parser.feed(data[start : start + _PIECE])
                if self.too_deep:
                    self.page.problem = f"tags nested more than {MAX_DEPTH:,} deep"
                    break
            else:
                parser.close()
        except etree.LxmlError as error:  # nothing but a doctype or comments, for instance
            self.page.problem = f"unreadable HTML: {error}"

    # ---- events from lxml: called for every tag and every piece of text

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        opened = self.open
        opened.append((tag, attributes))
        if len(opened) > MAX_DEPTH:
            self.too_deep = True
        handle = self.starts.get(tag)
        if handle is not None:
            handle(self, attributes)

    # lxml asks for the signature whenever it is given a target; finding it out anew takes longer than many a page
    start.__signature__ = signature(start)  # type: ignore[attr-defined]

    def end(self, tag: str) -> None:
        opened = self.open
        if opened:
            opened.pop()
        handle = self.ends.get(tag)
        if handle is not None:
            handle(self)
        if self.part_depth > len(opened):
            self.part, self.part_depth = self.open_parts.pop()

    def data(self, text: str) -> None:
        if not self.hidden and self.title is None:
            self.parts.append(text)
            self.length += len(text)
            if not self.inked and not text.isspace():
                self.inked = True
        elif self.title is not None:
            self.title.append(text)
        elif self.raw is not None:
            self.raw.append(text)

    def close(self) -> None:
        pass

    # ---- text

    def break_block(self, kind: str = "p") -> None:
        if self.inked:
            self.page.blocks.append(Block(kind, self.block_start, self.length, self.part))
            self.inked = False
            self.parts.append("\n")
            self.length += 1
        self.block_start = self.length

    def start_block(self, attributes: Mapping[str, str]) -> None:
        self.break_block()
        if attributes:
            self.start_part(markup.part_of(attributes))

    def start_part(self, part: str) -> None:
        """Begin a part of the page, which ends with the tag that is being opened."""
        if part:
            self.open_parts.append((self.part, self.part_depth))
            self.part, self.part_depth = part, len(self.open)

    def start_header(self, attributes: Mapping[str, str]) -> None:
        """A header belongs to the article around it; without one, it is the site's."""
        self.break_block()
        self.start_part(markup.part_of(attributes) or ("" if self.open_parts else markup.MENU))

    def start_body(self, _: Mapping[str, str]) -> None:
        self.break_block()

    def start_br(self, _: Mapping[str, str]) -> None:
        self.parts.append("\n")
        self.length += 1

    # ---- hidden content

    def start_hidden(self, _: Mapping[str, str]) -> None:
        self.hidden += 1

    def end_hidden(self) -> None:
        self.hidden = max(0, self.hidden - 1)

    def start_script(self, attributes: Mapping[str, str]) -> None:
        self.hidden += 1
        kind = attributes.get("type", "").lower()
        if kind == "application/ld+json":
            self.raw = []
        elif kind == RSL_TYPE:
            self.page.rights.rsl("on the page", PAGE)

    def end_script(self) -> None:
        self.end_hidden()
        if self.raw is not None:
            for licence in schema_licences(self.clues.json_ld("".join(self.raw))):
                self.page.rights.licence(licence)
            self.raw = None

    def start_noframes(self, _: Mapping[str, str]) -> None:
        self.hidden += 1
        if not self.noframes_seen:  # only the first one counts
            self.noframes_seen = True
            self.raw = []

    def end_noframes(self) -> None:
        """Find the links in the content for browsers without frames, which the parser treats as text."""
        self.end_hidden()
        if self.raw is not None:
            inner = _Reader(Page(self.page.url), self.agent, self.base.codec)
            inner.noframes_seen = True
            inner.read("".join(self.raw))
            inner.end_a()
            self.raw = None
            text = "".join(inner.parts)
            for link in inner.found:
                self.add_link(link.href, link.rel, anchor_text(text[link.start : link.end]) or link.text)

    def start_template(self, _: Mapping[str, str]) -> None:
        self.templates += 1
        if self.templates == 1:
            self.hidden += 1
            self.starts, self.ends = _TEMPLATE_STARTS, _TEMPLATE_ENDS

    def end_template(self) -> None:
        self.templates -= 1
        if not self.templates:
            self.hidden -= 1
            self.starts, self.ends = _FOREIGN_STARTS if self.foreign else _STARTS, _ENDS

    def start_foreign(self, _: Mapping[str, str]) -> None:
        self.hidden += 1
        self.foreign += 1
        self.starts = _FOREIGN_STARTS

    def end_foreign(self) -> None:
        if self.foreign:
            self.hidden -= 1
            self.foreign -= 1
            if not self.foreign:
                self.starts = _STARTS

    def break_out(self) -> None:
        """Leave drawings and formulas that are still open."""
        self.hidden -= self.foreign
        self.foreign = 0
        self.starts = _STARTS

    # ---- title, headings and lists

    def start_title(self, _: Mapping[str, str]) -> None:
        if not self.page.title and not self.hidden:
            self.title = []

    def end_title(self) -> None:
        if self.title is not None:
            self.page.title = " ".join("".join(self.title).split())[:1000]
            self.title = None

    def start_heading(self, level: int) -> None:
        self.break_block()
        self.heading_start, self.heading_level = len(self.parts), level

    def end_heading(self) -> None:
        if self.heading_start < 0:
            return
        text = anchor_text("".join(self.parts[self.heading_start :]))
        self.break_block("heading")
        self.heading_start = -1
        if not text:
            return
        headings, open_headings = self.page.headings, self.open_headings
        while open_headings and headings[open_headings[-1]].level >= self.heading_level:
            open_headings.pop()
        headings.append(Heading(self.heading_level, text, open_headings[-1] if open_headings else -1))
        open_headings.append(len(headings) - 1)

    def start_list(self, attributes: Mapping[str, str]) -> None:
        self.break_block()
        if attributes:
            self.start_part(markup.part_of(attributes))
        self.open_lists.append(len(self.list_starts))
        self.list_starts.append(self.length)
        self.list_ends.append(-1)

    def end_list(self) -> None:
        self.break_block()
        if self.open_lists:
            self.list_ends[self.open_lists.pop()] = self.length

    # ---- links

    def add_link(self, href: str, rel: str = "", text: str = "") -> FoundLink:
        in_list = self.open_lists[:MAX_LISTS][-1] if self.open_lists else -1
        link = FoundLink(href, self.length, in_list, len(self.page.headings) - 1, rel, text, self.open[-PATH:])
        self.found.append(link)
        return link

    def start_a(self, attributes: Mapping[str, str]) -> None:
        if self.open_link is not None:
            self.end_a()
        href = attributes.get("href")
        if href is not None:
            rel = attributes.get("rel", "")
            self.open_link = self.add_link(href, rel, attributes.get("title", ""))
            if "hreflang" in attributes:
                self.clues.target(href, attributes["hreflang"])
            if "license" in rel.lower() or attributes.get("itemprop") == "license":
                self.add_licence(href, attributes)

    def add_licence(self, href: str, attributes: Mapping[str, str]) -> None:
        url = self.base.join(href) or ""
        if is_rsl(attributes.get("type", "")):
            self.page.rights.rsl(url, PAGE)
        else:
            self.page.rights.licence(url)

    def end_a(self) -> None:
        if self.open_link is not None:
            self.open_link.end = self.length
            self.open_link = None

    def start_img(self, attributes: Mapping[str, str]) -> None:
        # an image's alt text is part of the text of the link around it
        if self.open_link is not None and not self.hidden:
            alt = attributes.get("alt")
            if alt:
                self.data(f" {alt} ")

    def start_area(self, attributes: Mapping[str, str]) -> None:
        if "href" in attributes:
            self.add_link(attributes["href"], attributes.get("rel", ""), attributes.get("alt", ""))

    def start_frame(self, attributes: Mapping[str, str]) -> None:
        if "src" in attributes:
            self.add_link(attributes["src"], "", attributes.get("title") or attributes.get("name") or "")

    def start_iframe(self, attributes: Mapping[str, str]) -> None:
        self.hidden += 1
        self.start_frame(attributes)

    # ---- the head

    def start_html(self, attributes: Mapping[str, str]) -> None:
        declared = attributes.get("lang") or attributes.get("xml:lang")
        if declared:
            self.page.declared_language = declared

    def start_base(self, attributes: Mapping[str, str]) -> None:
        if not self.base_seen and "href" in attributes:
            self.base_seen = True
            self.base = urls.Base(self.base.join(attributes["href"]) or self.page.url, self.base.codec)

    def start_link(self, attributes: Mapping[str, str]) -> None:
        kinds = attributes.get("rel", "").lower().split()
        if "canonical" in kinds and not self.page.canonical:
            self.page.canonical = self.base.join(attributes.get("href", ""))
        if "alternate" in kinds and "hreflang" in attributes:
            self.clues.target(attributes.get("href", ""), attributes["hreflang"])
        if "license" in kinds or attributes.get("itemprop") == "license":
            self.add_licence(attributes.get("href", ""), attributes)

    def start_meta(self, attributes: Mapping[str, str]) -> None:
        content = attributes.get("content", "")
        name = attributes.get("name", "").strip().lower()
        equivalent = attributes.get("http-equiv", "").lower()
        page = self.page
        self.clues.meta(attributes)
        if name == "description":
            page.description = page.description or content
        elif name == "keywords":
            page.keywords = page.keywords or content
        elif name == "robots" or (name and name.startswith(self.agent) and product_token(name) == self.agent):
            found = robots_directives(content, self.agent)
            page.robots |= found
            page.rights.directives(found, PAGE)
        elif name == "tdm-reservation":
            self.tdm_reservation = content
        elif name == "tdm-policy":
            self.tdm_policy = content
        elif attributes.get("itemprop") == "license":
            page.rights.licence(content)
        elif equivalent == "content-language":
            page.declared_language = page.declared_language or content.strip()
        elif equivalent == "refresh" and (target := refresh_target(content)):
            self.add_link(target)

    # ---- the end

    def finish(self) -> None:
        """Close open elements and turn the references found into links."""
        self.end_title()
        self.end_a()
        if self.heading_start >= 0:
            self.end_heading()
        self.break_block()
        page = self.page
        page.rights.tdm(self.tdm_reservation, self.tdm_policy, "meta")
        page.raw_text = "".join(self.parts)
        page.lists = [
            Block("list", start, end if end >= 0 else self.length)
            for start, end in zip(self.list_starts, self.list_ends, strict=True)
        ]
        add_links(page, self.found, self.base, self.documents)
        self.clues.settle(page, page.declared_language, self.base.join)


_Start = Callable[[_Reader, Mapping[str, str]], None]
_End = Callable[[_Reader], None]


def _starts_heading(level: int) -> _Start:
    return lambda reader, _: reader.start_heading(level)


def _starts_part(tag: str, part: str) -> _Start:
    def start_part(reader: _Reader, attributes: Mapping[str, str]) -> None:
        reader.break_block()
        # what an article in a sidebar says is not what the page is about
        reader.start_part(markup.part_of(attributes) or (reader.part if tag == "article" else part))

    return start_part


def _breaks_out(start: _Start | None) -> _Start:
    def break_out(reader: _Reader, attributes: Mapping[str, str]) -> None:
        reader.break_out()
        if start is not None:
            start(reader, attributes)

    return break_out


#: Tag handlers: for the page itself, for drawings and formulas, and for templates, whose content is ignored.
_STARTS: dict[str, _Start] = {
    "a": _Reader.start_a,
    "area": _Reader.start_area,
    "base": _Reader.start_base,
    "br": _Reader.start_br,
    "frame": _Reader.start_frame,
    "html": _Reader.start_html,
    "iframe": _Reader.start_iframe,
    "img": _Reader.start_img,
    "link": _Reader.start_link,
    "meta": _Reader.start_meta,
    "noframes": _Reader.start_noframes,
    "script": _Reader.start_script,
    "template": _Reader.start_template,
    "time": lambda reader, attributes: reader.clues.time(attributes),
    "title": _Reader.start_title,
    **dict.fromkeys(markup.BLOCKS, _Reader.start_block),
    "body": _Reader.start_body,
    "header": _Reader.start_header,
    **{tag: _starts_part(tag, part) for tag, part in PARTS.items()},
    **dict.fromkeys(markup.LISTS, _Reader.start_list),
    **dict.fromkeys(markup.HIDDEN, _Reader.start_hidden),
    **dict.fromkeys(markup.FOREIGN, _Reader.start_foreign),
    **{f"h{level}": _starts_heading(level) for level in range(1, 7)},
}
_FOREIGN_STARTS = {tag: start for tag, start in _STARTS.items() if tag not in ("base", "link", "title")}
_FOREIGN_STARTS |= {tag: _breaks_out(_STARTS.get(tag)) for tag in BREAK_OUT}
_TEMPLATE_STARTS: dict[str, _Start] = {"template": _Reader.start_template}
_ENDS: dict[str, _End] = {
    "a": _Reader.end_a,
    "iframe": _Reader.end_hidden,
    "noframes": _Reader.end_noframes,
    "script": _Reader.end_script,
    "template": _Reader.end_template,
    "title": _Reader.end_title,
    **dict.fromkeys(markup.BLOCKS, _Reader.break_block),
    **dict.fromkeys(markup.LISTS, _Reader.end_list),
    **dict.fromkeys(markup.HIDDEN, _Reader.end_hidden),
    **dict.fromkeys(markup.FOREIGN, _Reader.end_foreign),
    **{f"h{level}": _Reader.end_heading for level in range(1, 7)},
}
_TEMPLATE_ENDS: dict[str, _End] = {"template": _Reader.end_template}
