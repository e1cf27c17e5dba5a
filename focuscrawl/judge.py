"""How relevant a page is to a topic, by the topic's keywords."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import log1p, sqrt

from focuscrawl import words
from focuscrawl.page import Judgement, Page

#: A keyword that makes up this share of a page's words counts in full; more of it says nothing new. A fixed frequency
#: instead ranks long and short pages by different measures; benchmarks/judges.py shows what that costs.
SATURATION = 1 / 200

_MAX_WORDS = 500_000


class KeywordJudge:
    """Counts keywords and phrases, stemmed, in the title and visible text of a page.

    Three measures, all in [0, 1]:

    * `share`: weight of the keywords that occur at all, over the weight of all.
    * `coverage`: the same, but a keyword counts by the logarithm of its frequency, in proportion to the page's length.
      A page that mentions a word in passing falls behind one that is about it, and one frequent word cannot stand for
      a topic.
    * `tag_weighted`: a cosine in which a keyword counts by its frequency and the place it occurs in.
    """

    def __init__(self, keywords: Mapping[str, float]) -> None:
        terms = [(name, words.stems(words.tokenize(name)), weight) for name, weight in keywords.items()]
        # "time" and "times" are the same word: the heavier one stands for both
        strongest: dict[tuple[str, ...], tuple[str, list[str], float]] = {}
        for name, stems, weight in terms:
            if tuple(stems) not in strongest or strongest[tuple(stems)][2] < weight:
                strongest[tuple(stems)] = (name, stems, weight)
        #: (keyword as given, its stems, weight)
        self.terms = list(strongest.values())
        self.total = sum(weight for _, _, weight in self.terms)
        self._length = sqrt(sum(weight * weight for _, _, weight in self.terms)) or 1.0
        # Few words of a page are keywords, and most words were met before: remembering which is which leaves only new
        # words to be stemmed.
        self._stems = {stem for _, stems, _ in self.terms for stem in stems}
        self._forms: dict[str, str] = {}
        self._met: set[str] = set()

    def _count(self, page: Page) -> dict[str, int]:
        """How often the stems occur that keywords are made of."""
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
        """How often each keyword occurs on the page; those that do not are left out."""
        counts = self._count(page)
        found: dict[str, int] = {}
        joined = ""
        for name, stems, _ in self.terms:
            if len(stems) == 1:
                number = counts.get(stems[0], 0)
            elif all(stem in counts for stem in stems):
                # two spaces, so that a phrase that ends where the next one begins is counted twice
                joined = joined or f" {'  '.join(page.stems)} "
                number = joined.count(f" {'  '.join(stems)} ")
            else:
                number = 0
            if number:
                found[name] = number
        return found

    def cosine(self, found: list[str]) -> float:
        """The cosine of a few words of text, as they are written, with the keywords."""
        stems = words.stems(found)
        if not stems:
            return 0.0
        joined = f" {'  '.join(stems)} "
        total = sum(weight for _, term, weight in self.terms if f" {'  '.join(term)} " in joined)
        return min(1.0, total / (self._length * sqrt(len(set(stems)))))

    def share(self, page: Page, threshold: float) -> Judgement:
        """Judge by the weighted share of keywords that occur."""
        found = self.frequencies(page)
        why = {name: weight / self.total for name, _, weight in self.terms if name in found}
        relevance = float(sum(why.values()))
        # sums of shares miss 1 by a rounding error, and "all" means all
        return Judgement(min(1.0, relevance), relevance >= threshold - 1e-9, why)

    def tag_weighted(self, page: Page, threshold: float) -> Judgement:
        """Judge by the cosine of the keywords' weights with x·W.

        x is the frequency of a keyword over that of the most frequent one, W the place it occurs in: 5 in the title, 3
        in a link, 2 in the meta tags (keywords, description), 1 elsewhere; the largest counts.
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
        """How often each keyword occurs in some texts; a phrase does not reach from one into the next."""
        joined = "  |  ".join("  ".join(words.stems(words.tokenize(text))) for text in texts if text)
        joined = f" {joined} "
        counts = {name: joined.count(f" {'  '.join(stems)} ") for name, stems, _ in self.terms}
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
