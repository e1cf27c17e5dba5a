"""Markdown: headings, lists, paragraphs and links. Raw HTML in it stays HTML, as in every Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from focuscrawl.reading.draft import Draft, link, linked

#: Most characters of a Markdown text that are read: hostile ones take two microseconds for each.
MAX_MARKDOWN = 1_000_000

_FENCE = re.compile(r"\A {0,3}(```|~~~)")
_ATX = re.compile(r"\A {0,3}(#{1,6})(?:[ \t]+|$)")
_SETEXT = re.compile(r"\A {0,3}(=++|-++)[ \t]*+$")
_RULE = re.compile(r"\A {0,3}(?:(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|(?:-[ \t]*+){3,}+)$")
_ITEM = re.compile(r"\A[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]+")
_QUOTE = re.compile(r"\A[ \t]*+>[ \t]?")
_DEFINITION = re.compile(r"\A {0,3}\[([^\[\]]{1,300})\]:[ \t]*<?([^\s<>]{1,2000})>?")
_FRONT = re.compile(r"([\w-]{1,40})[ \t]*[:=][ \t]*(.*)")

_TARGET = (
    r"\([ \t]*<?(?P<target>[^\s()<>]{0,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)>?"
    r"(?:[ \t]+[\"'(][^\"')]{0,300}[\"')])?[ \t]*\)"
)
_IMAGE = re.compile(rf"!\[([^\[\]]{{0,1000}})\](?:{_TARGET}|\[[^\[\]]{{0,300}}\])")
_INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?<!`)`++(?P<code>[^`]++)`++"
    rf"|\[(?P<text>[^\[\]]{{0,1000}})\]{_TARGET}"
    r"|\[(?P<label>[^\[\]]{0,1000})\](?:\[(?P<reference>[^\[\]]{0,300})\])?"
    r"|<(?P<auto>https?://[^\s<>]{1,2000})>"
    r"|(?P<bare>\bhttps?://[^\s<>\"'`{}|\\^\[\]]{1,2000})"
    r"|(?P<emphasis>(?<!\w)[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?!\w))"
    r"|(?P<tag><(?=[a-zA-Z/!]))"
    r"|(?P<sign>[<&])",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:\w{1,31}|#\d{1,7}|#x[\da-f]{1,6});", re.IGNORECASE)


def read_markdown(text: str) -> Draft:
    """The draft of a Markdown text."""
    draft = Draft()
    lines = text[:MAX_MARKDOWN].strip("\ufeff").splitlines()
    lines = lines[_front_matter(draft, lines) :]
    references = {found[1].lower(): found[2] for line in lines if (found := _DEFINITION.match(line))}
    _Blocks(draft, references).read(line for line in lines if not _DEFINITION.match(line))
    return draft


def _front_matter(draft: Draft, lines: list[str]) -> int:
    """Take over what the lines between `---` or `+++` at the beginning say; returns their number."""
    mark = lines[0].strip() if lines else ""
    if mark not in ("---", "+++"):
        return 0
    end = next((number for number, line in enumerate(lines[1:200], 1) if line.strip() in (mark, "...")), 0)
    said: dict[str, str] = {}
    for line in lines[1:end]:
        if found := _FRONT.match(line):
            said.setdefault(found[1].lower(), found[2].strip().strip("\"'"))
    draft.title = said.get("title", "")[:1000]
    draft.author = said.get("author", "")[:300]
    draft.description = said.get("description", "")[:1000]
    draft.language = (said.get("lang") or said.get("language") or "")[:35]
    draft.published, draft.modified = said.get("date", "")[:40], (said.get("lastmod") or said.get("updated") or "")[:40]
    return end + 1 if end else 0


class _Blocks:
    """Reads lines into the blocks of a draft."""

    def __init__(self, draft: Draft, references: dict[str, str]) -> None:
        self.draft = draft
        self.references = references
        self.lines: list[str] = []
        self.in_list = False
        self.fence = ""

    def read(self, lines: Iterable[str]) -> None:
        """Read all lines."""
        for line in lines:
            if self.draft.full:
                return
            self._line(line)
        if self.fence:
            self._end_code()
        self._end_paragraph()
        self._end_list()

    def _line(self, line: str) -> None:
        fence = _FENCE.match(line)
        if self.fence:
            if fence and fence[1] == self.fence:
                self._end_code()
            else:
                self.lines.append(line)
        elif fence:
            self._end_paragraph()
            self.fence = fence[1]
        elif not line.strip():
            self._end_paragraph()
        elif heading := _ATX.match(line):
            self._end_paragraph()
            self._end_list()
            self._heading(len(heading[1]), line[heading.end() :].strip().rstrip("#").strip())
        elif self.lines and not self.in_list and (under := _SETEXT.match(line)):
            text, self.lines = " ".join(self.lines), []
            self._heading(1 if under[1][0] == "=" else 2, text)
        elif _RULE.match(line):
            self._end_paragraph()
            self._end_list()
        elif item := _ITEM.match(line):
            self._end_paragraph()
            if not self.in_list:
                self.draft.mark("<ul>\n")
                self.in_list = True
            self.lines.append(line[item.end() :])
        else:
            if self.in_list and not self.lines and not line.startswith((" ", "\t")):
                self._end_list()
            quote = _QUOTE.match(line)
            self.lines.append(line[quote.end() :] if quote else line)

    def _heading(self, level: int, text: str) -> None:
        markup = self._inline(text)
        self.draft.add(f"h{level}", markup)
        if not self.draft.title:
            self.draft.title = " ".join(re.sub(r"<[^<>]*>", "", _plain(text)).split())[:1000]

    def _end_paragraph(self) -> None:
        if self.lines:
            self.draft.add("li" if self.in_list else "p", self._inline("\n".join(self.lines)))
            self.lines = []

    def _end_list(self) -> None:
        if self.in_list:
            self.draft.mark("</ul>\n")
            self.in_list = False

    def _end_code(self) -> None:
        self.draft.add("pre", escape("\n".join(self.lines)))
        self.lines, self.fence = [], ""

    def _inline(self, text: str) -> str:
        """The HTML of the text of a block."""
        return _INLINE.sub(self._markup, _IMAGE.sub(r" \1 ", text))

    def _markup(self, found: re.Match[str]) -> str:
        kind = found.lastgroup
        if kind in ("escaped", "code"):
            return escape(found[kind])
        if found["text"] is not None:
            return link(found["target"], self._words(found["text"]))
        if found["label"] is not None:
            target = self.references.get((found["reference"] or found["label"]).lower())
            return link(target, self._words(found["label"])) if target else f"[{self._words(found['label'])}]"
        if kind == "auto":
            return link(found["auto"], escape(found["auto"]))
        if kind == "bare":
            return linked(found["bare"])
        if kind == "sign":
            return "&" if _ENTITY.match(found.string, found.start()) else escape(found["sign"])
        return "" if kind == "emphasis" else found[0]

    def _words(self, text: str) -> str:
        """The HTML of the text of a link, which holds no other link."""
        return escape(_plain(text), quote=False)


def _plain(text: str) -> str:
    """A text without the signs for images, code, links and emphasis."""
    return _INLINE.sub(
        lambda found: (
            found["escaped"]
            or found["code"]
            or found["text"]
            or found["label"]
            or ("" if found["emphasis"] else found[0])
        ),
        _IMAGE.sub(r"\1", text),
    )
