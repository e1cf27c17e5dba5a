"""Classify pages into layers around the topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p
from typing import Any

import numpy as np

from focuscrawl.learning import texts

#: The class of pages in none of the layers.
OTHER = -1


class Layers:
    """A naive Bayes classifier over layers: each word has a weight per layer."""

    def __init__(self, layers: Sequence[int], priors: Sequence[float], weights: Mapping[str, Sequence[float]]) -> None:
        self.layers = list(layers)
        self.priors = np.array(priors)
        self.weights = {word: np.array(row) for word, row in weights.items()}

    @classmethod
    def train(cls, pages: Mapping[int, Sequence[texts.Counts]], features: int, selection: str) -> Layers:
        """Train on pages by layer; all layers have the same prior, however many pages are known of each."""
        from sklearn.naive_bayes import MultinomialNB

        labels = [layer for layer, found in pages.items() for _ in found]
        rows, names = texts.matrix([counts for found in pages.values() for counts in found])
        columns = texts.select(rows, [layer == 0 for layer in labels], features, selection)
        model = MultinomialNB(fit_prior=False).fit(texts.damped(rows[:, columns]), labels)
        weights = {names[column]: model.feature_log_prob_[:, n].tolist() for n, column in enumerate(columns)}
        return cls([int(layer) for layer in model.classes_], model.class_log_prior_.tolist(), weights)

    def probabilities(self, counts: texts.Counts) -> dict[int, float]:
        """The probability of each layer for a page."""
        total = self.priors.copy()
        length = 0.0
        for word in sorted(counts.keys() & self.weights.keys()):  # floating-point sums depend on the order
            total += log1p(counts[word]) * self.weights[word]
            length += log1p(counts[word])
        # normalise by length, or long pages would get probabilities of 0 and 1
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
