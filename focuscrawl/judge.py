"""How relevant a page is to a topic, by the topic's keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from math import log, sqrt
from typing import NamedTuple

from focuscrawl import words
from focuscrawl.language.frequencies import frequency_table
from focuscrawl.language.identify import Language
from focuscrawl.language.languages import compounds
from focuscrawl.page import Judgement, Page

#: A keyword that makes up this share of a page's words counts two thirds; on a short page, one that is mentioned once
#: does. A fixed count would treat long and short pages differently; benchmarks/judges.py measures the effect.
SATURATION = 1 / 150

#: Evidence that makes a page half relevant. By this, a page that mentions the heaviest keyword in passing is just below
#: the default threshold.
HALF = 1.575
#: A topic whose keywords weigh less than so many of the heaviest one needs less evidence, as a mention is much of what
#: can be expected; one whose keywords weigh more than so many needs more: chance mentions add up.
_FEW, _MANY = 4, 8

#: A keyword that is on a larger share of all pages of its language is common and counts less: "home", "university".
COMMON = 0.1

#: How much of a mention in the name of a site counts, which stands in the titles of all its pages.
SITE_NAME = 0.25

#: Common words that are acronyms in capitals: information technology, the United States. A keyword `IT` counts only
#: where a page has it in capitals, or every English page would contain it.
_COMMON = {"am", "an", "as", "at", "be", "can", "do", "he", "in", "is", "it", "no", "on", "or", "so", "us", "we", "who"}

_MAX_WORDS = 500_000

#: Length of a stem with its mark (`de:orgel`) from which it is found in compounds: short ones are parts of many words.
_IN_COMPOUND = 8

#: Length from which a keyword with one more letter is a form of it, which the stemmer may not know: tuyau, tuyaux.
_WITH_ENDING = 5


class Term(NamedTuple):
    """A keyword as it was given, its stems in one language, and its weight."""

    name: str
    stems: list[str]
    weight: float


def half_of(weights: Collection[float]) -> float:
    """The evidence that makes a page half relevant to a topic whose keywords have these weights."""
    number = sum(weights) / (max(weights, default=0.0) or 1.0)
    return HALF * min(1.0, number / _FEW) * max(1.0, sqrt(number / _MANY)) or HALF


def _repeated(page: Page) -> Iterator[tuple[str, float]]:
    """The texts of a page that all pages of its host have, and how much of their mentions does not count."""
    if page.repeated_title:
        yield page.repeated_title, 1 - SITE_NAME
    main = set(page.main_blocks)
    for index in page.repeated_blocks:
        if index in main:
            yield page.cut(page.blocks[index]), 1.0


class _Forms(dict[str, tuple[str, ...]]):
    """The stems of keywords that words stand for, remembered: few words stand for any, and most were met before."""

    def __init__(self, stands_for: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._stands_for = stands_for

    def __missing__(self, word: str) -> tuple[str, ...]:
        stems = self._stands_for(word)
        if len(word) <= words.LONGEST:
            if len(self) >= _MAX_WORDS:
                self.clear()
            self[word] = stems
        return stems


class _Terms:
    """The keywords for pages in one language."""

    def __init__(self, keywords: Mapping[str, float], language: str) -> None:
        self.language = language
        # "time" and "times" have the same stem: keep the one with the larger weight
        strongest: dict[tuple[str, ...], Term] = {}
        for name, weight in keywords.items():
            stems = words.stems(words.tokenize(name), language)
            if tuple(stems) not in strongest or strongest[tuple(stems)].weight < weight:
                strongest[tuple(stems)] = Term(name, stems, weight)
        self.terms = list(strongest.values())
        self.total = sum(term.weight for term in self.terms)
        self.length = sqrt(sum(term.weight * term.weight for term in self.terms)) or 1.0
        self._acronyms = {
            name: re.compile(rf"\b{name}\b") for name, _, _ in self.terms if name.isupper() and name.lower() in _COMMON
        }
        #: Keywords without spaces between their words: they are looked up in the text itself.
        self._unspaced = {name: " ".join(words.folded(name).split()) for name in keywords if words.is_unspaced(name)}
        self._stems = {stem for term in self.terms for stem in term.stems}
        self._heads = sorted(stem for stem in self._stems if len(stem) >= _IN_COMPOUND) if compounds(language) else []
        #: Keywords of one character in a script without spaces; a page has pairs of characters.
        self._letters = {stem for stem in self._stems if len(words.bare(stem)) == 1 and words.is_unspaced(stem)}
        #: Keywords of one word by their letters, for forms with another ending.
        self._bare = self._without_ending() if language not in ("en", "") else {}
        self._worth = self._worths()
        self.half = half_of([weight for _, _, weight in self.terms])
        #: Keywords that are part of a phrase: what mentions "olive oil" does not mention "olive" once more.
        self._inside = [
            (phrase.name, part.name) for phrase in self.terms for part in self.terms if self._is_inside(part, phrase)
        ]
        self._in_repeated = lru_cache(maxsize=1_000)(self._count_in)
        self._forms = _Forms(self._stands_for)

    def _stands_for(self, word: str) -> tuple[str, ...]:
        """The stems of keywords that a word of a page stands for."""
        stem = words.stem(word, self.language)
        if stem in self._stems:
            return (stem,)
        if found := self._in(stem):
            return tuple(found)
        known = self._bare.get(word[:-1])
        return (known,) if known else ()

    def _count(self, page: Page) -> dict[str, int]:
        """How often each stem that is part of a keyword occurs."""
        counts: dict[str, int] = {}
        numbers, forms = page.word_counts, self._forms
        for word in compress(numbers, map(forms.__getitem__, numbers)):  # few stand for any
            for stem in forms[word]:
                counts[stem] = counts.get(stem, 0) + numbers[word]
        return counts

    def _in(self, stem: str) -> list[str]:
        """The stems of keywords that a stem is a compound of: an Orgelpfeife is a Pfeife of an Orgel."""
        bare = words.bare(stem)
        return [head for head in self._heads if bare.startswith(words.bare(head)) or bare.endswith(words.bare(head))]

    def parts(self, stem: str) -> list[str]:
        """The stems of keywords that a stem of a page contains, itself left out."""
        if stem in self._stems:
            return []
        if self._heads:
            return self._in(stem)
        mark, bare = stem[: -len(words.bare(stem))], words.bare(stem)
        return [letter] if self._letters and (letter := f"{mark}{bare[:1]}") in self._letters else []

    @property
    def has_parts(self) -> bool:
        """Whether stems of a page can contain those of keywords."""
        return bool(self._heads or self._letters)

    def frequencies(self, page: Page) -> dict[str, int]:
        counts = self._count(page)
        found: dict[str, int] = {}
        joined = text = ""
        for name, stems, _ in self.terms:
            if name in self._unspaced:
                text = text or words.folded(f"{page.title}\n{page.main_text}")
                number = text.count(self._unspaced[name])
            elif name in self._acronyms:
                number = self._in_capitals(name, (page.title, page.main_text)) if stems[0] in counts else 0
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

    def _without_ending(self) -> dict[str, str]:
        single = ((words.tokenize(name), stems) for name, stems, _ in self.terms if name not in self._unspaced)
        return {found[0]: stems[0] for found, stems in single if len(found) == 1 and len(found[0]) >= _WITH_ENDING}

    def _worths(self) -> dict[str, float]:
        """What a keyword counts relative to the heaviest one."""
        share = {
            stem: share
            for share, stems in frequency_table(self.language)
            if share > COMMON
            for stem in self._stems.intersection(stems)
        }
        heaviest = max((weight for _, _, weight in self.terms), default=0.0) or 1.0
        worth: dict[str, float] = {}
        for name, stems, weight in self.terms:
            rarest = min((share.get(stem, COMMON) for stem in stems), default=COMMON)
            worth[name] = weight / heaviest * log(rarest) / log(COMMON)
        return worth

    def _is_inside(self, part: Term, phrase: Term) -> bool:
        if part.name in self._unspaced:
            return part.name != phrase.name and self._unspaced[part.name] in self._unspaced.get(phrase.name, "")
        fewer = 0 < len(part.stems) < len(phrase.stems)
        return fewer and f" {' '.join(part.stems)} " in f" {' '.join(phrase.stems)} "

    def _count_in(self, text: str) -> dict[str, int]:
        page = Page("", title=text)
        page.identified = Language(self.language, 1.0)
        return self.frequencies(page)

    def evidence(self, page: Page) -> dict[str, float]:
        """What each keyword on the page says for the topic: at most 1, for the heaviest one that is very frequent."""
        found: dict[str, float] = dict(self.frequencies(page))
        for phrase, part in self._inside:
            if phrase in found and part in found:
                found[part] -= found[phrase]
        if page.repeated_blocks or page.repeated_title:
            for text, without in _repeated(page):
                for name, number in self._in_repeated(text).items():
                    found[name] = found.get(name, 0.0) - number * without
        least = max(1.0, len(page.words) * SATURATION) / 2
        return {name: self._worth[name] * number / (number + least) for name, number in found.items() if number > 0}

    def in_texts(self, texts: Iterable[str]) -> dict[str, int]:
        """How often each keyword occurs in several texts; a phrase does not span two texts."""
        texts = [text for text in texts if text]
        joined = "  |  ".join("  ".join(words.stems(words.tokenize(text), self.language)) for text in texts)
        joined = f" {joined} "
        counts: dict[str, int] = {}
        for name, stems, _ in self.terms:
            if name in self._unspaced:
                counts[name] = sum(words.folded(text).count(self._unspaced[name]) for text in texts)
            elif name in self._acronyms:
                counts[name] = self._in_capitals(name, texts)
            else:
                counts[name] = joined.count(f" {'  '.join(stems)} ")
        return {name: number for name, number in counts.items() if number}

    def _in_capitals(self, name: str, texts: Iterable[str]) -> int:
        """How often an acronym occurs in several texts."""
        return sum(len(self._acronyms[name].findall(text)) for text in texts)

    def weight_in(self, stems: Sequence[str]) -> float:
        """The total weight of the keywords among a few stems."""
        if self._heads:
            stems = [found for stem in stems for found in (stem not in self._stems and self._in(stem)) or [stem]]
        joined, distinct = f" {'  '.join(stems)} ", set(stems)
        return sum(
            weight
            for name, term, weight in self.terms
            if term  # an ontology may name a term without letters
            and term[0] in distinct  # few are: the rest, hundreds in an ontology, need no search
            and name not in self._acronyms  # the words are in lower case
            and f" {'  '.join(term)} " in joined
        )


class KeywordJudge:
    """Counts keywords and phrases, stemmed, in the title and main text of a page.

    A page is judged by the keywords of its language and by those without one (*in_languages*, *keywords*); the others
    do not exist for it.

    Three measures, all in [0, 1]:

    * `share`: total weight of the keywords that occur, divided by the weight of all keywords.
    * `coverage`: evidence adds up. A keyword that is mentioned in passing counts two thirds, one that is frequent
      in proportion to the page's length counts in full, and common words count less. If there are several keywords, one
      mention of the heaviest is not enough.
    * `tag_weighted`: a cosine similarity in which keywords are weighted by their frequency and by where they occur.
    """

    def __init__(
        self, keywords: Mapping[str, float], in_languages: Mapping[str, Mapping[str, float]] | None = None
    ) -> None:
        self._keywords, self._in_languages = dict(keywords), dict(in_languages or {})
        self._by_language: dict[str, _Terms] = {}

    def __repr__(self) -> str:
        return f"KeywordJudge({self._keywords}, {self._in_languages})"

    def _for(self, language: str) -> _Terms:
        found = self._by_language.get(language)
        if found is None:
            if len(self._by_language) >= words.LANGUAGES:
                del self._by_language[next(iter(self._by_language))]
            keywords = {**self._keywords, **self._in_languages.get(language, {})}
            found = self._by_language[language] = _Terms(keywords, language)
        return found

    @property
    def all_keywords(self) -> dict[str, float]:
        """The keywords of all languages, with their weights."""
        return {
            **self._keywords,
            **{name: weight for some in self._in_languages.values() for name, weight in some.items()},
        }

    def terms(self, language: str = "en") -> list[Term]:
        """The keywords for pages in a language."""
        return self._for(language).terms

    def parts(self, stem: str, language: str) -> list[str]:
        """The stems of keywords in a compound, or in a pair of characters of a script without spaces."""
        return self._for(language).parts(stem)

    def has_parts(self, language: str) -> bool:
        """Whether words of a language can contain keywords as parts."""
        return self._for(language).has_parts

    def frequencies(self, page: Page) -> dict[str, int]:
        """How often each keyword occurs on the page; missing keywords are omitted."""
        return self._for(page.language).frequencies(page)

    def cosine(self, found: list[str], language: str = "en") -> float:
        """Cosine similarity of a few words of a language, not yet stemmed, with the keywords."""
        terms = self._for(language)
        stems = words.stems(found, language)
        if not stems:
            return 0.0
        return min(1.0, terms.weight_in(stems) / (terms.length * sqrt(len(set(stems)))))

    def share(self, page: Page, threshold: float) -> Judgement:
        """Judge by the weighted share of keywords that occur."""
        terms = self._for(page.language)
        found = terms.frequencies(page)
        why = {name: weight / terms.total for name, _, weight in terms.terms if name in found}
        relevance = float(sum(why.values()))
        # rounding can leave the sum just below 1, and a threshold of 1 means all keywords
        return Judgement(min(1.0, relevance), bool(terms.terms) and relevance >= threshold - 1e-9, why)

    def tag_weighted(self, page: Page, threshold: float) -> Judgement:
        """Judge by the cosine of the keywords' weights with x·W.

        x is the frequency of a keyword divided by that of the most frequent one. W depends on where the keyword occurs:
        5 in the title, 3 in a link, 2 in the meta tags (keywords, description), 1 elsewhere; the largest applies.
        """
        terms = self._for(page.language)
        found = terms.frequencies(page)
        title, meta, anchors = (
            terms.in_texts([page.title]),
            terms.in_texts([page.keywords, page.description]),
            terms.in_texts(link.anchor for link in page.links),
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
        length = sqrt(sum(value * value for value in weighted.values())) * terms.length
        why = {name: weight * weighted[name] / length for name, _, weight in terms.terms if name in weighted}
        relevance = min(1.0, float(sum(why.values())))
        return Judgement(relevance, relevance > threshold, why)

    def evidence(self, page: Page) -> dict[str, float]:
        """What each keyword on the page says for the topic."""
        return self._for(page.language).evidence(page)

    def coverage(self, page: Page, threshold: float) -> Judgement:
        """Judge by the evidence of all keywords."""
        terms = self._for(page.language)
        evidence = terms.evidence(page)
        most = terms.half + sum(evidence.values())
        why = {name: value / most for name, value in evidence.items()}
        relevance = float(sum(why.values()))
        return Judgement(relevance, bool(terms.terms) and relevance >= threshold - 1e-9, why)
