"""`scrapy explain`: why a page was fetched when it was, or why a link is still waiting."""

from __future__ import annotations

import argparse

from rich.console import Console
from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.reports.explain import explain
from focuscrawl.store.places import crawl_folder, read_crawl


class Command(FocusCommand):
    """Show the path from a seed to a page, and the reasons for each step."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> <URL>"

    def short_desc(self) -> str:
        return "Show why a page was fetched when it was, or why a link is still waiting"

    def long_desc(self) -> str:
        return (
            "Show the chain of links from a seed to a URL of the crawl in DIR, with the score of each step and its"
            f" parts. Example: {program()} explain crawls/demo/best_first http://sorting-handbook.example/index.html"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("give the directory of a crawl and a URL", print_help=False)
        with read_crawl(crawl_folder(args[0])) as store:
            lines = explain(store, args[1])
        console = Console(highlight=False, soft_wrap=True, markup=False)
        for line in lines:
            console.print(line)
