"""Fetch order under politeness: 50 hosts with a 0.2 s delay, 16 requests at a time, over real HTTP on loopback.

    python benchmarks/order.py [--hosts 50] [--pages 1000] [--delay 0.2]

A seed page links to all pages, each with a distinct score. The server records when each request arrives, and from that
alone the benchmark checks that no request was sent while a better one for a free host was waiting. In the same run, a
plain Scrapy spider with Scrapy's default queue fetches the same pages, to compare the time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, perf_counter
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from focuscrawl.spider import FocusedSpider
from focuscrawl.web.server import serving
from focuscrawl.web.webs import Answer, MemoryWeb

SEED = "http://seed.example/"
#: Seconds by which an arrival at the server may lag behind the decision to send.
LAG = 0.1


class LoggingWeb(MemoryWeb):
    """Records when each page is requested."""

    def __init__(self) -> None:
        super().__init__()
        self.arrivals: list[tuple[float, str]] = []

    def get(self, url: str) -> Answer:
        self.arrivals.append((monotonic(), url))
        return super().get(url)


class ByUrl(FocusedSpider):
    """The score of a link is in its URL."""

    name = "by_url"
    needs = ()

    def score(self, page):
        return [float(link.url.rpartition("/")[2]) for link in page.links]


class Plain(scrapy.Spider):
    name = "plain"
    start_urls = [SEED]  # noqa: RUF012

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, priority=round(1e6 * float(link.rpartition("/")[2])))
        yield {"url": response.url}


def make_web(hosts: int, pages: int) -> LoggingWeb:
    web = LoggingWeb()
    chance = random.Random(7)
    urls = [f"http://host-{n % hosts}.example/{chance.random():.9f}" for n in range(pages)]
    web.add(SEED, "<title>seed</title>" + "".join(f'<a href="{url}">x</a>\n' for url in urls))
    text = " ".join(f"word{n}" for n in range(300))
    for url in urls:
        web.add(url, f"<title>page</title><p>{text}</p>")
    return web


def crawl(kind: str, delay: float) -> None:
    common = {"DOWNLOAD_DELAY": delay, "CONCURRENT_REQUESTS": 16, "LOG_LEVEL": "ERROR", "DOWNLOAD_DELAY_JITTER": 0}
    common |= {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "ROBOTSTXT_OBEY": False}
    settings = Settings()
    if kind == "by_url":
        settings.setmodule("focuscrawl.settings", priority="project")
        common["FOCUS_DIR"] = tempfile.mkdtemp()
    else:
        common["REMOTE_CONTROL_ENABLED"] = False
    settings.update(common, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(ByUrl if kind == "by_url" else Plain)
    began = perf_counter()
    process.crawl(crawler, **({"seeds": SEED} if kind == "by_url" else {}))
    process.start()
    stats = crawler.stats.get_stats()
    figures = {"seconds": stats["elapsed_time_seconds"], "pages": stats["item_scraped_count"]}
    print(json.dumps(figures | {"inversions": stats.get("focus/priority_inversions"), "all": perf_counter() - began}))


def violations(arrivals: list[tuple[float, str]], urls: list[str], delay: float) -> int:
    """Requests that were sent while a better one, for a host that was free, was waiting."""
    score = {url: float(url.rpartition("/")[2]) for url in urls}
    waiting: dict[str, list[str]] = {}
    for url in sorted(urls, key=score.__getitem__):
        waiting.setdefault(urlsplit(url).hostname, []).append(url)
    last = dict.fromkeys(waiting, 0.0)
    found: set[str] = set()
    recent: list[tuple[float, str]] = []
    for moment, url in arrivals:
        if url not in score:
            continue
        host = urlsplit(url).hostname
        waiting[host].remove(url)
        for other, queue in waiting.items():
            if queue and other != host and last[other] + delay + LAG < moment and score[queue[-1]] > score[url]:
                # a request for that host may be in flight: it counts only if it does not arrive at once
                recent.append((moment, queue[-1]))
        found |= {better for sent, better in recent if better == url and moment - sent > LAG}
        recent = [(sent, better) for sent, better in recent if better != url]
        last[host] = moment
    return len(found | {better for _, better in recent})


def run(kind: str, delay: float, proxy: str) -> dict[str, float]:
    environment = {**os.environ, "http_proxy": proxy, "no_proxy": ""}
    command = [sys.executable, __file__, "--crawl", kind, "--delay", str(delay)]
    result = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--crawl", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        return crawl(options.crawl, options.delay)
    web = make_web(options.hosts, options.pages)
    urls = [url for url in web.answers if url != SEED]
    rates = {}
    with serving(web) as server:
        for kind in ("plain", "by_url"):
            web.arrivals.clear()
            figures = run(kind, options.delay, server.address)
            rates[kind] = figures["pages"] / figures["seconds"]
            wrong = violations(web.arrivals, urls, options.delay)
            name = {"plain": "Scrapy's default queue", "by_url": "the frontier"}[kind]
            print(f"{name:24} {rates[kind]:6.1f} pages per second, {wrong} requests overtaken by a worse one", end="")
            print(f", {figures['inversions']} priority inversions" if kind == "by_url" else "")
    limit = options.hosts / options.delay
    print(f"throughput: {rates['by_url'] / rates['plain']:.0%} of Scrapy's (limit: {limit:.0f} pages per second)")
    return None


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    main()
