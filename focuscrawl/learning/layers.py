"""In which layer around the topic a page is, learned from pages of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p
from typing import Any

import numpy as np

from focuscrawl.learning import texts

#: The layer of pages that are in none.
OTHER = -1


class Layers:
    """A naive Bayes classifier over layers of pages: a table of words for each."""

    def __init__(self, layers: Sequence[int], priors: Sequence[float], weights: Mapping[str, Sequence[float]]) -> None:
        self.layers = list(layers)
        self.priors = np.array(priors)
        self.weights = {word: np.array(row) for word, row in weights.items()}

    @classmethod
    def train(cls, pages: Mapping[int, Sequence[texts.Counts]], features: int, selection: str) -> Layers:
        """Learn from pages by layer; layers count alike, however many pages of each are known."""
        from sklearn.naive_bayes import MultinomialNB

        labels = [layer for layer, found in pages.items() for _ in found]
        rows, names = texts.matrix([counts for found in pages.values() for counts in found])
        columns = texts.select(rows, [layer == 0 for layer in labels], features, selection)
        model = MultinomialNB(fit_prior=False).fit(texts.damped(rows[:, columns]), labels)
        weights = {names[column]: model.feature_log_prob_[:, n].tolist() for n, column in enumerate(columns)}
        return cls([int(layer) for layer in model.classes_], model.class_log_prior_.tolist(), weights)

    def probabilities(self, counts: texts.Counts) -> dict[int, float]:
        """How likely a page is in each layer."""
        total = self.priors.copy()
        length = 0.0
        for word in sorted(counts.keys() & self.weights.keys()):  # the last digit of a sum depends on the order
            total += log1p(counts[word]) * self.weights[word]
            length += log1p(counts[word])
        # per word, as if all pages were as long as one screen: the sum alone is sure of everything
        total = total * (20 / max(20.0, length))
        odds = np.exp(total - total.max())
        return dict(zip(self.layers, map(float, odds / odds.sum()), strict=True))

    def to_json(self) -> dict[str, Any]:
        """The classifier as JSON."""
        weights = {word: row.tolist() for word, row in self.weights.items()}
        return {"layers": self.layers, "priors": self.priors.tolist(), "weights": weights}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Layers:
        """The classifier that `to_json` wrote."""
        return cls(data["layers"], data["priors"], data["weights"])
