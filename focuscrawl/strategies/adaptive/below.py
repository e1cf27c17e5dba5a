"""Where relevant pages lie: the front page of a directory above them leads to more of their kind, on many sites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.checkpoint import Arrays, check_range, check_sizes
from focuscrawl.strategies.adaptive.columns import grown
from focuscrawl.strategies.adaptive.hashing import SIZE, Ints
from focuscrawl.strategies.adaptive.reading import Floats


class Below:
    """How relevant the pages in each directory and below it are together, by the hash of the directory."""

    def __init__(self) -> None:
        self._total = np.zeros(SIZE)
        self._count = 0
        #: The directories of pages, and whose they are.
        self._directories = np.zeros(1024, dtype=np.int32)
        self._pages = np.zeros(1024, dtype=np.int64)

    def add(self, page: int, directories: Ints, p: float) -> None:
        """Count a page in these directories, which is relevant with probability *p*."""
        end = self._count + len(directories)
        self._directories, self._pages = grown(self._directories, end), grown(self._pages, end)
        self._directories[self._count : end], self._pages[self._count : end] = directories, page
        self._count = end
        self._total[directories] += p

    def count_again(self, p: Floats) -> None:
        """Count all pages again, with the probabilities that they have now."""
        directories, pages = self._directories[: self._count], self._pages[: self._count]
        self._total = np.bincount(directories, p[pages], minlength=SIZE).astype(np.float64)

    def of_front_pages(self, fronts: NDArray[np.bool_], directories: Ints) -> Floats:
        """How much lies below URLs, on a logarithmic scale; only *fronts* have anything below, in their directory."""
        found = np.zeros(len(fronts))
        found[fronts] = np.log1p(self._total[directories[fronts]])
        return found

    # ---- keeping

    def state(self) -> Arrays:
        """What is known, to go on from there."""
        return {"below directories": self._directories[: self._count], "below pages": self._pages[: self._count]}

    def restore(self, state: Mapping[str, NDArray[Any]], p: Floats) -> None:
        """Go on from a state, with the probabilities of pages; raises ValueError or KeyError if it is not one."""
        check_sizes(state, ("below directories", "below pages"))
        check_range("below directories", state["below directories"], SIZE)
        check_range("below pages", state["below pages"], len(p))
        self._directories, self._pages = state["below directories"], state["below pages"]
        self._count = len(self._pages)
        self.count_again(p)
