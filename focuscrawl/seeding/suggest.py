"""Words and phrases that tell the relevant pages of a topic from other pages.

Candidates are the words of the relevant pages, their phrases (collocations: words that stand together more often than
by chance) and, on request, WordNet's synonyms and narrower terms of the keywords. They are ranked by Dunning's
log-likelihood ratio over pages: how surprising is it that so many of the pages with the term are relevant?

Paper: T. Dunning, "Accurate Methods for the Statistics of Surprise and Coincidence", Computational Linguistics 19(1),
1993. Departure: it counts occurrences. Pages are counted here, because a page that repeats a word says no more about
the topic than one that uses it, and because that is what a keyword decides about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from operator import itemgetter
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from focuscrawl import words
from focuscrawl.judge import KeywordJudge, half_of
from focuscrawl.learning.texts import tells
from focuscrawl.page import Page

#: Words and phrases, each, that are looked at closely.
MOST_WORDS, MOST_PHRASES = 200, 200
#: A term on fewer relevant pages says little; a collocation must also occur this often.
LEAST_PAGES = 2
LEAST_OCCURRENCES = 3
#: G² that chance exceeds once in a thousand times (chi-squared, one degree of freedom), and once in twenty times, which
#: is enough for a term that is related to a keyword anyway.
SURPRISING = 10.83
_SURPRISING_IF_RELATED = 3.84
#: Two terms, one part of the other, that share so many of their pages say the same.
_SAME_PAGES = 0.8

_PUNCTUATION = re.compile(r"[.!?:;,|)\]\"](?!\w)|[(\[]|\s[-–—|]\s")

Stems = tuple[str, ...]


def stems_of(term: str, language: str) -> Stems:
    """The stems of a word or phrase of a language."""
    return tuple(words.stems(words.tokenize(term), language))


def language_of(pages: Iterable[Page]) -> str:
    """The language of most pages; English if there are none."""
    return max(Counter(page.language for page in pages).items(), key=itemgetter(1), default=("en", 0))[0]


class Change(NamedTuple):
    """Pages that a change of the keywords wins or loses, by side."""

    won: int
    won_others: int
    lost: int
    lost_others: int


class Suggestion(NamedTuple):
    """A term that the keywords lack."""

    #: The commonest form of the term on the relevant pages.
    term: str
    weight: float
    #: The pages that contain it.
    relevant: int
    others: int
    #: Dunning's G².
    likelihood: float
    change: Change
    #: Why it is a candidate: a word, a phrase, or its relation to a keyword.
    source: str


class Pages:
    """The pages of both sides, and what the keywords and the candidates find on them."""

    def __init__(self, relevant: Sequence[Page], others: Sequence[Page], terms: Iterable[str]) -> None:
        self.relevant, self.others = len(relevant), len(others)
        self.language = language_of(relevant)
        judge = KeywordJudge(dict.fromkeys(terms, 1.0))
        known = judge.terms(self.language)
        self._columns = {tuple(stems): column for column, (_, stems, _) in enumerate(known)}
        names = {name: column for column, (name, _, _) in enumerate(known)}
        #: A row per page, the relevant ones first; a column per term: what the term says for the page.
        self._found = np.zeros((len(relevant) + len(others), len(known)))
        for row, page in enumerate((*relevant, *others)):
            for name, evidence in judge.evidence(page).items():
                if name in names:  # in another language, other keywords have the same stem
                    self._found[row, names[name]] = evidence

    def _column(self, term: str) -> Any:
        return self._found[:, self._columns[stems_of(term, self.language)]]

    def having(self, term: str) -> tuple[int, int]:
        """The number of relevant and of other pages that contain a term."""
        found = self._column(term) > 0
        return int(found[: self.relevant].sum()), int(found[self.relevant :].sum())

    def overlap(self, term: str, other: str) -> float:
        """The share of the pages with either of two terms that have both."""
        one, two = self._column(term) > 0, self._column(other) > 0
        return float((one & two).sum()) / max(1, int((one | two).sum()))

    def relevance(self, keywords: Mapping[str, float]) -> Any:
        """The relevance of each page by keywords, as `KeywordJudge.coverage` has it."""
        terms = KeywordJudge(keywords).terms(self.language)  # of keywords with the same stems, the strongest
        columns = [self._columns[tuple(stems)] for _, stems, _ in terms]
        weights = np.array([weight for _, _, weight in terms])
        evidence = self._found[:, columns] @ weights / weights.max()
        return evidence / (evidence + half_of(weights.tolist()))

    def matched(self, keywords: Mapping[str, float], threshold: float) -> Any:
        """Whether each page is on topic by keywords."""
        return self.relevance(keywords) >= threshold - 1e-9 if keywords else np.zeros(len(self._found), dtype=bool)

    def change(self, before: Any, after: Any) -> Change:
        """What changes between two verdicts on all pages."""
        won, lost = after & ~before, before & ~after
        middle = self.relevant
        return Change(*(int(side.sum()) for side in (won[:middle], won[middle:], lost[:middle], lost[middle:])))


def suggest(
    relevant: Sequence[Page],
    others: Sequence[Page],
    keywords: Mapping[str, float],
    *,
    threshold: float,
    limit: int,
    related: Mapping[str, str] | None = None,
) -> list[Suggestion]:
    """The *limit* terms that tell the relevant pages best from the others, best first.

    *related*: further candidates, each with its relation to a keyword. If there are no pages, they are the suggestions.
    """
    related = related or {}
    candidates = _candidates(relevant, others, keywords, related)
    pages = Pages(relevant, others, [*keywords, *candidates])
    before = pages.matched(keywords, threshold)
    weight = _weight(keywords)
    found = []
    for term, source in candidates.items():
        having, having_others = pages.having(term)
        surprise = likelihood_ratio(having, having_others, pages.relevant, pages.others)
        least = _SURPRISING_IF_RELATED if term in related else SURPRISING
        if not relevant or (having >= _least_pages(relevant) and surprise >= least):
            change = pages.change(before, pages.matched({**keywords, term: weight}, threshold))
            found.append(Suggestion(term, weight, having, having_others, surprise, change, source))
    found.sort(key=lambda one: (-one.likelihood, -len(one.term), one.term))
    return _different(found, pages, limit)


def _different(ranked: Sequence[Suggestion], pages: Pages, limit: int) -> list[Suggestion]:
    """The best suggestions, without `saharan` and `saharan africa` if a better one is `sub saharan africa`."""
    kept: list[Suggestion] = []
    for one in ranked:
        inside = f" {one.term} "
        if len(kept) < limit and not any(
            (inside in f" {better.term} " or f" {better.term} " in inside)
            and pages.overlap(one.term, better.term) >= _SAME_PAGES
            for better in kept
        ):
            kept.append(one)
    return kept


def _least_pages(relevant: Sequence[Page]) -> int:
    """The number of relevant pages that must contain a term."""
    return min(LEAST_PAGES, len(relevant))


def _weight(keywords: Mapping[str, float]) -> float:
    """The weight of a new keyword: about that of the middle one."""
    return max(1.0, float(round(median(keywords.values())))) if keywords else 1.0


def likelihood_ratio(having: int, having_others: int, relevant: int, others: int) -> float:
    """Dunning's G² for a term on *having* of the relevant pages and *having_others* of the others.

    Negative if its share of the relevant pages is the smaller one.
    """
    from nltk.metrics import BigramAssocMeasures

    both = having + having_others
    if not both or not relevant or not others or both == relevant + others:
        return 0.0
    ratio = float(BigramAssocMeasures.likelihood_ratio(having, (both, relevant), relevant + others))
    return max(0.0, ratio) if having * others >= having_others * relevant else min(0.0, -ratio)


# ---- candidates


def _candidates(
    relevant: Sequence[Page], others: Sequence[Page], keywords: Mapping[str, float], related: Mapping[str, str]
) -> dict[str, str]:
    """Terms that are no keywords, as they are shown, and why each is a candidate."""
    language = language_of(relevant)
    taken = {stems_of(keyword, language) for keyword in keywords}
    found: dict[str, str] = {}
    for term, source in related.items():
        if (stems := stems_of(term, language)) not in taken:
            taken.add(stems)
            found[term] = source
    if not relevant:
        return found
    forms = Forms(relevant)
    for kind, several in (("word", _words(relevant, others)), ("phrase", phrases(relevant))):
        for stems in several:
            if stems not in taken:
                taken.add(stems)
                found[forms.of(stems)] = kind
    return found


def _words(relevant: Sequence[Page], others: Sequence[Page]) -> list[Stems]:
    """The words that tell relevant pages from others, best first."""
    having, having_others = (Counter(stem for page in side for stem in page.counts) for side in (relevant, others))
    least = _least_pages(relevant)
    ranked = [
        (likelihood_ratio(number, having_others[stem], len(relevant), len(others)), stem)
        for stem, number in having.items()
        if number >= least and _is_term(stem)
    ]
    ranked.sort(key=lambda one: (-one[0], one[1]))
    return [(stem,) for surprise, stem in ranked[:MOST_WORDS] if surprise > 0]


def _is_term(stem: str) -> bool:
    """Whether a stem can be a keyword, or the end of one: not a stop word, and not `8½`."""
    return tells(stem) and any(map(str.isalpha, stem))


def phrases(pages: Sequence[Page]) -> list[Stems]:
    """The collocations of pages: two or three stems that stand together more often than by chance, best first."""
    from nltk.collocations import BigramCollocationFinder, TrigramCollocationFinder
    from nltk.metrics import BigramAssocMeasures, TrigramAssocMeasures

    stretches = [stretch for page in pages for stretch in _stretches(page)]
    found: list[tuple[float, Stems]] = []
    for finder, measure in (
        (BigramCollocationFinder, BigramAssocMeasures.likelihood_ratio),
        (TrigramCollocationFinder, TrigramAssocMeasures.likelihood_ratio),
    ):
        collocations = finder.from_documents(stretches)
        collocations.apply_freq_filter(min(LEAST_OCCURRENCES, len(pages)))
        # padding between documents is None; words in the middle may be `of` or `for`
        collocations.apply_ngram_filter(
            lambda *stems: None in stems or not (_is_term(stems[0]) and _is_term(stems[-1]))
        )
        found += [(score, stems) for stems, score in collocations.score_ngrams(measure)[:MOST_PHRASES]]
    found.sort(key=lambda one: (-one[0], one[1]))
    return [stems for _, stems in found[:MOST_PHRASES]]


def _stretches(page: Page) -> Iterator[list[str]]:
    """The stems between two marks of punctuation, in the title and in each block: phrases do not span them.

    nltk's Punkt, which tells the end of a sentence from that of an abbreviation, takes three times as long. On four
    topics it changed none, none, none and 3 of the best 200 phrases.
    """
    texts = [
        page.title,
        *(page.raw_text[page.blocks[index].start : page.blocks[index].end] for index in page.main_blocks),
    ]
    counts = [len(words.tokenize(text)) for text in texts]
    for text, (start, end) in zip(texts, pairwise(accumulate(counts, initial=0)), strict=True):
        lengths = [len(words.tokenize(piece)) for piece in _PUNCTUATION.split(text)]
        if sum(lengths) != end - start:  # the page counts the words of this block differently
            lengths = [end - start]
        for begin, finish in pairwise(accumulate(lengths, initial=start)):
            if finish - begin > 1:
                yield page.stems[begin:finish]


class Forms:
    """The commonest forms of terms on pages: `array` for `arrai`."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = pages
        self._words: dict[str, Counter[str]] = {}
        for page in pages:
            for (word, stem), number in Counter(zip(page.words, page.stems, strict=True)).items():
                self._words.setdefault(stem, Counter())[word] += number

    def of(self, stems: Stems) -> str:
        """The commonest form of a term."""
        if len(stems) == 1:
            return _commonest(self._words[stems[0]])
        found: Counter[str] = Counter()
        rarest = min(stems, key=lambda stem: self._words[stem].total())
        offset = stems.index(rarest)
        for page in self._pages:
            for place in _places(page, rarest) if rarest in page.counts else ():
                start = place - offset
                if start >= 0 and tuple(page.stems[start : start + len(stems)]) == stems:
                    found[" ".join(page.words[start : start + len(stems)])] += 1
        return _commonest(found)


def _places(page: Page, stem: str) -> Iterator[int]:
    """Where a stem occurs on a page."""
    place = -1
    with suppress(ValueError):
        while True:
            place = page.stems.index(stem, place + 1)
            yield place


def _commonest(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))
