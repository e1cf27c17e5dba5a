"""The frontier at scale: URLs added and taken per second as the queue grows to a million, each with a distinct score.

    python benchmarks/frontier.py [--urls 1000000] [--hosts 1000]

The cost of an operation should grow logarithmically, so the last ratios stay near 1. Times are CPU, store included.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
from pathlib import Path
from time import process_time

from focuscrawl.frontier.frontier import Candidate, Frontier
from focuscrawl.store.store import Store

PER_PAGE = 60
TAKEN = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=1_000)
    options = parser.parse_args()
    chance = random.Random(1)
    rates: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "crawl.sqlite")
        frontier = Frontier(store)
        number = 0
        for goal in (options.urls // 100, options.urls // 10, options.urls):
            entered, began = 0, process_time()
            while len(frontier) < goal:
                urls = [f"http://host-{chance.randrange(options.hosts)}.example/{number + n}" for n in range(PER_PAGE)]
                number += PER_PAGE
                entered += PER_PAGE
                with store.transaction():
                    ids = frontier.identify(urls)
                    frontier.offer(Candidate(i, url, chance.random(), 1) for i, url in zip(ids, urls, strict=True))
            push = entered / (process_time() - began)
            began = process_time()
            last = 2.0
            for _ in range(TAKEN):
                entry = frontier.pop(0.0, lambda host: 0.0)
                assert entry.score <= last
                last = entry.score
                with store.transaction():
                    frontier.finish([entry.url_id])
            pop = TAKEN / (process_time() - began)
            rates.append((push, pop))
            print(f"{goal:>10,} queued: {push:9,.0f} added per second, {pop:8,.0f} taken and finished per second")
        entering, taking = (rates[-1][place] / rates[0][place] for place in (0, 1))
        print(f"largest queue relative to smallest: adding at {entering:.2f}× the rate, taking at {taking:.2f}×")
        began = process_time()
        store.close()
        frontier = Frontier(Store(Path(folder) / "crawl.sqlite"))
        print(f"reloaded from the file: {len(frontier):,} URLs in {process_time() - began:.1f} s")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory {memory:,.0f} MiB, including two frontiers of that size")


if __name__ == "__main__":
    main()
