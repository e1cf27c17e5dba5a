"""A paper's experiment: the crawls it needs, tables of their results, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from focuscrawl.lab.claims import (
    NOT_REPRODUCED,
    NOTHING,
    PARTLY,
    REPRODUCED,
    Claim,
    Finding,
    Shares,
    Step,
    evaluate,
    reached,
    settle,
)
from focuscrawl.lab.crawls import Outcome
from focuscrawl.lab.lab import Lab
from focuscrawl.lab.measures import mean, superposition
from focuscrawl.lab.plan import GENERIC, TOPIC, Job, Spec, Trial
from focuscrawl.lab.survey import Survey
from focuscrawl.lab.tables import Row

#: Names of the kinds of start in tables.
BEGUN_AT = {TOPIC: "on-topic seeds", GENERIC: "a generic start"}


@dataclass(frozen=True)
class Table:
    """A table: title, column names, and cells."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Verdict:
    """Whether the paper's pattern was reproduced, in a word or two, and why."""

    word: str
    why: str


class Results:
    """The results of an experiment's crawls; figures are means over the topics."""

    def __init__(self, lab: Lab, survey: Survey, trials: Sequence[Trial], outcomes: Mapping[Job, Outcome]) -> None:
        self.web = lab.title
        self.pages = lab.pages
        self.survey = survey
        crawled: dict[str, set[tuple[str, str]]] = {}
        for job in outcomes:
            crawled.setdefault(job.spider, set()).add((job.topic, job.seeds))
        #: Topics that every spider crawled from every start; only these are compared.
        self.topics = [
            topic
            for topic in dict.fromkeys(trial.topic for trial in trials)
            if all((topic, way) in places for places in crawled.values() for way in lab.ways)
        ]
        #: The spiders that crawled at least one topic.
        self.spiders = set(crawled)
        self.over = f"mean of {len(self.topics)} topics" if len(self.topics) > 1 else "one topic"
        self._rows = cache(lambda after: lab.rows(survey, trials, outcomes, after))

    @property
    def steps(self) -> tuple[int, int, int]:
        """The numbers of pages after which figures are shown: early, half-way, at the end."""
        return self.step("quarter"), self.step("half"), self.step("end")

    def step(self, name: Step) -> int:
        """The number of pages at this step, at least one."""
        return max(1, self.pages // {"tenth": 10, "quarter": 4, "half": 2, "end": 1}[name])

    def rows(self, spider: str, seeds: str, after: int | None = None) -> dict[str, Row]:
        """The crawls of a spider by topic, *after* that many pages or at the end."""
        found: list[Row] = self._rows(after or self.pages)
        return {
            row.topic: row for row in found if (row.spider, row.seeds) == (spider, seeds) and row.topic in self.topics
        }

    def by_topic(self, measure: str, spider: str, seeds: str, after: int | None = None) -> dict[str, float]:
        """A measure of a spider's crawls by topic, where it is defined."""
        values = {topic: getattr(row.measures, measure) for topic, row in self.rows(spider, seeds, after).items()}
        return {topic: value for topic, value in values.items() if value is not None}

    def mean(self, measure: str, spider: str, seeds: str, after: int | None = None) -> float:
        """The mean of a measure over the topics; 0 if there is none."""
        return mean(list(self.by_topic(measure, spider, seeds, after).values())) or 0.0

    def overlap(self, one: str, other: str, seeds: str) -> float | None:
        """Of the relevant pages that either found, the mean share that both found."""
        first, second = self.rows(one, seeds), self.rows(other, seeds)
        both = [superposition(first[t].measures.found, second[t].measures.found) for t in first if t in second]
        return mean(both)


class Experiment:
    """A paper's experiment. Subclasses say what is crawled, what the paper claims, and show the figures."""

    number: ClassVar[int]
    title: ClassVar[str]
    paper: ClassVar[str]
    #: What the paper reports.
    claim: ClassVar[str]
    #: How the experiment is run here.
    here: ClassVar[str]
    ways: ClassVar[tuple[str, ...]] = (TOPIC,)
    #: The paper's claims as comparisons of figures; none if it reports no figures.
    claims: ClassVar[tuple[Claim, ...]] = ()
    #: What counts as reproduced in part: alternatives, each with minimum shares of claims.
    partly: ClassVar[tuple[Shares, ...]] = ()
    #: The crawler that the claims are multiples of; it must have found something.
    multiples_of: ClassVar[str] = ""

    def on(self, lab: Lab, loader: Any) -> Lab:
        """The experiment's comparison on a lab's web and topics."""
        spiders = {spec: loader.load(spec.name) for spec in self.spiders(lab.pages)}
        return replace(lab, spiders=spiders, ways=list(self.ways), given=[], repeats=1, problems=[])

    def spiders(self, pages: int) -> list[Spec]:
        """The spiders of the experiment, with their options."""
        raise NotImplementedError

    def tables(self, results: Results) -> list[Table]:
        """The paper's figures and ours."""
        raise NotImplementedError

    def why(self, results: Results, shares: Shares, word: str) -> str:
        """The figures behind the verdict *word*."""
        raise NotImplementedError

    def is_partly(self, results: Results, shares: Shares) -> bool:
        """Whether results that do not fully reproduce the paper do so in part."""
        return reached(shares, self.partly)

    def verdict(self, results: Results) -> Verdict:
        """Whether the paper's pattern was reproduced."""
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

    def findings(self, results: Results) -> list[Finding]:
        """What the results say about each claim of the paper."""
        return settle(self.claims, results)

    def missing(self, results: Results) -> list[str]:
        """The spiders that did not crawl; all of them if there is no topic that all of them crawled."""
        names = [spec.text for spec in self.spiders(results.pages)]
        return [name for name in names if name not in results.spiders] or ([] if results.topics else names)


#: The columns of claims.csv.
CLAIMS = ("paper", "web", "pages", "claim", "verdict", "why")


def claim_rows(experiment: Experiment, results: Results) -> list[tuple[object, ...]]:
    """The rows of claims.csv for an experiment: a row per claim of the paper."""
    found = [(finding.says, finding.word, finding.why) for finding in experiment.findings(results)]
    nothing = (experiment.title, NOTHING, "the paper has no figures")
    return [(experiment.number, results.web, results.pages, *cells) for cells in found or [nothing]]


def as_markdown(experiment: Experiment, tables: Sequence[Table], verdict: Verdict) -> str:
    """An experiment as a section of a Markdown document."""
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
