"""The experiments of the papers behind the strategies, as far as a web in a file allows: their figures beside ours.

An experiment names the crawls it needs, makes its tables from what they found, and says whether what the paper saw is
to be seen here, too. The figures of the papers are those of crawls of the live web, years ago; what can be compared is
the shape.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Any, ClassVar

from focuscrawl.lab.experiment import Experiment, Results, Table, Verdict
from focuscrawl.lab.lab import Lab
from focuscrawl.lab.measures import mean
from focuscrawl.lab.plan import GENERIC, TOPIC, Spec
from focuscrawl.lab.survey import page_addresses
from focuscrawl.topic import load_topic

#: How the ways to begin are called here.
_FROM = {TOPIC: "on-topic seeds", GENERIC: "a generic start"}


def _spec(text: str, name: str, **options: Any) -> Spec:
    return Spec(text, name, tuple((option, str(value)) for option, value in options.items()))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _pair(figures: tuple[float, float]) -> str:
    return " / ".join(f"{100 * figure:.0f}" for figure in figures)


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}×" if other else "–"


def _more(one: float, other: float) -> str:
    return f"{100 * (one / other - 1):+.0f} %" if other else "–"


def _nothing(spider: str) -> Verdict:
    """The verdict where there is nothing to be so many times as good as."""
    return Verdict("Nothing to compare with", f"{spider} found nothing in its first pages; give more --pages.")


# ---- P1


class KeywordCrawler(Experiment):
    """P1: a keyword crawler against a breadth-first one, six queries about sorting."""

    number = 1
    title = "The keyword crawler against the traditional one"
    paper = 'D. H. Hameed, S. H. Hashem, "Web Pages Retrieval by Using Proposed Focused Crawler"'
    claim = "On each of six queries the focused crawler is the more precise one, the traditional one has more recall."
    here = (
        "Both crawl the embedded web, which has sites about sorting among others, with the paper's queries, until"
        " nothing is left. Precision is the share of relevant pages among the lines of URLs.txt, recall the share of"
        " the relevant pages within reach that are there."
    )
    TRADITIONAL = "breadth_first"
    #: Pages after which it is looked at once before the end.
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

    def spiders(self, pages: int) -> list[Spec]:
        return [
            Spec.parse(self.TRADITIONAL),
            *(_spec(f"keyword {query}", "keyword", keywords=query) for query in self.PAPER),
        ]

    def on(self, lab: Lab, loader: Any) -> Lab:
        here = super().on(lab, loader)
        folder = lab.folder / "demo"  # a web is read once for each folder
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

    def verdict(self, results: Results) -> Verdict:
        better = {}
        for after in (self.EARLY, results.pages):
            precision, recall = self._figures(results, self.TRADITIONAL, after)
            ours = [self._figures(results, f"keyword {query}", after) for query in self.PAPER]
            better[after] = sum(one > precision for one, _ in ours), sum(other < recall for _, other in ours)
        precise, fewer = better[results.pages]
        queries = len(self.PAPER)
        why = (
            f"the focused crawler is the more precise one on {precise} of {queries} queries, the traditional one, which"
            f" lists all it fetches, has more recall on {fewer}. In the first {self.EARLY} pages it has that"
            f" on {better[self.EARLY][1]}, where the focused one is sooner at the relevant pages."
        )
        if self._figures(results, self.TRADITIONAL)[0] < 0.5:
            why += (
                " The paper's traditional crawler has a precision of 70 % and more: it must have crawled sites that are"
                " about little else."
            )
        if precise == fewer == queries:
            return Verdict("Reproduced", why)
        return Verdict("Reproduced in part" if precise > queries / 2 else "Not reproduced", why)


# ---- P2


class Apprentice(Experiment):
    """P2: baseline and apprentice, two ways to choose words."""

    number = 2
    title = "The apprentice against the baseline it learns from"
    paper = (
        'S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and'
        ' Accelerated Focused Crawlers", IJCA 117(8), 2015'
    )
    claim = (
        "The apprentice has about twice the target recall of the baseline, whichever way words are chosen, and its"
        " pages are more similar to the topic."
    )
    here = (
        "The apprentice learns from a finished baseline crawl, as long as its own. Targets are the topics' own."
        " Similarity is the sum of the pages' cosines with the topic's keywords."
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

    def spiders(self, pages: int) -> list[Spec]:
        lessons = max(20, pages)
        return [
            spec
            for selection in self.SELECTIONS
            for spec in (
                _spec(f"baseline{selection.upper()}", "baseline", selection=selection),
                _spec(
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
                "The paper: mean target recall, and summed similarity",
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
                found = {
                    spider: [results.mean("target_recall", spider, way, step) for step in results.steps]
                    + [results.mean("similarity", spider, way)]
                    for spider in pair
                }
                for spider, (*recalls, similarity) in found.items():
                    rows.append((spider, *(f"{100 * recall:.1f} %" for recall in recalls), f"{similarity:.0f}"))
                rows.append(("", *(_ratio(after, before) for before, after in zip(*found.values(), strict=True))))
            head = ("crawler", *(f"{step:,} pages" for step in results.steps), "similarity")
            title = f"{results.web}, {_FROM[way]}: target recall, {results.over}, and similarity"
            tables.append(Table(title, head, tuple(rows)))
        return tables

    def verdict(self, results: Results) -> Verdict:
        def figure(measure: str, spider: str, way: str, step: int) -> float:
            """The mean of both ways to choose words."""
            return mean([results.mean(measure, f"{spider}{how}", way, step) for how in ("DF", "MI")]) or 0.0

        def ratio(measure: str, way: str, step: int) -> float:
            return figure(measure, "apprentice", way, step) / figure(measure, "baseline", way, step)

        measures = "target_recall", "similarity"
        if not all(
            figure(name, "baseline", way, step) for name in measures for way in self.ways for step in results.steps
        ):
            return _nothing("the baseline")
        ratios = {(way, step): ratio("target_recall", way, step) for way in self.ways for step in results.steps}
        early, _, late = results.steps
        told = "; ".join(
            f"{ratios[way, early]:.2f} times the baseline's after {early:,} pages and {ratios[way, late]:.2f} times"
            f" after {late:,} from {_FROM[way]}"
            for way in self.ways
        )
        alike = [ratio("similarity", way, late) for way in self.ways]
        why = (
            f"the apprentice's target recall is {told}; the similarity of its pages is"
            f" {' and '.join(f'{one:.2f}' for one in alike)} times the baseline's."
        )
        if min(ratios.values()) >= 1.5 and min(alike) > 1:
            return Verdict("Reproduced", why)
        if fmean(ratios.values()) < 1.1:
            return Verdict("Not reproduced", why)
        found = figure("target_recall", "baseline", TOPIC, late)
        if all(ratios[way, early] > ratios[way, late] for way in self.ways) and found > 0.2:
            why += (
                f" The gain shrinks where the web runs out: the baseline has found {100 * found:.0f} % of the targets"
                " in the end, 5 to 8 % in the paper."
            )
        return Verdict("Reproduced in part", why)


# ---- P3


class LinkClassifier(Experiment):
    """P3: the choices of the four-attribute classifier, and the crawlers that the paper reviews."""

    number = 3
    title = "The link classifier and its choices"
    paper = 'P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling"'
    claim = (
        "The paper describes the classifier, fixed or updated as the crawl goes on, and tunnelling, and reports no"
        " figures of its own."
    )
    here = "Every choice crawls from the topics' seeds; below are crawlers that the paper reviews."
    CHOICES = (
        *(("bayes", "fixed", level) for level in (0, 1, 3, 5)),
        ("bayes", "updatable", 3),
        ("tree", "fixed", 3),
        ("tree", "updatable", 3),
    )
    REVIEWED = ("best_first", "fish_search", "shark_search", "info_spiders", "perimeter", "breadth_first")

    @staticmethod
    def _name(classifier: str, training: str, level: int) -> str:
        return f"{classifier}, {training}, level {level}"

    def spiders(self, pages: int) -> list[Spec]:
        return [
            *(
                _spec(
                    self._name(*choice), "link_classifier", classifier=classifier, training=training, level_limit=level
                )
                for choice in self.CHOICES
                for classifier, training, level in [choice]
            ),
            *(Spec.parse(name) for name in self.REVIEWED),
        ]

    def tables(self, results: Results) -> list[Table]:
        names = [*(self._name(*choice) for choice in self.CHOICES), *self.REVIEWED]
        rows = tuple(
            (
                name,
                *(f"{100 * results.mean('target_recall', name, TOPIC, step):.1f} %" for step in results.steps),
                f"{results.mean('score', name, TOPIC):.3f}",
            )
            for name in names
            if results.rows(name, TOPIC)
        )
        head = ("classifier, training, tunnelling", *(f"{step:,} pages" for step in results.steps), "score")
        title = f"{results.web}: target recall and score, {results.over}; no figures in the paper"
        return [Table(title, head, rows)]

    def verdict(self, results: Results) -> Verdict:
        def score(*choice: Any) -> float:
            return results.mean("score", self._name(*choice), TOPIC)

        levels = {level: score("bayes", "fixed", level) for level in (0, 1, 3, 5)}
        best = max(levels, key=lambda level: levels[level])
        tunnelling = (
            f"is best at level {best}, {levels[best]:.3f} against {levels[0]:.3f} without"
            if best
            else f"takes away, {min(levels.values()):.3f} at worst against {levels[0]:.3f} without"
        )
        learning = {name: score(name, "updatable", 3) - score(name, "fixed", 3) for name in ("bayes", "tree")}
        reviewed = {name: results.mean("score", name, TOPIC) for name in self.REVIEWED if results.rows(name, TOPIC)}
        rival = max(reviewed, key=lambda name: reviewed[name])
        ours = max((score(*choice), self._name(*choice)) for choice in self.CHOICES)
        why = (
            f"learning on as the crawl goes changes the score by {learning['bayes']:+.3f} with naive Bayes and by"
            f" {learning['tree']:+.3f} with a tree; tunnelling {tunnelling}. The best choice ({ours[1]}) has"
            f" {ours[0]:.3f}, the best reviewed crawler ({rival}) {reviewed[rival]:.3f}."
        )
        return Verdict("Nothing to compare with", why)


# ---- P4


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

    def spiders(self, pages: int) -> list[Spec]:
        return [Spec.parse(name) for name in self.NAMES]

    def _steps(self, results: Results) -> list[int]:
        return [max(1, results.pages // 10), *results.steps]

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

    def verdict(self, results: Results) -> Verdict:
        def found(name: str, step: int) -> float:
            return results.mean("relevant", name, TOPIC, step)

        first, *_, last = self._steps(results)
        niche, *rivals = self.NAMES
        below = all(found(niche, first) < found(rival, first) for rival in rivals)
        above = all(found(niche, last) > found(rival, last) for rival in rivals)
        ours = {pair: results.overlap(*pair, TOPIC) or 0.0 for pair in self.PAPER}
        alike = sorted(ours, key=lambda pair: -ours[pair]) == sorted(self.PAPER, key=lambda pair: -self.PAPER[pair])
        why = (
            f"it begins {'below both' if below else 'not below both'} and ends"
            f" {'above both' if above else 'not above both'}; the superposition ratios are in"
            f" {'the same' if alike else 'another'} order."
        )
        if below and above and alike:
            return Verdict("Reproduced", why)
        if not above:
            crawls = [row.measures for row in results.rows(niche, TOPIC).values() if row.measures.pages]
            selected = mean([(crawl.judged_relevant or 0) / crawl.pages for crawl in crawls]) or 0.0
            degrees = [len(links) for links in results.survey.graph.links if links]
            hubs = sum(degree > self.HUB for degree in degrees) / max(1, len(degrees))
            why += (
                f" {_percent(selected)} of the fetched pages pass the threshold of 0.05, and {_percent(hubs)} of all"
                f" pages with links have more than {self.HUB}, which makes them hubs."
            )
            if selected > 0.5 and hubs > 0.5:
                why += (
                    " So the paper's constants leave hardly a choice: all links of nearly all pages are fetched to be"
                    " measured before crossover keeps the best, and the generations are nearly breadth-first."
                )
            elif hubs < 0.1:
                why += " So there are few hubs whose links could be taken, and the wait queue holds little."
        return Verdict("Reproduced in part" if above or (below and alike) else "Not reproduced", why)


# ---- P5


class Treasure(Experiment):
    """P5: Treasure-Crawler against the context-graph crawler."""

    number = 5
    title = "Treasure-Crawler against the context-graph crawler"
    paper = '"A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler)'
    claim = (
        "It finds 14 % more on-topic pages than the context-graph crawler from generic seeds and 22 % more from"
        " on-topic ones; precision and recall of its judge are about 0.5."
    )
    here = (
        "Both know the same beforehand: a breadth-first crawl of 500 pages, from which one builds its T-Graph and the"
        " other its context graph. The judge is measured against the labels on the pages that the crawl fetched."
    )
    ways = (GENERIC, TOPIC)
    PAPER: ClassVar = {GENERIC: 0.14, TOPIC: 0.22}
    NAMES = ("treasure", "context_graph")

    def spiders(self, pages: int) -> list[Spec]:
        return [_spec(name, name, crawl="auto", crawl_pages=500) for name in self.NAMES]

    def _found(self, results: Results, way: str, step: int) -> tuple[float, float]:
        ours, theirs = (results.mean("relevant", name, way, step) for name in self.NAMES)
        return ours, theirs

    def tables(self, results: Results) -> list[Table]:
        rows = []
        for way in self.ways:
            cells = []
            for step in results.steps:
                ours, theirs = self._found(results, way, step)
                cells.append(f"{ours:.1f} / {theirs:.1f} ({_more(ours, theirs)})")
            rows.append((_FROM[way], f"{100 * self.PAPER[way]:+.0f} %", *cells))
        judge = tuple(
            (
                _FROM[way],
                "0.5 / 0.5",
                *(
                    " / ".join(f"{results.mean(f'judged_{part}', name, way):.2f}" for part in ("precision", "recall"))
                    for name in self.NAMES
                ),
            )
            for way in self.ways
        )
        pages = f"{results.web}: relevant pages of treasure / context_graph, {results.over}"
        return [
            Table(pages, ("begun at", "paper", *(f"{step:,} pages" for step in results.steps)), tuple(rows)),
            Table("Precision / recall of the judge", ("begun at", "paper", *self.NAMES), judge),
        ]

    def verdict(self, results: Results) -> Verdict:
        early, _, late = results.steps
        found = {(way, step): self._found(results, way, step) for way in self.ways for step in (early, late)}
        if not all(theirs for _, theirs in found.values()):
            return _nothing("the context-graph crawler")
        gains = {place: ours / theirs - 1 for place, (ours, theirs) in found.items()}
        precision, recall = (
            mean([results.mean(f"judged_{part}", "treasure", way) for way in self.ways]) or 0.0
            for part in ("precision", "recall")
        )
        told = ", ".join(
            f"{100 * gains[way, early]:+.0f} % after {early:,} pages and {100 * gains[way, late]:+.0f} % after"
            f" {late:,} from {_FROM[way]}"
            for way in self.ways
        )
        why = f"{told}; its judge has a precision of {precision:.2f} and a recall of {recall:.2f}."
        ahead = [gain > 0.05 for gain in gains.values()]
        judged = min(precision, recall) >= 0.4
        if min(precision, recall) < 0.2:
            why += " Dewey numbers do not tell these topics from the rest of this web, so little can be built on them."
        elif all(gains[way, early] > max(0.05, gains[way, late]) for way in self.ways):
            why += " The lead is one of the beginning: the other comes up as less is left to find."
        if all(ahead) and judged:
            return Verdict("Reproduced", why)
        return Verdict("Reproduced in part" if any(ahead) or judged else "Not reproduced", why)


EXPERIMENTS: tuple[Experiment, ...] = (KeywordCrawler(), Apprentice(), LinkClassifier(), NicheGenetic(), Treasure())
