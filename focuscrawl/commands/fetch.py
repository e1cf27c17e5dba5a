"""`scrapy fetch`: download a page politely, without a crawl."""

from __future__ import annotations

from scrapy.commands.fetch import Command as FetchCommand

from focuscrawl.command import SinglePageCommand
from focuscrawl.console.program import program


class Command(SinglePageCommand, FetchCommand):
    """Scrapy's command, which also works on the web that FOCUS_WEB names."""

    def long_desc(self) -> str:
        return (
            "Fetch a URL and print its content, as a crawl would get it, without crawling anything. Example:"
            f" {program()} fetch --nolog -s FOCUS_WEB=demo http://sorting-handbook.example/"
        )
