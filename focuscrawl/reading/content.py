"""The content of a response: whether its body is text, and whether that text is HTML."""

from __future__ import annotations

import re

from focuscrawl.web.charsets import decode

#: Content types that are read, in addition to those that end with `+xml` and contain `html`.
_TEXT = ("text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml")
#: Number of leading characters examined to tell text from binary data.
_SAMPLE = 2_000

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_HTML_START = re.compile(
    r"\A\s*+(?:<\?xml[^>]*>\s*+)?(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype\s+html|html|head|body|title|meta|h\d|p|a|table|div)\b",
    re.I | re.S,
)


class NotTextError(Exception):
    """A body cannot be read as text; the message says why."""


def text_of(body: bytes, content_type: str) -> tuple[str, str]:
    """The text of a body without null characters, and Python's name for its charset. Raises NotTextError."""
    mime = _mime(content_type)
    if not body.strip():
        raise NotTextError("empty body")
    if mime and mime not in _TEXT and not (mime.endswith("+xml") and "html" in mime):
        raise NotTextError(f"not HTML: {mime}")
    text, codec = decode(body, content_type)
    sample = text[:_SAMPLE]
    if len(_CONTROL.findall(sample)) * 10 > len(sample):
        raise NotTextError(f"binary content declared as {mime or 'nothing'}")
    return text.replace("\x00", "") if "\x00" in text else text, codec


def is_plain(text: str, content_type: str) -> bool:
    """Whether a text is plain text, and not HTML declared as plain text."""
    return _mime(content_type) == "text/plain" and not _HTML_START.match(text)


def _mime(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
