"""How relevant a page is to a topic, by the topic's keywords."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import log1p, sqrt

from focuscrawl import words
from focuscrawl.page import Judgement, Page

#: A keyword that makes up this share of a page's words counts in full; a higher share adds nothing. A fixed count
#: would treat long and short pages differently; benchmarks/judges.py measures the effect.
SATURATION = 1 / 200

#: Common words that are acronyms in capitals: information technology, the United States. A keyword `IT` counts only
#: where a page has it in capitals, or every English page would contain it.
_COMMON = {"am", "an", "as", "at", "be", "can", "do", "he", "in", "is", "it", "no", "on", "or", "so", "us", "we", "who"}

_MAX_WORDS = 500_000


class KeywordJudge:
    """Counts keywords and phrases, stemmed, in the title and visible text of a page.

    Three measures, all in [0, 1]:

    * `share`: total weight of the keywords that occur, divided by the weight of all keywords.
    * `coverage`: the same, but a keyword counts by the logarithm of its frequency, in proportion to the page's length.
      A page that mentions a word in passing scores below one that is about it, and one frequent word is not enough.
    * `tag_weighted`: a cosine similarity in which keywords are weighted by their frequency and by where they occur.
    """

    def __init__(self, keywords: Mapping[str, float]) -> None:
        terms = [(name, words.stems(words.tokenize(name)), weight) for name, weight in keywords.items()]
        # "time" and "times" have the same stem: keep the one with the larger weight
        strongest: dict[tuple[str, ...], tuple[str, list[str], float]] = {}
        for name, stems, weight in terms:
            if tuple(stems) not in strongest or strongest[tuple(stems)][2] < weight:
                strongest[tuple(stems)] = (name, stems, weight)
        #: (keyword as given, its stems, weight)
        self.terms = list(strongest.values())
        self.total = sum(weight for _, _, weight in self.terms)
        self._length = sqrt(sum(weight * weight for _, _, weight in self.terms)) or 1.0
        self._acronyms = {
            name: re.compile(rf"\b{name}\b") for name, _, _ in self.terms if name.isupper() and name.lower() in _COMMON
        }
        # Few words of a page are keywords, and most were seen before: with this cache, only new words are stemmed.
        self._stems = {stem for _, stems, _ in self.terms for stem in stems}
        self._forms: dict[str, str] = {}
        self._met: set[str] = set()

    def _count(self, page: Page) -> dict[str, int]:
        """How often each stem that is part of a keyword occurs."""
        words_of_page = Counter(page.words)
        new = words_of_page.keys() - self._met
        if new:
            if len(self._met) > _MAX_WORDS:
                self._met.clear()
            self._met |= {word for word in new if len(word) <= words.LONGEST}
            self._forms |= {word: stem for word in new if (stem := words.stem(word)) in self._stems}
        counts: dict[str, int] = {}
        for word in words_of_page.keys() & self._forms.keys():
            stem = self._forms[word]
            counts[stem] = counts.get(stem, 0) + words_of_page[word]
        return counts

    def frequencies(self, page: Page) -> dict[str, int]:
        """How often each keyword occurs on the page; missing keywords are omitted."""
        counts = self._count(page)
        found: dict[str, int] = {}
        joined = ""
        for name, stems, _ in self.terms:
            if name in self._acronyms:
                number = self._in_capitals(name, (page.title, page.raw_text)) if stems[0] in counts else 0
            elif len(stems) == 1:
                number = counts.get(stems[0], 0)
            elif all(stem in counts for stem in stems):
                # two spaces, so that adjacent occurrences of a phrase are both counted
                joined = joined or f" {'  '.join(page.stems)} "
                number = joined.count(f" {'  '.join(stems)} ")
            else:
                number = 0
            if number:
                found[name] = number
        return found

    def _in_capitals(self, name: str, texts: Iterable[str]) -> int:
        """How often an acronym occurs in several texts."""
        return sum(len(self._acronyms[name].findall(text)) for text in texts)

    def cosine(self, found: list[str]) -> float:
        """Cosine similarity of a few words, not yet stemmed, with the keywords."""
        stems = words.stems(found)
        if not stems:
            return 0.0
        joined, distinct = f" {'  '.join(stems)} ", set(stems)
        total = sum(
            weight
            for name, term, weight in self.terms
            if term  # an ontology may name a term without letters
            and term[0] in distinct  # few are: the rest, hundreds in an ontology, need no search
            and name not in self._acronyms  # the words are in lower case
            and f" {'  '.join(term)} " in joined
        )
        return min(1.0, total / (self._length * sqrt(len(distinct))))

    def share(self, page: Page, threshold: float) -> Judgement:
        """Judge by the weighted share of keywords that occur."""
        found = self.frequencies(page)
        why = {name: weight / self.total for name, _, weight in self.terms if name in found}
        relevance = float(sum(why.values()))
        # rounding can leave the sum just below 1, and a threshold of 1 means all keywords
        return Judgement(min(1.0, relevance), relevance >= threshold - 1e-9, why)

    def tag_weighted(self, page: Page, threshold: float) -> Judgement:
        """Judge by the cosine of the keywords' weights with x·W.

        x is the frequency of a keyword divided by that of the most frequent one. W depends on where the keyword occurs:
        5 in the title, 3 in a link, 2 in the meta tags (keywords, description), 1 elsewhere; the largest applies.
        """
        found = self.frequencies(page)
        title, meta, anchors = (
            self._places([page.title]),
            self._places([page.keywords, page.description]),
            self._places(link.anchor for link in page.links),
        )
        for name, number in meta.items():
            found[name] = found.get(name, 0) + number
        if not found:
            return Judgement(0.0, False, {})
        most = max(found.values())
        weighted = {
            name: number / most * (5.0 if name in title else 3.0 if name in anchors else 2.0 if name in meta else 1.0)
            for name, number in found.items()
        }
        length = sqrt(sum(value * value for value in weighted.values())) * self._length
        why = {name: weight * weighted[name] / length for name, _, weight in self.terms if name in weighted}
        relevance = min(1.0, float(sum(why.values())))
        return Judgement(relevance, relevance > threshold, why)

    def _places(self, texts: Iterable[str]) -> dict[str, int]:
        """How often each keyword occurs in several texts; a phrase does not span two texts."""
        texts = [text for text in texts if text]
        joined = "  |  ".join("  ".join(words.stems(words.tokenize(text))) for text in texts)
        joined = f" {joined} "
        counts = {
            name: self._in_capitals(name, texts) if name in self._acronyms else joined.count(f" {'  '.join(stems)} ")
            for name, stems, _ in self.terms
        }
        return {name: number for name, number in counts.items() if number}

    def coverage(self, page: Page, threshold: float) -> Judgement:
        """Judge by weighted, log-damped coverage."""
        found = self.frequencies(page)
        full = log1p(max(1.0, len(page.words) * SATURATION))
        why = {
            name: weight / self.total * min(1.0, log1p(found[name]) / full)
            for name, _, weight in self.terms
            if name in found
        }
        relevance = float(sum(why.values()))
        return Judgement(min(1.0, relevance), relevance >= threshold - 1e-9, why)
