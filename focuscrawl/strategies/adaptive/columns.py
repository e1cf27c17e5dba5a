"""The columns of what is known about waiting URLs: sums and maxima over their in-links, and the features from these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Sums over the in-links of a URL.
LINKS, PARENTS, ANCHOR_W, ANCHOR_I, CONTEXT_W, CONTEXT_I, HEADING_W, HEADING_I = range(8)
LOG_ODDS, P, Q, SIBLINGS_Y, SIBLINGS, PATH_Y, PATHS, SPARSE = range(8, 16)
SUMS = 16
#: With word vectors three more of each of the two texts, anchor with URL and context: of the words' nearness to the
#: topic, of their weights and of the squared weights.
MEANT = slice(SUMS, SUMS + 6)
#: Maxima over in-links.
BEST, MAX_P, KEYWORD = range(3)
MAXIMA = 3
#: Features of a URL, with their weights before anything is learned.
PRIORS = {
    "bias": -2.5,
    "a keyword in anchor or URL": 0.5,
    "anchor and URL": 0.3,
    "context": 0.35,
    "heading": 0.1,
    "best anchor": 0.2,
    "best page that links there": 0.5,
    "pages that link there": 0.15,
    "relevant pages that link there": 0.7,
    "other pages that link there": -0.5,
    "other links of these pages": 0.5,
    "links at this place in the markup": 0.5,
    "URLs of this shape": 0.5,
    "directory and host": 0.3,
    "relevant pages below it": 1.0,
    "known example": 8.0,
    "meaning of anchor and URL": 0.2,
    "meaning of context": 0.2,
}
NAMES = tuple(PRIORS)
#: Those that tell how links have paid and what lies below, and those that tell what texts mean.
PAID = slice(10, 15)
MEANINGS = slice(16, 18)
PRIOR = np.array(list(PRIORS.values()))


def grown(column: NDArray[Any], size: int) -> NDArray[Any]:
    """A column with room for *size* entries, at least."""
    if size <= len(column):
        return column
    more = max(size, 2 * len(column)) - len(column)
    return np.concatenate([column, np.zeros((more, *column.shape[1:]), dtype=column.dtype)])


def chunks(first: NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Entries that have together about *size* parts, from one to before another; *first* is where each one's begin."""
    start, count = 0, len(first) - 1
    while start < count:
        end = min(count, max(start + 1, int(first.searchsorted(first[start] + size))))
        yield start, end
        start = end


#: The order that sorts values, whether each sorted one but the first equals the one before, where runs end.
Runs = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]


def runs(values: NDArray[np.int64]) -> Runs:
    """How equal values run, sorted."""
    order = values.argsort(kind="stable")
    ordered = values[order]
    same = ordered[1:] == ordered[:-1]
    last = np.ones(len(values), dtype=bool)
    last[:-1] = ~same
    return order, same, last.nonzero()[0]


def counted(values: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Sorted values and how often each occurs: what `np.unique` does, whose overhead counts for few values."""
    ordered = np.sort(values)
    first = np.ones(len(values) + 1, dtype=bool)  # and where the last one ends
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    places = first.nonzero()[0]
    return ordered[places[:-1]], places[1:] - places[:-1]
