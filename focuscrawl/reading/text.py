"""Plain text: paragraphs between empty lines, and URLs that are links."""

from __future__ import annotations

from focuscrawl.reading.draft import MAX_TEXT, Draft, linked

#: A longer first line is no title.
_MAX_TITLE = 120


def read_text(text: str) -> Draft:
    """The draft of a plain text. Its first line is the title if it is short."""
    draft = Draft()
    lines = text[:MAX_TEXT].strip("\ufeff").splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    draft.title = first if len(first) <= _MAX_TITLE else ""
    for paragraph in paragraphs(lines):
        if draft.full:
            break
        draft.add("p", linked(paragraph))
    return draft


def paragraphs(lines: list[str]) -> list[str]:
    """Lines joined to paragraphs, which empty lines separate."""
    found: list[str] = []
    current: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            current.append(line)
        elif current:
            found.append("\n".join(current))
            current = []
    return found
