"""`scrapy shell`: try things with a page and a spider, without a crawl."""

from __future__ import annotations

from scrapy.commands.shell import Command as ShellCommand

from focuscrawl.command import SinglePageCommand
from focuscrawl.console.program import program


class Command(SinglePageCommand, ShellCommand):
    """Scrapy's command, which also works on the web that FOCUS_WEB names."""

    def long_desc(self) -> str:
        return (
            f"Try things with a page, and with a spider that crawls nothing. Example: {program()} shell -s"
            " FOCUS_WEB=demo --spider best_first -a topic=sorting http://sorting-handbook.example/ -c"
            " 'spider.relevance(spider.read(response))'"
        )
