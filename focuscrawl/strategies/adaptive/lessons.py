"""What was learned from: the features of URLs when they were fetched, as one matrix that grows.

Its columns are numbered in the order in which features are met, so that nothing has to be sorted before learning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.checkpoint import Arrays, check_range, check_steps
from focuscrawl.strategies.adaptive.columns import NAMES, grown
from focuscrawl.strategies.adaptive.evidence import Row
from focuscrawl.strategies.adaptive.hashing import SIZE
from focuscrawl.strategies.adaptive.reading import FEATURES, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WIDTH = len(NAMES)
#: The first columns: dense features, and what the words of the lesson are worth together.
FIRST = WIDTH + 1
_FIRST = np.arange(FIRST)


class Lessons:
    """Rows of dense features, which are the first columns, of what the words are worth, and of sparse features."""

    def __init__(self) -> None:
        self._column = np.full(FEATURES, -1, dtype=np.int32)  # by sparse feature
        #: The sparse feature of each column from FIRST on.
        self._feature = np.zeros(1024, dtype=np.int32)
        self._columns = 0
        self._count = 0
        self._first = np.zeros(64, dtype=np.int64)
        self._indices = np.zeros(1024, dtype=np.int32)
        self._values = np.zeros(1024)

    def __len__(self) -> int:
        return self._count

    @property
    def features(self) -> NDArray[np.int32]:
        """The sparse features that have columns."""
        return self._feature[: self._columns]

    def add(self, row: Row) -> None:
        """Add a lesson."""
        start = int(self._first[self._count])
        middle, end = start + FIRST, start + FIRST + len(row.features)
        self._indices, self._values = grown(self._indices, end), grown(self._values, end)
        self._first = grown(self._first, self._count + 2)
        self._indices[start:middle] = _FIRST
        self._values[start : start + WIDTH], self._values[start + WIDTH] = row.dense, 0
        self._indices[middle:end] = FIRST + self._columns_of(row.features)
        self._values[middle:end] = row.values
        self._count += 1
        self._first[self._count] = end

    def _columns_of(self, features: NDArray[np.int32]) -> NDArray[np.int32]:
        columns = self._column[features]
        new = features[columns < 0]
        if len(new):
            end = self._columns + len(new)
            self._feature = grown(self._feature, end)
            self._feature[self._columns : end] = new
            self._column[new] = np.arange(self._columns, end)
            self._columns = end
            columns = self._column[features]
        return columns

    def without(self, start: int, end: int) -> Lessons:
        """The other lessons, without columns that none of them has."""
        rest = Lessons()
        for place in (*range(start), *range(end, len(self))):
            rest.add(self.row(place))
        return rest

    def row(self, place: int) -> Row:
        """A lesson."""
        start, end = self._first[place : place + 2].tolist()
        middle = start + FIRST
        features = self._feature[self._indices[middle:end] - FIRST]
        return Row(self._values[start : start + WIDTH].copy(), features, self._values[middle:end].copy())

    def matrix(self) -> csr_array:
        """All lessons."""
        from scipy.sparse import csr_array

        end = int(self._first[self._count])
        parts = self._values[:end], self._indices[:end], self._first[: self._count + 1]
        return csr_array(parts, shape=(self._count, FIRST + self._columns))

    def weigh(self, worths: Floats) -> None:
        """Set what the words of each lesson are worth now; *worths* by hash."""
        features = self.features
        by_column = np.zeros(FIRST + self._columns)
        by_column[FIRST:] = np.where(features < SIZE, worths[features & (SIZE - 1)], 0)
        self._values[self._first[: self._count] + WIDTH] = self.matrix() @ by_column

    def first(self) -> Floats:
        """The first columns of all lessons."""
        return np.asarray(self._values[self._first[: self._count, None] + _FIRST])

    # ---- keeping

    def state(self, start: int) -> Arrays:
        """The lessons from one on."""
        rows = [self.row(place) for place in range(start, len(self))]
        return {
            "row dense": np.array([row.dense for row in rows]).reshape(-1, WIDTH),
            "row features": _joined([row.features for row in rows], np.int32),
            "row values": _joined([row.values for row in rows], np.float64),
            "row first": np.cumsum([0, *(len(row.features) for row in rows)], dtype=np.int64),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Add the lessons of a state; raises ValueError or KeyError if it is not one."""
        dense, features, values, first = (state[f"row {name}"] for name in ("dense", "features", "values", "first"))
        check_range("row features", features, FEATURES)
        check_steps("row first", first, len(features))
        if len(values) != len(features) or dense.shape != (len(first) - 1, WIDTH):
            raise ValueError("lessons differ in length")
        for place, (start, end) in enumerate(zip(first[:-1].tolist(), first[1:].tolist(), strict=True)):
            self.add(Row(dense[place], features[start:end], values[start:end]))


def _joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([*parts, np.zeros(0)]).astype(kind)
