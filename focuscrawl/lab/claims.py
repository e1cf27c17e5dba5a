"""The claims of a paper as data: a figure of one crawler compared with that of another, and by what margin."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal

from focuscrawl.lab.measures import mean
from focuscrawl.lab.plan import TOPIC

if TYPE_CHECKING:
    from focuscrawl.lab.experiment import Results

REPRODUCED = "Reproduced"
PARTLY = "Reproduced in part"
NOT_REPRODUCED = "Not reproduced"
NOTHING = "Not comparable"

#: A measure of two spiders: of the relevant pages that either found, the share that both found.
SUPERPOSITION = "superposition"

#: When a figure is read off: after this fraction of the crawl's pages.
Step = Literal["tenth", "quarter", "half", "end"]
Relation = Literal[">", ">=", "<"]
_RELATIONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt}


@dataclass(frozen=True)
class Figure:
    """A measure of crawls: the mean over its spiders and starts."""

    measure: str
    spiders: tuple[str, ...]
    ways: tuple[str, ...] = (TOPIC,)
    step: Step = "end"

    def of(self, results: Results, after: int | None = None) -> float:
        """Its value, at its own step or *after* a number of pages; 0 if there is none."""
        if self.measure == SUPERPOSITION:
            one, other = self.spiders
            return mean([results.overlap(one, other, way) or 0.0 for way in self.ways]) or 0.0
        pages = after or results.step(self.step)
        found = [results.mean(self.measure, spider, way, pages) for way in self.ways for spider in self.spiders]
        return mean(found) or 0.0


@dataclass(frozen=True)
class Claim:
    """A figure has a relation to *margin* times another figure, or to the margin itself if there is no other."""

    #: What the paper says; claims that say the same are parts of one claim.
    says: str
    figure: Figure
    relation: Relation
    other: Figure | None = None
    margin: float = 1.0

    def holds(self, results: Results, after: int | None = None) -> bool:
        """Whether the results satisfy it, at its own step or *after* a number of pages."""
        bound = self.margin * (1.0 if self.other is None else self.other.of(results, after))
        return bool(_RELATIONS[self.relation](self.figure.of(results, after), bound))

    def comparable(self, results: Results) -> bool:
        """Whether the other crawler found anything."""
        return self.other is None or self.other.of(results) > 0

    def ratio(self, results: Results) -> float:
        """The figure divided by the other one."""
        assert self.other is not None
        return self.figure.of(results) / self.other.of(results)


@dataclass(frozen=True)
class Finding:
    """What the results say about a claim of a paper."""

    says: str
    word: str
    #: How many of its comparisons hold, of how many.
    held: int
    parts: int
    #: The least and the greatest figure; as multiples of the other figures, if there are any.
    least: float | None = None
    most: float | None = None
    multiples: bool = False

    @property
    def why(self) -> str:
        """The figures behind the word."""
        if self.least is None or self.most is None:
            return "the other crawler found nothing"
        values = [f"{self.least:.2f}", f"{self.most:.2f}"]
        span = " to ".join(dict.fromkeys(values)) + (" times" if self.multiples else "")
        return f"{self.held} of {self.parts}, {span}"


def settle(claims: Sequence[Claim], results: Results) -> list[Finding]:
    """A finding for each claim, from its parts: reproduced if all of them hold, in part if some do."""
    parts: dict[str, list[Claim]] = {}
    for claim in claims:
        parts.setdefault(claim.says, []).append(claim)
    return [_settle(says, those, results) for says, those in parts.items()]


def _settle(says: str, claims: Sequence[Claim], results: Results) -> Finding:
    comparable = [claim for claim in claims if claim.comparable(results)]
    if not comparable:
        return Finding(says, NOTHING, 0, len(claims))
    multiples = comparable[0].other is not None
    values = [claim.ratio(results) if multiples else claim.figure.of(results) for claim in comparable]
    held = sum(claim.holds(results) for claim in claims)
    word = REPRODUCED if held == len(claims) else PARTLY if held else NOT_REPRODUCED
    return Finding(says, word, held, len(claims), min(values), max(values), multiples)


def at_each(claim: Claim, ways: Sequence[str], steps: Sequence[Step]) -> Iterator[Claim]:
    """The claim for each start and each step."""
    assert claim.other is not None
    for way, step in product(ways, steps):
        figure, other = (replace(figure, ways=(way,), step=step) for figure in (claim.figure, claim.other))
        yield replace(claim, figure=figure, other=other)


#: By the text of the claim, the share of its parts that hold.
Shares = Mapping[str, float]


def evaluate(claims: Sequence[Claim], results: Results) -> Shares:
    """The share of each claim that holds for the results."""
    parts: dict[str, list[bool]] = {}
    for claim in claims:
        parts.setdefault(claim.says, []).append(claim.holds(results))
    return {says: sum(held) / len(held) for says, held in parts.items()}


def reached(shares: Shares, alternatives: Sequence[Shares]) -> bool:
    """Whether one of the alternatives is met; each gives the minimum share of its claims."""
    return any(all(shares[says] >= least for says, least in one.items()) for one in alternatives)
