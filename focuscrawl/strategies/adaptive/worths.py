"""What words are worth: how relevant the pages were that have them.

A judge that learned from a few examples knows few words, and the links that were followed have few. The pages of the
crawl have many more, and the links to pages of the same kind are among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.checkpoint import Arrays
from focuscrawl.strategies.adaptive.hashing import SIZE, Ints
from focuscrawl.strategies.adaptive.rates import PRIOR, usual_rate
from focuscrawl.strategies.adaptive.reading import Floats


class Worths:
    """The relevance of the pages so far and their number: in all, and by word."""

    def __init__(self) -> None:
        self._total, self._number = np.zeros(SIZE), np.zeros(SIZE)
        self._relevance, self._pages = 0.0, 0

    def add(self, words: Ints, p: float) -> None:
        """Count a page with these words, which is relevant with probability *p*."""
        if len(words):
            self._total[words] += p
            self._number[words] += 1
            self._relevance += p
            self._pages += 1

    def correct(self, pages: Sequence[Ints], changes: Floats) -> None:
        """The probabilities of pages have changed; *pages*: their words."""
        if pages:
            lengths = list(map(len, pages))
            self._total += np.bincount(np.concatenate(pages), np.repeat(changes, lengths), minlength=SIZE)
            self._relevance += float(changes[np.array(lengths) > 0].sum())

    def of_words(self) -> Floats:
        """What each word is worth, by its hash: the log-odds of its pages above those of all."""
        usual = usual_rate(self._relevance, self._pages)
        met = self._number.nonzero()[0]
        number = self._number[met]
        total = np.minimum(np.maximum(self._total[met], 0), number)
        odds = (total + PRIOR * usual) / (number - total + PRIOR * (1 - usual))
        found = np.zeros(SIZE)
        found[met] = np.log(odds * (1 - usual) / usual)
        return found

    # ---- keeping

    def state(self) -> Arrays:
        """What is known, to go on from there."""
        pages = np.array([self._relevance, self._pages])
        return {"worth total": self._total, "worth number": self._number, "worth pages": pages}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError or KeyError if it is not one."""
        total, number, pages = (state[f"worth {name}"] for name in ("total", "number", "pages"))
        if total.shape != (SIZE,) or number.shape != (SIZE,) or pages.shape != (2,):
            raise ValueError("the pages of words have another size")
        if number.min() < 0 or pages.min() < 0:
            raise ValueError("a word is on fewer pages than none")
        self._total, self._number = total, number
        self._relevance, self._pages = float(pages[0]), int(pages[1])
