"""Scrapy as in its documentation: a CrawlSpider that follows all links, one request at a time.

The order is Scrapy's default, or breadth-first with the three settings from its FAQ and one for webs of many hosts.
"""

from __future__ import annotations

from contract import parse_options
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings
from scrapy.spiders import CrawlSpider, Rule

BREADTH_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",  # the default alternates between hosts
}


class Everything(CrawlSpider):
    name = "everything"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_page(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}


def main() -> None:
    options = parse_options()
    settings = {"CONCURRENT_REQUESTS": 1, "CLOSESPIDER_PAGECOUNT": options.pages, "LOG_LEVEL": "ERROR"}
    if options.variant == "breadth_first":
        settings |= BREADTH_FIRST
    if options.robots:
        settings["ROBOTSTXT_OBEY"] = True
    process = AsyncCrawlerProcess(Settings(settings))
    process.crawl(Everything, start_urls=options.seeds)
    process.start()


if __name__ == "__main__":
    main()
