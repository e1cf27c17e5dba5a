"""What pages that are known before the crawl say of links: examples and counterexamples of the topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.evidence import Evidence, Row
from focuscrawl.strategies.adaptive.hashing import SIZE
from focuscrawl.strategies.adaptive.lessons import WIDTH, Lessons
from focuscrawl.strategies.adaptive.reading import DIRECTORY, HOST, SHAPE, TOP, Reading

_KINDS = np.array([SHAPE, DIRECTORY, TOP, HOST], dtype=np.int32) * SIZE


class Known(NamedTuple):
    """A page that is known beforehand: the key of its URL, its label, what is on it, the keys of its links."""

    key: int
    label: float
    reading: Reading
    targets: Sequence[int]


class Beforehand:
    """The pages that are known beforehand, and their links that the crawl has not met yet."""

    def __init__(self, known: Sequence[Known], aside: Evidence) -> None:
        self.known = known
        #: By the keys of URLs; those of pages that people mark come to it.
        self.labels = {page.key: page.label for page in known}
        self._aside = aside
        self._numbers: dict[int, int] = {}

    def teach(self, evidence: Evidence, lessons: Lessons) -> tuple[list[float], int]:
        """Links between these pages are lessons, and so is where each page lies, if there are both kinds.

        Returns the labels of the lessons, and how many of these are about places: the first ones.
        """
        aside = self._aside
        labels = [page.label for page in self.known]
        if len(set(labels)) < 2:
            labels = []
        for page in self.known[: len(labels)]:
            lessons.add(Row(np.zeros(WIDTH), _KINDS + np.array(page.reading.place, np.int32), np.ones(len(_KINDS))))
        places = len(labels)
        for number, page in enumerate(self.known):
            for one in (aside, evidence):
                one.set_page(number, page.label)
            evidence.below.add(number, page.reading.directories, page.label)
            targets = [self._numbers.setdefault(key, len(self._numbers)) for key in page.targets]
            mine = self._numbers.get(page.key, -1)  # what a page says of itself does not count
            aside.add(number, np.array(targets, dtype=np.int64), page.reading.links, but=mine)
        for page in self.known:
            there = self._numbers.get(page.key)
            if there is not None and (origins := aside.origins(there)) is not None:
                lessons.add(aside.row(there))
                labels.append(page.label)
                evidence.rates.pay_known(origins, page.label)
        return labels, places

    def adopt(self, evidence: Evidence, targets: NDArray[np.int64], key_of: Callable[[int], int]) -> None:
        """Tell *evidence* what these pages say of URLs that are met for the first time."""
        if not self.labels:
            return
        if len(targets):
            evidence.make_room(int(targets.max()))
        found: dict[int, int] = {}
        for number in np.flatnonzero((evidence.last[targets] == 0) & ~evidence.done[targets]).tolist():
            key, target = key_of(number), int(targets[number])
            if key in self.labels:
                evidence.known[target] = 1.0 if self.labels[key] else -1.0
            there = self._numbers.pop(key, None)
            if there is not None:
                found[target] = there
        evidence.adopt(found, self._aside)

    @property
    def left(self) -> list[int]:
        """The numbers of URLs that the crawl has not met."""
        return sorted(self._numbers.values())

    @left.setter
    def left(self, numbers: Sequence[int]) -> None:
        kept = set(numbers)
        self._numbers = {key: number for key, number in self._numbers.items() if number in kept}
