"""How links of a kind have paid so far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.reading import SIZE, Floats

#: So many links that paid like all the others are taken for granted.
PRIOR = 4.0


class Rate:
    """The sum of outcomes and their number, by a hash."""

    def __init__(self, size: int = SIZE) -> None:
        self.total = np.zeros(size, dtype=np.float64)
        self.number = np.zeros(size, dtype=np.float64)

    def add(self, places: NDArray[np.integer] | int, outcome: float) -> None:
        """Count an outcome."""
        self.total[places] += outcome
        self.number[places] += 1

    def grow(self, size: int) -> None:
        """Make room for more."""
        more = size - len(self.total)
        self.total = np.concatenate([self.total, np.zeros(more)])
        self.number = np.concatenate([self.number, np.zeros(more)])


def shrunk(total: Floats, number: Floats, usual: Floats | float) -> Floats:
    """A rate, shrunk towards the usual one."""
    return np.asarray((total + PRIOR * usual) / (number + PRIOR))


def surplus(rate: Floats, usual: float) -> Floats:
    """The log-odds of a rate above those of the usual one."""
    return np.asarray(np.log(rate) - np.log1p(-rate) - np.log(usual) + np.log1p(-usual))
