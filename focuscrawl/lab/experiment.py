"""What an experiment of a paper is: the crawls it needs, tables of what they found, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from focuscrawl.lab.claims import NOT_REPRODUCED, NOTHING, PARTLY, REPRODUCED, Claim, Shares, Step, evaluate, reached
from focuscrawl.lab.crawls import Outcome
from focuscrawl.lab.lab import Lab
from focuscrawl.lab.measures import mean, superposition
from focuscrawl.lab.plan import GENERIC, TOPIC, Job, Spec, Trial
from focuscrawl.lab.survey import Survey
from focuscrawl.lab.tables import Row

#: Where crawls begin, as the tables call it.
BEGUN_AT = {TOPIC: "on-topic seeds", GENERIC: "a generic start"}


@dataclass(frozen=True)
class Table:
    """A table: a title, the names of its columns, and its cells."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Verdict:
    """Whether the shape is the paper's, in a word or two, and why."""

    word: str
    why: str


class Results:
    """What the crawls of an experiment found; figures are means over the topics."""

    def __init__(self, lab: Lab, survey: Survey, trials: Sequence[Trial], outcomes: Mapping[Job, Outcome]) -> None:
        self.web = lab.title
        self.pages = lab.pages
        self.survey = survey
        crawled: dict[str, set[tuple[str, str]]] = {}
        for job in outcomes:
            crawled.setdefault(job.spider, set()).add((job.topic, job.seeds))
        #: Topics that every spider has crawled, from every way to begin: what they are compared on.
        self.topics = [
            topic
            for topic in dict.fromkeys(trial.topic for trial in trials)
            if all((topic, way) in places for places in crawled.values() for way in lab.ways)
        ]
        #: The spiders that have crawled at all.
        self.spiders = set(crawled)
        self.over = f"mean of {len(self.topics)} topics" if len(self.topics) > 1 else "one topic"
        self._rows = cache(lambda after: lab.rows(survey, trials, outcomes, after))

    @property
    def steps(self) -> tuple[int, int, int]:
        """The numbers of pages after which figures are shown: early, half-way, in the end."""
        return self.step("quarter"), self.step("half"), self.step("end")

    def step(self, name: Step) -> int:
        """The pages of a crawl up to this step, at least one."""
        return max(1, self.pages // {"tenth": 10, "quarter": 4, "half": 2, "end": 1}[name])

    def rows(self, spider: str, seeds: str, after: int | None = None) -> dict[str, Row]:
        """The crawls of a spider by topic, as they were after so many pages."""
        found: list[Row] = self._rows(after or self.pages)
        return {
            row.topic: row for row in found if (row.spider, row.seeds) == (spider, seeds) and row.topic in self.topics
        }

    def by_topic(self, measure: str, spider: str, seeds: str, after: int | None = None) -> dict[str, float]:
        """A measure of a spider's crawls by topic, where there is one."""
        values = {topic: getattr(row.measures, measure) for topic, row in self.rows(spider, seeds, after).items()}
        return {topic: value for topic, value in values.items() if value is not None}

    def mean(self, measure: str, spider: str, seeds: str, after: int | None = None) -> float:
        """The mean of a measure over the topics; 0 where there is none."""
        return mean(list(self.by_topic(measure, spider, seeds, after).values())) or 0.0

    def overlap(self, one: str, other: str, seeds: str) -> float | None:
        """The mean share of the relevant pages that either found that both found."""
        first, second = self.rows(one, seeds), self.rows(other, seeds)
        both = [superposition(first[t].measures.found, second[t].measures.found) for t in first if t in second]
        return mean(both)


class Experiment:
    """A paper's experiment. Subclasses say what is crawled, what the paper claims, and show the figures."""

    number: ClassVar[int]
    title: ClassVar[str]
    paper: ClassVar[str]
    #: What the paper saw.
    claim: ClassVar[str]
    #: What is done here instead.
    here: ClassVar[str]
    ways: ClassVar[tuple[str, ...]] = (TOPIC,)
    #: What the paper saw, as far as figures can tell; none if it reports no figures.
    claims: ClassVar[tuple[Claim, ...]] = ()
    #: What is enough to be reproduced in part: alternatives of the least shares of claims.
    partly: ClassVar[tuple[Shares, ...]] = ()
    #: The crawler that has to find something, because the claims are multiples of its figures.
    multiples_of: ClassVar[str] = ""

    def on(self, lab: Lab, loader: Any) -> Lab:
        """The comparison that the experiment makes of a lab's web and topics."""
        spiders = {spec: loader.load(spec.name) for spec in self.spiders(lab.pages)}
        return replace(lab, spiders=spiders, ways=list(self.ways), given=[], repeats=1, problems=[])

    def spiders(self, pages: int) -> list[Spec]:
        """The spiders that crawl, with their options."""
        raise NotImplementedError

    def tables(self, results: Results) -> list[Table]:
        """The paper's figures and ours."""
        raise NotImplementedError

    def why(self, results: Results, shares: Shares, word: str) -> str:
        """The figures that the verdict, a word for it, rests on."""
        raise NotImplementedError

    def is_partly(self, results: Results, shares: Shares) -> bool:
        """Whether results that are not all that the paper claims are some of it."""
        return reached(shares, self.partly)

    def verdict(self, results: Results) -> Verdict:
        """Whether the shape is the paper's."""
        if self.multiples_of and not all(claim.comparable(results) for claim in self.claims):
            return Verdict(NOTHING, f"{self.multiples_of} found nothing in its first pages; give more --pages.")
        shares = evaluate(self.claims, results)
        if not shares:
            word = NOTHING
        elif all(share == 1 for share in shares.values()):
            word = REPRODUCED
        else:
            word = PARTLY if self.is_partly(results, shares) else NOT_REPRODUCED
        return Verdict(word, self.why(results, shares, word))

    def missing(self, results: Results) -> list[str]:
        """The spiders that did not crawl; if there is no topic that all have crawled, all of them."""
        names = [spec.text for spec in self.spiders(results.pages)]
        return [name for name in names if name not in results.spiders] or ([] if results.topics else names)


def as_markdown(experiment: Experiment, tables: Sequence[Table], verdict: Verdict) -> str:
    """An experiment as a section of a Markdown page."""
    parts = [
        f"### {experiment.number}. {experiment.title}",
        experiment.paper + ".",
        f"**The paper:** {experiment.claim}",
        f"**Here:** {experiment.here}",
    ]
    for table in tables:
        lines = [
            "| " + " | ".join(cells) + " |"
            for cells in (table.head, ("---", *["---:"] * (len(table.head) - 1)), *table.rows)
        ]
        parts += [f"{table.title}:", "\n".join(lines)]
    parts.append(f"**{verdict.word}:** {verdict.why}")
    return "\n\n".join(parts) + "\n"
