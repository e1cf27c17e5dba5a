"""The four attributes of a link, and classifiers over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, log, nextafter, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from focuscrawl.learning import texts
from focuscrawl.learning.table import squash
from focuscrawl.page import Link

#: Number of bins per attribute: one for 0, and the others with equal numbers of pairs.
BINS = 5
#: Minimum number of pairs of each class.
LEAST = 5


class Attributes(NamedTuple):
    """What is known about a link before it is followed; each value is from 0 to 1."""

    url: float
    anchor: float
    #: Mean relevance of the known pages that link there. The others are similarities to the weight table.
    parents: float
    surrounding: float


class WeightTable:
    """The words of a topic with the highest weights; the highest weight is 1."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)
        self._length = sqrt(sum(weight * weight for weight in self.weights.values())) or 1.0

    @classmethod
    def of(
        cls, pages: Sequence[texts.Counts], others: Sequence[texts.Counts], size: int, stop_share: float = 0.0
    ) -> WeightTable:
        """The tf-idf table of *pages*, which a query for the topic found; *others* tell which words are common.

        Stop words are those of a fixed list or, with a *stop_share*, the words on more than that share of the pages.
        """
        keeps = texts.tells_in([pages, others], stop_share) if stop_share else texts.tells
        rows, names = texts.matrix([*pages, *others], keeps)
        if not names:
            return cls({})
        frequency = texts.document_frequency(rows, None)
        idf = np.log((1 + rows.shape[0]) / (1 + frequency)) + 1
        weight = np.asarray(texts.damped(rows[: len(pages)]).mean(axis=0)).ravel() * idf
        # a word that is as frequent on other pages says nothing about the topic
        if others:
            weight -= np.asarray(texts.damped(rows[len(pages) :]).mean(axis=0)).ravel() * idf
        best = [index for index in np.argsort(-weight, kind="stable")[:size] if weight[index] > 0]
        return cls({names[index]: float(weight[index] / weight[best[0]]) for index in best})

    def similarity(self, found: Iterable[str]) -> float:
        """The cosine of some words with the table."""
        distinct = dict.fromkeys(found)  # in order: floating-point sums depend on it
        if not distinct:
            return 0.0
        get = self.weights.get
        return min(1.0, sum([get(word, 0.0) for word in distinct]) / (sqrt(len(distinct)) * self._length))

    def attributes(self, link: Link, parents: float) -> Attributes:
        """The four attributes of a link."""
        return Attributes(
            self.similarity(link.stems(link.url_words)),
            self.similarity(link.anchor_stems),
            parents,
            self.similarity(link.stems([*link.before(), *link.after()])),
        )


class Classifier(Protocol):
    """Predicts whether links lead to relevant pages."""

    def log_odds(self, rows: Sequence[Attributes]) -> Sequence[float]:
        """The log-odds of each link that it leads to a relevant page."""


def learn(kind: str, pairs: Sequence[Attributes], labels: Sequence[bool]) -> Classifier | None:
    """Train a classifier on links, labelled by the relevance of their targets; None with too few pairs of a class."""
    if min(sum(labels), len(labels) - sum(labels)) < LEAST:
        return None
    return BayesClassifier(pairs, labels) if kind == "bayes" else TreeClassifier(pairs, labels)


def least_score(kind: str, cut: float) -> float:
    """The lowest score (squashed log-odds) of a link that is predicted relevant.

    By Bayes' rule, the probability must be above *cut*; a tree's confidence may equal it.
    """
    score = squash(log(cut / (1 - cut)))
    return nextafter(score, inf) if kind == "bayes" else score


class BayesClassifier:
    """Naive Bayes over binned attributes, smoothed after Laplace: log P(x | yes) P(yes) / (P(x | no) P(no))."""

    def __init__(self, pairs: Sequence[Attributes], labels: Sequence[bool]) -> None:
        from sklearn.naive_bayes import CategoricalNB

        values = np.asarray(pairs, dtype=float)
        self._edges = [_edges(column) for column in values.T]
        model = CategoricalNB(min_categories=BINS).fit(self._binned(values), np.asarray(labels, dtype=int))
        #: What each bin of each attribute adds to the log-odds.
        self._ratios = [table[1] - table[0] for table in model.feature_log_prob_]
        self._prior = float(model.class_log_prior_[1] - model.class_log_prior_[0])

    def _binned(self, values: Any) -> Any:
        return np.column_stack(
            [np.searchsorted(edges, column, side="left") for edges, column in zip(self._edges, values.T, strict=True)]
        )

    def log_odds(self, rows: Sequence[Attributes]) -> Sequence[float]:
        bins = self._binned(np.asarray(rows, dtype=float).reshape(-1, 4))
        total = np.full(len(bins), self._prior)
        for ratios, column in zip(self._ratios, bins.T, strict=True):
            total += ratios[column]
        return list(map(float, total))


def _edges(column: Any) -> Any:
    """The upper bounds of all bins but the last: 0, then quantiles of the positive values."""
    above = column[column > 0]
    quantiles = np.quantile(above, np.linspace(0, 1, BINS)[1:-1]) if len(above) else np.array([])
    return np.concatenate([[0.0], np.unique(quantiles)])


class TreeClassifier:
    """A decision tree over the attributes; a fitted sigmoid maps the share of relevant links in a leaf to log-odds."""

    def __init__(self, pairs: Sequence[Attributes], labels: Sequence[bool]) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.tree import DecisionTreeClassifier

        values, wanted = np.asarray(pairs, dtype=float), np.asarray(labels, dtype=int)
        self._tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=LEAST, random_state=0).fit(values, wanted)
        self._sigmoid = LogisticRegression().fit(self._tree.predict_proba(values)[:, 1:], wanted)

    def log_odds(self, rows: Sequence[Attributes]) -> Sequence[float]:
        shares = self._tree.predict_proba(np.asarray(rows, dtype=float).reshape(-1, 4))[:, 1:]
        return list(map(float, self._sigmoid.decision_function(shares)))
