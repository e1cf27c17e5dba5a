"""`scrapy crawl`, with one-line errors and a meaningful exit status."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from scrapy import Spider
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import NotConfigured

from focuscrawl.command import CrawlerCommand, check_spider
from focuscrawl.console.program import program
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.errors import FocusError
from focuscrawl.extensions.guide import strategy_of


class Command(CrawlerCommand, CrawlCommand):
    """Scrapy's command, which shows errors that a user can fix without a traceback."""

    def syntax(self) -> str:
        return "[options] [<spider>]"

    def short_desc(self) -> str:
        return "Crawl the pages about a topic, or resume such a crawl"

    def long_desc(self) -> str:
        return (
            "Crawl the pages about a topic; run the same command again to resume. The strategy is adaptive, unless"
            " another spider is named or FOCUS_STRATEGY is set. All spiders take the arguments topic (a topic"
            " file, or a topic that ships with focuscrawl), seeds (URLs separated by commas, or @FILE),"
            " keywords (as in time,sort:2), max_pages and threshold. docs/strategies has the options of each spider,"
            f" and `{program()} list` lists the spiders. Example, without a network: {program()} crawl"
            " -a topic=sorting -a max_pages=300 -s FOCUS_WEB=demo"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        assert self.crawler_process is not None
        for word in args[1:]:
            check_spider(word, self.crawler_process.spider_loader.list())
            raise FocusError(f"one spider at a time: '{args[0]}' or '{word}'?")
        spider = self.crawl(args[0] if args else strategy_of(self.settings), opts.spargs)
        if spider is not None:
            with suppress(NotConfigured):  # not one of our spiders
                self.conclude(Crawl.of(spider.crawler))

    def crawl(self, spider: str | type[Spider], arguments: Mapping[str, str]) -> Spider | None:
        """Run a spider until it finishes and return it; None if it could not start."""
        crawler = self.attempt(partial(self._crawl, spider, arguments))
        return crawler.spider if crawler is not None else None

    def _crawl(self, spider: str | type[Spider], arguments: Mapping[str, str]) -> None:
        assert self.crawler_process is not None
        process = self.crawler_process
        if isinstance(spider, str):
            check_spider(spider, process.spider_loader.list())
        process.crawl(self._create_crawler(spider), **arguments)
        process.start()
