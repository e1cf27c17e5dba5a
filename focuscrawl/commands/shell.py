"""`scrapy shell`: a page and a spider to try things with, and no crawl."""

from __future__ import annotations

from scrapy.commands.shell import Command as ShellCommand

from focuscrawl.command import SinglePageCommand


class Command(SinglePageCommand, ShellCommand):
    """Scrapy's own command, on the web that FOCUS_WEB names, too."""

    def long_desc(self) -> str:
        return (
            "Try things with a page, and with a spider that crawls nothing. Example: scrapy shell -s FOCUS_WEB=demo"
            " --spider best_first -a topic=sorting http://sorting-handbook.example/ -c"
            " 'spider.relevance(spider.read(response))'"
        )
