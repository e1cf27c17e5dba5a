"""What the choices of the link classifier are worth: classifier, training and tunnelling, on two webs.

    python benchmarks/link_classifier.py [--pages 800] [--webs wikipedia,webkb] [--folder DIR] [--into DIR]

Target recall, a mean over the topics of a web, crawled from the topics' seeds one request at a time. DIR holds web
files NAME.sqlite and topics/NAME/*.toml. With --into the crawls are kept, and a second run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from apprentice import WEBS, crawl, recall

from focuscrawl.topic import load_topic

STEPS = (200, 800)
CHOICES = [
    *(("bayes", "fixed", level) for level in range(5)),
    ("bayes", "updatable", 3),
    ("tree", "fixed", 3),
    ("tree", "updatable", 3),
]


def run(topic: Path, web: str, folder: Path, choice: tuple[str, str, int], pages: int) -> list[float]:
    """Target recall after some pages."""
    classifier, training, level = choice
    place = folder / f"{topic.parent.name}-{topic.stem}-{classifier}-{training}-{level}"
    options = [f"classifier={classifier}", f"training={training}", f"level_limit={level}"]
    fetched = crawl("link_classifier", topic, web, place, pages, *options)
    return [recall(load_topic(str(topic)), fetched, step) for step in STEPS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=800)
    parser.add_argument("--webs", default="wikipedia,webkb")
    parser.add_argument("--folder", type=Path, default=WEBS)
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    webs = {name: options.folder / f"{name}.sqlite" for name in options.webs.split(",")}
    for path in webs.values():
        if not path.exists():
            sys.exit(f"{path} is not there: say with --folder where webs and their topics are")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = {
            (name, choice): [
                pool.submit(run, topic, str(path), options.into or Path(folder), choice, options.pages)
                for topic in sorted((options.folder / "topics" / name).glob("*.toml"))
            ]
            for name, path in webs.items()
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
