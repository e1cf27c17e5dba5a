"""How much sooner the apprentice finds the targets than the baseline it learned from.

    python benchmarks/apprentice.py [--web FILE --topics DIR] [--generic URL] [--topic NAME …]

For each topic, each way to choose words, and from on-topic seeds as well as from one generic page: the baseline crawls
1,000 pages, the apprentice learns from them and crawls 800 of its own, one request at a time. Target recall is the
share of the topic's targets that were fetched, a mean over the topics.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from focuscrawl import urls
from focuscrawl.topic import Topic, load_topic

ROOT = Path(__file__).resolve().parent.parent
WEBS = ROOT.parent / "shared" / "webs"
STEPS = (100, 200, 400, 800)
LESSONS = 1_000


def crawl(spider: str, topic: Path, web: str, folder: Path, pages: int, *options: str) -> list[str]:
    """The URLs a spider fetches, in order."""
    arguments = [f"topic={topic}", f"max_pages={pages}", *options]
    settings = [f"FOCUS_WEB={web}", f"FOCUS_DIR={folder}", "CONCURRENT_REQUESTS=1", "LOG_LEVEL=ERROR"]
    command = [sys.executable, "-m", "scrapy", "crawl", spider]
    command += [part for argument in arguments for part in ("-a", argument)]
    command += [part for setting in settings for part in ("-s", setting)]
    subprocess.run(command, check=True, cwd=ROOT)
    return [json.loads(line)["url"] for line in (folder / "pages.jsonl").open(encoding="utf-8")]


def recall(topic: Topic, fetched: list[str], pages: int) -> float:
    """The share of the topic's targets among the first pages."""
    targets = {urls.key(url) for url in topic.targets}
    return len(targets & {urls.key(url) for url in fetched[:pages]}) / len(targets)


def pair(topic: Path, web: str, seeds: str, selection: str, folder: Path) -> tuple[list[float], list[float]]:
    """Target recall of baseline and apprentice."""
    options = [f"selection={selection}", *([f"seeds={seeds}"] if seeds else [])]
    baseline = crawl("baseline", topic, web, folder / "baseline", LESSONS, *options)
    apprentice = crawl(
        "apprentice", topic, web, folder / "apprentice", STEPS[-1], *options, f"lessons={folder / 'baseline'}"
    )
    known = load_topic(str(topic))
    return [recall(known, baseline, n) for n in STEPS], [recall(known, apprentice, n) for n in STEPS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", default=str(WEBS / "wikipedia.sqlite"))
    parser.add_argument("--topics", type=Path, default=WEBS / "topics" / "wikipedia")
    parser.add_argument("--generic", default="http://schools-wikipedia.org/wp/u/United_States.htm")
    parser.add_argument("--topic", nargs="*", help="only these")
    options = parser.parse_args()
    if not Path(options.web).exists():
        sys.exit(f"{options.web} is not there: give a labelled web with --web and its topics with --topics")
    topics = [path for path in sorted(options.topics.glob("*.toml")) if not options.topic or path.stem in options.topic]
    head = "".join(f"{f'{n} pages':>12}" for n in STEPS)
    print(f"{'mean target recall of ' + str(len(topics)) + ' topics':38}{head}")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = {}
        for seeds, name in (("", "on-topic seeds"), (options.generic, "generic seed")):
            for selection in ("df", "mi"):
                for topic in topics:
                    place = Path(folder) / f"{topic.stem}-{selection}-{len(seeds)}"
                    job = pool.submit(pair, topic, options.web, seeds, selection, place)
                    jobs.setdefault((name, selection), []).append(job)
        for (name, selection), running in jobs.items():
            results = [job.result() for job in running]
            means = [
                [sum(column) / len(results) for column in zip(*rows, strict=True)]
                for rows in zip(*results, strict=True)
            ]
            for spider, mean in zip(("baseline", "apprentice"), means, strict=True):
                cells = "".join(f"{value:>12.1%}" for value in mean)
                print(f"{f'{name}, {spider}{selection.upper()}':38}{cells}")
            ratios = "".join(f"{f'{after / before:.2f}×':>12}" for before, after in zip(*means, strict=True))
            print(f"{'':38}{ratios}", flush=True)


if __name__ == "__main__":
    main()
