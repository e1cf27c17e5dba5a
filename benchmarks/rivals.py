"""The niche genetic crawler and other link-based crawlers: what they find, when, and at what cost.

    python benchmarks/rivals.py [--pages 1500] [--spiders a,b] [--web FILE --topics DIR] [--into DIR]

Runs real crawls, one request at a time, from the seeds of each topic. Relevant means relevant by the web's labels. Area
is the mean of the curve of relevant pages, CPU the time of a crawl relative to best_first. With --into the crawls are
kept, and a second run resumes where the first stopped; CPU times then cover only the rest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, combinations
from pathlib import Path

import labelled
from labelled import ROOT, crawl_command, fetched, parse_web, topic_files

from focuscrawl.topic import load_topic
from focuscrawl.web.webs import open_web

SPIDERS = [
    *("niche_genetic", "best_first", "hits", "pagerank", "pagerank focused=yes", "hybrid"),
    *("fish_search", "shark_search", "info_spiders", "breadth_first"),
]
STEPS = (100, 200, 400, 800, 1500)


def crawl(spider: str, topic: Path, web: str, pages: int, folder: Path) -> tuple[list[str], float]:
    """The URLs a spider fetches, in order, and the CPU time it took."""
    name, *options = spider.split()
    command = crawl_command(name, topic, web, folder, pages, *options)
    process = subprocess.Popen(command, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return fetched(folder), usage.ru_utime + usage.ru_stime


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def main() -> None:
    parser = labelled.parser(__doc__)
    parser.add_argument("--pages", type=int, default=STEPS[-1])
    parser.add_argument("--spiders", default=",".join(SPIDERS), help="spiders to compare; options follow after a space")
    parser.add_argument("--into", type=Path)
    options = parse_web(parser)
    topics = topic_files(options.topics)
    web = open_web(options.web)
    labels = {topic: load_topic(str(topic)).label for topic in topics}
    spiders = options.spiders.split(",")
    steps = [step for step in STEPS if step <= options.pages]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
        folder = options.into or Path(temporary)
        jobs = {
            (spider, topic): pool.submit(
                crawl, spider, topic, options.web, options.pages, folder / f"{topic.stem}-{spider.replace(' ', '-')}"
            )
            for topic in topics  # topic by topic, so load on the machine affects all spiders alike
            for spider in spiders
        }
        results = {key: job.result() for key, job in jobs.items()}
    found = {
        (spider, topic): [labels[topic] in web.labels(url) for url in results[spider, topic][0]]
        for spider, topic in jobs
    }
    head = "".join(f"{f'{step} pages':>12}" for step in steps)
    print(f"{'relevant pages, mean of ' + str(len(topics)) + ' topics':34}{head}{'area':>10}{'CPU':>8}")
    for spider in spiders:
        curves = []
        for topic in topics:
            curve = list(accumulate(found[spider, topic]))
            curves.append(curve + curve[-1:] * (options.pages - len(curve)))
        cells = "".join(f"{mean([curve[step - 1] for curve in curves]):>12.1f}" for step in steps)
        area = mean([mean(curve) for curve in curves])
        cpu = ""
        if "best_first" in spiders:
            cpu = f"{mean([results[spider, topic][1] / results['best_first', topic][1] for topic in topics]):.2f}"
        print(f"{spider:34}{cells}{area:>10.1f}{cpu:>8}")
    pairs = list(combinations([spider for spider in spiders if spider in SPIDERS[:3]], 2))
    if pairs:
        print("\nsuperposition ratio of relevant pages")
    for one, other in pairs:
        ratios = []
        for topic in topics:
            sets = [
                {url for url, is_found in zip(results[name, topic][0], found[name, topic], strict=True) if is_found}
                for name in (one, other)
            ]
            ratios.append(len(sets[0] & sets[1]) / len(sets[0] | sets[1]))
        print(f"{f'{one} and {other}':34}{mean(ratios):>12.0%}")


if __name__ == "__main__":
    main()
