"""How relevant a page is: a linear judge of its words, from whatever part of a topic there is.

With examples and counterexamples it is a logistic regression. Otherwise it starts from keywords (given, or the heaviest
words of the seeds) and teaches itself from the pages that it judged most and least relevant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from focuscrawl.strategies.adaptive.reading import SIZE, Floats, Vector, general_frequencies
from focuscrawl.strategies.adaptive.regression import fit, sigmoid, used_columns

#: Pages whose words are counted for the document frequencies.
SAMPLE = 300
#: Pages that are kept to learn from.
KEPT = 2000
#: Words of the seeds that become keywords.
WORDS = 40
#: Pages from which the judge learns by itself for the first time.
FIRST = 15
_RIDGE = 0.1
_FOLDS = 5
#: Weight of the keywords relative to what examples say, and to what the crawl's own pages say.
_BESIDE_EXAMPLES = 0.3
_BESIDE_PAGES = 2.0
#: A cosine with the keywords that is high whatever the crawl has found so far.
_HIGH = 0.12


class Scale(NamedTuple):
    """How a score becomes log-odds: `slope * (score - middle)`."""

    middle: float
    slope: float


def logit(p: Any) -> Any:
    """Log-odds of probabilities."""
    return np.log(p) - np.log1p(-np.asarray(p))


def unit(values: Floats) -> Floats:
    """A vector of length 1, or nothing."""
    length = float(np.sqrt(values @ values))
    return values / length if length > 0 else values


class PageJudge:
    """Judges pages by their words.

    *keywords* are weights by word hash; *positives* and *negatives* are example pages, *seeds* stand for keywords if
    there are none.
    """

    def __init__(
        self, keywords: Mapping[int, float], positives: Sequence[Vector] = (), negatives: Sequence[Vector] = ()
    ) -> None:
        self.given = dict(keywords)
        self.positives, self.negatives = list(positives), list(negatives)
        self._general = 100 * general_frequencies()
        self._found = np.zeros(SIZE)
        self._sampled = 0
        #: Pages of the crawl, which the judge learns from, and their numbers.
        self.pages: list[Vector] = []
        self.numbers: list[int] = []
        self._best: list[float] = []
        self._learned = False
        self.idf = self._general
        #: The weight of each word in the score of a page whose vector has length 1.
        self.weights = np.zeros(SIZE)
        self.scale = Scale(_HIGH / 2, 6 / _HIGH)
        for vector in (*self.positives, *self.negatives):
            self._count(vector)
        self.seeds: list[Vector] = []
        self._prepare()

    @property
    def supervised(self) -> bool:
        """Whether there are examples and counterexamples."""
        return len(self.positives) > 1 and len(self.negatives) > 1

    def _count(self, vector: Vector) -> None:
        if self._sampled < SAMPLE:
            self._found[vector.words] += 1
            self._sampled += 1

    def _weigh_words(self) -> None:
        self.idf = np.maximum(0.0, np.log((self._sampled + 101) / (self._found + self._general + 0.5)))

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
            self._rescale()

    def _keywords(self) -> Floats:
        found = np.zeros(SIZE)
        for word, weight in (self.given or self._own_words()).items():
            found[word] += weight * self.idf[word]
        return unit(found)

    def _own_words(self) -> dict[int, float]:
        """The heaviest words of the seeds, or of examples without counterexamples."""
        total, number = np.zeros(SIZE), np.zeros(SIZE)
        for vector in self.positives or self.seeds:
            total[vector.words] += self.normal(vector)
            number[vector.words] += 1
        total *= np.minimum(number, 3)
        heaviest = np.argsort(-total, kind="stable")[:WORDS]
        return {int(word): float(total[word] / (self.idf[word] or 1.0)) for word in heaviest if total[word] > 0}

    def _matrix(self, vectors: Sequence[Vector]) -> csr_array:
        first = np.cumsum([0, *(len(vector.words) for vector in vectors)])
        words = np.concatenate([vector.words for vector in vectors])
        values = np.concatenate([self.normal(vector) for vector in vectors])
        return csr_array((values, words, first), shape=(len(vectors), SIZE))

    def _learn_from_examples(self) -> None:
        pages = self._matrix([*self.positives, *self.negatives])
        labels = np.repeat([1.0, 0.0], [len(self.positives), len(self.negatives)])
        self.weights = self._regression(pages, labels)
        # positives are scored by models that have not seen them
        scores = np.zeros(len(self.positives))
        for fold in range(_FOLDS):
            held_out = np.arange(len(labels)) % _FOLDS == fold
            mine = np.flatnonzero(held_out & (labels == 1))
            if len(mine):
                scores[mine] = pages[mine] @ self._regression(pages[~held_out], labels[~held_out])
        low = float(np.mean(pages[len(self.positives) :] @ self.weights))
        self._set_scale(float(np.mean(scores)), low)

    def _regression(self, pages: csr_array, labels: Floats) -> Floats:
        positive = labels.sum()
        balance = np.where(labels == 1, len(labels) / (2 * positive), len(labels) / (2 * (len(labels) - positive)))
        few, used = used_columns(pages)
        weights = np.zeros(SIZE)
        weights[used] = fit(few, labels, _RIDGE, importance=balance, rounds=100)
        return weights + _BESIDE_EXAMPLES * float(np.sqrt(weights @ weights)) * self.keywords

    def _set_scale(self, high: float, low: float) -> None:
        self.scale = Scale((high + low) / 2, 6 / max(high - low, 0.01))

    def _rescale(self) -> None:
        """By the keywords alone: the best pages so far are certain."""
        high = max(_HIGH, sum(self._best) / len(self._best) if self._best else 0.0)
        self.scale = Scale(high / 2, 6 / high)

    def learn_seed(self, vector: Vector) -> None:
        """A seed of a topic that has neither keywords nor examples."""
        self.seeds.append(vector)
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
        self._rescale()
        return True

    def teach_itself(self, before: Floats) -> None:
        """Learn from the crawl's own pages; *before*: the probabilities that they had so far."""
        self._weigh_words()
        self.keywords = self._keywords()
        pages = self._matrix(self.pages)
        by_keywords = pages @ self.keywords
        high = max(_HIGH, float(np.mean(np.sort(by_keywords)[-3:])))
        odds = 0.5 * 6 / high * (by_keywords - high / 2) + 0.5 * logit(np.clip(before, 0.02, 0.98))
        labels = np.clip(sigmoid(odds), 0.02, 0.98)
        known = [*self.positives, *self.seeds]
        if known:
            pages = self._matrix([*self.pages, *known])
            labels = np.concatenate([labels, np.full(len(known), 0.98)])
        importance = np.ones(len(labels))
        importance[len(self.pages) :] = 2
        yes, no = labels * importance, (1 - labels) * importance
        rocchio = unit((pages.T @ yes) / yes.sum() - (pages.T @ no) / no.sum())
        self.weights = unit(rocchio + _BESIDE_PAGES * self.keywords)
        scores = pages @ self.weights
        yes, no = labels * yes, (1 - labels) * no
        self._set_scale(float(scores @ yes / yes.sum()), float(scores @ no / no.sum()))
        self._learned = True

    # ---- judging

    def log_odds(self, vector: Vector) -> float:
        """The log-odds that a page is relevant."""
        score = float(self.normal(vector) @ self.weights[vector.words])
        return min(8.0, max(-8.0, self.scale.slope * (score - self.scale.middle)))

    def judge_kept(self) -> Floats:
        """The probabilities of the pages that are kept, by the current judge."""
        scores = self._matrix(self.pages) @ self.weights
        return sigmoid(np.clip(self.scale.slope * (scores - self.scale.middle), -8, 8))
