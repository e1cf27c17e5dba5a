"""How scores become log-odds, and what a second score is worth beside a first one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from focuscrawl.strategies.adaptive.reading import Floats
from focuscrawl.strategies.adaptive.regression import fit

#: What holds back the weights by which two scores tell labels apart, and the constant beside them.
_RIDGE, _RIDGE_OF_CONSTANT = 10.0, 0.01


class Scale(NamedTuple):
    """How a score becomes log-odds: `slope * (score - middle)`."""

    middle: float
    slope: float

    def odds(self, scores: Any) -> Any:
        """The log-odds of scores."""
        return self.slope * (scores - self.middle)


def between(best: Sequence[float], least: float) -> Scale:
    """Pages as good as the best ones so far are certain, those half as good are in doubt."""
    high = max(least, sum(best) / len(best) if best else 0.0)
    return Scale(high / 2, 6 / high)


def scale_of(scores: Floats, yes: Floats, no: Floats, border: float = 0.5, steep: float = 6.0) -> Scale:
    """From the mean score of other pages to that of relevant ones, each with its weights.

    *border* of the way a page is in doubt; the whole way is worth the log-odds *steep*.
    """
    high, low = float(scores @ yes / yes.sum()), float(scores @ no / no.sum())
    return Scale(low + border * (high - low), steep / max(high - low, 0.01))


def balance(labels: Floats) -> Floats:
    """The importance of pages by which both kinds of labels count the same."""
    positive = labels.sum()
    return np.asarray(np.where(labels == 1, len(labels) / (2 * positive), len(labels) / (2 * (len(labels) - positive))))


def worth_beside(more: Floats, scores: Floats, labels: Floats) -> float:
    """What a further measure of pages adds to their scores, by how well each of the two tells labels apart."""
    from scipy.sparse import csr_array

    columns = np.column_stack([scores, more])
    spread = columns.std(axis=0)
    if not spread.all():
        return 0.0
    rows = csr_array(np.column_stack([(columns - columns.mean(axis=0)) / spread, np.ones(len(labels))]))
    ridge = np.array([_RIDGE, _RIDGE, _RIDGE_OF_CONSTANT])
    weights = fit(rows, labels, ridge, importance=balance(labels))[:2] / spread
    return float(max(0.0, weights[1]) / weights[0]) if weights[0] > 0 else 0.0
