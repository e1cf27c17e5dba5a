"""CPU per page and pages per second: best_first against a plain Scrapy spider that follows all links, or a checkout.

    python benchmarks/throughput.py [--pages 1500] [--rounds 3] [--against OTHER_CHECKOUT]

20 KB pages with 60 links on 20 hosts over real HTTP on loopback, including scoring and storing. Both crawl the same web
from the same server, alternating in one run; only the ratio matters. With --against the same spider runs in this
checkout and in another one with its own .venv, and the ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
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


def other_checkout(folder: Path, spider: str) -> Runner:
    """The same spider in another checkout."""
    checkout = folder.resolve()
    python = checkout / ".venv" / "bin" / "python"
    if not python.exists():
        sys.exit(f"{python} does not exist; --against takes a checkout that is installed in its own .venv")
    return Runner(str(folder), spider, checkout, str(python))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--spider", default="best_first")
    parser.add_argument("--against", type=Path, metavar="OTHER_CHECKOUT")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.pages)
    ours = Runner("this checkout" if options.against else options.spider, options.spider)
    other = other_checkout(options.against, options.spider) if options.against else Runner("plain", "plain")
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", "--pages", str(3 * options.pages)], stdout=subprocess.PIPE, text=True
    )
    try:
        about = json.loads(server.stdout.readline())
        print(f"pages of {about['bytes']:,} bytes, {options.pages} fetched in each of {options.rounds} rounds")
        cpu, rate = {ours: [], other: []}, {ours: [], other: []}
        for _ in range(options.rounds):
            for runner in (other, ours):
                row = runner.run(options.pages, about["address"])
                cpu[runner].append(1000 * row["cpu"] / row["pages"])
                rate[runner].append(row["pages"] / row["wall"])
    finally:
        server.terminate()
    width = max(12, len(ours.name), len(other.name))
    for runner in (other, ours):
        figures = f"{median(cpu[runner]):6.2f} ms CPU per page {median(rate[runner]):7.1f} pages per second"
        print(f"{runner.name:{width}} {figures}")
    if options.against:
        share = median(one / two for one, two in zip(cpu[ours], cpu[other], strict=True))
        print(f"{options.spider} of {ours.name} relative to {other.name}: {share:.1%} of the CPU per page")
    else:
        share, times = (median(figures[ours]) / median(figures[other]) for figures in (cpu, rate))
        print(
            f"{ours.name} relative to {other.name}: {share:.0%} of the CPU per page, {times:.2f}× the pages per second"
        )
    return None


if __name__ == "__main__":
    main()
