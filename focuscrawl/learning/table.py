"""Linear models, compiled to a table of word weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, fsum, log1p, sqrt
from typing import Any

#: Number of words given as reasons of a judgement.
_REASONS = 8
#: Log-odds beyond which a probability is practically 1.
_CERTAIN = 50.0


def squash(log_odds: float) -> float:
    """Map log-odds to a number between 0 and 1; even odds map to one half.

    Unlike a probability, this does not saturate: of two near-certain links, the more certain one still scores higher.
    """
    return 0.5 + log_odds / (2 * (1 + abs(log_odds)))


def unsquash(squashed: float) -> float:
    """The log-odds that were squashed, at most those of practical certainty."""
    value = 2 * squashed - 1
    log_odds = value / (1 - abs(value)) if abs(value) < 1 else value * _CERTAIN
    return max(-_CERTAIN, min(_CERTAIN, log_odds))


def probability(squashed: float) -> float:
    """The probability for squashed log-odds."""
    return 1 / (1 + exp(-unsquash(squashed)))


class WordTable:
    """What each word adds to the log-odds of a text.

    With *scales*, a text is first normalised to length 1, with each word scaled (tf-idf).
    """

    def __init__(self, weights: Mapping[str, float], bias: float, scales: Mapping[str, float] | None = None) -> None:
        self.weights = dict(weights)
        self.bias = bias
        self.scales = dict(scales) if scales is not None else None

    def log_odds(self, counts: Mapping[str, int]) -> float:
        """The log-odds of a text, from its word counts on a logarithmic scale."""
        weights = self.weights
        # fsum is exact, so the result does not depend on the order of the words
        total = fsum([log1p(counts[word]) * weights[word] for word in counts.keys() & weights.keys()])
        return total / self._length(counts) + self.bias

    def _length(self, counts: Mapping[str, int]) -> float:
        if self.scales is None:
            return 1.0
        scales = self.scales
        return sqrt(fsum([(log1p(counts[word]) * scales[word]) ** 2 for word in counts.keys() & scales.keys()])) or 1.0

    def of_words(self, found: Iterable[str]) -> float:
        """The log-odds of a few words, each counted as it occurs."""
        get = self.weights.get
        return self.bias + sum([get(word, 0.0) for word in found])

    def reasons(self, counts: Mapping[str, int]) -> dict[str, float]:
        """The words with the largest contributions, positive or negative."""
        length = self._length(counts)
        parts = {
            word: log1p(counts[word]) * self.weights[word] / length for word in counts.keys() & self.weights.keys()
        }
        largest = sorted(parts, key=lambda word: (-abs(parts[word]), word))[:_REASONS]
        return {word: round(parts[word], 4) for word in largest}

    def scaled(self, slope: float, offset: float) -> WordTable:
        """A table whose log-odds are `slope * log_odds + offset`."""
        weights = {word: weight * slope for word, weight in self.weights.items()}
        return WordTable(weights, self.bias * slope + offset, self.scales)

    def to_json(self) -> dict[str, Any]:
        """The table as JSON."""
        return {"bias": self.bias, "weights": self.weights, "scales": self.scales}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WordTable:
        """The table that `to_json` wrote."""
        return cls(data["weights"], data["bias"], data["scales"])
