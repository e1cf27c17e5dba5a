"""`scrapy runspider`, with errors in one line and an exit status that tells."""

from __future__ import annotations

import argparse
from contextlib import suppress
from functools import partial

from scrapy.commands.runspider import Command as RunspiderCommand
from scrapy.exceptions import NotConfigured

from focuscrawl.command import CrawlerCommand
from focuscrawl.crawl.crawl import Crawl


class Command(CrawlerCommand, RunspiderCommand):
    """Scrapy's own command; what a user can put right is said without a traceback."""

    def long_desc(self) -> str:
        return (
            "Crawl with the spider in a Python file, which need not be in a project. Example: scrapy runspider"
            " near_words.py -a seeds=URL -a keywords=a,b"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        crawler = self.attempt(partial(super().execute, args, opts))
        if crawler is not None:
            with suppress(NotConfigured):  # a spider that is none of ours
                self.conclude(Crawl.of(crawler))
