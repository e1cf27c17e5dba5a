"""`scrapy status`: where a running or finished crawl stands."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError
from focuscrawl.reports.status import Status, crawls_in, lines, status_of, table
from focuscrawl.store.places import crawl_folder


class Command(FocusCommand):
    """Show where crawls stand."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> [DIR …] [--json]"

    def short_desc(self) -> str:
        return "Show where a running or finished crawl stands, and what its next pages will bring"

    def long_desc(self) -> str:
        return (
            "Show pages, harvest, queue, speed, errors and disk space of the crawl in DIR, whether it runs or why it"
            " stopped, and an estimate of what the next 500 pages will bring. For several crawls, or a folder of"
            " crawls, show a table. Nothing is changed, and a running crawl is not disturbed."
            f" Example: {program()} status"
            " crawls/best_first-sorting --json"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print JSON: an object, or a list for several crawls")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("give the directory of a crawl, or a folder of crawls", print_help=False)
        found, single = _found(args)
        statuses: list[Status] = []
        for folder in found:
            try:
                statuses.append(status_of(folder))
            except FocusError as error:
                if single:
                    raise
                self.say(str(error))
                self.exitcode = 1
        if opts.json:
            records = [status.record() for status in statuses]
            print(json.dumps(records[0] if single else records, indent=1))
            return
        for line in lines(statuses[0]) if single else table(statuses):
            print(line)


def _found(args: list[str]) -> tuple[list[Path], bool]:
    """The crawls that are meant, and whether it is a single one."""
    found: list[Path] = []
    for place in args:
        folder = crawl_folder(place)
        crawls = list(crawls_in(folder))
        if not crawls:
            what = "has no crawl.sqlite, nor a folder that has one" if folder.is_dir() else "no such directory"
            raise FocusError(f"{folder}: {what}; give the directory of a crawl (-s FOCUS_DIR)")
        found += crawls
    return list(dict.fromkeys(found)), len(args) == 1 and found == [crawl_folder(args[0])]
