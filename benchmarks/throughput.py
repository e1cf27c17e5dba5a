"""CPU a page and pages a second: best_first against a plain Scrapy spider that follows all links.

    python benchmarks/throughput.py [--pages 1500] [--rounds 3]

20 KB pages with 60 links on 20 hosts over real HTTP on loopback, scoring and store on. Both crawl the same web from the
same server, turn by turn in one run; what counts is the ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings

from focuscrawl.web.server import WebServer
from focuscrawl.web.synthetic import SyntheticWeb
from focuscrawl.web.webs import Answer

SEED = "http://host-0.synthetic.example/"
COMMON = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "LOG_LEVEL": "ERROR"}


class PlainSpider(scrapy.Spider):
    """What a Scrapy user writes first: a title for each page, and on to every link."""

    name = "plain"
    start_urls = [SEED]  # noqa: RUF012

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in LinkExtractor().extract_links(response):
            yield response.follow(link)


class CachedWeb(SyntheticWeb):
    """Pages are made before the clock runs."""

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


def crawl(kind: str, pages: int) -> None:
    """Run one crawl in this process and print what it took, from the opening of the spider to its end."""
    if kind == "plain":
        settings = Settings({**COMMON, "CLOSESPIDER_PAGECOUNT": pages, "REMOTE_CONTROL_ENABLED": False})
        process = AsyncCrawlerProcess(settings)
        crawler, options = process.create_crawler(PlainSpider), {}
    else:
        settings = Settings()
        settings.setmodule("focuscrawl.settings", priority="project")
        settings.update({**COMMON, "FOCUS_DIR": tempfile.mkdtemp()}, priority="cmdline")
        process = AsyncCrawlerProcess(settings)
        topic = SyntheticWeb(1).topical[0]
        options = {"seeds": SEED, "keywords": ",".join(topic[:12]), "max_pages": str(pages)}
        crawler = process.create_crawler(kind)
    times: list[float] = []

    def mark() -> None:
        times.extend((process_time(), perf_counter()))

    crawler.signals.connect(mark, signals.spider_opened)
    crawler.signals.connect(mark, signals.spider_closed)
    process.crawl(crawler, **options)
    process.start()
    count = crawler.stats.get_value("item_scraped_count")
    print(json.dumps({"pages": count, "cpu": times[2] - times[0], "wall": times[3] - times[1]}))


def run(*arguments: str, proxy: str) -> dict[str, float]:
    command = [sys.executable, __file__, *arguments]
    environment = {**os.environ, "http_proxy": proxy, "no_proxy": ""}
    result = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--spider", default="best_first")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--crawl", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.pages)
    if options.crawl:
        return crawl(options.crawl, options.pages)
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", "--pages", str(3 * options.pages)], stdout=subprocess.PIPE, text=True
    )
    try:
        about = json.loads(server.stdout.readline())
        print(f"pages of {about['bytes']:,} bytes, {options.pages} fetched in each of {options.rounds} rounds")
        figures = {"plain": [], options.spider: []}
        for _ in range(options.rounds):
            for kind, rows in figures.items():
                rows.append(run("--crawl", kind, "--pages", str(options.pages), proxy=about["address"]))
        cpu, rate = {}, {}
        for kind, rows in figures.items():
            cpu[kind] = median(1000 * row["cpu"] / row["pages"] for row in rows)
            rate[kind] = median(row["pages"] / row["wall"] for row in rows)
            print(f"{kind:12} {cpu[kind]:6.2f} ms CPU a page {rate[kind]:7.1f} pages a second")
        print(
            f"{options.spider} over plain: {cpu[options.spider] / cpu['plain']:.0%} of the CPU a page,"
            f" {rate[options.spider] / rate['plain']:.2f}× the pages a second"
        )
    finally:
        server.terminate()
    return None


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    main()
