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
        "The niche genetic crawler starts below best-first and HITS and ends above both. Its pages overlap least with"
        " those of HITS, while HITS and best-first find mostly the same pages."
    )
    here = "All three crawl from the topics' seeds; superposition is that of the relevant pages at the end."
    NAMES = ("niche_genetic", "best_first", "hits")
    PAPER: ClassVar = {
        ("niche_genetic", "best_first"): 0.71,
        ("niche_genetic", "hits"): 0.59,
        ("hits", "best_first"): 0.85,
    }
    #: A page with more links than this is a hub.
    HUB = 15
    BELOW = "it starts below both"
    ABOVE = "it ends above both"
    ALIKE = "its pages overlap least with those of HITS, which finds mostly the same as best-first"
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
            f"it {'starts' if below else 'does not start'} below both and {'ends' if above else 'does not end'} above"
            f" both; the superposition ratios are in {'the same' if alike else 'a different'} order."
        )
        return why if above else why + self._constants(results)

    def _constants(self, results: Results) -> str:
        """The effect of the paper's constants on this web."""
        crawls = [row.measures for row in results.rows("niche_genetic", TOPIC).values() if row.measures.pages]
        selected = mean([(crawl.judged_relevant or 0) / crawl.pages for crawl in crawls]) or 0.0
        degrees = [len(links) for links in results.survey.graph.links if links]
        hubs = sum(degree > self.HUB for degree in degrees) / max(1, len(degrees))
        text = (
            f" {_percent(selected)} of the fetched pages pass the threshold of 0.05, and {_percent(hubs)} of all"
            f" pages with links have more than {self.HUB} and count as hubs."
        )
        if selected > 0.5 and hubs > 0.5:
            text += (
                " So the paper's constants select almost nothing: nearly every link of nearly every page is fetched"
                " and measured before crossover keeps the best, and the generations are almost breadth-first."
            )
        elif hubs < 0.1:
            text += " So there are few hubs to take links from, and the wait queue stays short."
        return text
