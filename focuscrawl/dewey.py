"""What a text is about, by Dewey decimal numbers.

A lexicon says to which numbers a word or a phrase belongs; every word of a text that it knows makes a dot at each of
its numbers. The *galaxy* is where the dots are densest: digit by digit, the region with the largest

    W = n * sum of length(d) * impact(d) over its n dots

is kept, all of them if several are equal. Method: "A focused crawler combinatory link and content model based on
T-Graph principles" (Treasure-Crawler).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.resources import data

#: What a word of a link's anchor counts, and any other.
ANCHOR, TEXT = 1.4, 1.0
#: Digits that a galaxy is looked for in.
DIGITS = 3


class Dot(NamedTuple):
    """A Dewey number that a word of the text has."""

    number: str
    impact: float
    term: str


class Galaxy(NamedTuple):
    """The densest region: its numbers, and the weights of all regions that were compared, digit by digit."""

    numbers: tuple[str, ...]
    weights: tuple[dict[str, float], ...]


class Lexicon:
    """Words and phrases with their Dewey numbers."""

    def __init__(self, lines: Iterable[str], source: str = "lexicon") -> None:
        #: By the stems of a term, with a space between: the numbers it belongs to.
        self.terms: dict[str, list[str]] = {}
        #: By the first stem of terms: how many words the longest has.
        self._longest: dict[str, int] = {}
        self.entries = 0
        for place, line in enumerate(lines, 1):
            self._read(line, f"{source}, line {place}")

    def _read(self, line: str, place: str) -> None:
        line = line.partition("#")[0].strip()
        if not line:
            return
        number, _, rest = line.partition(" ")
        digits = number.replace(".", "", 1)
        if len(digits) < 3 or not digits.isdecimal() or number[3:4] not in ("", "."):
            raise FocusError(f"{place}: '{number}' is no Dewey number; a line is `512.5 matrix, vector space`")
        for term in rest.split(","):
            stems = words.stems(words.tokenize(term))
            if not stems:
                raise FocusError(f"{place}: there is a comma too many")
            self.entries += 1
            if self._longest.get(stems[0], 0) < len(stems):
                self._longest[stems[0]] = len(stems)
            numbers = self.terms.setdefault(" ".join(stems), [])
            if digits not in numbers:
                numbers.append(digits)

    def dots(self, stems: Sequence[str], impact: float = TEXT) -> list[Dot]:
        """The dots of a text, given by its stems: of terms that begin at the same word the longest counts."""
        found: list[Dot] = []
        index, size, longest, terms = 0, len(stems), self._longest, self.terms
        while index < size:
            most = longest.get(stems[index])
            taken = 1
            if most:
                for count in range(min(most, size - index), 0, -1):
                    term = " ".join(stems[index : index + count]) if count > 1 else stems[index]
                    if term in terms:
                        found += [Dot(number, impact, term) for number in terms[term]]
                        taken = count
                        break
            index += taken
        return found


def galaxy(dots: Sequence[Dot]) -> Galaxy:
    """The region of three digits where the dots are densest; several if they are equally dense, none without dots."""
    kept: Sequence[str] = [""]
    weights: list[dict[str, float]] = []
    inside = list(dots)
    for digit in range(1, DIGITS + 1):
        compared = _weigh(inside, digit)
        if not compared:
            return Galaxy((), ())
        most = max(compared.values())
        kept = [region for region, weight in compared.items() if weight >= most * (1 - 1e-9)]
        inside = [dot for dot in inside if dot.number[:digit] in kept]
        weights.append(compared)
    return Galaxy(tuple(sorted(kept)), tuple(weights))


def _weigh(dots: Sequence[Dot], digits: int) -> dict[str, float]:
    """W of every region of so many digits that has a dot."""
    counts: dict[str, int] = {}
    sums: dict[str, float] = {}
    for dot in dots:
        region = dot.number[:digits]
        counts[region] = counts.get(region, 0) + 1
        sums[region] = sums.get(region, 0.0) + len(dot.number) * dot.impact
    return {region: counts[region] * sums[region] for region in sorted(counts)}


@cache
def lexicon() -> Lexicon:
    """The lexicon that ships with focuscrawl."""
    lines: list[str] = []
    for digit in range(10):
        lines += data("dewey", f"{digit}.txt").read_text("utf-8").splitlines()
    return Lexicon(lines)
