"""P1: a keyword crawler against a breadth-first one, with six queries about sorting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from focuscrawl.lab.claims import Claim, Figure, Relation, Shares
from focuscrawl.lab.experiment import Experiment, Results, Table
from focuscrawl.lab.lab import Lab
from focuscrawl.lab.plan import TOPIC, Spec
from focuscrawl.lab.survey import page_addresses
from focuscrawl.topic import load_topic


def _pair(figures: tuple[float, float]) -> str:
    return " / ".join(f"{100 * figure:.0f}" for figure in figures)


def _each_query(says: str, queries: Iterable[str], relation: Relation, measure: str, other: str) -> Iterator[Claim]:
    for query in queries:
        yield Claim(says, Figure(measure, (f"keyword {query}",)), relation, Figure(measure, (other,)))


class KeywordCrawler(Experiment):
    """P1: a keyword crawler against a breadth-first one, six queries about sorting."""

    number = 1
    title = "The keyword crawler against the traditional one"
    paper = 'D. H. Hameed, S. H. Hashem, "Web Pages Retrieval by Using Proposed Focused Crawler"'
    claim = "On each of six queries, the focused crawler has higher precision and the traditional one higher recall."
    here = (
        "Both crawl the whole embedded web, which includes sites about sorting, with the paper's queries. Precision is"
        " the share of lines of URLs.txt that are relevant pages, recall the share of the reachable relevant pages that"
        " it lists."
    )
    TRADITIONAL = "breadth_first"
    #: Pages after which the crawl is measured once before the end.
    EARLY = 200
    #: By query: precision and recall of the traditional and of the focused crawler.
    PAPER: ClassVar = {
        "time,bubble,sort": ((0.70, 0.82), (0.80, 0.81)),
        "sort,quick": ((0.82, 0.85), (0.88, 0.82)),
        "quick,heap,space": ((0.77, 0.84), (0.85, 0.81)),
        "shell,sort,time": ((0.79, 0.86), (0.86, 0.84)),
        "heap,space,sort": ((0.76, 0.84), (0.85, 0.83)),
        "data,sort,time,shell": ((0.71, 0.86), (0.88, 0.82)),
    }
    PRECISION = "the focused crawler has higher precision"
    RECALL = "the traditional crawler has higher recall"
    claims = (
        *_each_query(PRECISION, PAPER, ">", "matched_precision", TRADITIONAL),
        *_each_query(RECALL, PAPER, "<", "matched_recall", TRADITIONAL),
    )
    partly = ({PRECISION: 0.51},)

    def spiders(self, pages: int) -> list[Spec]:
        return [
            Spec.parse(self.TRADITIONAL),
            *(Spec.of(f"keyword {query}", "keyword", keywords=query) for query in self.PAPER),
        ]

    def on(self, lab: Lab, loader: Any) -> Lab:
        here = super().on(lab, loader)
        folder = lab.folder / "demo"  # a web is read once per folder
        demo = replace(here, web_name="demo", topics={"sorting": load_topic("sorting")}, folder=folder)
        return replace(demo, pages=2 * len(page_addresses(demo.web)))  # more than there are, dead links included

    def _figures(self, results: Results, spider: str, after: int | None = None) -> tuple[float, float]:
        precision, recall = (results.mean(f"matched_{name}", spider, TOPIC, after) for name in ("precision", "recall"))
        return precision, recall

    def tables(self, results: Results) -> list[Table]:
        rows = []
        for query, figures in self.PAPER.items():
            ours = [
                self._figures(results, spider, after)
                for after in (self.EARLY, None)
                for spider in (self.TRADITIONAL, f"keyword {query}")
            ]
            rows.append((query.replace(",", ", "), *map(_pair, (*figures, *ours))))
        crawlers = (self.TRADITIONAL, "keyword")
        head = (
            *("query", "paper: traditional", "paper: focused"),
            *(f"{name}, {self.EARLY} pages" for name in crawlers),
            *(f"{name}, all pages" for name in crawlers),
        )
        return [Table("Precision / recall of URLs.txt in percent", head, tuple(rows))]

    def why(self, results: Results, shares: Shares, word: str) -> str:
        queries = len(self.PAPER)
        early = sum(claim.holds(results, self.EARLY) for claim in self.claims if claim.says == self.RECALL)
        why = (
            f"the focused crawler has higher precision on {round(shares[self.PRECISION] * queries)} of {queries}"
            " queries; the traditional one, which lists every page it fetches, has higher recall on"
            f" {round(shares[self.RECALL] * queries)}. After {self.EARLY} pages it leads in recall on {early}:"
            " the focused crawler reaches the relevant pages sooner."
        )
        if self._figures(results, self.TRADITIONAL)[0] < 0.5:
            why += (
                " The paper's traditional crawler has a precision of at least 70 %, so it must have crawled sites that"
                " are almost entirely about sorting."
            )
        return why
