"""The words around the links of a page, for all links at once: neighbours share their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from focuscrawl.page import CONTEXT_WORDS, Link, context_chars

_STEPS = np.arange(CONTEXT_WORDS)


def contexts_in(text: str, links: Sequence[Link], known: Mapping[str, int], kind: int) -> list[bytes]:
    """The numbers of the words around each link in a text, each once: as `Link.before` and `Link.after` find them.

    *text* has a space in place of everything that is no word, *known* are the numbers of words, to which *kind* is
    added.
    """
    starts, ends = _bounds(text)
    none = len(starts)  # the last place stands for no word
    begins, stops = np.array([link.start for link in links]), np.array([link.end for link in links])
    chars = context_chars(CONTEXT_WORDS)
    # the words whose places are from `least` to before `last`, and from `follows` to before `most`
    last = ends.searchsorted(begins, "right")
    least = starts.searchsorted(np.where(begins <= chars, -1, begins - chars), "right")
    follows = starts.searchsorted(stops)
    most = ends.searchsorted(np.where(stops + chars > len(text), len(text) + 1, stops + chars))
    around = np.empty((len(links), 2 * CONTEXT_WORDS), dtype=np.int64)
    # where there are fewer, one is repeated
    least, most = np.where(least < last, least, none), np.where(follows < most, most - 1, -1)
    np.maximum(last[:, None] - 1 - _STEPS, least[:, None], out=around[:, :CONTEXT_WORDS])
    np.minimum(follows[:, None] + _STEPS, most[:, None], out=around[:, CONTEXT_WORDS:])
    hashed = np.full(none + 1, -1, dtype=np.int32)
    if none <= around.size // 2:
        hashed[:-1] = list(map(known.__getitem__, text.split()))
    else:
        used = np.zeros(none + 1, dtype=bool)
        used[around] = True
        used[-1] = False
        places = zip(starts[used[:-1]].tolist(), ends[used[:-1]].tolist(), strict=True)
        hashed[used] = [known[text[start:end]] for start, end in places]
    found = hashed[around]
    found.sort(axis=1)
    new = found >= 0
    new[:, 1:] &= found[:, 1:] != found[:, :-1]
    chosen = new.ravel().nonzero()[0]
    features = (found.ravel()[chosen] + np.int32(kind)).tobytes()
    sizes = chosen.searchsorted(np.arange(0, found.size + 1, found.shape[1]))
    return [features[start:end] for start, end in pairwise((4 * sizes).tolist())]


def _bounds(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the words of a text begin and end."""
    plain = text.isascii()
    codes = np.frombuffer(text.encode("ascii" if plain else "utf-32-le"), np.uint8 if plain else np.uint32)
    is_word = np.zeros(len(codes) + 2, dtype=bool)
    np.not_equal(codes, ord(" "), out=is_word[1:-1])
    edges = (is_word[1:] != is_word[:-1]).nonzero()[0]
    return edges[::2], edges[1::2]
