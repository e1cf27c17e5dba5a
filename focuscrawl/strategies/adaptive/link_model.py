"""What the features of links count, learned from the URLs that were fetched.

A word counts the same wherever it stands: in an anchor, in a URL, around a link or in the heading above it. What it
counts has two parts: what the lessons say of it, and what it is worth by the pages that have it, which are many more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.checkpoint import Arrays
from focuscrawl.strategies.adaptive.columns import PRIOR
from focuscrawl.strategies.adaptive.hashing import SIZE
from focuscrawl.strategies.adaptive.judge import logit
from focuscrawl.strategies.adaptive.lessons import FIRST, Lessons
from focuscrawl.strategies.adaptive.reading import FEATURES, PLACES, WORDS, Floats
from focuscrawl.strategies.adaptive.regression import fit

RIDGE_FIRST = 5.0
RIDGE_SPARSE = 1.0
#: How much the worth of words counts before anything is learned.
WORTH = 0.1
#: What is known of the weights of the first columns before anything is learned.
_PRIOR = np.append(PRIOR, WORTH)
#: How much it counts where an example lies, beside a URL that was fetched.
IMPORTANCE = 0.3


class LinkModel:
    """The weights of dense features, and what each sparse feature adds."""

    def __init__(self) -> None:
        self.weights = PRIOR.copy()
        #: How much the worth of words counts, and that worth as of the last time it was learned.
        self._share, self._worth = WORTH, np.zeros(SIZE)
        #: What the lessons say of words and places.
        self._learned = np.zeros(FEATURES, dtype=np.float32)

    def learn(self, lessons: Lessons, labels: Floats, worth: Floats, places: int) -> None:
        """Learn from lessons with these labels; the first ones, as many as *places*, say only where examples lie."""
        self._worth = worth
        lessons.weigh(worth)
        features = lessons.features
        ridge = np.repeat([RIDGE_FIRST, RIDGE_SPARSE], [FIRST, len(features)])
        start = np.concatenate([np.append(self.weights, self._share) - _PRIOR, self._learned[features]])
        offset, importance = lessons.first() @ _PRIOR, np.ones(len(labels))
        if places:  # what else these pages have in common with others is not known
            offset[:places], importance[:places] = logit(np.mean(labels[:places])), IMPORTANCE
        learned = fit(lessons.matrix(), labels, ridge, offset=offset, importance=importance, start=start)
        first = _PRIOR + learned[:FIRST]
        self.weights, self._share = first[:-1], float(first[-1])
        self._learned[:] = 0
        self._learned[features] = learned[FIRST:]

    def write(self, sparse: NDArray[np.float32]) -> None:
        """Write down what each sparse feature adds."""
        words = self._learned[:SIZE] + self._share * self._worth
        sparse[:PLACES].reshape(WORDS, SIZE)[:] = words
        sparse[PLACES:] = self._learned[PLACES:]

    # ---- keeping

    def state(self) -> Arrays:
        """What was learned, to go on from there."""
        found = {"weights of features": self.weights, "share": np.array([self._share])}
        return found | {"worth": self._worth, "learned": self._learned}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError or KeyError if it is not one."""
        shapes = {"weights of features": PRIOR.shape, "share": (1,), "worth": (SIZE,), "learned": (FEATURES,)}
        if any(state[name].shape != shape for name, shape in shapes.items()):
            raise ValueError("the weights have another size")
        self.weights, self._share = state["weights of features"], float(state["share"][0])
        self._worth, self._learned = state["worth"], state["learned"]
