"""Static word vectors, if the package `wordllama` is installed: its weights are in the package, nothing is downloaded.

They tell that a page is about a topic although it shares few words with it. That helps where words are few: with
keywords or URLs alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuscrawl import words
from focuscrawl.language.frequencies import RARE, frequency_table
from focuscrawl.strategies.adaptive.reading import Embedding

logger = logging.getLogger(__name__)

#: Words whose vectors are kept: 1 KB each.
LIMIT = 50_000
#: Words that are on more than this share of pages count alike, and the heaviest weight.
_RAREST, _HEAVIEST = 5e-4, 8.0
#: Lines of the table of frequencies whose words make an average text.
_COMMON = 22


class Vectors:
    """The vectors of words: the mean of those of their parts, with length 1."""

    def __init__(self, tokenizer: Any, parts: NDArray[np.float32]) -> None:
        self._tokenizer, self._parts = tokenizer, parts
        self._places: dict[str, int] = {}
        self._known = np.zeros((1024, parts.shape[1]), dtype=np.float32)
        self._weights = np.zeros(1024, dtype=np.float32)
        common = [stem for share, stems in frequency_table()[:_COMMON] for stem in stems]
        #: The vector of an average text, which says nothing about a topic.
        self.average = self.embed(dict.fromkeys(common, 1.0))

    def without_average(self, embedding: Embedding) -> Embedding:
        """A vector without what it shares with the average text, with length 1."""
        rest = embedding - (embedding @ self.average) * self.average
        return np.asarray(rest / (float(np.sqrt(rest @ rest)) or 1.0), dtype=np.float32)

    def _meet(self, found: list[str]) -> None:
        if not found:
            return
        if len(self._places) + len(found) > LIMIT:
            self._places.clear()
        size = len(self._places) + len(found)
        if size > len(self._known):
            more = max(size, 2 * len(self._known)) - len(self._known)
            self._known = np.concatenate([self._known, np.zeros((more, self._known.shape[1]), dtype=np.float32)])
            self._weights = np.concatenate([self._weights, np.zeros(more, dtype=np.float32)])
        known = _shares()
        shares = np.array([max(_RAREST, known.get(stem, RARE)) for stem in words.stems(found)])
        start = len(self._places)
        self._weights[start:size] = np.clip(-np.log(shares), 0.0, _HEAVIEST)
        self._places.update(zip(found, range(start, size), strict=True))
        coded = self._tokenizer.encode_batch_fast(found, add_special_tokens=False)
        parts = [one.ids or [0] for one in coded]
        first = np.cumsum([0, *map(len, parts[:-1])])
        sums = np.add.reduceat(self._parts[[part for ids in parts for part in ids]], first, axis=0)
        sums[[not one.ids for one in coded]] = 0
        lengths = np.sqrt(np.sum(sums * sums, axis=1, keepdims=True))
        self._known[start:size] = sums / np.where(lengths > 0, lengths, 1)

    @property
    def width(self) -> int:
        """The number of dimensions."""
        return int(self._parts.shape[1])

    def of(self, found: list[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The vectors of some words, and how much each counts in a text."""
        while new := [word for word in found if word not in self._places]:  # again, if others were forgotten for them
            self._meet(new)
        places = [self._places[word] for word in found]
        return self._known[places], self._weights[places]

    def embed(self, counts: Mapping[str, float]) -> Embedding:
        """The vector of a text, with length 1, from the numbers of its words."""
        counts = self._telling(counts)
        if not counts:
            return np.zeros(self._parts.shape[1], dtype=np.float32)
        while new := [word for word in counts if word not in self._places]:  # again, if others were forgotten for them
            self._meet(new)
        damped = 1 + np.log(np.array(list(counts.values()), dtype=np.float32))
        return self._sum(counts, damped, rarity=True)

    @staticmethod
    def _telling(counts: Mapping[str, float]) -> Mapping[str, float]:
        """Without words that occur once and are not in the table of frequencies: names and typos, each costly once."""
        known = _shares()
        stems = words.stems(counts)
        few = {
            word: count for stem, (word, count) in zip(stems, counts.items(), strict=True) if stem in known or count > 1
        }
        return few if len(few) <= LIMIT // 2 else dict(list(few.items())[: LIMIT // 2])

    def embed_weighted(self, weights: Mapping[str, float]) -> Embedding:
        """The vector of keywords, with length 1, from their weights."""
        self._meet([word for word in weights if word not in self._places])
        return self._sum(weights, np.array(list(weights.values()), dtype=np.float32), rarity=False)

    def _sum(self, found: Iterable[str], weights: NDArray[np.float32], *, rarity: bool) -> Embedding:
        places = [self._places[word] for word in found]
        total = (weights * self._weights[places] if rarity else weights) @ self._known[places]
        return np.asarray(total / (float(np.sqrt(total @ total)) or 1.0), dtype=np.float32)


@cache
def _shares() -> dict[str, float]:
    """The share of all English pages that a stem is on."""
    return {stem: share for share, stems in frequency_table() for stem in stems}


@cache
def load_vectors() -> Vectors | None:
    """The vectors, or None if the package is not installed or cannot be read."""
    if find_spec("wordllama") is None:
        return None
    try:
        import wordllama

        model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    except Exception as error:  # an optional package must not keep a crawl from starting
        logger.warning("the word vectors of wordllama cannot be read: %s", error)
        return None
    model.tokenizer.no_padding()
    model.tokenizer.no_truncation()
    return Vectors(model.tokenizer, np.asarray(model.embedding, dtype=np.float32))
