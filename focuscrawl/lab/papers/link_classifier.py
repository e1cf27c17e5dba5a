"""P3: variants of the link classifier with four attributes, and the crawlers that the paper reviews."""

from __future__ import annotations

from typing import Any

from focuscrawl.lab.claims import Shares
from focuscrawl.lab.experiment import Experiment, Results, Table
from focuscrawl.lab.plan import TOPIC, Spec


class LinkClassifier(Experiment):
    """P3: variants of the four-attribute classifier, and the crawlers that the paper reviews."""

    number = 3
    title = "The link classifier and its variants"
    paper = 'P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling"'
    claim = (
        "The paper describes the classifier, trained once or updated during the crawl, and tunnelling. It reports no"
        " figures of its own."
    )
    here = (
        "All variants crawl from the topics' seeds; the rows below them are crawlers that the paper reviews, and its"
        " own perimeter search to depths 1 and 2."
    )
    CHOICES = (
        *(("bayes", "fixed", level) for level in (0, 1, 3, 5)),
        ("bayes", "updatable", 3),
        ("tree", "fixed", 3),
        ("tree", "updatable", 3),
    )
    PERIMETERS = ("perimeter:d=1", "perimeter:d=2")
    REVIEWED = ("best_first", "fish_search", "shark_search", "info_spiders", *PERIMETERS, "breadth_first")

    @staticmethod
    def _name(classifier: str, training: str, level: int) -> str:
        return f"{classifier}, {training}, level {level}"

    def spiders(self, pages: int) -> list[Spec]:
        return [
            *(
                Spec.of(
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

    def why(self, results: Results, shares: Shares, word: str) -> str:
        def score(*choice: Any) -> float:
            return results.mean("score", self._name(*choice), TOPIC)

        levels = {level: score("bayes", "fixed", level) for level in (0, 1, 3, 5)}
        best = max(levels, key=lambda level: levels[level])
        tunnelling = (
            f"is best at level {best}, with {levels[best]:.3f} against {levels[0]:.3f} without"
            if best
            else (
                f"does not help: the lowest score with it is {min(levels.values()):.3f},"
                f" against {levels[0]:.3f} without"
            )
        )
        learning = {name: score(name, "updatable", 3) - score(name, "fixed", 3) for name in ("bayes", "tree")}
        reviewed = {name: results.mean("score", name, TOPIC) for name in self.REVIEWED if results.rows(name, TOPIC)}
        rival = max(reviewed, key=lambda name: reviewed[name])
        ours = max((score(*choice), self._name(*choice)) for choice in self.CHOICES)
        around = [f"{reviewed[name]:.3f} at depth {name[-1]}" for name in self.PERIMETERS if name in reviewed]
        perimeter = f" Perimeter search scores {' and '.join(around)}." if around else ""
        return (
            f"updating during the crawl changes the score by {learning['bayes']:+.3f} with naive Bayes and by"
            f" {learning['tree']:+.3f} with a tree; tunnelling {tunnelling}. The best variant ({ours[1]}) scores"
            f" {ours[0]:.3f}, the best reviewed crawler ({rival}) {reviewed[rival]:.3f}.{perimeter}"
        )
