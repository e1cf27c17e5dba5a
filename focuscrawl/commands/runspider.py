"""`scrapy runspider`, with one-line errors and a meaningful exit status."""

from __future__ import annotations

import argparse
from contextlib import suppress
from functools import partial

from scrapy.commands.runspider import Command as RunspiderCommand
from scrapy.exceptions import NotConfigured

from focuscrawl.command import CrawlerCommand
from focuscrawl.console.program import program
from focuscrawl.crawl.crawl import Crawl


class Command(CrawlerCommand, RunspiderCommand):
    """Scrapy's command, which shows errors that a user can fix without a traceback."""

    def long_desc(self) -> str:
        return (
            f"Crawl with the spider in a Python file, which need not be in a project. Example: {program()} runspider"
            " near_words.py -a seeds=URL -a keywords=a,b"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        crawler = self.attempt(partial(super().execute, args, opts))
        if crawler is not None:
            with suppress(NotConfigured):  # not one of our spiders
                self.conclude(Crawl.of(crawler))
