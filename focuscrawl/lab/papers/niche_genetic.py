"""P4: the niche genetic algorithm against best-first and HITS."""

from __future__ import annotations

from typing import ClassVar

from focuscrawl.lab.claims import SUPERPOSITION, Claim, Figure, Shares, Step
from focuscrawl.lab.experiment import Experiment, Results, Table
from focuscrawl.lab.measures import mean
from focuscrawl.lab.plan import TOPIC, Spec


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _relevant(spider: str, step: Step) -> Figure:
    return Figure("relevant", (spider,), step=step)


def _shared(one: str, other: str) -> Figure:
    return Figure(SUPERPOSITION, (one, other))


class NicheGenetic(Experiment):
    """P4: the niche genetic algorithm against best-first and HITS."""

    number = 4
    title = "The niche genetic algorithm against best-first and HITS"
    paper = 'H. Fan, G. Zeng, X. Li, "Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm"'
    claim = (
        "The niche genetic crawler begins below best-first and HITS and ends above both; its pages are least like those"
        " of HITS, while HITS and best-first find mostly the same."
    )
    here = "All three crawl from the topics' seeds; superposition is of the relevant pages in the end."
    NAMES = ("niche_genetic", "best_first", "hits")
    PAPER: ClassVar = {
        ("niche_genetic", "best_first"): 0.71,
        ("niche_genetic", "hits"): 0.59,
        ("hits", "best_first"): 0.85,
    }
    #: Links from which a page is a hub.
    HUB = 15
    BELOW = "it begins below both"
    ABOVE = "it ends above both"
    ALIKE = "its pages are least like those of HITS, which finds mostly the same as best-first"
    claims = (
        Claim(BELOW, _relevant("niche_genetic", "tenth"), "<", _relevant("best_first", "tenth")),
        Claim(BELOW, _relevant("niche_genetic", "tenth"), "<", _relevant("hits", "tenth")),
        Claim(ABOVE, _relevant("niche_genetic", "end"), ">", _relevant("best_first", "end")),
        Claim(ABOVE, _relevant("niche_genetic", "end"), ">", _relevant("hits", "end")),
        Claim(ALIKE, _shared("hits", "best_first"), ">", _shared("niche_genetic", "best_first")),
        Claim(ALIKE, _shared("niche_genetic", "best_first"), ">=", _shared("niche_genetic", "hits")),
    )
    partly = ({ABOVE: 1}, {BELOW: 1, ALIKE: 1})

    def spiders(self, pages: int) -> list[Spec]:
        return [Spec.parse(name) for name in self.NAMES]

    def _steps(self, results: Results) -> list[int]:
        return [results.step("tenth"), *results.steps]

    def tables(self, results: Results) -> list[Table]:
        steps = self._steps(results)
        rows = tuple(
            (name, *(f"{results.mean('relevant', name, TOPIC, step):.1f}" for step in steps)) for name in self.NAMES
        )
        overlaps = tuple(
            (f"{one} and {other}", _percent(theirs), _percent(results.overlap(one, other, TOPIC)))
            for (one, other), theirs in self.PAPER.items()
        )
        curve = f"{results.web}: relevant pages, {results.over} (the paper shows a curve)"
        return [
            Table(curve, ("crawler", *(f"{step:,} pages" for step in steps)), rows),
            Table("Superposition ratio", ("crawlers", "paper", "here"), overlaps),
        ]

    def why(self, results: Results, shares: Shares, word: str) -> str:
        below, above, alike = (shares[says] == 1 for says in (self.BELOW, self.ABOVE, self.ALIKE))
        why = (
            f"it begins {'below both' if below else 'not below both'} and ends"
            f" {'above both' if above else 'not above both'}; the superposition ratios are in"
            f" {'the same' if alike else 'another'} order."
        )
        return why if above else why + self._constants(results)

    def _constants(self, results: Results) -> str:
        """What the constants of the paper mean on this web."""
        crawls = [row.measures for row in results.rows("niche_genetic", TOPIC).values() if row.measures.pages]
        selected = mean([(crawl.judged_relevant or 0) / crawl.pages for crawl in crawls]) or 0.0
        degrees = [len(links) for links in results.survey.graph.links if links]
        hubs = sum(degree > self.HUB for degree in degrees) / max(1, len(degrees))
        told = (
            f" {_percent(selected)} of the fetched pages pass the threshold of 0.05, and {_percent(hubs)} of all"
            f" pages with links have more than {self.HUB}, which makes them hubs."
        )
        if selected > 0.5 and hubs > 0.5:
            told += (
                " So the paper's constants leave hardly a choice: all links of nearly all pages are fetched to be"
                " measured before crossover keeps the best, and the generations are nearly breadth-first."
            )
        elif hubs < 0.1:
            told += " So there are few hubs whose links could be taken, and the wait queue holds little."
        return told
