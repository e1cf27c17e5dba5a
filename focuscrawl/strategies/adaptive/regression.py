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
    return 1 / (1 + np.exp(-np.clip(odds, -30, 30)))


def fit(
    rows: csr_array,
    labels: Floats,
    ridge: Floats | float,
    *,
    offset: Floats | None = None,
    importance: Floats | None = None,
    start: Floats | None = None,
    rounds: int = 25,
) -> Floats:
    """Weights that minimise the log-loss of *labels*, probabilities, plus half the ridge times the squared weights."""
    turned = rows.T.tocsr()
    base = np.zeros(len(labels)) if offset is None else offset
    weight = np.ones(len(labels)) if importance is None else importance

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = rows @ weights + base
        errors = weight * (sigmoid(odds) - labels)
        value = float(weight @ (np.logaddexp(0, odds) - labels * odds)) + 0.5 * float(np.sum(ridge * weights * weights))
        return value, turned @ errors + ridge * weights

    first = np.zeros(rows.shape[1]) if start is None else start
    from scipy.optimize import minimize  # takes long to load: only crawls that learn need it

    found = minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": rounds})
    return np.asarray(found.x)


def used_columns(rows: csr_array) -> tuple[csr_array, NDArray[np.int64]]:
    """The columns of a wide matrix that have a value, and their numbers."""
    from scipy.sparse import csr_array

    used, columns = np.unique(rows.indices, return_inverse=True)
    return csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], len(used))), used
