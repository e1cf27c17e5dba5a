"""URL path patterns, as used by robots.txt, tdmrep.json and scope rules.

A pattern is a prefix of a path with its query. `*` matches any characters, and `$` at the end of a pattern matches the
end of the path. A robots.txt may be hostile, so the time of a match is at most proportional to the length of the path
times the number of patterns, and memory is at most proportional to the size of the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import hexdigits
from typing import Generic, Literal, NamedTuple, NewType, TypeVar

Rule = TypeVar("Rule")

#: A path with its query, in the normal form in which paths are compared.
NormalPath = NewType("NormalPath", str)

#: Which rule applies if several match. `longest`: the one with the longest pattern, in octets, including `*` and `$`
#: (RFC 9309, 2.2.2); `shortest`: the broadest one; `first`: the one given first. Ties go to the first.
Precedence = Literal["longest", "shortest", "first"]

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_OCTETS = {high + low: chr(int(high + low, 16)) for high in hexdigits for low in hexdigits}
# An escaped `/` or `?` in a path is not a separator, so it must not become the same character. It gets its own code
# point, as does a star in a pattern.
_PATH_OCTETS = _OCTETS | {escape: chr(0x100 + int(escape, 16)) for escape in ("2F", "2f", "3F", "3f")}
_STAR = "\u0200"


def normal_path(path: str) -> NormalPath:
    """A path with its query, as one character per octet, with escapes decoded.

    Paths that are equivalent by RFC 9309, 2.2.2 become the same string.
    """
    return NormalPath(_unescape(_octets(path)))


def _octets(text: str | bytes) -> str:
    if isinstance(text, bytes):
        return text.decode("latin-1")
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _unescape(octets: str) -> str:
    if "%" not in octets:
        return octets
    path, mark, query = octets.partition("?")
    path = _ESCAPE.sub(lambda match: _PATH_OCTETS[match[1]], path)
    return path + mark + _ESCAPE.sub(lambda match: _OCTETS[match[1]], query)


class _Pattern(NamedTuple):
    """A pattern, split at its stars."""

    #: The beginning of the path; if *exact*, the whole path.
    first: str
    #: Pieces that follow, in this order.
    others: tuple[str, ...]
    #: The end of the path; None if it may end in any way.
    last: str | None
    exact: bool
    #: Length of the pattern in octets.
    length: int

    @classmethod
    def read(cls, text: str | bytes, *, wildcards: bool) -> _Pattern:
        octets = _octets(text)
        if not wildcards:
            prefix = _unescape(octets)
            return cls(prefix, (), None, False, len(prefix))
        at_end = octets.endswith("$")
        octets = _unescape(octets.removesuffix("$").replace("*", _STAR))
        first, *others = octets.split(_STAR)
        exact = at_end and not others
        last = others.pop() if at_end and others else None
        return cls(first, tuple(filter(None, others)), last, exact, len(octets) + at_end)


def _continues(path: str, position: int, others: tuple[str, ...], last: str | None) -> bool:
    """Whether a path contains all pieces after a position, in order; the leftmost match of each suffices."""
    if last is not None and not path.endswith(last):
        return False
    for piece in others:
        position = path.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return last is None or position + len(last) <= len(path)


class PathRules(Generic[Rule]):
    """Rules by path pattern.

    Without *wildcards*, `*` and `$` in a pattern are ordinary characters. Plain prefixes cost one dictionary lookup per
    distinct length. Other patterns are tried only if their first piece matches.
    """

    __slots__ = ("_exact", "_lengths", "_prefixes", "_rules", "_starred", "size")

    def __init__(
        self, rules: Iterable[tuple[str | bytes, Rule]], *, precedence: Precedence, wildcards: bool = True
    ) -> None:
        ranked = [(_Pattern.read(pattern, wildcards=wildcards), rule) for pattern, rule in rules]
        if precedence != "first":
            ranked.sort(key=lambda entry: entry[0].length, reverse=precedence == "longest")
        #: The rules in order of precedence. The attributes below refer to them by index.
        self._rules = [rule for _, rule in ranked]
        self._exact: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        #: Patterns with wildcards, by their first piece.
        self._starred: dict[str, list[tuple[int, tuple[str, ...], str | None]]] = {}
        for place, (pattern, _) in enumerate(ranked):
            if pattern.others or pattern.last is not None:
                self._starred.setdefault(pattern.first, []).append((place, pattern.others, pattern.last))
            else:
                (self._exact if pattern.exact else self._prefixes).setdefault(pattern.first, place)
        self._lengths = sorted({len(prefix) for prefix in (*self._prefixes, *self._starred)})
        #: Approximate size of the patterns in bytes.
        self.size = 500 + sum(150 + pattern.length + 70 * len(pattern.others) for pattern, _ in ranked)

    def find(self, path: NormalPath) -> Rule | None:
        """The rule that applies to a path; None if no pattern matches."""
        nothing = len(self._rules)
        best = self._exact.get(path, nothing)
        size = len(path)
        for length in self._lengths:
            if length > size:
                break
            prefix = path[:length]
            place = self._prefixes.get(prefix, nothing)
            if place < best:
                best = place
            for place, others, last in self._starred.get(prefix, ()):
                if place >= best:
                    break
                if _continues(path, length, others, last):
                    best = place
                    break
        return self._rules[best] if best < nothing else None
