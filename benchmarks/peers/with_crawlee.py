"""crawlee's ParselCrawler: all links in its own order or, with `keywords`, links with a keyword first.

crawlee can put requests at the front or back of its queue, but has no topics: this file looks for keywords in the text
and address of links.
"""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import urljoin

from contract import parse_options
from crawlee import ConcurrencySettings, Request
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.proxy_configuration import ProxyConfiguration
from crawlee.storage_clients import MemoryStorageClient


async def main() -> None:
    options = parse_options()
    crawler = ParselCrawler(
        max_requests_per_crawl=options.pages,
        concurrency_settings=ConcurrencySettings(min_concurrency=1, desired_concurrency=1, max_concurrency=1),
        proxy_configuration=ProxyConfiguration(proxy_urls=[options.proxy]),
        respect_robots_txt_file=options.robots,
        storage_client=MemoryStorageClient(),
        configure_logging=False,
    )
    words = [word.lower() for word in options.keywords]

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        await context.push_data({"url": context.request.url, "title": context.selector.css("title::text").get()})
        if options.variant != "keywords":
            await context.enqueue_links(strategy="all")
            return
        front, back = [], []
        for link in context.selector.css("a[href]"):
            address = urljoin(context.request.url, link.attrib["href"])
            if not address.startswith("http"):
                continue
            text = f"{address} {link.xpath('string()').get()}".lower()
            (front if any(word in text for word in words) else back).append(Request.from_url(address))
        await crawler.add_requests(front, forefront=True)
        await crawler.add_requests(back)

    await crawler.run(options.seeds)


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main())
