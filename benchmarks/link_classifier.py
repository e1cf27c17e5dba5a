"""Compare the variants of the link classifier: classifier, training and tunnelling, on two webs.

    python benchmarks/link_classifier.py [--pages 800] [--webs wikipedia,webkb] [--folder DIR] [--into DIR]

Prints mean target recall over the topics of a web, crawled from the topics' seeds one request at a time. DIR holds web
files NAME.sqlite and topics/NAME/*.toml. With --into the crawls are kept, and a second run resumes where the first
stopped.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import labelled
from labelled import crawl, parse_webs, recall

from focuscrawl.topic import load_topic

STEPS = (200, 800)
CHOICES = [
    *(("bayes", "fixed", level) for level in range(5)),
    ("bayes", "updatable", 3),
    ("tree", "fixed", 3),
    ("tree", "updatable", 3),
]


def run(topic: Path, web: str, folder: Path, choice: tuple[str, str, int], pages: int) -> list[float]:
    """Target recall after each number of pages."""
    classifier, training, level = choice
    place = folder / f"{topic.parent.name}-{topic.stem}-{classifier}-{training}-{level}"
    options = [f"classifier={classifier}", f"training={training}", f"level_limit={level}"]
    fetched = crawl("link_classifier", topic, web, place, pages, *options)
    return [recall(load_topic(str(topic)), fetched, step) for step in STEPS]


def main() -> None:
    parser = labelled.parser(__doc__)
    parser.add_argument("--pages", type=int, default=800)
    options, webs = parse_webs(parser)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = {
            (name, choice): [
                pool.submit(run, topic, str(path), options.into or Path(folder), choice, options.pages)
                for topic in topics
            ]
            for name, (path, topics) in webs.items()
            for choice in CHOICES
        }
        head = "".join(f"{f'{name}, {step} pages':>22}" for name in webs for step in STEPS)
        print(f"{'classifier, training, level limit':36}{head}")
        for choice in CHOICES:
            cells = ""
            for name in webs:
                results = [job.result() for job in jobs[name, choice]]
                cells += "".join(f"{sum(column) / len(results):>22.1%}" for column in zip(*results, strict=True))
            print(f"{', '.join(map(str, choice)):36}{cells}", flush=True)


if __name__ == "__main__":
    main()
