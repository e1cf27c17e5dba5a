"""The results of a comparison as tables: a row per crawl, and a summary per spider and start."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from focuscrawl.crawl.files import write_whole
from focuscrawl.lab.measures import Comparison, Measures, Point, compare, holm, interval, mean, superposition
from focuscrawl.lab.plan import CHANCE, FLOOR, LIMIT
from focuscrawl.lab.reliability import Reliability

#: The columns of results.csv that are measures; the columns before them say what was crawled.
FIGURES = (
    *("pages", "relevant", "harvest", "target_recall", "score"),
    *("judged_relevant", "judged_precision", "judged_recall", "matched", "matched_precision", "matched_recall"),
    *("similarity", "relevant_hosts", "requests", "seconds", "relevant_per_hour"),
)
#: The measures whose mean and interval are in summaries.
MEANS = tuple(name for name in FIGURES if name not in ("judged_relevant", "matched"))
#: A crawl that fetched less than this share of its page limit is marked as short.
SHORT = 0.95


@dataclass(frozen=True)
class Row:
    """A crawl and its measures; its cost is None for orders that were computed, not crawled."""

    web: str
    topic: str
    seeds: str
    spider: str
    repeat: int
    measures: Measures
    cpu: float | None = None
    seconds: float | None = None

    @property
    def place(self) -> tuple[str, str, str, str, int]:
        """What was crawled: the first columns of the tables."""
        return self.web, self.topic, self.seeds, self.spider, self.repeat


@dataclass(frozen=True)
class Summary:
    """A spider over all topics and repeats, from one start. Means are means of the topics' means."""

    seeds: str
    spider: str
    #: Topics that it crawled, and topics of the comparison.
    topics: int
    of: int
    #: Page limit of each crawl.
    asked: int
    #: By name of the measure.
    means: dict[str, float | None]
    intervals: dict[str, tuple[float, float] | None]
    #: CPU seconds of all crawls, and milliseconds per page; None for orders that were computed, not crawled.
    cpu: float | None
    cost: float | None
    #: By topic.
    scores: dict[str, float]
    #: Relevant pages after each page.
    curve: list[float]
    #: When the relevant pages of each crawl arrived, by topic; None without politeness.
    arrivals: Sequence[Sequence[Sequence[float]]] | None = None
    #: When the last of its crawls ended.
    ended: float | None = None
    against: Comparison | None = None
    #: The probability of `against`, corrected for the number of spiders compared.
    p_holm: float | None = None

    @property
    def score(self) -> float:
        """The mean score."""
        return self.means["score"] or 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the score."""
        return self.intervals["score"]

    @property
    def relevant(self) -> float:
        """The mean number of relevant pages."""
        return self.means["relevant"] or 0.0

    def by(self, moment: float) -> float:
        """The mean number of relevant pages that have arrived by a moment on the crawl's clock."""
        return fmean(fmean(bisect_right(crawl, moment) for crawl in topic) for topic in self.arrivals or ())

    @property
    def speed(self) -> tuple[str, str]:
        """The mean number of relevant pages per hour and the mean duration, as text."""
        per_hour, seconds = self.means["relevant_per_hour"], self.means["seconds"]
        return "–" if per_hour is None else f"{per_hour:,.0f}", "–" if seconds is None else duration(seconds)

    @property
    def whole(self) -> bool:
        """Whether it crawled every topic; otherwise its means cannot be compared with those of others."""
        return self.topics == self.of

    @property
    def title(self) -> str:
        """The spider's name in tables, with a note if its figures cannot be compared with those of others."""
        notes = [] if self.whole else [f"{self.topics} of {self.of} topics"]
        pages = self.means["pages"] or 0.0
        if pages < SHORT * self.asked:  # its harvest is a share of fewer pages
            notes.append(f"{pages:,.0f} pages")
        return f"{self.spider} ({', '.join(notes)})" if notes else self.spider


def duration(seconds: float) -> str:
    """A duration to the second; to the minute from an hour on."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {minutes:02d} min"


def summarise(rows: Sequence[Row], pages: int, baseline: str, seed: int) -> list[Summary]:
    """Summaries by start: the limit first, then the spiders by score, then the floor.

    Spiders that could not crawl every topic come after those that did, regardless of score.
    """
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    topics_of: dict[str, set[str]] = {}
    for row in rows:
        groups.setdefault((row.seeds, row.spider), {}).setdefault(row.topic, []).append(row)
        topics_of.setdefault(row.seeds, set()).add(row.topic)
    found = [
        _summary(seeds, spider, topics, len(topics_of[seeds]), pages, seed)
        for (seeds, spider), topics in groups.items()
    ]
    return [
        summary
        for seeds in dict.fromkeys(row.seeds for row in rows)
        for summary in _compared([one for one in found if one.seeds == seeds], baseline)
    ]


def _summary(seeds: str, spider: str, topics: Mapping[str, Sequence[Row]], of: int, pages: int, seed: int) -> Summary:
    values = {
        name: [_there([getattr(row.measures, name) for row in rows]) for rows in topics.values()] for name in MEANS
    }
    curves = [[_padded(row.measures.curve, pages) for row in rows] for rows in topics.values()]
    fetched = sum(row.measures.pages for rows in topics.values() for row in rows if row.cpu is not None)
    cpu = sum(row.cpu or 0.0 for rows in topics.values() for row in rows)
    crawls = [row.measures for rows in topics.values() for row in rows]
    polite = all(crawl.arrivals is not None for crawl in crawls)
    return Summary(
        seeds=seeds,
        spider=spider,
        topics=len(topics),
        of=of,
        asked=pages,
        means={name: mean([mean(group) for group in groups]) for name, groups in values.items()},
        intervals={name: interval([group for group in groups if group], seed) for name, groups in values.items()},
        cpu=cpu if fetched else None,
        cost=1000 * cpu / fetched if fetched else None,
        scores={topic: fmean(row.measures.score for row in rows) for topic, rows in topics.items()},
        curve=[fmean(fmean(curve[t] for curve in repeats) for repeats in curves) for t in range(pages)],
        arrivals=[[row.measures.arrivals or () for row in rows] for rows in topics.values()] if polite else None,
        ended=max(crawl.seconds or 0.0 for crawl in crawls) if polite else None,
    )


def _there(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _padded(curve: Sequence[int], pages: int) -> list[int]:
    return [*curve[:pages], *([curve[-1] if curve else 0] * (pages - len(curve)))]


def _compared(summaries: Sequence[Summary], baseline: str) -> list[Summary]:
    reference = next((one.scores for one in summaries if one.spider == baseline), {})
    against = {
        one.spider: compare(one.scores, reference) for one in summaries if one.spider not in (baseline, LIMIT, CHANCE)
    }
    sure = {spider: comparison for spider, comparison in against.items() if comparison is not None}
    adjusted = dict(zip(sure, holm([comparison.p for comparison in sure.values()]), strict=True))
    place = {LIMIT: 0, FLOOR: 2, CHANCE: 3}
    return sorted(
        (
            Summary(**(vars(one) | {"against": against.get(one.spider), "p_holm": adjusted.get(one.spider)}))
            for one in summaries
        ),
        key=lambda one: (place.get(one.spider, 1), not one.whole, -one.score, one.spider),
    )


def superpositions(rows: Iterable[Row]) -> dict[tuple[str, str, str], float | None]:
    """By start and two spiders: of the relevant pages that either found, the mean share that both found."""
    crawls: dict[tuple[str, str], dict[tuple[str, int], frozenset[int]]] = {}
    for row in rows:
        if row.spider != LIMIT:
            crawls.setdefault((row.seeds, row.spider), {})[row.topic, row.repeat] = row.measures.found
    ratios: dict[tuple[str, str, str], float | None] = {}
    for (one, first), (other, second) in combinations(crawls.items(), 2):
        if one[0] == other[0]:
            both = [superposition(first[crawl], second[crawl]) for crawl in first if crawl in second]
            ratios[one[0], one[1], other[1]] = mean(both)
    return ratios


# ---- files


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV, atomically."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    write_whole(path, text.getvalue())


def _cell(value: Any) -> Any:
    return "" if value is None else f"{value:.6f}" if isinstance(value, float) else value


def write_reliability(folder: Path, web: str, found: Mapping[tuple[str, str], Reliability]) -> None:
    """Write the reliability curves of spiders that calibrate their scores."""
    head = ("web", "seeds", "spider", "pages", "score", "relevance", "relevant")
    rows = [(web, *key, *one) for key, good in found.items() for one in good.bins]
    if rows:
        write_csv(folder / "reliability.csv", head, rows)


def write_tables(folder: Path, rows: Sequence[Row], summaries: Sequence[Summary], pages: int) -> None:
    """Write results.csv, curves.csv, summary.csv, superposition.csv and costs.csv.

    Only costs.csv has timings: the other files are identical for identical crawls.
    """
    where = ("web", "topic", "seeds", "spider", "repeat")
    write_csv(
        folder / "results.csv",
        (*where, *FIGURES),
        ((*row.place, *(getattr(row.measures, name) for name in FIGURES)) for row in rows),
    )
    write_csv(
        folder / "curves.csv",
        (*where, "page", *Point._fields),
        ((*row.place, page, *point) for row in rows for page, point in enumerate(row.measures.course, 1)),
    )
    write_csv(
        folder / "costs.csv",
        (*where, "cpu_seconds", "seconds", "cpu_ms_a_page"),
        (
            (*row.place, row.cpu, row.seconds, 1000 * row.cpu / max(1, row.measures.pages))
            for row in rows
            if row.cpu is not None
        ),
    )
    write_csv(
        folder / "summary.csv",
        (
            *("seeds", "spider", "title", "topics"),
            *(f"{name}{end}" for name in MEANS for end in ("", "_low", "_high")),
            *("against_baseline", "better", "worse", "p", "p_holm"),
        ),
        (
            (
                *(one.seeds, one.spider, one.title, one.topics),
                *(value for name in MEANS for value in (one.means[name], *(one.intervals[name] or (None, None)))),
                *(
                    (one.against.difference, one.against.better, one.against.worse, one.against.p)
                    if one.against
                    else (None,) * 4
                ),
                one.p_holm,
            )
            for one in summaries
        ),
    )
    write_csv(
        folder / "superposition.csv",
        ("seeds", "spider", "other", "superposition"),
        ((*key, ratio) for key, ratio in superpositions(rows).items()),
    )
