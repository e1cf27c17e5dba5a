"""XML from outside: mended where a parser would stop, and without entities of its own."""

from __future__ import annotations

import re

# What stops an XML parser: entity declarations, unescaped `&` and `<`, control characters. Only XML's predefined
# entities remain, so entity bombs and external entities are impossible.
_MENDED = re.compile(
    r"(?P<cdata><!\[CDATA\[.*?(?:\]\]>|\Z))|(?P<doctype><!DOCTYPE[^\[>]*+(?:\[[^\]]*+\]?)?[^>]*+>?)"
    r"|(?P<declaration><\?xml\s[^>]*+>?)|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)|<(?![a-z_:/!?])"
    r"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff])",
    re.IGNORECASE | re.DOTALL,
)


def mended(text: str) -> str:
    """An XML text that a parser can read to its end, as far as it is XML at all."""
    return _MENDED.sub(_mend, text)


def _mend(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind is None:
        return "&amp;" if match[0] == "&" else "&lt;"
    return match[0] if kind == "cdata" else ""


def split_tag(tag: str) -> tuple[str, str]:
    """The namespace of a tag (or its undeclared prefix), and its name in lower case."""
    namespace, _, name = tag.rpartition("}")
    prefix, _, name = name.rpartition(":")
    return namespace or prefix, name.lower()
