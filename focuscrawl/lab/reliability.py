"""How far the scores of links can be taken for expectations: what pages were expected to be, and what they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from focuscrawl.lab.crawls import Outcome
    from focuscrawl.lab.plan import Job

#: Pages from this one on are compared: scores must be learned first.
FROM = 100
#: Scores are compared by tenths.
BINS = 10


class Fetched(NamedTuple):
    """A page that was fetched: the score of its link, the relevance that the spider saw, and what its label says."""

    score: float
    relevance: float
    relevant: bool


class Bin(NamedTuple):
    """Pages with similar scores: how many, and their means."""

    pages: int
    score: float
    relevance: float
    relevant: float


class Reliability(NamedTuple):
    """The reliability curve of a spider, and its mean distance from the diagonal: by its own judge, and by labels."""

    bins: list[Bin]
    by_judge: float
    by_labels: float


def reliability(fetched: Iterable[Fetched]) -> Reliability | None:
    """Compare scores with what came, by tenths of the score; None without pages."""
    tenths: dict[int, list[Fetched]] = {}
    for page in fetched:
        tenths.setdefault(min(BINS - 1, int(page.score * BINS)), []).append(page)
    if not tenths:
        return None
    bins = [
        Bin(
            len(some),
            fmean(page.score for page in some),
            fmean(page.relevance for page in some),
            fmean(page.relevant for page in some),
        )
        for _, some in sorted(tenths.items())
    ]
    pages = sum(one.pages for one in bins)
    return Reliability(
        bins,
        sum(one.pages * abs(one.score - one.relevance) for one in bins) / pages,
        sum(one.pages * abs(one.score - one.relevant) for one in bins) / pages,
    )


def reliabilities(
    outcomes: Mapping[Job, Outcome], spiders: Iterable[str], relevant: Mapping[tuple[str, str], Iterable[str]]
) -> dict[tuple[str, str], Reliability]:
    """By kind of start and spider, over all topics and repeats; *relevant*: the URLs of a topic's pages, by start."""
    wanted, found = set(spiders), dict[tuple[str, str], list[Fetched]]()
    known = {key: set(those) for key, those in relevant.items()}
    for job, outcome in outcomes.items():
        if job.name in wanted:
            labelled = known.get((job.topic, job.seeds), set())
            found.setdefault((job.seeds, job.spider), []).extend(_fetched(outcome, labelled))
    return {key: good for key, some in found.items() if (good := reliability(some)) is not None}


def _fetched(outcome: Outcome, relevant: set[str]) -> list[Fetched]:
    seen: Sequence[tuple[str, Sequence[float | None]]] = list(zip(outcome.urls, outcome.seen, strict=False))
    return [
        Fetched(score, relevance, url in relevant)
        for url, (score, relevance) in seen[FROM:]
        if score is not None and relevance is not None
    ]
