"""What the words of links mean: how near each is to the topic, by word vectors.

A link may share no word with the topic and still lead there: "lava" for a topic about volcanoes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuscrawl import words
from focuscrawl.strategies.adaptive.checkpoint import Arrays, check_range
from focuscrawl.strategies.adaptive.columns import grown
from focuscrawl.strategies.adaptive.hashing import SIZE
from focuscrawl.strategies.adaptive.reading import Floats
from focuscrawl.strategies.adaptive.vectors import Vectors

#: Words that are remembered, half a kilobyte each; those met later mean nothing.
MOST = 50_000
#: New words of one page that are remembered: one full of nonsense must not use up the room of all others.
MOST_OF_A_PAGE = 2_000
#: How alike the vectors of two words of a text are, on average. By this the length of their sum follows from the
#: weights of the words, and no vector is kept for a URL.
_ALIKE = 0.1


class Meanings:
    """The words met so far, by their hashes."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._words: list[str] = []
        self._numbers = np.zeros(1024, dtype=np.int32)
        self._rows = np.zeros((1024, vectors.width), dtype=np.float16)
        self._direction = np.zeros(vectors.width)
        self._met = np.zeros(SIZE, dtype=bool)
        #: By hash: how much a word counts, the square of that, and how near it is to the topic, times that.
        self.weight = np.zeros(SIZE, dtype=np.float32)
        self.squared = np.zeros(SIZE, dtype=np.float32)
        self.near = np.zeros(SIZE, dtype=np.float32)

    def meet(self, names: Mapping[int, str]) -> None:
        """Look up words of a page by their hashes; the first word of a hash counts."""
        new = {number: word for number, word in names.items() if not self._met[number]}
        room = min(MOST - len(self._words), MOST_OF_A_PAGE)
        self._add(list(new)[:room], list(new.values())[:room])

    def _add(self, numbers: list[int], found: list[str]) -> None:
        if not found:
            return
        start, end = len(self._words), len(self._words) + len(found)
        self._words += found
        self._numbers, self._rows = grown(self._numbers, end), grown(self._rows, end)
        self._numbers[start:end] = numbers
        self._rows[start:end], weights = self._vectors.of(found)
        self._met[numbers] = True
        self.weight[numbers], self.squared[numbers] = weights, weights * weights
        self._measure(start)

    def aim(self, direction: Floats) -> None:
        """Take over the direction of the topic; empty if there is none yet."""
        self._direction = direction if len(direction) else np.zeros_like(self._direction)
        self._measure(0)

    def _measure(self, start: int) -> None:
        """How near the words from a number on are to the topic."""
        numbers = self._numbers[start : len(self._words)]
        rows = self._rows[start : len(self._words)].astype(np.float32)
        # row by row: a matrix product rounds a word otherwise among few words than among many, and a resumed crawl
        # looks up at once what the first one met page by page
        near = np.einsum("ij,j->i", rows, self._direction.astype(np.float32))
        self.near[numbers] = self.weight[numbers] * near

    @staticmethod
    def cosines(near: Floats, weight: Floats, squared: Floats) -> Floats:
        """The cosines of texts with the topic, from sums over their words; NaN without words."""
        with np.errstate(invalid="ignore"):
            return np.asarray(near / np.sqrt(squared + _ALIKE * (weight * weight - squared)))

    # ---- keeping

    def state(self) -> Arrays:
        """The words, to go on from there."""
        text = "\n".join(self._words).encode()
        return {"met": self._numbers[: len(self._words)], "met words": np.frombuffer(text, dtype=np.uint8)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError or KeyError if it is not one."""
        text = state["met words"].astype(np.uint8).tobytes().decode()
        found, numbers = text.split("\n") if text else [], state["met"]
        if len(found) != len(numbers) or len(found) > MOST:
            raise ValueError("words and their hashes differ in number")
        if max(map(len, found), default=0) > words.LONGEST:
            raise ValueError("a word is too long")
        check_range("met", numbers, SIZE)
        self._add(numbers.tolist(), found)
