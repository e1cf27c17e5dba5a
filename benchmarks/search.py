"""Search at scale: response times on a crawl of 100,000 pages, and the cost of indexing a page compared to storing it.

    python benchmarks/search.py [--pages 100000] [--stored 1000] [--rounds 3] [--file FILE]

Pages of 4 KB, some 600 words, are stored and then indexed. Answers are ten pages with their snippets. The file stays
open, as in a program that answers many queries, and each query runs twice: the better time counts, to reduce noise. The
words of a query are in 2 % of the pages (`topical`), in 20 % (`common`) or in all; at most 10,000 hits are counted. The
cost of indexing during a crawl is measured on 20 KB pages with 60 links, including the frontier.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time

from focuscrawl.frontier.frontier import Candidate, Frontier
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.search.index import Filter, Index
from focuscrawl.search.query import Query
from focuscrawl.store.store import Store
from focuscrawl.web.synthetic import SyntheticWeb

#: Queries of each kind.
QUERIES = 20
EVERYWHERE = "<p>This is the end of the page</p></body>"


def fetched(web: SyntheticWeb, number: int) -> Page:
    answer = web.get(web.url(number))
    body = answer.body.replace(b"</body>", EVERYWHERE.encode())
    page = Page(web.url(number), fetched_at=f"2026-{1 + number % 12:02}-16T08:00:00.000+00:00")
    page.url_id = number + 1
    page.topics = web.labels(page.url)
    return read_html(page, body, answer.content_type)


def store_all(path: Path, pages: list[Page], *, indexed: bool) -> float:
    """CPU seconds to store pages as a crawl does, one transaction each."""
    store = Store(path)
    frontier, index = Frontier(store), Index(store)
    index.prepare()
    began = process_time()
    for page in pages:
        with store.transaction():
            (page.url_id,) = frontier.identify([page.url])
            page_id = store.pages.add(page, None)
            ids = frontier.identify([link.url for link in page.links])
            first = store.links.add(page_id, page.links, ids)
            frontier.offer(
                Candidate(i, link.url, 0.5, 1, first + n)
                for n, (i, link) in enumerate(zip(ids, page.links, strict=True))
            )
            if indexed:
                index.add(page_id, page)
    took = process_time() - began
    store.close()
    return took


def cost(folder: Path, count: int, rounds: int) -> None:
    web = SyntheticWeb(count, hosts=20)
    pages = [fetched(web, number) for number in range(count)]
    plain, searchable = [], []
    for turn in range(rounds):
        plain.append(store_all(folder / f"plain-{turn}.sqlite", pages, indexed=False))
        searchable.append(store_all(folder / f"indexed-{turn}.sqlite", pages, indexed=True))
    before, after = (1000 * median(times) / count for times in (plain, searchable))
    sizes = [(folder / f"{name}-0.sqlite").stat().st_size / count / 1024 for name in ("plain", "indexed")]
    print(
        f"storing a page: {before:.2f} ms CPU, {after:.2f} ms with its index entry ({after / before:.2f}×);"
        f" {sizes[0]:.1f} KiB on disk, {sizes[1]:.1f} KiB with it ({sizes[1] / sizes[0]:.2f}×)"
    )


def build(path: Path, web: SyntheticWeb) -> None:
    store = Store(path)
    for start in range(0, web.pages, 1000):
        with store.transaction():
            for number in range(start, min(web.pages, start + 1000)):
                store.pages.add(fetched(web, number), None)
    before, began = path.stat().st_size, process_time()
    Index(store).update()
    took = process_time() - began
    store.close()
    grown = (path.stat().st_size - before) / web.pages / 1024
    print(f"indexing {web.pages:,} stored pages: {1000 * took / web.pages:.2f} ms CPU and {grown:.1f} KiB per page")


def queries(web: SyntheticWeb) -> Iterator[tuple[str, str, Filter]]:
    chance = Random(1)
    anything = Filter()
    for _ in range(QUERIES):
        words = web.topical[chance.randrange(len(web.topical))]
        topical, other = chance.sample(words, 2)
        common, second = chance.sample(web.common, 2)
        host = chance.choice(web.hosts())
        yield "topical", topical, anything
        yield "topical topical", f"{topical} {other}", anything
        yield "topical common", f"{topical} {common}", anything
        yield "topical -common", f"{topical} -{common}", anything
        yield "topical OR topical", f"{topical} OR {other}", anything
        yield '"a phrase"', f'"{topical} {common}"', anything
        yield "common", common, anything
        yield "common common", f"{common} {second}", anything
        yield "common OR common", f"{common} OR {second}", anything
        yield "common, one host", common, Filter(host=host)
        yield "common, one topic", common, Filter(topic="topic-7")
        yield "common, half the dates", common, Filter(since="2026-07-01")
        yield "in all pages", "end", anything
        yield "in all pages, and common", f"end {common}", anything
        yield "in all pages, as phrase", '"the end of the page"', anything
        yield "in all pages, one host", "page", Filter(host=host)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--stored", type=int, default=1_000, help="pages used to measure the cost of storing")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--file", type=Path, help="file for the pages, which is reused if it exists")
    options = parser.parse_args()
    web = SyntheticWeb(options.pages, links=5, bytes=4_000)
    with tempfile.TemporaryDirectory() as folder:
        cost(Path(folder), options.stored, options.rounds)
        path = options.file or Path(folder) / "crawl.sqlite"
        if not path.exists():
            build(path, web)
        began = perf_counter()
        store = Store(path, create=False, check=False)
        index = Index(store)
        index.waiting()
        opened = perf_counter() - began
        times: dict[str, list[float]] = {}
        found: dict[str, list[int]] = {}
        cpu: list[float] = []
        for kind, text, where in queries(web):
            query = Query.of(text)
            wall, spent = [], []
            for _ in range(2):
                began, began_cpu = perf_counter(), process_time()
                answer = index.search(query, where)
                wall.append(1000 * (perf_counter() - began))
                spent.append(1000 * (process_time() - began_cpu))
            times.setdefault(kind, []).append(min(wall))
            cpu.append(min(spent))
            found.setdefault(kind, []).append(answer.total)
        store.close()
    print(f"opening the file: {1000 * opened:.0f} ms")
    for kind, took in times.items():
        print(f"{kind:26} {median(found[kind]):>9,.0f} pages  median {median(took):4.0f} ms  worst {max(took):4.0f} ms")
    everything = [time for took in times.values() for time in took]
    for name, took in ((f"all {len(everything):,} queries", everything), ("the same, CPU", cpu)):
        print(f"{name:42}  median {median(took):4.0f} ms  worst {max(took):4.0f} ms")


if __name__ == "__main__":
    main()
