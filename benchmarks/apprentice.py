"""How much sooner the apprentice finds the targets than the baseline it learned from.

    python benchmarks/apprentice.py [--web FILE --topics DIR] [--generic URL] [--topic NAME …]

For each topic and each word selection method, from on-topic seeds and from one generic page: the baseline crawls 1,000
pages, the apprentice learns from them and crawls 800 of its own, one request at a time. Target recall is the share of
the topic's targets that were fetched, averaged over the topics.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import labelled
from labelled import crawl, parse_web, recall, topic_files

from focuscrawl.topic import load_topic

STEPS = (100, 200, 400, 800)
LESSONS = 1_000


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
    parser = labelled.parser(__doc__)
    parser.add_argument("--generic", default="http://schools-wikipedia.org/wp/u/United_States.htm")
    parser.add_argument("--topic", nargs="*", help="only these topics")
    options = parse_web(parser)
    topics = [path for path in topic_files(options.topics) if not options.topic or path.stem in options.topic]
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
