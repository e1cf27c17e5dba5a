"""Logistic regression with a ridge, soft labels and an offset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.reading import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def sigmoid(odds: Any) -> Any:
    """Probabilities for log-odds."""
    return 1 / (1 + np.exp(-np.minimum(np.maximum(odds, -30), 30)))  # `clip` is slow for few numbers


#: A step ends when what is left of the gradient is this small, and the search when a step gains less.
_CLOSE = 0.1
_ENOUGH = 1e-4
_STEPS = 30


def fit(
    rows: csr_array,
    labels: Floats,
    ridge: Floats | float,
    *,
    offset: Floats | None = None,
    importance: Floats | None = None,
    start: Floats | None = None,
    rounds: int = 10,
) -> Floats:
    """Weights that minimise the log-loss of *labels*, probabilities, plus half the ridge times the squared weights.

    Newton's method; each step is solved by conjugate gradients, so that columns may be many.
    """
    turned = rows.T.tocsr()
    squared = turned.power(2)
    base = np.zeros(len(labels)) if offset is None else offset
    weight = np.ones(len(labels)) if importance is None else importance

    def loss(weights: Floats, odds: Floats) -> float:
        return float(weight @ (np.logaddexp(0, odds) - labels * odds)) + 0.5 * float(np.sum(ridge * weights * weights))

    weights = np.zeros(rows.shape[1]) if start is None else start.copy()
    odds = rows @ weights + base
    value = loss(weights, odds)
    for _ in range(rounds):
        p = sigmoid(odds)
        gradient = turned @ (weight * (p - labels)) + ridge * weights
        curve = weight * p * (1 - p)
        step = _newton_step(rows, turned, curve, ridge, gradient, squared @ curve + ridge)
        along, size = rows @ step, 1.0
        found = loss(weights + step, odds + along)
        while found > value and size > 1e-3:
            size /= 2
            found = loss(weights + size * step, odds + size * along)
        if found > value:
            break
        weights, odds = weights + size * step, odds + size * along
        gained, value = value - found, found
        if gained < _ENOUGH * value:
            break
    return weights


def _newton_step(
    rows: csr_array, turned: csr_array, curve: Floats, ridge: Floats | float, gradient: Floats, diagonal: Floats
) -> Floats:
    """The solution of `(rows' curve rows + ridge) step = -gradient`, about; *diagonal*: that of the matrix."""
    scale = 1 / diagonal
    step = np.zeros_like(gradient)
    left = -gradient
    toward = scale * left
    direction = toward.copy()
    size = float(left @ toward)
    enough = _CLOSE**2 * size
    for _ in range(_STEPS):
        if size <= enough:
            break
        image = turned @ (curve * (rows @ direction)) + ridge * direction
        length = size / float(direction @ image)
        step += length * direction
        left -= length * image
        toward = scale * left
        before, size = size, float(left @ toward)
        direction = toward + (size / before) * direction
    return step


def used_columns(rows: csr_array) -> tuple[csr_array, NDArray[np.int64]]:
    """The columns of a wide matrix that have a value, and their numbers."""
    from scipy.sparse import csr_array

    used, columns = np.unique(rows.indices, return_inverse=True)
    return csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], len(used))), used
