"""The crawls of a comparison as a user sees them: one session per folder at a time, with progress and problems."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from focuscrawl.crawl.lock import LockedError, take_lock
from focuscrawl.errors import FocusError, printable, say
from focuscrawl.lab.crawls import Outcome, Workers, workers
from focuscrawl.lab.error_bars import Drawn
from focuscrawl.lab.experiment import Experiment, Results
from focuscrawl.lab.lab import Lab
from focuscrawl.lab.plan import GENERIC, Job, Trial
from focuscrawl.lab.survey import Survey
from focuscrawl.lab.terminal import Terminal, progress


class UnfinishedError(FocusError):
    """The work itself failed, not the user's input."""


@dataclass(frozen=True)
class Crawled:
    """The results of the crawls, and how often each failure occurred."""

    survey: Survey
    trials: Sequence[Trial]
    outcomes: Mapping[Job, Outcome]
    failures: Counter[str]


@contextmanager
def session(folder: Path, jobs: int | None) -> Iterator[Workers]:
    """Worker processes, by default one per core; the folder is locked against other sessions meanwhile."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        file = take_lock(folder / "crawls")
    except LockedError:
        raise FocusError(f"{folder} is in use by another comparison; wait for it, or choose another --out") from None
    with file, workers(jobs or cores or 1) as processes:
        yield processes


def crawl(lab: Lab, processes: Workers, terminal: Terminal) -> Crawled:
    """Read the web, run the crawls, and report problems."""
    with progress("reading the web") as show:
        survey = lab.read(processes, show)
    trials, jobs = lab.plan(survey)
    for problem in lab.problems:
        say(problem)
    if not jobs:
        raise FocusError("nothing left to compare")
    if GENERIC in lab.ways:
        terminal.print(f"The generic start is {printable(', '.join(lab.generic))}")
    outcomes, failures = _run(lab, processes, jobs)
    for failure, times in failures.items():
        say(failure if times == 1 else f"{failure} ({times} times)")
    if not outcomes:
        raise UnfinishedError("no crawl finished")
    return Crawled(survey, trials, outcomes, failures)


def _run(lab: Lab, processes: Workers, jobs: Sequence[Job]) -> tuple[Mapping[Job, Outcome], Counter[str]]:
    failures: Counter[str] = Counter()
    finished = 0
    with progress("crawling") as show:
        show(0, len(jobs))

        def done(job: Job, problem: str | None) -> None:
            nonlocal finished
            finished += 1
            show(finished, len(jobs))
            if problem:
                failures[f"{job} failed: {problem}"] += 1

        return lab.run(processes, jobs, done), failures


def crawl_experiment(
    experiment: Experiment, lab: Lab, loader: Any, processes: Workers, terminal: Terminal
) -> tuple[Results, Counter[str]]:
    """Run the crawls of a paper's experiment and draw its charts; raises an error if too few of them ran."""
    here = experiment.on(lab, loader)
    crawled = crawl(here, processes, terminal)
    results = Results(here, crawled.survey, crawled.trials, crawled.outcomes)
    if missing := experiment.missing(results):
        raise FocusError(f"{', '.join(missing)} did not crawl")
    if ways := [way for way in experiment.ways if way not in here.ways]:
        raise FocusError(f"there is no {' or '.join(ways)} start")
    if isinstance(experiment, Drawn):
        experiment.draw(results, here.folder)
    return results, crawled.failures
