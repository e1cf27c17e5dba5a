"""The cost of HITS and PageRank over a million links: reading them from a crawl's file, and computing.

python benchmarks/ranks.py [--links 1000000]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from random import Random
from time import process_time

import numpy as np

from focuscrawl.page import Link, Page
from focuscrawl.store.store import Store
from focuscrawl.strategies.graph import LinkGraph, hits, pagerank

LINKS = 40


def fill(store: Store, links: int) -> None:
    """Pages with links to pages fetched or not, to earlier ones more often."""
    chance = Random(1)
    pages = links // LINKS
    with store.transaction():
        for number in range(1, pages + 1):
            page = Page(f"http://h{number % 100}.example/{number}", relevance=chance.random())
            page.url_id = number
            targets = [1 + int(3 * pages * chance.random() ** 2) for _ in range(LINKS)]
            store.links.add(store.pages.add(page, None), [Link("http://x.example/")] * LINKS, targets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "crawl.sqlite")
        fill(store, options.links)
        graph = LinkGraph(store)

        def timed(what: str, work):
            began = process_time()
            result = work()
            print(f"{what:52}{process_time() - began:>8.2f} s")
            return result

        print(f"{options.links:,} links of {store.pages.count():,} pages, CPU time")
        timed("reading them once", graph.read)
        links = timed("matrix", graph.matrix)
        relevance = graph.relevance
        timed("HITS, weighted by relevance", lambda: hits(links, np.nan_to_num(relevance, nan=0.5)))
        timed("PageRank", lambda: pagerank(links))
        store.close()


if __name__ == "__main__":
    main()
