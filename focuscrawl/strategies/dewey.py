"""The topic of a text as Dewey decimal numbers.

A lexicon maps words and phrases to numbers. Every known word of a text makes a dot at each of its numbers. The *galaxy*
is where the dots are densest: digit by digit, the region with the largest

    W = n * sum of length(d) * impact(d) over its n dots

is kept, or all of them if several are equal. Method: "A focused crawler combinatory link and content model based on
T-Graph principles" (Treasure-Crawler).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.page import Link, Page
from focuscrawl.resources import data

#: Impact of a word in a link's anchor, and of any other word.
ANCHOR, TEXT = 1.4, 1.0
#: Number of digits of a galaxy.
DIGITS = 3

_NAME = re.compile(r"# (\d{1,3}) (\S.*)")


class Dots:
    """The dots of a text: by number, their count and the sum of their lengths times impacts."""

    def __init__(self, counts: Mapping[str, int] | None = None, sums: Mapping[str, float] | None = None) -> None:
        self.counts = dict(counts or {})
        self.sums = dict(sums or {})

    def add(self, numbers: Iterable[str], impact: float = TEXT, times: int = 1) -> None:
        """Add a word that occurs *times* times, at each of its numbers."""
        for number in numbers:
            self.counts[number] = self.counts.get(number, 0) + times
            self.sums[number] = self.sums.get(number, 0.0) + len(number) * impact * times

    def stress(self, other: Dots, impact: float = ANCHOR) -> Dots:
        """A copy in which the dots of *other*, a part of these dots, have another impact."""
        result = Dots(self.counts, self.sums)
        for number, total in other.sums.items():
            result.sums[number] = result.sums.get(number, 0.0) + total * (impact - TEXT)
            result.counts.setdefault(number, other.counts[number])
        return result

    def share(self, prefixes: tuple[str, ...]) -> float:
        """The share of the dots under one of the prefixes."""
        total = sum(self.counts.values())
        return sum(n for number, n in self.counts.items() if number.startswith(prefixes)) / total if total else 0.0


class Galaxy(NamedTuple):
    """The densest region: its numbers, and digit by digit the weights of all regions compared."""

    numbers: tuple[str, ...]
    weights: tuple[dict[str, float], ...]


def galaxy(dots: Dots) -> Galaxy:
    """The three-digit region where the dots are densest; several if equally dense, none if there are no dots."""
    if not dots.counts:
        return Galaxy((), ())
    kept: list[str] = []
    weights: list[dict[str, float]] = []
    inside = list(dots.counts)
    for digits in range(1, DIGITS + 1):
        counts: dict[str, int] = {}
        sums: dict[str, float] = {}
        for number in inside:
            region = number[:digits]
            if region in counts:
                counts[region] += dots.counts[number]
                sums[region] += dots.sums[number]
            else:
                counts[region], sums[region] = dots.counts[number], dots.sums[number]
        compared = {region: counts[region] * sums[region] for region in sorted(counts)}
        least = max(compared.values()) * (1 - 1e-9)
        kept = [region for region, weight in compared.items() if weight >= least]
        inside = [number for number in inside if number[:digits] in kept]
        weights.append(compared)
    return Galaxy(tuple(kept), tuple(weights))


class Lexicon:
    """Words and phrases with their Dewey numbers; headings in comments name classes and divisions."""

    def __init__(self, lines: Iterable[str], source: str = "lexicon") -> None:
        #: By the stems of a term, joined by spaces: its numbers, without the decimal point.
        self.terms: dict[str, list[str]] = {}
        #: By the same key: the term as it is written.
        self.written: dict[str, str] = {}
        #: The names of main classes (one digit), divisions (two) and some classes (three).
        self.names: dict[str, str] = {}
        #: By number: its first terms, as they are written.
        self.samples: dict[str, list[str]] = {}
        self.entries = 0
        #: By the first stem of a term, then by the second stem of a phrase: lengths of such phrases, longest first.
        self._phrases: dict[str, dict[str, tuple[int, ...]]] = {}
        for place, line in enumerate(lines, 1):
            self._read(line.strip(), f"{source}, line {place}")

    def _read(self, line: str, place: str) -> None:
        if not line or line.startswith("#"):
            if name := _NAME.match(line):
                digits = name[1][:2] if len(name[1]) == 3 and name[1].endswith("0") else name[1]
                self.names.setdefault(digits, name[2])
            return
        number, _, rest = line.partition(" ")
        digits = number.replace(".", "", 1)
        if len(digits) < 3 or not digits.isdecimal() or number[3:4] not in ("", "."):
            raise FocusError(
                f"{place}: '{number}' is not a Dewey number; write a line like `512.5 matrix, vector space`"
            )
        terms = rest.split(",")
        sample = self.samples.setdefault(digits[:DIGITS], [])
        if len(sample) < DIGITS:
            sample += [term.strip() for term in terms[: DIGITS - len(sample)]]
        for term in terms:
            stems = words.stems(words.tokenize(term))
            if not stems:
                raise FocusError(f"{place}: a term is missing, or there is an extra comma")
            self.entries += 1
            phrases = self._phrases.setdefault(stems[0], {})
            if len(stems) > 1:
                phrases[stems[1]] = tuple(sorted({*phrases.get(stems[1], ()), len(stems)}, reverse=True))
            joined = " ".join(stems)
            numbers = self.terms.setdefault(joined, [])
            self.written.setdefault(joined, term.strip())
            if digits not in numbers:
                numbers.append(digits)

    def name(self, number: str) -> str:
        """The name of a main class, a division or a class."""
        return self.names.get(number) or ", ".join(self.samples.get(number, []))

    def find(self, stems: Sequence[str]) -> list[str]:
        """The terms in a text, given as stems; of several at the same word, the longest."""
        found: list[str] = []
        end, phrases, terms = 0, self._phrases, self.terms
        for index in [index for index, stem in enumerate(stems) if stem in phrases]:
            if index < end:
                continue
            for count in phrases[stems[index]].get("".join(stems[index + 1 : index + 2]), ()):
                term = " ".join(stems[index : index + count])
                if term in terms:
                    found.append(term)
                    end = index + count
                    break
            else:
                if stems[index] in terms:
                    found.append(stems[index])
        return found

    def dots(self, stems: Sequence[str], impact: float = TEXT) -> Dots:
        """The dots of a text, given as stems."""
        dots = Dots()
        for term, times in Counter(self.find(stems)).items():
            dots.add(self.terms[term], impact, times)
        return dots

    def of_links(self, page: Page) -> list[Dots]:
        """The dots of the topical boundary of each link of a page: its paragraph or whole list."""
        boundaries: dict[str, Dots] = {}
        return [self._of_link(link, boundaries) for link in page.links]

    def _of_link(self, link: Link, boundaries: dict[str, Dots]) -> Dots:
        block = link.block
        dots = boundaries.get(block)
        if dots is None:
            dots = boundaries[block] = self.dots(words.stems_of(block))
        return dots.stress(self.dots(words.stems_of(link.anchor)))


@cache
def lexicon() -> Lexicon:
    """The lexicon that ships with focuscrawl."""
    lines: list[str] = []
    for digit in range(10):
        lines += data("dewey", f"{digit}.txt").read_text("utf-8").splitlines()
    return Lexicon(lines)


def prefixes(numbers: Iterable[str]) -> tuple[str, ...]:
    """The prefixes that a topic's numbers cover: 512 covers 512 and its subdivisions, 510 all of 51, 500 all of 5."""
    covered = set()
    for number in numbers:
        digits = number.replace(".", "", 1)
        if len(digits) < DIGITS or not digits.isdecimal():
            raise FocusError(f"'{number}' is not a Dewey number; give at least three digits, such as 005 or 512.5")
        short = digits[:DIGITS].rstrip("0") if len(digits) == DIGITS else digits
        covered.add(short or digits[:2])  # 000 covers division 00, not everything
    return tuple(sorted(covered))


def covered(numbers: Iterable[str], by: tuple[str, ...]) -> bool:
    """Whether any of the numbers is under one of the prefixes, or above it (a number has three digits)."""
    return any(number.startswith(prefix) or prefix.startswith(number) for number in numbers for prefix in by)
