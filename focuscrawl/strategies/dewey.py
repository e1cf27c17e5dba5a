"""The topic of a text as Dewey decimal numbers.

A lexicon maps words and phrases to numbers. Every known word of a text makes a dot at each of its numbers. The *galaxy*
is where the dots are densest: digit by digit, the region with the largest

    W = n * sum of length(d) * impact(d) over its n dots

is kept, or all of them if several are equal. A galaxy has at least three digits, and as many as its dots have. Inside,
numbers have no decimal point; `dotted` adds it. Method: "A focused crawler combinatory link and content model based on
T-Graph principles" (Treasure-Crawler).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from sys import intern
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.resources import data

#: Impact of a word in a link's anchor, and of any other word.
ANCHOR, TEXT = 1.4, 1.0
#: Least number of digits of a galaxy, and of a number in the lexicon.
DIGITS = 3
#: Anchors whose dots are cached: menus repeat on all pages of a site.
_ANCHORS = 10_000
#: Texts that are weighed together: a page of thousands of links about everything would fill the memory.
_BATCH = 500

_NAME = re.compile(r"# (\d{1,3}) (\S.*)")


class Dots:
    """The dots of texts, a row per text: their counts at each number, and the sums of their lengths times impacts.

    All texts are weighed together, because a page has a text for each of its links.
    """

    def __init__(self, lexicon: Lexicon, columns: Any, counts: Any, anchors: Any) -> None:
        """*columns* are the numbers' places in the lexicon, in order; *anchors* counts the dots of anchors."""
        self._lexicon = lexicon
        self._columns = columns
        self._numbers = [lexicon.numbers[place] for place in columns.tolist()]
        self._counts = np.where(counts == 0, anchors, counts)  # an anchor that is an image is not part of the text
        self._sums = (self._counts * TEXT + anchors * (ANCHOR - TEXT)) * lexicon.lengths[columns]

    def counts(self, text: int = 0) -> dict[str, int]:
        """How many dots a text has, by number."""
        row = self._counts[text]
        return {self._numbers[place]: int(row[place]) for place in np.flatnonzero(row).tolist()}

    def galaxies(self) -> list[tuple[str, ...]]:
        """The densest region of each text; several if equally dense, none if there are no dots."""
        inside = self._counts > 0
        for _, _, kept in self._by_digit():
            last = kept
        if len(self._columns):
            inside &= last
        return [tuple([self._numbers[place] for place in np.flatnonzero(row).tolist()]) for row in inside]

    def weights(self, text: int = 0) -> list[dict[str, float]]:
        """Digit by digit, W of the regions that are compared."""
        longest = max(map(len, self.galaxies()[text]), default=0)
        return [
            {
                self._numbers[start][:digits]: float(weight)
                for start, weight in zip(starts, weights[text], strict=True)
                if weight
            }
            for digits, (starts, weights, _) in zip(range(1, longest + 1), self._by_digit(), strict=False)
        ]

    def _by_digit(self) -> Iterator[tuple[Any, Any, Any]]:
        """For each digit: where the regions begin, their W in each text (0 outside the kept ones), and which are kept.

        From the fourth digit on, the dots that have no more digits are a region too. After the last digit, each number
        is a region.
        """
        if not len(self._columns):
            return
        levels = []
        starts = np.arange(len(self._columns))
        counts, sums = self._counts, self._sums
        for regions in reversed(self._lexicon.regions[: int(self._lexicon.lengths[self._columns].max())]):
            of_column = regions[self._columns]
            begins = np.flatnonzero(np.concatenate(([True], of_column[1:] != of_column[:-1])))
            if len(begins) < len(starts):
                inner = np.searchsorted(starts, begins)
                counts, sums = np.add.reduceat(counts, inner, axis=1), np.add.reduceat(sums, inner, axis=1)
                starts = begins
            levels.append((starts, counts * sums))
        outer, kept = np.zeros(1, dtype=np.intp), np.ones((len(self._counts), 1), dtype=bool)
        for starts, weights in reversed(levels):
            weights = weights * kept[:, np.searchsorted(outer, starts, side="right") - 1]
            outer, kept = starts, weights >= weights.max(axis=1, keepdims=True) * (1 - 1e-9)
            yield starts, weights, kept

    def share(self, prefixes: tuple[str, ...], text: int = 0) -> float:
        """The share of a text's dots under one of the prefixes."""
        counts = self.counts(text)
        total = sum(counts.values())
        return sum(n for number, n in counts.items() if number.startswith(prefixes)) / total if total else 0.0


def dotted(number: str) -> str:
    """A number as people write it: 5125 is 512.5."""
    return f"{number[:DIGITS]}.{number[DIGITS:]}" if len(number) > DIGITS else number


class _Start(NamedTuple):
    """A stem that a term begins with: its phrases, by the second stem, and the stem itself if it is a term."""

    phrases: dict[str, tuple[int, ...]]
    term: str | None


class _Starts(dict[str, _Start | None]):
    """By word: what begins with it; None if nothing does. Most words of a page have been looked up before."""

    LIMIT = 200_000

    def __init__(self, by_stem: Mapping[str, _Start]) -> None:
        super().__init__()
        self._by_stem = by_stem

    def __missing__(self, word: str) -> _Start | None:
        if len(self) >= self.LIMIT:
            self.clear()
        found = self[word] = self._by_stem.get(words.stem(word))
        return found


class Lexicon:
    """Words and phrases with their Dewey numbers; headings in comments name classes and divisions."""

    def __init__(self, lines: Iterable[str], source: str = "lexicon") -> None:
        #: The language of its terms. Words of pages in others are found only if they look the same.
        self.language = "en"
        #: By the stems of a term, joined by spaces: its numbers, without the decimal point.
        self.terms: dict[str, list[str]] = {}
        #: By the same key: the term as it is written.
        self.written: dict[str, str] = {}
        #: The names of main classes (one digit), divisions (two) and some classes (three).
        self.names: dict[str, str] = {}
        #: By the first three digits of a number: its first terms, as they are written.
        self.samples: dict[str, list[str]] = {}
        self.entries = 0
        #: By the first stem of a phrase, then by its second stem: lengths of such phrases, longest first.
        self._phrases: dict[str, dict[str, tuple[int, ...]]] = {}
        for place, line in enumerate(lines, 1):
            self._read(line.strip(), f"{source}, line {place}")
        #: All numbers in order, their lengths, and for each digit the region of each number.
        self.numbers = sorted({number for numbers in self.terms.values() for number in numbers})
        self.lengths = np.array([len(number) for number in self.numbers], dtype=float)
        longest = max(map(len, self.numbers), default=0)
        self.regions = [
            np.unique([number[:digits] for number in self.numbers], return_inverse=True)[1]
            for digits in range(1, longest + 1)
        ]
        #: By term: the places of its numbers.
        place_of = {number: place for place, number in enumerate(self.numbers)}
        self._places = {term: [place_of[number] for number in numbers] for term, numbers in self.terms.items()}
        self._starts = _Starts(
            {
                stem: _Start(self._phrases.get(stem, {}), stem if stem in self._places else None)
                for stem in (*self._phrases, *self._places)
                if " " not in stem
            }
        )
        self._of_anchor = lru_cache(_ANCHORS)(lambda anchor: self._dots(words.tokenize(anchor))[1])
        #: The dots of the pages in memory.
        self._of_page: WeakKeyDictionary[Page, tuple[Any, Any]] = WeakKeyDictionary()

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
            if len(stems) > 1:
                phrases = self._phrases.setdefault(stems[0], {})
                phrases[stems[1]] = tuple(sorted({*phrases.get(stems[1], ()), len(stems)}, reverse=True))
            joined = intern(" ".join(stems))
            numbers = self.terms.setdefault(joined, [])
            self.written.setdefault(joined, term.strip())
            if digits not in numbers:
                numbers.append(digits)

    def name(self, number: str) -> str:
        """The name of a main class, a division or a class."""
        return self.names.get(number) or ", ".join(self.samples.get(number, []))

    def find(self, tokens: Sequence[str]) -> list[str]:
        """The terms in a text, given as its words; of several at the same word, the longest."""
        return self._find(tokens)[1]

    def _find(self, tokens: Sequence[str]) -> tuple[list[int], list[str]]:
        """The places of the terms in a text, and the terms."""
        at: list[int] = []
        found: list[str] = []
        end, starts = 0, self._starts
        for index in [index for index, word in enumerate(tokens) if starts[word] is not None]:
            start = starts[tokens[index]]
            if index < end or start is None:
                continue
            term = start.term
            if start.phrases and index + 1 < len(tokens):
                for count in start.phrases.get(words.stem(tokens[index + 1]), ()):
                    phrase = " ".join([words.stem(word) for word in tokens[index : index + count]])
                    if phrase in self._places:
                        term, end = phrase, index + count
                        break
            if term is not None:
                at.append(index)
                found.append(term)
        return at, found

    def _dots(self, tokens: Sequence[str]) -> tuple[Any, Any]:
        """The dots of a text: the word at which each stands, and the place of its number."""
        at, found = self._find(tokens)
        numbers = [self._places[term] for term in found]
        words_at = np.repeat(np.array(at, dtype=np.intp), [len(places) for places in numbers])
        return words_at, np.array([place for places in numbers for place in places], dtype=np.intp)

    def dots(self, tokens: Sequence[str], anchor: str = "") -> Dots:
        """The dots of a text, given as its words; those of the *anchor*, which is a part of it, weigh more."""
        return self._weigh(self._dots(tokens)[1], [(slice(None), self._of_anchor(anchor))])

    def of_page(self, page: Page) -> Dots:
        """The dots of a page's title and text."""
        return self._weigh(self._on(page)[1], [(slice(None), _NO_DOTS)])

    def focuses(self, page: Page) -> list[tuple[str, ...]]:
        """The topical focus of each link of a page: the galaxy of its topical boundary."""
        words_at, places = self._on(page)
        begins = np.searchsorted(words_at, page.block_offsets)
        texts: dict[tuple[range, str], tuple[slice, Any]] = {}
        of_link = []
        for link in page.links:
            anchor = self._of_anchor(link.anchor)
            boundary = link.boundary
            key = boundary, link.anchor if len(anchor) else ""
            if key not in texts:
                stretch = slice(begins[boundary.start], begins[boundary.stop]) if boundary else slice(0)
                texts[key] = stretch, anchor
            of_link.append(key)
        keys, stretches = list(texts), list(texts.values())
        focuses: list[tuple[str, ...]] = []
        for start in range(0, len(stretches), _BATCH):
            focuses += self._weigh(places, stretches[start : start + _BATCH]).galaxies()
        found = dict(zip(keys, focuses, strict=True))
        return [found[key] for key in of_link]

    def _on(self, page: Page) -> tuple[Any, Any]:
        """The dots of a page, which are also those of its links."""
        found = self._of_page.get(page)
        if found is None:
            found = self._of_page[page] = self._dots(page.all_words)
        return found

    def _weigh(self, places: Any, texts: Sequence[tuple[slice, Any]]) -> Dots:
        """The dots of texts: each is a slice of *places*, and an anchor."""
        columns = np.unique(np.concatenate([places, *[anchor for _, anchor in texts]]))
        column_of = np.searchsorted(columns, places)
        size = len(columns)
        counts = [np.bincount(column_of[stretch], minlength=size) for stretch, _ in texts]
        anchors = [np.bincount(np.searchsorted(columns, anchor), minlength=size) for _, anchor in texts]
        return Dots(self, columns, np.array(counts), np.array(anchors))


#: What a text without known words has.
_NO_DOTS = np.array([], dtype=np.intp)


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
    """Whether any of the numbers is under one of the prefixes: 512.5 is under 512, but 512 is not under 512.5."""
    return any(number.startswith(by) for number in numbers)
