"""`scrapy fetch`: a page as it is downloaded, with our manners, and without a crawl."""

from __future__ import annotations

from scrapy.commands.fetch import Command as FetchCommand

from focuscrawl.command import SinglePageCommand


class Command(SinglePageCommand, FetchCommand):
    """Scrapy's own command, on the web that FOCUS_WEB names, too."""

    def long_desc(self) -> str:
        return (
            "Fetch a URL and print its content, as a crawl would get it, without crawling anything. Example: scrapy"
            " fetch --nolog -s FOCUS_WEB=demo http://sorting-handbook.example/"
        )
