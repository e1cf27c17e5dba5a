"""How relevant a page is: a linear judge of its words, from whatever part of a topic there is.

With examples and counterexamples it is a logistic regression. Otherwise it starts from keywords (given, or the heaviest
words of the seeds) and teaches itself from the pages that it judged most and least relevant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from focuscrawl.judge import SATURATION, KeywordJudge
from focuscrawl.language.frequencies import RARE, frequency_table
from focuscrawl.language.languages import NAMES
from focuscrawl.strategies.adaptive.checkpoint import Arrays, check_range, joined, parted
from focuscrawl.strategies.adaptive.hashing import SIZE, hash_of, hashes
from focuscrawl.strategies.adaptive.reading import NO_EMBEDDING, Embedding, Floats, Vector
from focuscrawl.strategies.adaptive.regression import fit, sigmoid, used_columns
from focuscrawl.strategies.adaptive.scales import Scale, balance, between, scale_of, worth_beside

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Pages whose words are counted for the document frequencies.
SAMPLE = 300
#: Pages that are kept to learn from.
KEPT = 2000
#: Words of the seeds that become keywords.
WORDS = 40
#: Pages from which the judge learns by itself for the first time.
FIRST = 15
#: Marked pages of either kind from which they count like the examples of a topic. Fewer are too alike: a judge that
#: knows nothing else takes any other page for relevant.
MANY = 30
_RIDGE = 0.1
_RIDGE_OF_MARKS = 0.005
_FOLDS = 5
#: Where pages are in doubt on the way from counterexamples to examples, and the log-odds of the whole way.
_BORDER, _STEEP = 0.65, 7.0
#: Weight of the keywords relative to what examples say, and to what the crawl's own pages say.
_BESIDE_EXAMPLES = 0.3
_BESIDE_PAGES = 2.0
#: How far the coverage of the keywords counts beside what examples say, of what it could by telling these apart: the
#: words are judged by examples that they were not learned from, while keywords may have been chosen by them.
_COVERAGE_SHARE = 0.5
#: A cosine with the keywords that is high whatever the crawl has found so far, and a coverage of them.
_HIGH = 0.12
_HIGH_COVERAGE = 0.4
#: The part of the words that the judge has taught itself, beside the keywords.
_WORDS_SHARE = 0.25
#: The part of the meaning of words, beside them.
_MEANING_SHARE = 0.5
#: The codes that languages are kept by in the crawl's file.
_LANGUAGES = ("", *NAMES)
#: How the cosine of a page's embedding with the topic's becomes log-odds, at most these: the topic is given by words,
#: or by pages.
_MOST_MEANING = 6.0
#: Without counterexamples, many relevant pages get a probability below 0.5 by the words of seeds or examples, which fit
#: themselves best; keywords need no correction.
_STRICTNESS, _STRICTNESS_OF_PAGES = 0.0, 2.0
#: Columns that are kept in the crawl's file.
_BY_WORD = ("found", "idf", "weights", "keywords", "own", "marked")
_BY_MEANING = Scale(0.22, 18.0)
_BY_PAGES = Scale(0.4, 18.0)


def logit(p: Any) -> Any:
    """Log-odds of probabilities."""
    return np.log(p) - np.log1p(-np.asarray(p))


def unit(values: Floats) -> Floats:
    """A vector of length 1, or nothing."""
    length = float(np.sqrt(values @ values))
    return values / length if length > 0 else values


class PageJudge:
    """Judges pages by their words.

    *positives* and *negatives* are example pages; the seeds stand for *keywords* if there are none.
    """

    def __init__(
        self,
        keywords: KeywordJudge | None = None,
        positives: Sequence[Vector] = (),
        negatives: Sequence[Vector] = (),
        topic: Embedding = NO_EMBEDDING,
        without_average: Callable[[Embedding], Embedding] | None = None,
    ) -> None:
        self.given = keywords
        #: The keywords by language: the weights of their words, by hash. Only of languages that pages were in.
        self._given_in: dict[str, dict[int, float]] = {}
        self._topic, self._without_average = topic, without_average
        #: The direction of the topic among the embeddings of pages, as given and as learned; empty without embeddings.
        self._direction0: Floats = NO_EMBEDDING.astype(np.float64)
        self.direction = self._direction0
        self._scale0 = self.direction_scale = _BY_MEANING
        self.positives, self.negatives = list(positives), list(negatives)
        self.beforehand = self.positives, self.negatives  # without those that people have marked
        self._general = np.full(SIZE, 100 * RARE)
        self.found = np.zeros(SIZE)
        self._sampled = 0
        #: Pages of the crawl, which the judge learns from, and their numbers.
        self.pages: list[Vector] = []
        self.numbers: list[int] = []
        #: The best cosines with the keywords so far, and the best coverages.
        self._best: list[float] = []
        self._best_covered: list[float] = []
        self._learned = False
        self._strictness = self._usual_strictness
        self.idf = self._general
        #: The weight of each word in the score of a page whose vector has length 1.
        self.weights = np.zeros(SIZE)
        #: The weights of the heaviest words of seeds or examples, if they stand for keywords.
        self.own = np.zeros(SIZE)
        #: What the words of marked pages add to the log-odds, unless these are examples like those of a topic.
        self.marked = np.zeros(SIZE)
        self.scale = self._coverage_scale = Scale(_HIGH / 2, 6 / _HIGH)
        #: What full coverage of the keywords adds to a score learned from examples, and how both become log-odds.
        self._covered = 0.0
        self._examples_scale = self.scale
        for vector in (*self.positives, *self.negatives):
            self._add_language(vector.language)
            self._count(vector)
        self.seeds: list[Vector] = []
        self._prepare()

    @property
    def about(self) -> str:
        """The keywords as text, which tells topics apart."""
        return repr(self.given)

    @property
    def supervised(self) -> bool:
        """Whether there are examples and counterexamples: of the topic, or many that people have marked."""
        marked = min(len(self.positives), len(self.negatives))
        return min(map(len, self.beforehand)) > 1 or marked >= MANY

    @property
    def strictness(self) -> float:
        """How much too low its log-odds are once it has taught itself: the best pages are the measure of the others."""
        return self._strictness if self._learned and not self.supervised else 0.0

    @property
    def _usual_strictness(self) -> float:
        return _STRICTNESS if self.given is not None else _STRICTNESS_OF_PAGES

    @property
    def has_vectors(self) -> bool:
        """Whether the meaning of words counts."""
        return self._without_average is not None

    def meet(self, vector: Vector) -> bool:
        """Learn how common the words of a page's language are, and the keywords in it; returns whether it is new."""
        if vector.language in self._given_in:
            return False
        self._add_language(vector.language)
        self._weigh_words()
        self.keywords = self._keywords()
        if not self.supervised and not self._learned:
            self.weights = self.keywords
        return True

    def _add_language(self, language: str) -> None:
        if language in self._given_in:
            return
        for share, stems in frequency_table(language):
            places = list(map(hash_of, stems))  # not remembered: what was learned is named after words of pages
            self._general[places] = np.maximum(self._general[places], 100 * share)
        given = self._given_in[language] = {}
        for _, stems, weight in self.given.terms(language) if self.given is not None else ():
            for place in hashes(stems):
                given[place] = max(given.get(place, 0.0), weight)

    def _count(self, vector: Vector) -> None:
        if self._sampled < SAMPLE:
            self.found[vector.words] += 1
            self._sampled += 1

    def _weigh_words(self) -> None:
        self.idf = np.maximum(0.0, np.log((self._sampled + 101) / (self.found + self._general + 0.5)))

    def normal(self, vector: Vector) -> Floats:
        """The weights of a page's words, scaled to length 1."""
        return unit(vector.counts * self.idf[vector.words])

    # ---- learning

    def _prepare(self) -> None:
        """Weights from what is known beforehand."""
        self._weigh_words()
        self.keywords = self._keywords()
        if self.supervised:
            self._learn_from_examples()
        else:
            self.weights = self.keywords
            self._aim()
            self._rescale()

    def _aim(self) -> None:
        """The direction of the topic: that of the keywords and of the pages that stand for it."""
        known = [vector.embedding for vector in (*self.positives, *self.seeds) if len(vector.embedding)]
        aims = [self._topic] if len(self._topic) else []
        self._scale0 = _BY_MEANING
        if known and self._without_average is not None:
            aims.append(self._without_average(np.asarray(np.mean(known, axis=0))))
            self._scale0 = _BY_MEANING if len(self._topic) else _BY_PAGES
        if aims:
            self._direction0 = unit(np.sum(aims, axis=0))
        self.direction, self.direction_scale = self._direction0, self._scale0

    def _keywords(self) -> Floats:
        """The weights of the keywords' words; those of each language have length 1 together."""
        total = np.zeros(SIZE)
        for given in self._given_in.values() if self.given is not None else [self._own_words()]:
            found = np.zeros(SIZE)
            for word, weight in given.items():
                found[word] += weight * self.idf[word]
            total = np.maximum(total, unit(found))
        return total

    def _own_words(self) -> dict[int, float]:
        """The heaviest words of the seeds, or of examples without counterexamples."""
        total, number = np.zeros(SIZE), np.zeros(SIZE)
        for vector in self.positives or self.seeds:
            total[vector.words] += self.normal(vector)
            number[vector.words] += 1
        total *= np.minimum(number, 3)
        heaviest = np.argsort(-total, kind="stable")[:WORDS]
        self.own = np.zeros(SIZE)
        self.own[heaviest] = total[heaviest] / (float(total[heaviest].sum()) or 1.0)
        return {int(word): float(total[word] / (self.idf[word] or 1.0)) for word in heaviest if total[word] > 0}

    def _matrix(self, vectors: Sequence[Vector]) -> csr_array:
        from scipy.sparse import csr_array

        first = np.cumsum([0, *(len(vector.words) for vector in vectors)])
        words = np.concatenate([vector.words for vector in vectors])
        values = np.concatenate([self.normal(vector) for vector in vectors])
        return csr_array((values, words, first), shape=(len(vectors), SIZE))

    def _learn_from_examples(self) -> None:
        pages = self._matrix([*self.positives, *self.negatives])
        labels = np.repeat([1.0, 0.0], [len(self.positives), len(self.negatives)])
        self.weights = self._regression(pages, labels)
        # all are scored by models that have not seen them, as the pages of the crawl will be
        scores = np.zeros(len(labels))
        for fold in range(_FOLDS):
            held_out = np.flatnonzero(np.arange(len(labels)) % _FOLDS == fold)
            rest = np.flatnonzero(np.arange(len(labels)) % _FOLDS != fold)
            if len(held_out):
                scores[held_out] = pages[held_out] @ self._regression(pages[rest], labels[rest])
        self.scale = scale_of(scores, labels, 1 - labels, _BORDER, _STEEP)
        coverages = self._coverages([*self.positives, *self.negatives])
        given = self.given is not None  # words of the examples themselves say no more
        self._covered = _COVERAGE_SHARE * worth_beside(coverages, scores, labels) if given else 0.0
        self._examples_scale = scale_of(scores + self._covered * coverages, labels, 1 - labels, _BORDER, _STEEP)

    def _regression(self, pages: csr_array, labels: Floats) -> Floats:
        few, used = used_columns(pages)
        weights = np.zeros(SIZE)
        weights[used] = fit(few, labels, _RIDGE, importance=balance(labels))
        return weights + _BESIDE_EXAMPLES * float(np.sqrt(weights @ weights)) * self.keywords

    def _rescale(self) -> None:
        """By the keywords alone: the best pages so far are certain."""
        self.scale = between(self._best, _HIGH)
        self._coverage_scale = between(self._best_covered, _HIGH_COVERAGE)

    def learn_seed(self, vector: Vector) -> None:
        """A seed of a topic that has neither keywords nor examples."""
        self.seeds.append(vector)
        self._prepare()

    def learn_marks(self, marked: Sequence[tuple[Vector, float]]) -> None:
        """Pages that people have labelled, all of them, are further examples and counterexamples."""
        self.positives = [*self.beforehand[0], *(vector for vector, label in marked if label)]
        self.negatives = [*self.beforehand[1], *(vector for vector, label in marked if not label)]
        self._prepare()

    def note(self, number: int, vector: Vector) -> bool:
        """Take in a page of the crawl; returns whether the judge has changed."""
        self._count(vector)
        if self.supervised:
            return False
        if len(self.pages) < KEPT:
            self.pages.append(vector)
            self.numbers.append(number)
        if self._learned:
            return False
        self._best = sorted([*self._best, float(self.normal(vector) @ self.keywords[vector.words])])[-3:]
        self._best_covered = sorted([*self._best_covered, self._coverage(vector)])[-3:]
        self._rescale()
        return True

    def teach_itself(self, before: Floats) -> None:
        """Learn from the crawl's own pages; *before*: the probabilities that they had so far."""
        self._weigh_words()
        self.keywords = self._keywords()
        pages = self._matrix(self.pages)
        by_keywords = self._coverages(self.pages)
        given = between(np.sort(by_keywords)[-3:].tolist(), _HIGH_COVERAGE).odds(by_keywords)
        meaning = self._embeddings(self.pages)
        if meaning is not None:
            given = _with_meaning(given, meaning, self._direction0, self._scale0)
        odds = 0.5 * given + 0.5 * logit(np.clip(before, 0.02, 0.98))
        labels = np.clip(sigmoid(odds), 0.02, 0.98)
        known = [*self.positives, *self.seeds, *self.negatives]
        if known:
            pages = self._matrix([*self.pages, *known])
            certain = np.full(len(known), 0.98)
            certain[len(known) - len(self.negatives) :] = 0.02
            labels = np.concatenate([labels, certain])
        importance = np.ones(len(labels))
        importance[len(self.pages) :] = 2
        yes, no = labels * importance, (1 - labels) * importance
        self.weights = unit(_rocchio(pages, yes, no) + _BESIDE_PAGES * self.keywords)
        sure, unsure = labels * yes, (1 - labels) * no
        self.scale = scale_of(pages @ self.weights, sure, unsure)
        self._coverage_scale = scale_of(self._coverages([*self.pages, *known]), sure, unsure)
        meaning = self._embeddings([*self.pages, *known])
        if meaning is not None and (has := meaning.any(axis=1)).any():
            self.direction = unit(_rocchio(meaning, yes * has, no * has) + _BESIDE_PAGES * self._direction0)
            self.direction_scale = scale_of(meaning @ self.direction, sure * has, unsure * has)
        self._learned = True
        self._correct()

    def _correct(self) -> None:
        """Learn from marks where the border between relevant and other pages lies, and what their words add."""
        from scipy.sparse import csr_array, hstack

        self.marked = np.zeros(SIZE)
        yes, no = (
            known[len(before) :]
            for known, before in zip((self.positives, self.negatives), self.beforehand, strict=True)
        )
        odds = np.array([self.log_odds(vector) for vector in (*yes, *no)]) + self._usual_strictness
        labels = np.repeat([1.0, 0.0], [len(yes), len(no)])
        border, used = csr_array(np.ones((len(labels), 1))), np.zeros(0, dtype=np.int64)
        rows = border
        if yes and no:  # marks of one kind do not tell which words count
            pages, used = used_columns(self._matrix([*yes, *no]))
            rows = csr_array(hstack([pages, border]))
        *by_word, shift = fit(rows, labels, np.append(np.full(len(used), _RIDGE_OF_MARKS), 1.0), offset=odds)
        self.marked[used] = by_word
        self._strictness = self._usual_strictness + float(shift)

    def _coverage(self, vector: Vector) -> float:
        """How well a page covers the keywords, or the heaviest words of the pages that stand for them."""
        if self.given is not None:
            return vector.coverage
        weights = self.own[vector.words]
        numbers = np.exp(vector.counts - 1)
        full = np.log1p(max(1.0, float(numbers.sum()) * SATURATION))
        return float(weights @ np.minimum(1, np.log1p(numbers) / full))

    def _coverages(self, vectors: Sequence[Vector]) -> Floats:
        return np.array(list(map(self._coverage, vectors)))

    def _embeddings(self, vectors: Sequence[Vector]) -> Floats | None:
        """The embeddings of pages, nothing for pages without one; None if meanings do not count."""
        size = len(self._direction0)
        if not size:
            return None
        none = np.zeros(size, dtype=np.float32)
        return np.array([vector.embedding if len(vector.embedding) else none for vector in vectors], dtype=np.float64)

    # ---- judging

    def log_odds(self, vector: Vector) -> float:
        """The log-odds that a page is relevant."""
        normal = self.normal(vector)
        score, corrected = normal @ self.weights[vector.words], normal @ self.marked[vector.words]
        together = self._together(score, self._coverage(vector), self._embeddings([vector]))
        return float(np.squeeze(together)) + (0.0 if self.supervised else float(corrected))

    def judge_kept(self) -> Floats:
        """The probabilities of the pages that are kept, by the current judge."""
        pages = self._matrix(self.pages)
        odds = self._together(pages @ self.weights, self._coverages(self.pages), self._embeddings(self.pages))
        return np.asarray(sigmoid(odds if self.supervised else odds + pages @ self.marked))

    def _together(self, scores: Any, coverages: Any, embeddings: Floats | None) -> Any:
        """Log-odds by words, by the keywords and by the meaning of words, as far as there are any."""
        odds = self.scale.odds(scores)
        if self.supervised:
            odds = self._examples_scale.odds(scores + self._covered * coverages)
        else:
            by_keywords = self._coverage_scale.odds(coverages)
            odds = _WORDS_SHARE * odds + (1 - _WORDS_SHARE) * by_keywords if self._learned else by_keywords
        if embeddings is not None:
            odds = _with_meaning(odds, embeddings, self.direction, self.direction_scale)
        return np.minimum(np.maximum(odds, -8), 8)

    # ---- keeping

    def state(self) -> Arrays:
        """What was learned from the crawl, to go on from there."""
        vectors = [*self.pages, *self.seeds]
        found: Arrays = {name: getattr(self, name) for name in _BY_WORD}
        found |= {"direction": self.direction, "direction0": self._direction0}
        found |= joined("words", [vector.words for vector in vectors], np.int32)
        found |= joined("counts", [vector.counts for vector in vectors], np.float32)
        found |= joined("embeddings", [vector.embedding for vector in vectors], np.float32)
        found |= {
            "numbers": np.array(self.numbers, dtype=np.int64),
            "coverages": np.array([vector.coverage for vector in vectors]),
        }
        found |= {"best": np.array(self._best), "best covered": np.array(self._best_covered)}
        found["languages"] = np.array([_LANGUAGES.index(vector.language) for vector in vectors], dtype=np.int32)
        found["languages met"] = np.array([_LANGUAGES.index(code) for code in self._given_in], dtype=np.int32)
        scales = (self.scale, self._coverage_scale, self._examples_scale, self._scale0, self.direction_scale)
        found["judge"] = np.array([self._sampled, self._learned, self._covered, *np.ravel(scales)])
        return found

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError or KeyError if it is not one."""
        if any(state[name].shape != (SIZE,) for name in _BY_WORD) or state["judge"].shape != (13,):
            raise ValueError("the judge has another size")
        check_range("words", state["words"], SIZE)
        for name in ("languages", "languages met"):
            check_range(name, state[name], len(_LANGUAGES))
        parts = [parted(name, state) for name in ("words", "counts", "embeddings")]
        codes = [_LANGUAGES[place] for place in state["languages"].tolist()]
        vectors = [Vector(*one) for one in zip(*parts, state["coverages"].tolist(), codes, strict=True)]
        wide = len(state["direction0"]) if self.has_vectors else 0
        if any(len(vector.words) != len(vector.counts) or len(vector.embedding) not in (0, wide) for vector in vectors):
            raise ValueError("pages differ in length")
        if len(self._topic) not in (0, wide) or {len(state[name]) for name in ("direction", "direction0")} != {wide}:
            raise ValueError("word vectors differ in length")
        for place in state["languages met"].tolist():
            self._add_language(_LANGUAGES[place])
        self.numbers = state["numbers"].tolist()
        for name in _BY_WORD:
            setattr(self, name, state[name])
        self.direction, self._direction0 = state["direction"], state["direction0"]
        self._best, self._best_covered = state["best"].tolist(), state["best covered"].tolist()
        self.pages, self.seeds = vectors[: len(self.numbers)], vectors[len(self.numbers) :]
        sampled, learned, self._covered, *numbers = state["judge"].tolist()
        self._sampled, self._learned = int(sampled), bool(learned)
        scales = [Scale(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
        self.scale, self._coverage_scale, self._examples_scale, self._scale0, self.direction_scale = scales


def _with_meaning(odds: Any, embeddings: Floats, direction: Floats, scale: Scale) -> Floats:
    """Log-odds by words and by their meaning; by words alone for pages without an embedding."""
    by_meaning = np.clip(scale.odds(embeddings @ direction), -_MOST_MEANING, _MOST_MEANING)
    share = _MEANING_SHARE * embeddings.any(axis=1)
    return np.asarray((1 - share) * odds + share * by_meaning)


def _rocchio(pages: Any, yes: Floats, no: Floats) -> Floats:
    """The direction from the mean of the other pages to that of the relevant ones."""
    return unit((pages.T @ yes) / yes.sum() - (pages.T @ no) / no.sum())
