"""The graph of a crawl: hubs and authorities."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T", bound=Hashable)
Ranked = list[tuple[T, float]]


def hits(edges: Iterable[tuple[T, T]], rounds: int = 50, tolerance: float = 1e-9) -> tuple[Ranked[T], Ranked[T]]:
    """Hubs and authorities of a graph (Kleinberg), the best first, each list with weights that sum to 1."""
    from scipy.sparse import csr_matrix  # here, because every command imports every spider, and this takes a while

    numbers: dict[T, int] = {}
    pairs = [(numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers))) for a, b in edges]
    if not pairs:
        return [], []
    size = len(numbers)
    sources, targets = zip(*pairs, strict=True)
    graph = csr_matrix((np.ones(len(pairs)), (sources, targets)), shape=(size, size))
    hubs = np.full(size, 1 / size)
    authorities = hubs
    for _ in range(rounds):
        authorities = _to_one(graph.T @ hubs)
        before, hubs = hubs, _to_one(graph @ authorities)
        if np.abs(hubs - before).sum() < tolerance:
            break
    return _ranked(numbers, hubs), _ranked(numbers, authorities)


def _to_one(values: Any) -> Any:
    return values / values.sum()


def _ranked(numbers: dict[T, int], values: Any) -> Ranked[T]:
    order = sorted(numbers, key=lambda item: (-values[numbers[item]], numbers[item]))
    return [(item, float(values[numbers[item]])) for item in order]
