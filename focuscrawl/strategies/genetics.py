"""The operators of the niche genetic algorithm, on URLs and their fitness."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import log
from random import Random
from typing import NamedTuple

#: The weight in a sample of what has none, so that it can still be drawn.
_LEAST = 1e-6


class Individual(NamedTuple):
    """A URL and its fitness: the relevance of its page, or an estimate of it."""

    url_id: int
    url: str
    fitness: float


def fittest(individuals: Iterable[Individual]) -> list[Individual]:
    """Sort by fitness, best first; ties by URL, so that the order of arrival does not matter."""
    return sorted(individuals, key=lambda individual: (-individual.fitness, individual.url))


def crossover(measured: Sequence[Individual], rate: float) -> list[Individual]:
    """The best share of the measured individuals."""
    return fittest(measured)[: round(rate * len(measured))]


def mutation(pool: Sequence[Individual], rate: float, chance: Random) -> list[Individual]:
    """A random share of a pool."""
    ordered = sorted(pool, key=lambda individual: individual.url)
    return chance.sample(ordered, round(rate * len(ordered)))


def sample(pool: Mapping[int, float], most: int, chance: Random) -> list[int]:
    """At most so many keys of a pool, drawn with probabilities in proportion to their values; 0: all of them."""
    if not 0 < most < len(pool):
        return list(pool)
    # the largest of u^(1/weight) are such a sample without replacement (Efraimidis and Spirakis)
    drawn = {key: log(1.0 - chance.random()) / max(pool[key], _LEAST) for key in sorted(pool)}
    return sorted(pool, key=lambda key: (-drawn[key], key))[:most]


def niche_kind(text: str) -> str:
    """A kind of niche: `host`, or `host/n` for a host and n directories; raises ValueError for anything else."""
    if not re.fullmatch(r"host(/[0-9]{1,9})?", text):
        raise ValueError(text)
    return text


def niche(url: str, kind: str) -> str:
    """The niche of a URL: its host and port, and its first directories."""
    levels = int(kind.partition("/")[2] or 0)
    host, _, path = url.partition("://")[2].partition("/")
    folders = path.partition("?")[0].split("/")[:-1]
    return "/".join([host, *folders[:levels]])


def knock_out(individuals: Iterable[Individual], amount: float, kind: str) -> list[Individual]:
    """The survivors after each niche loses its worst: a share of it, or a number if *amount* is 1 or more."""
    niches: dict[str, list[Individual]] = {}
    for individual in individuals:
        niches.setdefault(niche(individual.url, kind), []).append(individual)
    left: list[Individual] = []
    for members in niches.values():
        lost = int(amount) if amount >= 1 else int(amount * len(members))
        left += fittest(members)[: max(0, len(members) - lost)]
    return left
