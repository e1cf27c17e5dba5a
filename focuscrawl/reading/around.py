"""The text of a link and around it."""

from __future__ import annotations

_MAX_ANCHOR = 300


def anchor_text(text: str) -> str:
    """Anchor text as stored: white space folded, length bounded (an unclosed <a> may swallow the page)."""
    return " ".join(text[: 4 * _MAX_ANCHOR].split())[:_MAX_ANCHOR]


def before_in(text: str, start: int, chars: int) -> str:
    """What stands before a place in a text: at most *chars* characters and whole words."""
    if start <= chars:
        return text[:start]
    text = text[start - chars : start]
    return text if text[:1].isspace() else text[text.find(" ") + 1 :]


def after_in(text: str, end: int, chars: int) -> str:
    """What stands after a place in a text: at most *chars* characters and whole words."""
    text = text[end : end + chars]
    return text if len(text) < chars else text[: text.rfind(" ") + 1]
