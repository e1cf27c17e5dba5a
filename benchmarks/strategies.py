"""CPU per page of the strategies, and how much of it each takes above breadth_first.

    python benchmarks/strategies.py [--pages 600] [--rounds 2] [--spiders breadth_first,keyword,adaptive]

Pages of 20 KB with 60 links on 200 hosts, without network or delays; the web is that of long.py. Each crawl runs in its
own process, by turns, and the first third of its pages is left out. The time in which the web generates its pages is
not counted, but it is the same work in every crawl: CPU times are scaled by it, so that other load on the machine
matters less.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from statistics import mean, median

from long import CASES, Sample, TopicalWeb, crawl, slope

BASE = "breadth_first"
SPIDERS = (
    *(BASE, "keyword", "best_first", "shark_search", "naive_bayes_threshold", "apprentice-online", "link_classifier"),
    *("adaptive", "treasure"),
)
CASES["keyword"] = ("keyword", {})
CASES["adaptive"] = ("adaptive", {})


def measure(name: str, pages: int) -> tuple[float, float]:
    """Milliseconds of CPU per page, of the crawl and of the web, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, f"--crawl={name}", f"--pages={pages}", f"--dir={folder}/crawl"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    samples = [Sample(*sample) for sample in json.loads(done.stdout.splitlines()[-1])["samples"]]
    return 1000 * slope(samples, "cpu"), 1000 * slope(samples, "web")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--spiders", default=",".join(SPIDERS))
    parser.add_argument("--crawl", help=argparse.SUPPRESS)
    parser.add_argument("--dir", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        web = TopicalWeb(links=60, bytes=20_000)
        print(json.dumps(crawl(options.crawl, options.pages, options.dir, 0, web, options.pages // 3, 10)))
        return
    names = [BASE, *(name for name in options.spiders.split(",") if name != BASE)]
    found = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            found[name].append(measure(name, options.pages))
    usual = mean(web for rows in found.values() for _, web in rows)
    costs = {name: median(cpu * usual / web for cpu, web in rows) for name, rows in found.items()}
    for name, cost in costs.items():
        above = f"{cost - costs[BASE]:+7.2f} above {BASE}" if name != BASE else ""
        print(f"{name:24}{cost:7.2f} ms CPU per page {above}".rstrip())


if __name__ == "__main__":
    main()
