"""Agents that live on what they find: energy, a small network each, offspring and death."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import exp
from random import Random
from typing import Any

#: Step of learning, discount of what lies behind the next page, and spread of a mutated weight.
LEARNING, DISCOUNT, MUTATION = 0.1, 0.5, 0.2
#: How much an agent prefers the best link: the inverse of the temperature.
GREED = 8.0


@dataclass
class Agent:
    """Looks at links with one logistic unit over their features, and remembers the pages it has been on."""

    weights: list[float]
    energy: float
    #: Numbers of the pages whose links it may choose from, and the id of the URL that it has chosen.
    pages: list[int] = field(default_factory=list)
    chosen: int = 0

    def activation(self, features: Sequence[float]) -> float:
        """What the agent expects of a link, from 0 to 1."""
        return 1 / (1 + exp(-sum([w * x for w, x in zip(self.weights, features, strict=True)])))

    def learn(self, features: Sequence[float], relevance: float, best_next: float) -> None:
        """A link led to a page of that relevance, from which the best link looks that good."""
        expected = self.activation(features)
        error = min(1.0, relevance + DISCOUNT * best_next) - expected
        step = LEARNING * error * expected * (1 - expected)
        self.weights = [w + step * x for w, x in zip(self.weights, features, strict=True)]

    def choose(self, links: Sequence[tuple[int, float]], chance: Random) -> int:
        """One of some links, given with what is expected of them: a better one more likely."""
        best = max(worth for _, worth in links)
        odds = [exp(GREED * (worth - best)) for _, worth in links]
        return chance.choices([url_id for url_id, _ in links], odds)[0]

    def offspring(self, chance: Random) -> Agent:
        """A mutated child, which takes half of the energy and every other page."""
        self.energy /= 2
        weights = [weight + chance.gauss(0, MUTATION) for weight in self.weights]
        child = Agent(weights, self.energy, self.pages[1::2])
        self.pages = self.pages[::2]
        return child

    def to_json(self) -> dict[str, Any]:
        """The agent as JSON."""
        return asdict(self)
