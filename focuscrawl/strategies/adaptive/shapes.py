"""The shape of a URL: what its path has in common with those of other pages of a kind."""

from __future__ import annotations

import re
from string import ascii_letters, digits

_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LOWER_RUN = re.compile(r"a(?:[-_.+%,9]+a)+")
#: The same for ASCII, in one step and without calling Python for each run.
_SIGNS = str.maketrans({**dict.fromkeys(ascii_letters, "a"), **dict.fromkeys(digits, "9")})
_REPEATED = re.compile(r"(?<=a)a+|(?<=9)9+")


def shape_of(path: str, query: str) -> str:
    """The shape of a URL: runs of letters and digits become one sign; the extension and the names of fields stay."""
    directory, _, name = path.rpartition("/")
    return f"{folded(directory)}/{shape_of_name(name, query)}"


def shape_of_name(name: str, query: str) -> str:
    """The part of a shape that stands for what follows the last directory."""
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > 5:
        stem, dot, extension = name, "", ""
    fields = "&".join(sorted([part.partition("=")[0] for part in query[:200].split("&")])) if query else ""
    return f"{folded(stem)}{dot}{extension}?{fields}"


def folded(text: str) -> str:
    """A part of a path without what differs among pages of a kind."""
    text = text[:200]
    plain = _REPEATED.sub("", text.translate(_SIGNS)) if text.isascii() else _LETTERS.sub("a", _DIGITS.sub("9", text))
    return _LOWER_RUN.sub("A", plain)
