"""P5: Treasure-Crawler against the context-graph crawler."""

from __future__ import annotations

from statistics import fmean
from typing import ClassVar

from focuscrawl.lab.claims import Claim, Figure, Shares, at_each
from focuscrawl.lab.experiment import BEGUN_AT, Experiment, Results, Table
from focuscrawl.lab.plan import GENERIC, TOPIC, Spec


def _more(one: float, other: float) -> str:
    return f"{100 * (one / other - 1):+.0f} %" if other else "–"


class Treasure(Experiment):
    """P5: Treasure-Crawler against the context-graph crawler."""

    number = 5
    title = "Treasure-Crawler against the context-graph crawler"
    paper = '"A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler)'
    claim = (
        "It finds 14 % more on-topic pages than the context-graph crawler from generic seeds and 22 % more from"
        " on-topic seeds; the precision and recall of its judge are about 0.5."
    )
    here = (
        "All have the same prior knowledge: a breadth-first crawl of 500 pages, from which one builds its T-Graph and"
        " the other its context graph. The judge is measured against the labels of the pages that the crawl fetched."
        " Two more rows show what the T-Graph contributes: treasure with the paper's rule for priorities, and with a"
        " T-Graph that no link matches."
    )
    ways = (GENERIC, TOPIC)
    PAPER: ClassVar = {GENERIC: 0.14, TOPIC: 0.22}
    NAMES = ("treasure", "context_graph")
    #: Treasure-Crawler with another rule for priorities.
    BY_PAPER, WITHOUT = "treasure, the paper's priorities", "treasure, no link matches"
    MORE = "it finds more on-topic pages than the context-graph crawler"
    JUDGE = "the precision and recall of its judge are about 0.5"
    claims = (
        *at_each(
            Claim(MORE, Figure("relevant", ("treasure",)), ">", Figure("relevant", ("context_graph",)), margin=1.05),
            ways,
            ("quarter", "end"),
        ),
        Claim(JUDGE, Figure("judged_precision", ("treasure",), ways), ">=", margin=0.4),
        Claim(JUDGE, Figure("judged_recall", ("treasure",), ways), ">=", margin=0.4),
    )
    partly = ({MORE: 0.01}, {JUDGE: 1})
    multiples_of = "the context-graph crawler"

    def spiders(self, pages: int) -> list[Spec]:
        prior = {"crawl": "auto", "crawl_pages": 500}
        return [
            *(Spec.of(name, name, **prior) for name in self.NAMES),
            Spec.of(self.BY_PAPER, "treasure", priority="paper", **prior),
            Spec.of(self.WITHOUT, "treasure", priority="paper", match=1.0, **prior),
        ]

    def _found(self, results: Results, way: str, step: int) -> tuple[float, float]:
        ours, theirs = (results.mean("relevant", name, way, step) for name in self.NAMES)
        return ours, theirs

    def _relevant(self, results: Results, spider: str, step: int) -> float:
        """The relevant pages of a spider, mean of both starts."""
        return fmean(results.mean("relevant", spider, way, step) for way in self.ways)

    def tables(self, results: Results) -> list[Table]:
        rows = []
        for way in self.ways:
            cells = []
            for step in results.steps:
                ours, theirs = self._found(results, way, step)
                cells.append(f"{ours:.1f} / {theirs:.1f} ({_more(ours, theirs)})")
            rows.append((BEGUN_AT[way], f"{100 * self.PAPER[way]:+.0f} %", *cells))
        judge = tuple(
            (
                BEGUN_AT[way],
                "0.5 / 0.5",
                *(
                    " / ".join(f"{results.mean(f'judged_{part}', name, way):.2f}" for part in ("precision", "recall"))
                    for name in self.NAMES
                ),
            )
            for way in self.ways
        )
        pages = f"{results.web}: relevant pages of treasure / context_graph, {results.over}"
        ablation = tuple(
            (name, *(f"{self._relevant(results, name, step):.1f}" for step in results.steps))
            for name in ("treasure", self.BY_PAPER, self.WITHOUT)
        )
        return [
            Table(pages, ("start", "paper", *(f"{step:,} pages" for step in results.steps)), tuple(rows)),
            Table(
                f"{results.web}: what the T-Graph contributes, relevant pages from both starts, {results.over}",
                ("priorities", *(f"{step:,} pages" for step in results.steps)),
                ablation,
            ),
            Table("Precision / recall of the judge", ("start", "paper", *self.NAMES), judge),
        ]

    def why(self, results: Results, shares: Shares, word: str) -> str:
        early, _, late = results.steps
        gains = {
            (claim.figure.ways[0], claim.figure.step): claim.ratio(results) - 1
            for claim in self.claims
            if claim.says == self.MORE
        }
        precision, recall = (
            Figure(f"judged_{part}", ("treasure",), self.ways).of(results) for part in ("precision", "recall")
        )
        gain = "; ".join(
            f"from {BEGUN_AT[way]}, {100 * gains[way, 'quarter']:+.0f} % after {early:,} pages and"
            f" {100 * gains[way, 'end']:+.0f} % after {late:,}"
            for way in self.ways
        )
        why = f"{gain}. Its judge has a precision of {precision:.2f} and a recall of {recall:.2f}."
        ours, paper, none = (self._relevant(results, name, early) for name in ("treasure", self.BY_PAPER, self.WITHOUT))
        if none:
            why += (
                f" After {early:,} pages, the T-Graph brings {_more(ours, none)} relevant pages; by the paper's rule"
                f" for priorities, {_more(paper, none)}."
            )
        if min(precision, recall) < 0.2:
            why += (
                " Dewey numbers do not separate these topics from the rest of this web, so they are of little use here."
            )
        elif all(gains[way, "quarter"] > max(0.05, gains[way, "end"]) for way in self.ways):
            why += " The lead shrinks: the context-graph crawler catches up as fewer pages are left to find."
        return why
