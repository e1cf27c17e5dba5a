"""How links of a kind have paid so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.checkpoint import Arrays, check_range, check_sizes, joined, parted
from focuscrawl.strategies.adaptive.hashing import SIZE, Ints
from focuscrawl.strategies.adaptive.reading import Floats

#: So many links that paid like all the others are taken for granted.
PRIOR = 4.0
#: Kinds of links: those of a page, and by hash those with a tag path, URL shape, directory, topmost directory, host.
KINDS = ("children", "by_path", "by_shape", "by_directory", "by_top", "by_host")
#: Those that follow from a URL stand in one table, so that a URL takes one look at it.
_OF_URL = KINDS[2:]
_OFFSETS = np.arange(0, len(_OF_URL) * SIZE, SIZE)[:, None]


def usual_rate(outcomes: float, number: int) -> float:
    """The mean of outcomes, as long as they are few near to one in five."""
    return min(0.9, max(0.02, (outcomes + 0.5) / (number + 2.5)))


class Rate:
    """The sum of outcomes and their number, by a hash or by a page: the columns of a table."""

    def __init__(self, table: Floats) -> None:
        self.total, self.number = table.T

    def add(self, place: int, outcome: float) -> None:
        """Count an outcome."""
        self.total[place] += outcome
        self.number[place] += 1

    def grow(self, size: int) -> None:
        """Make room for more."""
        more = size - len(self.total)
        self.total = np.concatenate([self.total, np.zeros(more)])
        self.number = np.concatenate([self.number, np.zeros(more)])


class Origins(NamedTuple):
    """Where the links were that led to a URL, and where they led: pages, tag paths, and the places of the URL."""

    pages: Sequence[int]
    paths: Sequence[int]
    places: Sequence[int]


class Rates:
    """How the links of each kind have paid."""

    def __init__(self) -> None:
        self.children, self.by_path = Rate(np.zeros((1024, 2))), Rate(np.zeros((SIZE, 2)))
        self._of_urls = np.zeros((len(_OF_URL) * SIZE, 2))
        self.by_shape, self.by_directory, self.by_top, self.by_host = map(Rate, np.split(self._of_urls, len(_OF_URL)))
        self.outcomes = 0.0
        self.fetched = 0
        #: What was counted, as outcomes may change: URLs with the links that led there, pages with links to a URL that
        #: was fetched before, and pages that are known beforehand, whose outcomes are certain.
        self.paid: list[tuple[int, Origins]] = []
        self._later: list[tuple[int, int]] = []
        self._known: list[tuple[Origins, float]] = []

    @property
    def usual(self) -> float:
        """The mean outcome of the crawl's fetches."""
        return usual_rate(self.outcomes, self.fetched)

    def pay(self, url: int, origins: Origins | None, outcome: float) -> None:
        """Count the outcome of a URL that was fetched, for the links that led there if any did."""
        self.outcomes += outcome
        self.fetched += 1
        if origins is not None:
            self.paid.append((url, origins))
            self._count(origins, outcome)

    def pay_later(self, page: int, url: int, outcome: float) -> None:
        """Count the outcome of a URL that had been fetched when a page turned out to link there."""
        self._later.append((page, url))
        self.children.add(page, outcome)

    def pay_known(self, origins: Origins, outcome: float) -> None:
        """Count the outcome of a page that is known beforehand; it is no fetch of the crawl."""
        self._known.append((origins, outcome))
        self._count(origins, outcome)

    def pay_again(self, outcomes: Floats) -> None:
        """Count everything again by the outcomes that URLs have now."""
        for name in KINDS:
            rate: Rate = getattr(self, name)
            rate.total[:] = 0
            rate.number[:] = 0
        self.outcomes = float(outcomes.sum())
        for origins, outcome in self._known:
            self._count(origins, outcome)
        for url, origins in self.paid:
            self._count(origins, float(outcomes[url]))
        for page, url in self._later:
            self.children.add(page, float(outcomes[url]))

    def _count(self, origins: Origins, outcome: float) -> None:
        for page in origins.pages:
            self.children.add(page, outcome)
        for path in origins.paths:
            self.by_path.add(path, outcome)
        rates = self.by_shape, self.by_directory, self.by_top, self.by_host
        for rate, place in zip(rates, origins.places, strict=True):
            rate.add(place, outcome)

    def surpluses(self, beside: Floats, places: Ints) -> Floats:
        """How links beside others pay, above the usual: by page, tag path, URL shape, and directory with its host.

        *beside*: for links of the page and of the tag path, in turn, the sum of outcomes and their number; *places*
        are those of URLs. Kinds that are worked out alike are so at once: for few URLs each operation costs the same.
        """
        usual = self.usual
        given = PRIOR * usual
        table = self._of_urls.take(places.T + _OFFSETS, axis=0)
        totals, weights = table[:, :, 0], table[:, :, 1] + PRIOR
        found = np.empty((4, len(places)))
        np.divide(beside[:, ::2].T + given, beside[:, 1::2].T + PRIOR, out=found[:2])
        np.divide(totals[::3] + given, weights[::3], out=found[2:])  # the shape, and the host
        above = (totals[2] + PRIOR * found[3]) / weights[2]  # the topmost directory is shrunk towards the host
        np.divide(totals[1] + PRIOR * above, weights[1], out=found[3])  # and the directory towards that
        return np.asarray(np.log(found / (1 - found)) - log(usual / (1 - usual)))

    # ---- keeping

    def state(self) -> Arrays:
        """What is known, to go on from there."""
        found: Arrays = {"outcomes": np.array([self.outcomes, self.fetched])}
        for name in KINDS:
            rate: Rate = getattr(self, name)
            found |= {f"{name} total": rate.total, f"{name} number": rate.number}
        found["paid"] = np.array([url for url, _ in self.paid], dtype=np.int64)
        places = [origins.places for _, origins in self.paid]
        found["paid places"] = np.array(places, dtype=np.int32).reshape(-1, len(_OF_URL))
        found |= joined("paid pages", [np.array(origins.pages) for _, origins in self.paid], np.int64)
        found |= joined("paid paths", [np.array(origins.paths) for _, origins in self.paid], np.int32)
        found["paid later"] = np.array(self._later, dtype=np.int64).reshape(-1, 2)
        return found

    def restore(self, state: Mapping[str, NDArray[Any]], urls: int) -> None:
        """Go on from a state of so many URLs; raises ValueError or KeyError if it is not one."""
        check_sizes(state, ("children total", "children number"))
        check_sizes(state, ("paid", "paid places"))
        pages = len(state["children total"])
        ranges = {"paid": urls, "paid places": SIZE, "paid pages": pages, "paid paths": SIZE}
        for name, end in ranges.items():
            check_range(name, state[name], end)
        check_range("paid later", state["paid later"][:, 0], pages)
        check_range("paid later", state["paid later"][:, 1], urls)
        if state["paid places"].shape[1:] != (len(_OF_URL),):
            raise ValueError("places have another size")
        if any(state[f"{name} {part}"].shape != (SIZE,) for name in KINDS[1:] for part in ("total", "number")):
            raise ValueError("rates have another size")
        self.children = Rate(np.zeros((len(state["children total"]), 2)))
        for name in KINDS:
            rate: Rate = getattr(self, name)
            rate.total[:], rate.number[:] = state[f"{name} total"], state[f"{name} number"]
        self.outcomes, self.fetched = float(state["outcomes"][0]), int(state["outcomes"][1])
        columns = [[part.tolist() for part in parted(f"paid {name}", state)] for name in ("pages", "paths")]
        found = map(Origins, *columns, state["paid places"].tolist())
        self.paid = list(zip(state["paid"].tolist(), found, strict=True))
        self._later = [(page, url) for page, url in state["paid later"].tolist()]
