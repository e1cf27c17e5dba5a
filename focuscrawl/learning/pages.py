"""A judge of pages, trained on examples and counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from focuscrawl.learning import texts
from focuscrawl.learning.table import WordTable, squash
from focuscrawl.page import Judgement, Page

KINDS = ("bayes", "linear")
#: Minimum number of examples, and of counterexamples.
LEAST = 3

_FOLDS = 5


class LearnedJudge:
    """Judges the relevance of a page by its words.

    The model's log-odds are calibrated (Platt scaling) for the rarity of the topic: a page is relevant if it is more
    likely on the topic than not, among pages of which only the share *rarity* is.
    """

    def __init__(self, kind: str, table: WordTable) -> None:
        self.kind = kind
        self.table = table

    @classmethod
    def train(
        cls,
        examples: Sequence[texts.Counts],
        counterexamples: Sequence[texts.Counts],
        *,
        kind: str = "bayes",
        features: int = 500,
        selection: str = "df",
        rarity: float = 0.1,
    ) -> LearnedJudge:
        """Train on pages on and off the topic, given as counts of their stems."""
        from sklearn.model_selection import StratifiedKFold

        rows, names = texts.matrix([*examples, *counterexamples])
        labels = np.array([1] * len(examples) + [0] * len(counterexamples))
        fit = _bayes(features, selection) if kind == "bayes" else _linear
        if not names:
            raise ValueError("the examples contain no words")
        scores = np.zeros(len(labels))
        folds = StratifiedKFold(min(_FOLDS, len(examples), len(counterexamples)), shuffle=True, random_state=0)
        for known, asked in folds.split(rows, labels):
            table = fit(rows[known], labels[known], names)
            for index in asked:
                scores[index] = table.log_odds(_counts(rows[index], names))
        slope, offset = _calibrate(scores, labels, rarity)
        return cls(kind, fit(rows, labels, names).scaled(slope, offset))

    def log_odds(self, page: Page) -> float:
        """The log-odds that a page is on the topic."""
        return self.table.log_odds(page.counts)

    def judge(self, page: Page, threshold: float) -> Judgement:
        """The judgement of a page, with the words that contributed most."""
        relevance = squash(self.log_odds(page))
        return Judgement(relevance, relevance >= threshold, self.table.reasons(page.counts))

    def to_json(self) -> dict[str, Any]:
        """The judge as JSON."""
        return {"kind": self.kind, **self.table.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LearnedJudge:
        """The judge that `to_json` wrote."""
        return cls(data["kind"], WordTable.from_json(data))


def bayes_for_links(
    examples: Sequence[texts.Counts],
    counterexamples: Sequence[texts.Counts],
    *,
    features: int,
    selection: str,
    rarity: float,
) -> WordTable:
    """Naive Bayes over the words of links, from pages on and off the topic.

    It is not calibrated as the judge is: that would weaken each word, because pages have hundreds and links have few.
    """
    rows, names = texts.matrix([*examples, *counterexamples])
    labels = np.array([1] * len(examples) + [0] * len(counterexamples))
    return WordTable(_bayes(features, selection)(rows, labels, names).weights, log(rarity / (1 - rarity)))


Fit = Callable[[Any, Any, list[str]], WordTable]


def _bayes(features: int, selection: str) -> Fit:
    from sklearn.naive_bayes import MultinomialNB

    def fit(rows: Any, labels: Any, names: list[str]) -> WordTable:
        columns = texts.select(rows, labels, features, selection)
        model = MultinomialNB().fit(texts.damped(rows[:, columns]), labels)
        ratios = model.feature_log_prob_[1] - model.feature_log_prob_[0]
        return WordTable({names[column]: float(ratio) for column, ratio in zip(columns, ratios, strict=True)}, 0.0)

    return fit


def _linear(rows: Any, labels: Any, names: list[str]) -> WordTable:
    from scipy.sparse import diags
    from sklearn.preprocessing import normalize
    from sklearn.svm import LinearSVC

    frequency = texts.document_frequency(rows, labels)
    columns = np.flatnonzero(frequency >= 2)
    if not len(columns):
        columns = np.flatnonzero(frequency)
    idf = np.log((1 + rows.shape[0]) / (1 + frequency[columns])) + 1
    model = LinearSVC(random_state=0).fit(normalize(texts.damped(rows[:, columns]) @ diags(idf)), labels)
    chosen = [names[column] for column in columns]
    weights = dict(zip(chosen, map(float, model.coef_[0] * idf), strict=True))
    return WordTable(weights, float(model.intercept_[0]), dict(zip(chosen, map(float, idf), strict=True)))


def _counts(row: Any, names: list[str]) -> dict[str, int]:
    return {names[column]: int(count) for column, count in zip(row.indices, row.data, strict=True)}


def _calibrate(scores: Any, labels: Any, rarity: float) -> tuple[float, float]:
    """Slope and offset that turn scores into log-odds for a topic of this rarity."""
    from sklearn.linear_model import LogisticRegression

    spread = float(scores.std()) or 1.0
    model = LogisticRegression(C=100).fit((scores / spread)[:, None], labels)
    positive = float(labels.mean())
    slope = (
        max(float(model.coef_[0, 0]), 1e-6) / spread
    )  # positive, so that the model's order is kept even if it predicts little
    offset = float(model.intercept_[0]) - log(positive / (1 - positive)) + log(rarity / (1 - rarity))
    return slope, offset
