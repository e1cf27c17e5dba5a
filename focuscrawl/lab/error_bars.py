"""Means over topics with their standard errors, as text and as curves with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

from focuscrawl.crawl.files import write_whole
from focuscrawl.lab.charts import styles
from focuscrawl.lab.experiment import Experiment, Results
from focuscrawl.reports import svg


def standard_error(values: Sequence[float]) -> float | None:
    """The standard error of the mean; None for fewer than two values."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def mean_and_error(values: Sequence[float], *, percent: bool = False) -> str:
    """A mean over topics as text, with its standard error if there are several: `12.3 ± 1.5 %`."""
    factor, unit = (100, " %") if percent else (1, "")
    error = standard_error(values)
    spread = "" if error is None else f" ± {factor * error:.1f}"
    return f"{factor * (fmean(values) if values else 0.0):.1f}{spread}{unit}"


class Drawn(Experiment):
    """An experiment whose target recall over pages is drawn as well."""

    def chart_name(self, way: str) -> str:
        """The file of the chart of a kind of start, beside papers.md."""
        return f"paper-{self.number}-{way}.svg"

    def charts(self, results: Results) -> dict[str, str]:
        """By file name, the mean target recall over pages in percent, with standard errors over the topics."""
        spiders = [spec.text for spec in self.spiders(results.pages)]
        found = {}
        for way in self.ways:
            curves = {spider: _curves(results, spider, way) for spider in spiders}
            found[self.chart_name(way)] = svg.curve_chart(
                {spider: [fmean(values) for values in points] for spider, points in curves.items()},
                styles(spiders),
                errors={spider: [standard_error(values) for values in points] for spider, points in curves.items()},
                x_label="pages fetched",
                y_label="target recall, %",
                legend="beside",
                standalone=True,
            )
        return {name: drawn for name, drawn in found.items() if drawn}

    def draw(self, results: Results, folder: Path) -> None:
        """Write the charts."""
        for name, drawn in self.charts(results).items():
            write_whole(folder / name, drawn)


def _curves(results: Results, spider: str, way: str) -> list[list[float]]:
    """After each page, the target recall of each topic in percent; a crawl that ended early stays where it was."""
    courses = [
        [100 * point.target_recall for point in row.measures.course if point.target_recall is not None]
        for row in results.rows(spider, way).values()
    ]
    return [
        [course[min(page, len(course) - 1)] for course in courses if course]
        for page in range(results.pages if any(courses) else 0)
    ]
