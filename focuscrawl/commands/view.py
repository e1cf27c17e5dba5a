"""`scrapy view`: show a page in a browser as it is downloaded."""

from __future__ import annotations

from scrapy.commands.view import Command as ViewCommand

from focuscrawl.command import SinglePageCommand
from focuscrawl.console.program import program


class Command(SinglePageCommand, ViewCommand):
    """Scrapy's command, which also works on the web that FOCUS_WEB names."""

    def long_desc(self) -> str:
        return (
            "Fetch a URL as a crawl would, without crawling anything, and show it in a browser. Example:"
            f" {program()} view -s FOCUS_WEB=demo http://sorting-handbook.example/"
        )
