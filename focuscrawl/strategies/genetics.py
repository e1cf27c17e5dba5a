"""The operators of the niche genetic algorithm, on URLs and their fitness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from focuscrawl import urls

NICHES = ("host", "host/1", "host/2")


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


def niche(url: str, kind: str) -> str:
    """The niche of a URL: its host, or host and first directories."""
    levels = NICHES.index(kind)
    host, _, path = url.partition("://")[2].partition("/")
    folders = path.partition("?")[0].split("/")[:-1]
    return "/".join([urls.host(url) or host, *folders[:levels]])


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
