"""Time one crawl in this process, from the opening of the spider to its end; prints a line of JSON.

    python benchmarks/timed_crawl.py SPIDER --seed URL [--pages 1500] [--keywords a,b]

SPIDER is one of focuscrawl's, `plain`, or `floor`: asyncio, aiohttp, lxml and a heap, and nothing else. Only
focuscrawl's settings are imported, so that this file can also time another checkout. The proxy is
taken from the environment.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import json
import os
import tempfile
from time import perf_counter, process_time
from urllib.parse import urljoin

import aiohttp
import lxml.html
import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings

COMMON = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "LOG_LEVEL": "ERROR"}


class PlainSpider(scrapy.Spider):
    """A typical first Scrapy spider: takes each page's title and follows every link."""

    name = "plain"

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in LinkExtractor().extract_links(response):
            yield response.follow(link)


def crawl(spider: str, seed: str, pages: int, keywords: str, folder: str) -> dict[str, float]:
    """Pages fetched, CPU seconds and seconds."""
    if spider == "plain":
        settings = Settings({**COMMON, "CLOSESPIDER_PAGECOUNT": pages, "REMOTE_CONTROL_ENABLED": False})
        process = AsyncCrawlerProcess(settings)
        crawler, options = process.create_crawler(PlainSpider), {"start_urls": [seed]}
    else:
        settings = Settings()
        settings.setmodule("focuscrawl.settings", priority="project")
        settings.update({**COMMON, "FOCUS_DIR": folder}, priority="cmdline")
        process = AsyncCrawlerProcess(settings)
        crawler, options = (
            process.create_crawler(spider),
            {"seeds": seed, "keywords": keywords, "max_pages": str(pages)},
        )
    times: list[float] = []

    def mark() -> None:
        times.extend((process_time(), perf_counter()))

    crawler.signals.connect(mark, signals.spider_opened)
    crawler.signals.connect(mark, signals.spider_closed)
    process.crawl(crawler, **options)
    process.start()
    count = crawler.stats.get_value("item_scraped_count")
    return {"pages": count, "cpu": times[2] - times[0], "wall": times[3] - times[1]}


def floor(seed: str, pages: int, keywords: str) -> dict[str, float]:
    """The same web without a framework: sixteen workers take the best link, read its page and queue its links."""
    wanted = set(keywords.split(","))
    heap, seen, done = [(0.0, seed)], {seed}, 0

    def read(url: str, body: bytes) -> None:
        tree = lxml.html.document_fromstring(body)
        words = tree.text_content().lower().split()
        score = sum(map(wanted.__contains__, words)) / (len(words) or 1)
        for link in tree.iter("a"):
            target = urljoin(url, link.get("href", ""))
            if target.startswith("http") and target not in seen:
                seen.add(target)
                heapq.heappush(heap, (-score, target))

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal done
        while done < pages:
            if not heap:
                await asyncio.sleep(0.001)
                continue
            _, url = heapq.heappop(heap)
            async with session.get(url, proxy=os.environ["http_proxy"]) as response:
                body = await response.read()
            if done < pages:
                done += 1
                read(url, body)

    async def crawl_all() -> None:
        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*(work(session) for _ in range(16)))

    cpu, wall = process_time(), perf_counter()
    asyncio.run(crawl_all())
    return {"pages": done, "cpu": process_time() - cpu, "wall": perf_counter() - wall}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spider")
    parser.add_argument("--seed", required=True)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--keywords", default="")
    options = parser.parse_args()
    if options.spider == "floor":
        print(json.dumps(floor(options.seed, options.pages, options.keywords)))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(crawl(options.spider, options.seed, options.pages, options.keywords, f"{folder}/crawl")))


if __name__ == "__main__":
    main()
