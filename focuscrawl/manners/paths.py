"""Patterns of URL paths: robots.txt, tdmrep.json and scope rules all match paths with the same code.

A pattern is the beginning of a path with its query. `*` stands for any characters, and `$` at the end of a pattern for
the end of the path. Anyone can write a robots.txt, so the time of a match grows no faster than the size of the path
times the number of patterns, whatever they look like, and the memory no faster than the size of the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import hexdigits
from typing import Generic, Literal, NamedTuple, NewType, TypeVar

Rule = TypeVar("Rule")

#: A path, with its query, in the form in which paths are compared.
NormalPath = NewType("NormalPath", str)

#: Which rule counts if several match. `longest`: the one with the longest pattern, in octets, `*` and `$` included (RFC
#: 9309, 2.2.2); `shortest`: the broadest one; `first`: the one that was given first. Of equals, the first counts.
Precedence = Literal["longest", "shortest", "first"]

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_OCTETS = {high + low: chr(int(high + low, 16)) for high in hexdigits for low in hexdigits}
# An escaped `/` or `?` in a path does not separate anything, so it is not the same character. It gets a code of its
# own, as does a star in a pattern.
_PATH_OCTETS = _OCTETS | {escape: chr(0x100 + int(escape, 16)) for escape in ("2F", "2f", "3F", "3f")}
_STAR = "\u0200"


def normal_path(path: str) -> NormalPath:
    """A path, with its query, as one character for each octet; escapes are decoded.

    What RFC 9309, 2.2.2 treats as the same path becomes the same string.
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

    #: What a path begins with; all of the path if it is *exact*.
    first: str
    #: What follows in it, in this order.
    others: tuple[str, ...]
    #: What it ends with; None if that does not matter.
    last: str | None
    exact: bool
    #: Octets of the pattern.
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
    """Whether a path holds all pieces after a position, in order; to take the first place of each will do."""
    if last is not None and not path.endswith(last):
        return False
    for piece in others:
        position = path.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return last is None or position + len(last) <= len(path)


class PathRules(Generic[Rule]):
    """Rules by the patterns of the paths they are about.

    Without *wildcards*, `*` and `$` in a pattern are ordinary characters. Patterns that are plain prefixes cost one
    dictionary lookup for each length that occurs; of the others, only those are tried whose first piece fits.
    """

    __slots__ = ("_exact", "_lengths", "_prefixes", "_rules", "_starred", "size")

    def __init__(
        self, rules: Iterable[tuple[str | bytes, Rule]], *, precedence: Precedence, wildcards: bool = True
    ) -> None:
        ranked = [(_Pattern.read(pattern, wildcards=wildcards), rule) for pattern, rule in rules]
        if precedence != "first":
            ranked.sort(key=lambda entry: entry[0].length, reverse=precedence == "longest")
        #: The rules, the one that counts before another first. What follows holds their places.
        self._rules = [rule for _, rule in ranked]
        self._exact: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        #: Other patterns by their first piece.
        self._starred: dict[str, list[tuple[int, tuple[str, ...], str | None]]] = {}
        for place, (pattern, _) in enumerate(ranked):
            if pattern.others or pattern.last is not None:
                self._starred.setdefault(pattern.first, []).append((place, pattern.others, pattern.last))
            else:
                (self._exact if pattern.exact else self._prefixes).setdefault(pattern.first, place)
        self._lengths = sorted({len(prefix) for prefix in (*self._prefixes, *self._starred)})
        #: The bytes that the patterns take, roughly.
        self.size = 500 + sum(150 + pattern.length + 70 * len(pattern.others) for pattern, _ in ranked)

    def find(self, path: NormalPath) -> Rule | None:
        """The rule that counts for a path; None if no pattern matches."""
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
