"""crawl4ai: its best-first deep crawl, over plain HTTP or with a browser, and its adaptive crawler.

`best_first` is what its guide to deep crawls recommends, with its keyword scorer. It starts from the page that lists
the seeds, and requests ten pages before it extracts their links. `browser` is the same with a browser, crawl4ai's
default, here the local Chromium. `adaptive` answers a query, the keywords, from each seed in turn, with the options
that its guide shows; it previews up to fifty links of a page, takes the best five, and stops early.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from contract import parse_options
from crawl4ai import AdaptiveConfig, AdaptiveCrawler, AsyncWebCrawler, BrowserConfig, CrawlerRunConfig, ProxyConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.deep_crawling import BestFirstCrawlingStrategy
from crawl4ai.deep_crawling.scorers import KeywordRelevanceScorer
from crawl4ai.egress_policy import set_egress_proxy


@contextmanager
def chromium(proxy: str) -> Iterator[str]:
    """Run a browser during the block; yields its address."""
    program = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("Chromium is not installed")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir=profile"]
    options += ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    options += ["--disable-features=NetworkTimeServiceQuerying"]
    process = subprocess.Popen([program, *options, f"--proxy-server={proxy}"], stderr=subprocess.PIPE, text=True)
    try:
        yield next(line.split()[-1] for line in process.stderr if line.startswith("DevTools listening on"))
    finally:
        process.terminate()
        process.wait()


async def crawl(options, crawler: AsyncWebCrawler) -> None:
    if options.variant == "adaptive":
        config = AdaptiveConfig(confidence_threshold=0.8, max_pages=30, top_k_links=5, min_gain_threshold=0.05)
        for seed in options.seeds:
            await AdaptiveCrawler(crawler, config).digest(seed, " ".join(options.keywords))
        return
    strategy = BestFirstCrawlingStrategy(
        max_depth=options.pages,
        max_pages=options.pages,
        include_external=True,
        url_scorer=KeywordRelevanceScorer(options.keywords),
    )
    config = CrawlerRunConfig(
        deep_crawl_strategy=strategy,
        stream=True,
        check_robots_txt=options.robots,
        proxy_config=ProxyConfig(server=options.proxy) if options.variant == "best_first" else None,
        mean_delay=0,
        max_range=0,
        semaphore_count=1,
        verbose=False,
    )
    asked = 0
    async for _ in await crawler.arun(options.start, config=config):
        asked += 1
        if asked > options.pages:  # it does not count dead links as pages, but does count the list of seeds
            break


async def main() -> None:
    options = parse_options()
    set_egress_proxy(options.proxy)  # for robots.txt and previews
    if options.variant == "browser":
        with chromium(options.proxy) as address:
            async with AsyncWebCrawler(config=BrowserConfig(cdp_url=address, verbose=False)) as crawler:
                await crawl(options, crawler)
        return
    http = AsyncHTTPCrawlerStrategy()
    http.set_hook("before_request", lambda url, arguments: arguments.update(proxy=options.proxy))
    async with AsyncWebCrawler(crawler_strategy=http) as crawler:
        await crawl(options, crawler)


if __name__ == "__main__":
    asyncio.run(main())
