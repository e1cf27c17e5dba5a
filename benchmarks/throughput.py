"""CPU per page and pages per second: best_first against a plain Scrapy spider that follows all links, or a checkout.

    python benchmarks/throughput.py [--pages 1500] [--rounds 3] [--against OTHER_CHECKOUT]
    python benchmarks/throughput.py --spiders breadth_first,keyword,shark_search,adaptive

20 KB pages with 60 links on 20 hosts over real HTTP on loopback, including scoring and storing. All crawl the same web
from the same server, by turns in one run; only the ratios matter. `floor` is a crawler without a framework that
judges by a handful of words and stores nothing: what Python and lxml need at least. With --against the same spider runs
in this checkout and in another one, with the packages of this environment, and the ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from focuscrawl.web.server import WebServer
from focuscrawl.web.synthetic import SyntheticWeb
from focuscrawl.web.webs import Answer

ROOT = Path(__file__).resolve().parent.parent
SEED = "http://host-0.synthetic.example/"


class CachedWeb(SyntheticWeb):
    """Pages are generated before timing starts."""

    def __init__(self, pages: int) -> None:
        super().__init__(pages, hosts=20, links=60, bytes=20_000)
        self.made = {self.url(page): super(CachedWeb, self).get(self.url(page)) for page in range(pages)}
        self.made[SEED] = self.made[self.url(0)]

    def get(self, url: str) -> Answer:
        return self.made.get(url) or super().get(url)


def serve(pages: int) -> None:
    web = CachedWeb(pages)
    server = WebServer(web)
    size = sum(len(answer.body) for answer in web.made.values()) / len(web.made)
    print(json.dumps({"address": server.address, "bytes": round(size)}), flush=True)
    server.serve_forever()


class Runner(NamedTuple):
    """A spider of a checkout, and the Python that the checkout is installed in."""

    name: str
    spider: str
    checkout: Path = ROOT
    python: str = sys.executable

    def run(self, pages: int, proxy: str) -> dict[str, float]:
        """Crawl; returns its measurements."""
        keywords = ",".join(SyntheticWeb(1).topical[0][:12])
        script = ROOT / "benchmarks" / "timed_crawl.py"
        command = [self.python, str(script), self.spider, "--seed", SEED, "--pages", str(pages), "--keywords", keywords]
        environment = {**os.environ, "http_proxy": proxy, "no_proxy": "", "PYTHONPATH": str(self.checkout)}
        result = subprocess.run(
            command, cwd=self.checkout, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return json.loads(result.stdout.splitlines()[-1])

    def cpu(self, pages: int, proxy: str) -> float:
        """The CPU time of a page in milliseconds."""
        row = self.run(pages, proxy)
        return 1000 * row["cpu"] / row["pages"]


class Server(NamedTuple):
    """The process that serves the web."""

    address: str
    bytes: int


@contextmanager
def serving(pages: int) -> Iterator[Server]:
    """Serve a web that is large enough for crawls of so many pages."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", "--pages", str(3 * pages)], stdout=subprocess.PIPE, text=True
    )
    try:
        yield Server(**json.loads(process.stdout.readline()))
    finally:
        process.terminate()


def measure(runners: list[Runner], pages: int, rounds: int) -> dict[Runner, tuple[list[float], list[float]]]:
    """CPU per page and pages per second of each, by turns."""
    found = {runner: ([], []) for runner in runners}
    with serving(pages) as server:
        print(f"pages of {server.bytes:,} bytes, {pages} fetched in each of {rounds} rounds")
        for _ in range(rounds):
            for runner in runners:
                row = runner.run(pages, server.address)
                found[runner][0].append(1000 * row["cpu"] / row["pages"])
                found[runner][1].append(row["pages"] / row["wall"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--spiders", default="best_first")
    parser.add_argument("--against", type=Path, metavar="OTHER_CHECKOUT")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.pages)
    spiders = options.spiders.split(",")
    ours = [Runner(spider, spider) for spider in spiders]
    if options.against:
        others = [Runner(f"{spider} of {options.against}", spider, options.against.resolve()) for spider in spiders]
    else:
        others = [Runner("plain", "plain")]
    found = measure([*others, *ours, Runner("floor", "floor")], options.pages, options.rounds)
    width = max(12, *(len(runner.name) for runner in found))
    for runner, (cpu, rate) in found.items():
        print(f"{runner.name:{width}} {median(cpu):6.2f} ms CPU per page {median(rate):7.1f} pages per second")
    for number, runner in enumerate(ours):
        other = others[number % len(others)]
        cpu, rate = (
            median(one / two for one, two in zip(found[runner][place], found[other][place], strict=True))
            for place in (0, 1)
        )
        print(
            f"{runner.name} relative to {other.name}: {cpu:.0%} of the CPU per page, {rate:.2f}× the pages per second"
        )
    return None


if __name__ == "__main__":
    main()
