"""How good the forecasts of crawls are: what they expect of the next 500 pages, and what comes.

    python benchmarks/outlook.py [--pages 1500] [--topics N] [--jobs 2] [--folder DIR] [--into DIR]

Crawls the embedded web, and the labelled webs in --folder if they are there, with four spiders, and compares every
forecast from page 300 on with the pages that the crawl then found, by its own judgement. --topics limits the topics of
the labelled webs. Then prints what a forecast costs. With --into, finished crawls are kept and not run again.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import fmean
from time import process_time

import numpy as np
from labelled import WEBS, topic_files

from focuscrawl.crawl.outlook import AHEAD, EVERY, Outlook
from focuscrawl.lab.crawls import Outcome, run_all, workers
from focuscrawl.lab.forecasts import CLOSE, FEW_PAGES, FROM, Check, accuracy, checks
from focuscrawl.lab.plan import TOPIC, Job
from focuscrawl.topic import load_topic, shipped_topics

SPIDERS = ("best_first", "shark_search", "breadth_first", "adaptive")
TITLES = {"demo": "The embedded web", "wikipedia": "An encyclopedia", "webkb": "Department sites"}
#: Relevant pages from which a share of them is more than chance.
MANY = 20


def jobs_of(webs: dict[str, tuple[str, list[str]]], pages: int) -> dict[Job, str]:
    return {
        Job(web, Path(source).stem, source, TOPIC, tuple(load_topic(source).seeds), spider, spider, (), 1, pages): name
        for name, (web, topics) in webs.items()
        for source in topics
        for spider in SPIDERS
    }


def line(name: str, found: list[Check]) -> str:
    good, many = accuracy(found), accuracy([check for check in found if check.truth >= MANY])
    if good is None:
        return f"| {name} | 0 | – | – | – | – | – | – |"
    of_many = f"{many.strict:.0%} of {many.forecasts}" if many else "–"
    shares = f"{good.strict:.0%} | {good.close:.0%} | {of_many} | {good.covered:.0%}"
    return f"| {name} | {good.forecasts} | {good.truth:.1f} | {good.error:.1f} | {shares} |"


def table(outcomes: dict[Job, Outcome], web_of: dict[Job, str]) -> str:
    head = ("crawls", "forecasts", "relevant pages that came", "off by", f"within {CLOSE:.0%}", f"or {FEW_PAGES} pages")
    head += (f"within {CLOSE:.0%} where {MANY} or more came", "inside the interval")
    lines = [f"| {' | '.join(head)} |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    found: dict[tuple[str, str], list[Check]] = {}
    for job, outcome in outcomes.items():
        some = checks(outcome.forecasts, outcome.judged, job.pages, AHEAD)
        found.setdefault((web_of[job], job.spider), []).extend(some)
    lines += [line(f"{TITLES[web]}, {spider}", some) for (web, spider), some in sorted(found.items())]
    return "\n".join([*lines, line("**all**", [check for some in found.values() for check in some])])


def cost(outcomes: dict[Job, Outcome]) -> str:
    outlook, random = Outlook(), np.random.default_rng(1)
    for score in random.random(5_000):
        outlook.add(float(score), bool(random.random() < score / 3))
    ranks = random.random(100_000)
    began = process_time()
    for _ in range(50):
        outlook.look(ranks)
    forecast = 1000 * (process_time() - began) / 50
    page = 1000 * fmean(outcome.cpu / len(outcome.urls) for outcome in outcomes.values())
    return (
        f"A forecast with 100,000 waiting URLs takes {forecast:.1f} ms of CPU time; the crawls took {page:.1f} ms per"
        f" page. At one forecast per {EVERY} pages, that is {forecast / EVERY / page:.2%}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--topics", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=WEBS)
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    webs, missing = {"demo": ("demo", list(shipped_topics()))}, []
    for name in ("wikipedia", "webkb"):
        file = options.folder.resolve() / f"{name}.sqlite"
        if file.exists():
            # every third topic: the first ones of a sorted list may be alike
            topics = topic_files(file.parent / "topics" / name)
            chosen = topics[:: max(1, len(topics) // options.topics)][: options.topics]
            webs[name] = str(file), [str(path) for path in chosen]
        else:
            missing.append(f"{TITLES[name]}: left out, there is no {name}.sqlite in {options.folder}.")
    jobs = jobs_of(webs, options.pages)
    with tempfile.TemporaryDirectory() as place, workers(options.jobs) as processes:
        outcomes = run_all(
            processes,
            list(jobs),
            options.into or Path(place),
            done=lambda job, problem: print(f"{job}: {problem}") if problem else None,
        )
    crawls = f"{len(outcomes)} crawls of {options.pages:,} pages; forecasts from page {FROM} on, for {AHEAD} pages:"
    print("\n\n".join([*missing, crawls, table(outcomes, jobs), cost(outcomes)]))


if __name__ == "__main__":
    main()
