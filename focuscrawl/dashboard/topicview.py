"""The topic of a crawl: its keywords, and what each contributed to the pages that were judged."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from focuscrawl.dashboard.ledger import JUDGED, RELEVANT, Ledger
from focuscrawl.store.store import Store

#: Pages of each kind that are looked at.
SAMPLE = 300


class Share(NamedTuple):
    """What a part of the judgement contributed: on how many pages of each kind, and how much on relevant ones."""

    name: str
    weight: float | None
    relevant: int
    others: int
    mean: float


class Contributions(NamedTuple):
    """The contributions on a sample of pages."""

    shares: list[Share]
    relevant: int
    others: int


def contributions(store: Store, ledger: Ledger) -> Contributions:
    """What each keyword contributed to relevant and to other pages, on evenly spaced pages of each kind."""
    keywords = store.meta("keywords")
    weights: dict[str, Any] = keywords if isinstance(keywords, dict) else {}
    known = ledger.known
    flags = ledger.flags[known]
    good = _spread(known[(flags & RELEVANT) > 0])
    other = _spread(known[((flags & JUDGED) > 0) & ((flags & RELEVANT) == 0) & (ledger.withheld[known] == 0)])
    counts: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0, 0.0])
    for name in weights:
        counts[str(name)]  # keywords on no page are shown too
    for place, numbers in enumerate((good, other)):
        for row in store.browse.rows(numbers):
            for name, value in row.why.items():
                if isinstance(value, int | float):
                    counts[name][place] += 1
                    counts[name][2] += float(value) if place == 0 else 0.0
    shares = [
        Share(name, _weight(weights.get(name)), int(on), int(off), total / len(good) if good else 0.0)
        for name, (on, off, total) in counts.items()
    ]
    shares.sort(key=lambda share: (-abs(share.mean), share.name))
    return Contributions(shares[:100], len(good), len(other))


#: The keys of `learned` in the crawl's file, and what they mean.
_LEARNED = {
    "page for": "speaks for a page",
    "page against": "speaks against a page",
    "link for": "speaks for a link",
    "link against": "speaks against a link",
}


def learned(store: Store) -> list[tuple[str, list[str]]]:
    """The strongest words of a strategy that learns, for and against; empty for others."""
    found = store.meta("learned")
    if not isinstance(found, dict):
        return []
    kinds = ((told, found.get(key)) for key, told in _LEARNED.items())
    return [
        (told, [str(one[0]) for one in words[:40] if isinstance(one, list) and one])
        for told, words in kinds
        if isinstance(words, list) and words
    ]


def _weight(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _spread(numbers: np.ndarray[Any, np.dtype[Any]]) -> list[int]:
    if len(numbers) <= SAMPLE:
        return [int(number) for number in numbers]
    return [int(number) for number in numbers[np.linspace(0, len(numbers) - 1, SAMPLE).astype(int)]]
