"""A long crawl: CPU time and memory per page, in the last tenth of the crawl against the first.

    python benchmarks/long.py [--pages 50000] [--spiders best_first,hits] [--minutes 60] [--dir DIR]
    python benchmarks/long.py --spiders best_first --pages 300000 --hosts 5000 --queued 5000000 --seen 20000000

A synthetic web of four million pages on two hundred hosts, with twenty links per page, in twenty topics; the words of a
topic are those of a Dewey number. No network, no delays. Each crawl runs in its own process. The time in which the web
generates its pages is not counted, but as it is constant work, CPU times are normalised by it to compensate for other
load on the machine. The first 1,000 pages are warm-up and are left out. A crawl is flat if CPU time per page in the
last tenth is at most 1.2 times that of the first, and memory per page in the second half at most 1.2 times that of the
first half.

With --seen and --queued, the crawl is stopped after a few pages, that many URLs are added to its file (half of all
hosts have some in the queue, all with low scores), and it is resumed: the time and memory that takes are printed.

There is one name per mechanism: `best_first` (links inherit the page's score; like keyword), `shark_search` (words near
each link; like link_semantics), `naive_bayes_threshold` (learned judge), `baseline` (that, and a bounded frontier) and
so on; a name with a dash is a spider with an option.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import monotonic, process_time
from typing import Any, NamedTuple

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.store.store import Store
from focuscrawl.strategies.dewey import lexicon
from focuscrawl.web.synthetic import TOPICS, SyntheticWeb
from focuscrawl.web.webs import IN_MEMORY, Answer

#: By name: the spider and its options.
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "breadth_first": ("breadth_first", {}),
    "best_first": ("best_first", {}),
    "shark_search": ("shark_search", {}),
    "fish_search": ("fish_search", {}),
    "naive_bayes_threshold": ("naive_bayes_threshold", {}),
    "baseline": ("baseline", {}),
    "apprentice": ("apprentice", {"lessons": "auto", "lesson_pages": 1000}),
    "apprentice-online": ("apprentice", {"training": "online"}),
    "apprentice-hubs": ("apprentice", {"lessons": "auto", "lesson_pages": 1000, "hubs_every": 200}),
    "link_classifier": ("link_classifier", {}),
    "link_classifier-fixed": ("link_classifier", {"training": "fixed"}),
    "context_graph": ("context_graph", {"crawl": "auto"}),
    "taxonomy_tunnel": ("taxonomy_tunnel", {}),
    "treasure": ("treasure", {}),
    "intelligent": ("intelligent", {}),
    "hits": ("hits", {}),
    "pagerank": ("pagerank", {}),
    "hybrid": ("hybrid", {}),
    "niche_genetic": ("niche_genetic", {}),
    "perimeter": ("perimeter", {}),
    "info_spiders": ("info_spiders", {}),
}
#: The Dewey number of the crawls' topic; the web has its neighbours, too.
TOPIC = "599"
#: Words of each topic: a page has most of its topic's keywords, and few of other topics.
WORDS = 60
WARM_UP = 1_000
SAMPLES = 50
#: Largest ratio of the last part to the first at which a crawl is flat.
FLAT = 1.2


class TopicalWeb(SyntheticWeb):
    """A web whose topics are the Dewey numbers with the most words; it measures the time it takes to generate pages."""

    def __init__(self, hosts: int = 200, links: int = 20, bytes: int = 4_000) -> None:  # noqa: A002
        super().__init__(4_000_000, hosts=hosts, links=links, bytes=bytes)
        words: dict[str, list[str]] = defaultdict(list)
        known = lexicon()
        for term, numbers in known.terms.items():
            written = known.written[term].lower()
            if written.isalpha() and len({number[:3] for number in numbers}) == 1:
                words[numbers[0][:3]].append(written)
        most = sorted(words, key=lambda number: (number != TOPIC, -len(words[number]), number))
        self.topical = [words[number][:WORDS] for number in most[:TOPICS]]
        self.seconds = 0.0

    def get(self, url: str) -> Answer:
        began = process_time()
        answer = super().get(url)
        self.seconds += process_time() - began
        return answer

    def some(self, topic: int, count: int) -> list[str]:
        """The URLs of some pages of a topic."""
        return [self.url(topic * self.host_count + number) for number in range(count)]

    def about(self) -> dict[str, object]:
        """The topic of the crawls: the first of the web."""
        return {
            "name": "long",
            "seeds": self.some(0, 3),
            "keywords": dict.fromkeys(self.topical[0][:12], 1.0),
            "examples": self.some(0, 30),
            "counterexamples": [url for topic in range(1, TOPICS) for url in self.some(topic, 2)],
            "dewey": [TOPIC],
        }


class Sample(NamedTuple):
    """The state of a crawl: pages, CPU seconds, the web's share of them, and bytes in memory."""

    pages: int
    cpu: float
    web: float
    memory: int


def resident() -> int:
    """Resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def add_urls(folder: Path, seen: int, queued: int, hosts: int) -> None:
    """Add URLs to a crawl that has been stopped."""
    store = Store(folder / "crawl.sqlite")
    first, names = store.urls.last_id() + 1, [f"host-{number}.more.example" for number in range(hosts)]
    first_host = max(host_id for host_id, _, _ in store.hosts.each()) + 1
    draw = Random(1)
    for start in range(0, seen, 100_000):
        numbers = range(start, min(start + 100_000, seen))
        urls = [f"http://{names[number % hosts]}/a/{number}/page.html" for number in numbers]
        with store.transaction():
            if not start:
                for number, name in enumerate(names):
                    store.hosts.add(first_host + number, name)
            store.urls.add(
                (first + number, draw.getrandbits(64) - (1 << 63), url, first_host + number % hosts)
                for number, url in zip(numbers, urls, strict=True)
            )
            store.queue.add(
                (first + number, url, first_host + number % hosts, rank, rank, 3, None, False, None)
                for number, url in zip(numbers, urls, strict=True)
                if number < queued
                for rank in [draw.random() / 1000]
            )
    store.close()


def crawl(
    name: str, pages: int, folder: str, seconds: float, web: TopicalWeb, warm_up: int = WARM_UP, samples: int = SAMPLES
) -> dict[str, Any]:
    """Run one crawl in this process; returns its samples and what became of it."""
    IN_MEMORY["long"] = web
    settings = Settings()
    settings.setmodule("focuscrawl.settings", priority="project")
    settings.update(
        {
            "FOCUS_DIR": folder,
            "FOCUS_WEB": "long",
            "FOCUS_TOPIC": web.about(),
            "FOCUS_PROGRESS": False,
            "CONCURRENT_REQUESTS": 4,
            "CLOSESPIDER_TIMEOUT": seconds,
            "LOG_LEVEL": "ERROR",
        },
        priority="cmdline",
    )
    spider, options = CASES[name]
    process = AsyncCrawlerProcess(settings)
    crawler: Crawler = process.create_crawler(spider)
    taken: list[Sample] = []
    step = max(1, (pages - warm_up) // samples)
    count = 0

    def stored() -> None:
        nonlocal count
        count += 1
        if count >= warm_up and (count - warm_up) % step == 0:
            taken.append(Sample(count, process_time() - web.seconds, web.seconds, resident()))

    def opened() -> None:
        summary.update(resumed=process_time() - began, resumed_memory=resident())

    def ended() -> None:
        summary.update(waiting=len(Crawl.of(crawler).frontier), pages=count)

    summary: dict[str, Any] = {}
    crawler.signals.connect(stored, signals.item_scraped)
    crawler.signals.connect(ended, signals.spider_closed)
    crawler.signals.connect(opened, signals.spider_opened)
    began = process_time()
    process.crawl(crawler, max_pages=pages, **options)
    process.start()
    summary["reason"] = crawler.stats.get_value("finish_reason")
    summary["file"] = (Path(folder) / "crawl.sqlite").stat().st_size
    return {**summary, "samples": taken}


def slope(samples: Sequence[Sample], what: str) -> float:
    """The mean cost of a page between the first sample and the last."""
    first, last = samples[0], samples[-1]
    return (getattr(last, what) - getattr(first, what)) / (last.pages - first.pages)


def row(name: str, result: dict[str, object]) -> str:
    """The line of a crawl in the table."""
    samples = [Sample(*sample) for sample in result["samples"]]
    tenth, half = (len(samples) - 1) // 10, (len(samples) - 1) // 2
    if not tenth:
        return f"{name:26}{result['pages']:>7,}  ended too early: {result['reason']}"
    first, last = (
        1000 * slope(part, "cpu") * slope(samples, "web") / slope(part, "web")
        for part in (samples[: tenth + 1], samples[-tenth - 1 :])
    )
    early, late = (slope(part, "memory") for part in (samples[: half + 1], samples[half:]))
    verdict = [
        f"{what} grows" for what, over in (("CPU", last / first), ("memory", late / max(early, 1.0))) if over > FLAT
    ]
    return (
        f"{name:26}{result['pages']:>7,}{first:>7.2f}{last:>7.2f}{last / first:>6.2f}"
        f"{samples[tenth].memory / 1e6:>7,.0f}{samples[-1].memory / 1e6:>7,.0f}{early:>10,.0f}{late:>10,.0f}"
        f"{result['file'] / 1e6:>7,.0f} {result['waiting']:>9,}  {', '.join(verdict) or 'flat'}"
    )


HEAD = (
    f"{'':26}{'':>7}{'ms CPU per page':>20}{'MB in memory':>14}{'bytes per page':>20}{'file':>7}{'URLs':>9}\n"
    f"{'':26}{'pages':>7}{'first':>7}{'last':>7}{'ratio':>6}{'tenth':>7}{'end':>7}{'1st half':>10}{'2nd half':>10}"
    f"{'MB':>7}{'waiting':>9}"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--spiders", default=",".join(CASES), help="some of the names, separated by commas")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="time limit for all crawls together; crawls that hit it are marked"
    )
    parser.add_argument("--dir", help="directory to keep the crawls and their samples; by default they are removed")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--seen", type=int, default=0, help="URLs that the crawl has seen before it is measured")
    parser.add_argument("--queued", type=int, default=0, help="how many of them wait")
    parser.add_argument("--crawl", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=0.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        web = TopicalWeb(options.hosts)
        print(json.dumps(crawl(options.crawl, options.pages, options.dir, options.seconds, web)))
        return
    names = options.spiders.split(",")
    for name in names:
        if name not in CASES:
            sys.exit(f"unknown name '{name}'; choose from {', '.join(CASES)}")
    end = monotonic() + 60 * options.minutes
    print(HEAD, flush=True)
    for left, name in zip(range(len(names), 0, -1), names, strict=True):
        seconds = (end - monotonic()) / left
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(options.dir or temporary) / name
            command = [sys.executable, __file__, f"--crawl={name}", f"--dir={folder}", f"--hosts={options.hosts}"]
            if options.seen:
                subprocess.run([*command, "--pages=20"], check=True, stdout=subprocess.PIPE)
                add_urls(folder, options.seen, options.queued, options.hosts)
            command += [f"--pages={options.pages}", f"--seconds={seconds:.0f}"]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        result = json.loads(done.stdout.splitlines()[-1])
        if options.dir:
            Path(options.dir, f"{name}.json").write_text(json.dumps(result))
        print(row(name, result), flush=True)
        if options.seen:
            print(
                f"  resumed with {options.seen:,} URLs seen and {options.queued:,} waiting in {result['resumed']:.1f} s"
                f" of CPU; memory {result['resumed_memory'] / 1e6:,.0f} MB then"
            )
    return


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    main()
