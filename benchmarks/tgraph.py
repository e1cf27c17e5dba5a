"""The cost of comparing all links of a page with a T-Graph of a thousand nodes, once their Dewey numbers are known.

The Dewey lookup stems the page; the comparison with the T-Graph uses the same stems.

python benchmarks/tgraph.py [--nodes 1000] [--links 60]
"""

from __future__ import annotations

import argparse
from random import Random
from statistics import median
from time import process_time

from focuscrawl import words
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.strategies.dewey import lexicon
from focuscrawl.strategies.tgraph import Node, TGraph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--links", type=int, default=60)
    options = parser.parse_args()
    chance = Random(1)
    vocabulary = [f"w{number}" for number in range(3000)]

    def text(count: int) -> str:
        return " ".join(chance.choices(vocabulary, k=count))

    nodes = [
        Node(f"http://a.example/{n}", text(3), text(3), text(4), text(60), {"http://t.example/": 1 + n % 4})
        for n in range(options.nodes)
    ]
    graph = TGraph("benchmark", nodes)
    html = "".join(f"<h2>{text(3)}</h2><p>{text(50)} <a href=/{n}>{text(3)}</a></p>" for n in range(options.links))
    page = read_html(Page("http://a.example/"), html.encode(), "text/html")
    links = page.links
    graph.match(links)
    times = []
    for _ in range(50):
        words.stems_of.cache_clear()
        lexicon().focuses(page)
        began = process_time()
        graph.match(links)
        times.append(process_time() - began)
    print(f"{len(links)} links against {len(nodes):,} nodes: {median(times) * 1000:.1f} ms CPU")


if __name__ == "__main__":
    main()
