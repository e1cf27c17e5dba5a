"""P4: the niche genetic algorithm against best-first and HITS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from focuscrawl.lab.claims import Claim, Figure, Shares, Step
from focuscrawl.lab.experiment import Experiment, Results, Table
from focuscrawl.lab.lab import Lab
from focuscrawl.lab.measures import mean, superposition
from focuscrawl.lab.plan import TOPIC, Spec
from focuscrawl.lab.tables import SHORT

#: The crawlers of the paper.
NAMES = ("niche_genetic", "best_first", "hits")
#: S0: pages whose tag-weighted keywords have a cosine with the topic's above this are relevant.
THRESHOLD = 0.05
#: A page with more links than this is a hub.
HUB = 15


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _first(results: Results) -> dict[str, dict[str, dict[int, int]]]:
    """By topic and crawler, the first n relevant pages of each, n being the smallest number that one of them found.

    The paper stops all crawlers at the same number of relevant pages, so the sets that it compares are of one size.
    """
    crawls = {name: results.rows(name, TOPIC) for name in NAMES}
    first: dict[str, dict[str, dict[int, int]]] = {}
    for topic in results.topics:
        found = {name: list(rows[topic].measures.keyword_found.items()) for name, rows in crawls.items()}
        number = min(map(len, found.values()))
        first[topic] = {name: dict(pages[:number]) for name, pages in found.items()}
    return first


@dataclass(frozen=True)
class Shared(Figure):
    """The superposition ratio of two crawlers' first n relevant pages."""

    def of(self, results: Results, after: int | None = None) -> float:
        return self.ratio(results) or 0.0

    def ratio(self, results: Results) -> float | None:
        """Its value; None if no topic has relevant pages of all crawlers."""
        one, other = self.spiders
        return mean([superposition(crawls[one].keys(), crawls[other].keys()) for crawls in _first(results).values()])


def _relevant(spider: str, step: Step) -> Figure:
    return Figure("keyword_relevant", (spider,), step=step)


def _shared(one: str, other: str) -> Shared:
    return Shared("first relevant pages", (one, other))


class NicheGenetic(Experiment):
    """P4: the niche genetic algorithm against best-first and HITS."""

    number = 4
    title = "The niche genetic algorithm against best-first and HITS"
    paper = 'H. Fan, G. Zeng, X. Li, "Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm"'
    claim = (
        "The niche genetic crawler starts below best-first and HITS and ends above both. Its pages overlap least with"
        " those of HITS, while HITS and best-first find mostly the same pages."
    )
    here = (
        "All three crawl from the topics' seeds. As in the paper, a page is relevant if the cosine S of the topic's"
        f" keywords with the page's, weighted by tag, is above {THRESHOLD}; S is measured on the pages of all three"
        " crawlers alike. The paper ends all crawls at the same number of relevant pages, so superposition is that of"
        " the first n relevant pages of each, n being the smallest number that one of the three finds. Relevant pages"
        " by the web's labels are shown for comparison."
    )
    PAPER: ClassVar = {
        ("niche_genetic", "best_first"): 0.71,
        ("niche_genetic", "hits"): 0.59,
        ("hits", "best_first"): 0.85,
    }
    BELOW = "it starts below both"
    ABOVE = "it ends above both"
    ALIKE = "HITS and best-first have the most pages in common"
    APART = "it has fewer pages in common with HITS than with best-first"
    claims = (
        Claim(BELOW, _relevant("niche_genetic", "tenth"), "<", _relevant("best_first", "tenth")),
        Claim(BELOW, _relevant("niche_genetic", "tenth"), "<", _relevant("hits", "tenth")),
        Claim(ABOVE, _relevant("niche_genetic", "end"), ">", _relevant("best_first", "end")),
        Claim(ABOVE, _relevant("niche_genetic", "end"), ">", _relevant("hits", "end")),
        Claim(ALIKE, _shared("hits", "best_first"), ">", _shared("niche_genetic", "best_first")),
        Claim(ALIKE, _shared("hits", "best_first"), ">", _shared("niche_genetic", "hits")),
        Claim(APART, _shared("niche_genetic", "best_first"), ">=", _shared("niche_genetic", "hits")),
    )
    partly = ({ABOVE: 1}, {BELOW: 1, ALIKE: 1, APART: 1})

    def on(self, lab: Lab, loader: Any) -> Lab:
        return replace(super().on(lab, loader), keyword_threshold=THRESHOLD)

    def spiders(self, pages: int) -> list[Spec]:
        return [Spec.parse(name) for name in NAMES]

    def tables(self, results: Results) -> list[Table]:
        steps = [results.step("tenth"), *results.steps]
        head = ("crawler", *(f"{step:,} pages" for step in steps))

        def counts(measure: str) -> dict[str, tuple[str, ...]]:
            return {name: tuple(f"{results.mean(measure, name, TOPIC, step):.1f}" for step in steps) for name in NAMES}

        first = _first(results).values()
        number = mean([len(crawls["hits"]) for crawls in first]) or 0.0
        cost = {name: mean([max(crawls[name].values(), default=0) for crawls in first]) or 0.0 for name in NAMES}
        of_n = f"the first n relevant pages of each crawler, n = {number:.1f} on average"
        overlaps = tuple(
            (f"{one} and {other}", _percent(theirs), _percent(_shared(one, other).ratio(results)))
            for (one, other), theirs in self.PAPER.items()
        )
        return [
            Table(
                f"{results.web}: pages with S above {THRESHOLD}, {results.over} (the paper shows a curve)",
                (*head, "fetched for n"),
                tuple((name, *cells, f"{cost[name]:.1f}") for name, cells in counts("keyword_relevant").items()),
            ),
            Table(
                f"{results.web}: relevant pages by label, {results.over}",
                head,
                tuple((name, *cells) for name, cells in counts("relevant").items()),
            ),
            Table(f"Superposition ratio of {of_n}", ("crawlers", "paper", "here"), overlaps),
        ]

    def why(self, results: Results, shares: Shares, word: str) -> str:
        held = [says for says, share in shares.items() if share == 1]
        failed = [says for says in shares if says not in held]
        by_label = {name: results.mean("relevant", name, TOPIC) for name in NAMES}
        mine = by_label.pop("niche_genetic")
        parts = [
            f"as in the paper: {'; '.join(held) or 'nothing'}.",
            *([f"Not as in the paper: {'; '.join(failed)}."] if failed else []),
            f"By S, it has {self._counts(results, 'tenth')} and {self._counts(results, 'end')}.",
            f"By label, it {'ends' if mine > max(by_label.values()) else 'does not end'} above both.",
            *self._ended(results),
            *([] if self.ABOVE in held else self._constants(results)),
        ]
        return " ".join(parts)

    def _counts(self, results: Results, step: Step) -> str:
        mine, *others = (_relevant(name, step).of(results) for name in NAMES)
        against = " and ".join(f"{other:.1f}" for other in others)
        return f"{mine:.1f} against {against} after {results.step(step):,} pages"

    def _ended(self, results: Results) -> Iterator[str]:
        """Whether its crawls ended early."""
        pages = results.mean("pages", "niche_genetic", TOPIC)
        if pages < SHORT * results.pages:
            others = results.mean("pages", "best_first", TOPIC)
            yield f"Its wait queue was empty after {pages:,.0f} pages, on average; best-first fetched {others:,.0f}."

    def _constants(self, results: Results) -> Iterator[str]:
        """The effect of the paper's constants on this web."""
        crawls = [row.measures for row in results.rows("niche_genetic", TOPIC).values() if row.measures.pages]
        selected = mean([(crawl.keyword_relevant or 0) / crawl.pages for crawl in crawls]) or 0.0
        degrees = [len(links) for links in results.survey.graph.links if links]
        hubs = sum(degree > HUB for degree in degrees) / max(1, len(degrees))
        yield (
            f"{_percent(selected)} of the fetched pages pass the threshold of {THRESHOLD}, and {_percent(hubs)} of all"
            f" pages with links have more than {HUB} and count as hubs."
        )
        if selected > 0.5 and hubs > 0.5:
            yield (
                "So the paper's constants select almost nothing: nearly every link of nearly every page is fetched"
                " and measured before crossover keeps the best, and the generations are almost breadth-first."
            )
        elif hubs < 0.1:
            yield "So there are few hubs to take links from, and the wait queue stays short."
