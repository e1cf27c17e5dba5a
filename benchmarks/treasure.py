"""Treasure-Crawler against the context-graph crawler.

    python benchmarks/treasure.py [--pages 1000] [--webs wikipedia,webkb] [--folder DIR] [--into DIR]

Both know the same beforehand: a breadth-first crawl of 500 pages from the same seeds, from which the one builds its
T-Graph and the other its context graph. A page is relevant if the web's label says so; precision is the share of pages
fetched that are, recall the share of the topic's targets fetched. DIR holds web files NAME.sqlite and
topics/NAME/*.toml. With --into the crawls are kept, and a second run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from apprentice import WEBS, crawl, recall

from focuscrawl.topic import load_topic
from focuscrawl.web.webs import open_web

GENERIC = {
    "wikipedia": "http://schools-wikipedia.org/wp/u/United_States.htm",
    "webkb": "http://www.cs.cornell.edu/,http://www.cs.utexas.edu/,http://www.cs.washington.edu/,http://www.cs.wisc.edu/",
}
EARLIER = 500
SPIDERS = ("treasure", "context_graph")


def run(topic: Path, web: str, seeds: str, pages: int, folder: Path) -> dict[str, tuple[int, float]]:
    """Relevant pages and target recall of each."""
    options = [f"seeds={seeds}"] if seeds else []
    crawl("breadth_first", topic, web, folder / "earlier", EARLIER, *options)
    known, labelled = load_topic(str(topic)), open_web(web)
    result = {}
    for spider in SPIDERS:
        fetched = crawl(spider, topic, web, folder / spider, pages, f"crawl={folder / 'earlier'}", *options)
        result[spider] = (sum(known.label in labelled.labels(url) for url in fetched), recall(known, fetched, pages))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--webs", default="wikipedia,webkb")
    parser.add_argument("--folder", type=Path, default=WEBS)
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    webs = {name: options.folder / f"{name}.sqlite" for name in options.webs.split(",")}
    for path in webs.values():
        if not path.exists():
            sys.exit(f"{path} is not there: say with --folder where webs and their topics are")
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
        jobs = {
            (name, kind): [
                pool.submit(
                    run,
                    topic,
                    str(path),
                    seeds,
                    options.pages,
                    (options.into or Path(temporary)) / f"{name}-{kind}-{topic.stem}",
                )
                for topic in sorted((options.folder / "topics" / name).glob("*.toml"))
            ]
            for name, path in webs.items()
            for kind, seeds in (("generic", GENERIC[name]), ("on-topic", ""))
        }
        head = "".join(f"{spider:>16}" for spider in SPIDERS)
        print(f"{f'relevant pages in {options.pages:,}, mean':34}{head}{'more':>8}{'precision':>16}{'recall':>16}")
        for (name, kind), running in jobs.items():
            results = [job.result() for job in running]
            found = [sum(one[spider][0] for one in results) / len(results) for spider in SPIDERS]
            recalls = [sum(one[spider][1] for one in results) / len(results) for spider in SPIDERS]
            more = found[0] / found[1] - 1 if found[1] else float("inf")
            precision = " / ".join(f"{number / options.pages:.2f}" for number in found)
            print(
                f"{f'{name}, {kind} seeds':34}{found[0]:>16.1f}{found[1]:>16.1f}{more:>+8.0%}"
                f"{precision:>16}{' / '.join(f'{number:.2f}' for number in recalls):>16}",
                flush=True,
            )
    print(f"{'the paper, generic seeds':50}{'':>16}{'+14%':>8}{'0.5':>16}{'0.5':>16}")
    print(f"{'the paper, on-topic seeds':50}{'':>16}{'+22%':>8}{'0.5':>16}{'0.5':>16}")


if __name__ == "__main__":
    main()
