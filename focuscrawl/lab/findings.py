"""The findings of a comparison, and the files they are written to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from focuscrawl.crawl.files import write_whole
from focuscrawl.crawl.outlook import AHEAD
from focuscrawl.lab.advice import Needs, needs_of
from focuscrawl.lab.character import character
from focuscrawl.lab.charts import styles, write_charts
from focuscrawl.lab.forecasts import Accuracy, accuracies
from focuscrawl.lab.lab import Lab
from focuscrawl.lab.reliability import Reliability, reliabilities
from focuscrawl.lab.report import lab_report
from focuscrawl.lab.session import Crawled
from focuscrawl.lab.tables import Row, Summary, summarise, superpositions, write_reliability, write_tables


@dataclass(frozen=True)
class Findings:
    """The rows of a comparison, their summaries, and a description of the web."""

    lab: Lab
    baseline: str
    rows: Sequence[Row]
    summaries: Sequence[Summary]
    about: str
    needs: Needs
    #: One line for each thing that could not be crawled.
    notes: Sequence[str]
    #: How good the crawls' own forecasts were, by kind of start and spider.
    forecasts: Mapping[tuple[str, str], Accuracy]
    #: How far the scores of spiders that calibrate them can be taken for expectations, likewise.
    reliability: Mapping[tuple[str, str], Reliability]

    @classmethod
    def of(cls, lab: Lab, crawled: Crawled, baseline: str) -> Findings:
        """Measure the crawls."""
        rows = lab.rows(crawled.survey, crawled.trials, crawled.outcomes)
        relevant = {trial.topic: trial.relevant for trial in crawled.trials}
        return cls(
            lab,
            baseline,
            rows,
            summarise(rows, lab.pages, baseline, lab.seed),
            character(crawled.survey, list(relevant.values())).tell(lab.title),
            needs_of(lab.spiders),
            [*lab.problems, *crawled.failures],
            accuracies(crawled.outcomes, AHEAD),
            reliabilities(
                crawled.outcomes,
                [spider.name for spider in lab.spiders.values() if spider.calibrated],
                {
                    (trial.topic, trial.seeds): [crawled.survey.urls[number] for number in trial.relevant]
                    for trial in crawled.trials
                },
            ),
        )

    def by_way(self) -> dict[str, list[Summary]]:
        """The summaries of each kind of start."""
        ways: dict[str, list[Summary]] = {}
        for one in self.summaries:
            ways.setdefault(one.seeds, []).append(one)
        return ways

    def write(self, command: str) -> bool:
        """Write tables, charts and the report, which quotes *command*; returns whether there are PNG charts, too."""
        lab = self.lab
        write_tables(lab.folder, self.rows, self.summaries, lab.pages)
        write_reliability(lab.folder, lab.title, self.reliability)
        look = styles(list(dict.fromkeys(one.spider for one in self.summaries)))
        pictures = write_charts(lab.folder, self.summaries, look)
        text = lab_report(
            self.summaries,
            superpositions(self.rows),
            look,
            web=lab.title,
            pages=lab.pages,
            baseline=self.baseline,
            starts=lab.starts,
            needs=self.needs,
            about=self.about,
            notes=self.notes,
            forecasts=self.forecasts,
            reliability=self.reliability,
            command=command,
            manners=lab.manners,
        )
        write_whole(lab.folder / "report.html", text)
        return pictures
