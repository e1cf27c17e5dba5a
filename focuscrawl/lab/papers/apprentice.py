"""P2: the apprentice against the baseline that it learns from, with two word selection methods."""

from __future__ import annotations

from statistics import fmean
from typing import ClassVar

from focuscrawl.lab.claims import PARTLY, Claim, Figure, Shares, Step, at_each
from focuscrawl.lab.error_bars import Drawn, mean_and_error
from focuscrawl.lab.experiment import BEGUN_AT, Results, Table
from focuscrawl.lab.measures import mean
from focuscrawl.lab.plan import GENERIC, TOPIC, Spec


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}×" if other else "–"


class Apprentice(Drawn):
    """P2: baseline and apprentice, with two word selection methods."""

    number = 2
    title = "The apprentice against the baseline it learns from"
    paper = (
        'S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and'
        ' Accelerated Focused Crawlers", IJCA 117(8), 2015'
    )
    claim = (
        "The apprentice has about twice the target recall of the baseline with either word selection method, and its"
        " pages are more similar to the topic."
    )
    here = (
        "The apprentice learns from a finished baseline crawl of the same length. The targets are those of the topics."
        " Similarity is the sum of the pages' cosines with the topic's description. ± is the standard error over the"
        " topics; `paper-2-topic.svg` and `paper-2-generic.svg` show the curves with error bars."
    )
    ways = (TOPIC, GENERIC)
    SELECTIONS = ("df", "mi")
    #: Target recall of three topics after 10,000 pages and of three others after 5,000, and summed similarity.
    PAPER: ClassVar = {
        "baselineDF": (0.053, 0.055, 390),
        "apprenticeDF": (0.115, 0.12, 650),
        "baselineMI": (0.053, 0.08, 390),
        "apprenticeMI": (0.11, 0.12, 660),
    }
    BASELINE = ("baselineDF", "baselineMI")
    APPRENTICE = ("apprenticeDF", "apprenticeMI")
    RECALL = "the apprentice has about twice the target recall of the baseline"
    SIMILARITY = "the pages of the apprentice are more similar to the topic"
    claims = (
        *at_each(
            Claim(RECALL, Figure("target_recall", APPRENTICE), ">=", Figure("target_recall", BASELINE), margin=1.5),
            ways,
            ("quarter", "half", "end"),
        ),
        *at_each(
            Claim(SIMILARITY, Figure("similarity", APPRENTICE), ">", Figure("similarity", BASELINE)), ways, ("end",)
        ),
    )
    multiples_of = "the baseline"

    def spiders(self, pages: int) -> list[Spec]:
        lessons = max(20, pages)
        return [
            spec
            for selection in self.SELECTIONS
            for spec in (
                Spec.of(f"baseline{selection.upper()}", "baseline", selection=selection),
                Spec.of(
                    f"apprentice{selection.upper()}",
                    "apprentice",
                    selection=selection,
                    lessons="auto",
                    lesson_pages=lessons,
                ),
            )
        ]

    def tables(self, results: Results) -> list[Table]:
        tables = [
            Table(
                "The paper: mean target recall and summed similarity",
                ("crawler", "10,000 pages", "5,000 pages, other topics", "similarity"),
                tuple(
                    (name, f"{100 * ten:.1f} %", f"{100 * five:.1f} %", f"{similarity}")
                    for name, (ten, five, similarity) in self.PAPER.items()
                ),
            )
        ]
        for way in self.ways:
            rows = []
            for selection in ("DF", "MI"):
                pair = f"baseline{selection}", f"apprentice{selection}"
                figures = [("target_recall", step) for step in results.steps] + [("similarity", results.pages)]
                found = {
                    spider: [list(results.by_topic(name, spider, way, step).values()) for name, step in figures]
                    for spider in pair
                }
                for spider, (*recalls, similarity) in found.items():
                    cells = (mean_and_error(recall, percent=True) for recall in recalls)
                    rows.append((spider, *cells, mean_and_error(similarity)))
                means = [[mean(values) or 0.0 for values in columns] for columns in found.values()]
                rows.append(("", *(_ratio(after, before) for before, after in zip(*means, strict=True))))
            head = ("crawler", *(f"{step:,} pages" for step in results.steps), "similarity")
            title = f"{results.web}, {BEGUN_AT[way]}: target recall, {results.over}, and similarity"
            tables.append(Table(title, head, tuple(rows)))
        return tables

    def _ratios(self, results: Results, says: str) -> dict[tuple[str, Step], float]:
        """The apprentice's figure divided by the baseline's, by start and step."""
        claims = [claim for claim in self.claims if claim.says == says]
        return {(claim.figure.ways[0], claim.figure.step): claim.ratio(results) for claim in claims}

    def is_partly(self, results: Results, shares: Shares) -> bool:
        return fmean(self._ratios(results, self.RECALL).values()) >= 1.1

    def why(self, results: Results, shares: Shares, word: str) -> str:
        ratios = self._ratios(results, self.RECALL)
        early, _, late = results.steps
        recall = "; ".join(
            f"from {BEGUN_AT[way]}, {ratios[way, 'quarter']:.2f} times the baseline's after {early:,} pages and"
            f" {ratios[way, 'end']:.2f} times after {late:,}"
            for way in self.ways
        )
        alike = " and ".join(f"{ratio:.2f}" for ratio in self._ratios(results, self.SIMILARITY).values())
        why = f"target recall of the apprentice: {recall}. The similarity of its pages is {alike} times the baseline's."
        found = Figure("target_recall", self.BASELINE).of(results)
        if word == PARTLY and found > 0.2 and all(ratios[way, "quarter"] > ratios[way, "end"] for way in self.ways):
            why += (
                f" The gain shrinks as the web runs out: the baseline ends with {100 * found:.0f} % of the targets, in"
                " the paper with 5 to 8 %."
            )
        return why
