"""Agents that live on relevance: each has energy and a small network, reproduces and dies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import exp
from random import Random
from typing import Any

#: Learning rate, discount of the links on the next page, and standard deviation of mutations.
LEARNING, DISCOUNT, MUTATION = 0.1, 0.5, 0.2
#: How strongly an agent prefers the best link: the inverse temperature of the softmax.
GREED = 8.0


@dataclass
class Agent:
    """Estimates links with one logistic unit over their features, and remembers the pages it has visited."""

    weights: list[float]
    energy: float
    #: Numbers of the pages whose links it may choose from, and the id of the chosen URL (0: none).
    pages: list[int] = field(default_factory=list)
    chosen: int = 0

    def activation(self, features: Sequence[float]) -> float:
        """The relevance that the agent expects of a link, from 0 to 1."""
        return 1 / (1 + exp(-sum([w * x for w, x in zip(self.weights, features, strict=True)])))

    def learn(self, features: Sequence[float], relevance: float, best_next: float) -> None:
        """Learn that a link led to a page of this relevance, whose best link is estimated at *best_next*."""
        expected = self.activation(features)
        error = min(1.0, relevance + DISCOUNT * best_next) - expected
        step = LEARNING * error * expected * (1 - expected)
        self.weights = [w + step * x for w, x in zip(self.weights, features, strict=True)]

    def choose(self, links: Sequence[tuple[int, float]], chance: Random) -> int:
        """Pick one of some links, given as (URL id, estimate), at random; better ones are more likely."""
        best = max(worth for _, worth in links)
        odds = [exp(GREED * (worth - best)) for _, worth in links]
        return chance.choices([url_id for url_id, _ in links], odds)[0]

    def offspring(self, chance: Random) -> Agent:
        """Make a mutated child, which takes half of the energy and every other page."""
        self.energy /= 2
        weights = [weight + chance.gauss(0, MUTATION) for weight in self.weights]
        child = Agent(weights, self.energy, self.pages[1::2])
        self.pages = self.pages[::2]
        return child

    def to_json(self) -> dict[str, Any]:
        """The agent as JSON."""
        return asdict(self)
