"""Treasure-Crawler against the context-graph crawler.

    python benchmarks/treasure.py [--webs wikipedia,webkb] [--folder DIR] [--into DIR]

Both have the same prior knowledge: a breadth-first crawl of 500 pages from the same seeds, from which one builds its
T-Graph and the other its context graph. Relevant means relevant by the web's labels; recall is the share of the topic's
targets fetched at the end. The judge is measured against the labels of the pages that the crawl fetched. In each pair
the first figure is treasure's. DIR holds web files NAME.sqlite and topics/NAME/*.toml. With --into the crawls are kept,
and a second run resumes where the first stopped.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import labelled
from labelled import crawl, parse_webs, recall

from focuscrawl.topic import load_topic
from focuscrawl.web.webs import open_web

GENERIC = {
    "wikipedia": "http://schools-wikipedia.org/wp/u/United_States.htm",
    "webkb": "http://www.cs.cornell.edu/,http://www.cs.utexas.edu/,http://www.cs.washington.edu/,http://www.cs.wisc.edu/",
}
EARLIER = 500
SPIDERS = ("treasure", "context_graph")
STEPS = (250, 1000)


class Result(NamedTuple):
    """What a crawl found, and the accuracy of its judge."""

    relevant: list[int]
    recall: float
    judged_precision: float
    judged_recall: float


def run(topic: Path, web: str, seeds: str, folder: Path) -> dict[str, Result]:
    """The result of each spider."""
    options = [f"seeds={seeds}"] if seeds else []
    crawl("breadth_first", topic, web, folder / "earlier", EARLIER, *options)
    known, labelled = load_topic(str(topic)), open_web(web)
    results = {}
    for spider in SPIDERS:
        fetched = crawl(spider, topic, web, folder / spider, STEPS[-1], f"crawl={folder / 'earlier'}", *options)
        lines = (folder / spider / "pages.jsonl").open(encoding="utf-8")
        judged = [json.loads(line)["matched"] for line in lines]
        right = [known.label in labelled.labels(url) for url in fetched]
        both = sum(one and other for one, other in zip(judged, right, strict=True))
        results[spider] = Result(
            [sum(right[:step]) for step in STEPS],
            recall(known, fetched, STEPS[-1]),
            both / max(1, sum(judged)),
            both / max(1, sum(right)),
        )
    return results


def mean(numbers: Iterable[float]) -> float:
    found = list(numbers)
    return sum(found) / len(found)


def main() -> None:
    options, webs = parse_webs(labelled.parser(__doc__))
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
        place = options.into or Path(temporary)
        jobs = {
            (name, kind): [
                pool.submit(run, topic, str(path), seeds, place / f"{name}-{kind}-{topic.stem}") for topic in topics
            ]
            for name, (path, topics) in webs.items()
            for kind, seeds in (("generic", GENERIC[name]), ("on-topic", ""))
        }
        columns = "".join(f"{f'{step:,} pages':>16}{'':>8}" for step in STEPS)
        print(f"{'relevant pages, mean':28}{columns}{'recall':>14}{'judge: precision':>20}{'recall':>14}")
        for (name, kind), running in jobs.items():
            results = [job.result() for job in running]
            cells = ""
            for step in range(len(STEPS)):
                found = [mean(one[spider].relevant[step] for one in results) for spider in SPIDERS]
                cells += f"{f'{found[0]:.1f} / {found[1]:.1f}':>16}{found[0] / max(found[1], 0.1) - 1:>+8.0%}"
            for part, width in (("recall", 14), ("judged_precision", 20), ("judged_recall", 14)):
                pair = " / ".join(f"{mean(getattr(one[spider], part) for one in results):.2f}" for spider in SPIDERS)
                cells += f"{pair:>{width}}"
            print(f"{f'{name}, {kind} seeds':28}{cells}", flush=True)
    for kind, more in (("generic", "+14%"), ("on-topic", "+22%")):
        print(f"{f'the paper, {kind} seeds':28}{'':>40}{more:>8}{'':>14}{'0.5':>20}{'0.5':>14}")


if __name__ == "__main__":
    main()
