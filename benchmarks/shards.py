"""What order is lost if a crawl is divided among servers by host: a simulation on a labelled web.

    python benchmarks/shards.py [--pages 500] [--shards 2,4,16] [--outbox 1,10,50] [--web FILE] [--topics DIR]

Every page is on one shard, by a hash (labelled webs have few hosts, so that pages stand for hosts). A link is worth
what best-first says: the relevance of its page by label, the best of all links seen. One crawler takes the best link
of all; shards take turns, each its own best. A link to another shard waits in an outbox that is emptied whenever its
shard has fetched *outbox* pages. Printed: relevant pages among the first *pages*, as a share of those of one crawler;
mean of all topics, and the worst.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from heapq import heappop, heappush
from pathlib import Path
from statistics import mean
from zlib import crc32

from labelled import parse_web, parser, topic_files

from focuscrawl.topic import load_topic


class Shard:
    """The frontier of a server."""

    def __init__(self) -> None:
        self.heap: list[tuple[float, int, str]] = []
        self.best: dict[str, float] = {}
        self.outbox: list[tuple[str, float]] = []
        self.fetched = 0

    def offer(self, url: str, score: float, order: int) -> None:
        if score > self.best.get(url, -1.0):
            self.best[url] = score
            heappush(self.heap, (-score, order, url))


def crawl(
    seeds: list[str], links: dict[str, list[str]], relevant: set[str], shards: int, pages: int, outbox: int
) -> int:
    """The relevant pages among the first *pages*."""
    all_shards = [Shard() for _ in range(shards)]

    def shard_of(url: str) -> Shard:
        return all_shards[crc32(url.encode()) % shards]

    order = found = fetched = 0
    done: set[str] = set()
    for url in seeds:
        shard_of(url).offer(url, 1.0, order)
    while fetched < pages:
        before = fetched
        for shard in all_shards:
            while shard.heap and shard.heap[0][2] in done:
                heappop(shard.heap)
            if shard.heap and fetched < pages:
                url = heappop(shard.heap)[2]
                done.add(url)
                fetched += 1
                shard.fetched += 1
                found += url in relevant
                for target in links[url]:
                    order += 1
                    if shard_of(target) is shard:
                        shard.offer(target, float(url in relevant), order)
                    else:
                        shard.outbox.append((target, float(url in relevant)))
            if not shard.heap or shard.fetched % outbox == 0:  # a shard that has nothing to do tells what it knows
                for target, score in shard.outbox:
                    order += 1
                    shard_of(target).offer(target, score, order)
                shard.outbox.clear()
        if fetched == before and not any(shard.heap for shard in all_shards):
            break
    return found


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--pages", type=int, default=500)
    options.add_argument("--shards", default="2,4,16")
    options.add_argument("--outbox", default="1,10,50")
    given = parse_web(options)
    links: dict[str, list[str]] = defaultdict(list)
    with closing(sqlite3.connect(f"file:{given.web}?mode=ro", uri=True)) as web:
        labels = {url: set(json.loads(found or "[]")) for url, found in web.execute("SELECT url, labels FROM page")}
        for source, target in web.execute("SELECT src, dst FROM link"):
            if target in labels:
                links[source].append(target)
    topics = []
    for file in topic_files(given.topics):
        topic = load_topic(str(file))
        relevant = {url for url in topic.targets if url in labels}
        seeds = [url for url in topic.seeds if url in labels]
        if relevant and seeds:
            topics.append((seeds, relevant))
    print(
        f"{Path(given.web).stem}: {len(topics)} topics, {given.pages} pages each; share of one crawler's relevant pages"
    )
    alone = [crawl(seeds, links, relevant, 1, given.pages, 1) for seeds, relevant in topics]
    for shards in map(int, given.shards.split(",")):
        for outbox in map(int, given.outbox.split(",")):
            found = [crawl(seeds, links, relevant, shards, given.pages, outbox) for seeds, relevant in topics]
            shares = [mine / best for mine, best in zip(found, alone, strict=True) if best]
            print(f"{shards:>3} shards, outbox of {outbox:>3}: {mean(shares):.2f}, worst topic {min(shares):.2f}")


if __name__ == "__main__":
    main()
