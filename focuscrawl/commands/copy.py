"""`scrapy copy`: take a crawl from a file to a server, or back."""

from __future__ import annotations

import argparse

from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.crawl.lock import is_locked, locked_store
from focuscrawl.errors import FocusError
from focuscrawl.store.copying import copy
from focuscrawl.store.errors import StoreError
from focuscrawl.store.places import crawl_folder, is_address, open_store, shown


class Command(FocusCommand):
    """Copy a crawl to a new place."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<FROM> <TO>"

    def short_desc(self) -> str:
        return "Copy a crawl from a file to PostgreSQL, or back"

    def long_desc(self) -> str:
        return (
            "Copy a whole crawl: its pages, links, marks and queue. FROM and TO are a directory or an address. A copy"
            " that was interrupted goes on when the same command is run again. Example:"
            f" {program()} copy crawls/best_first-sorting postgresql://crawler@db/crawl"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("give the crawl to copy, and where to", print_help=False)
        old, new = map(crawl_folder, args)
        if not is_address(old) and is_locked(old):
            raise FocusError(f"{old} is being crawled; stop the crawl first")
        source = open_store(old, create=False)
        try:
            if not is_address(new):
                new.mkdir(parents=True, exist_ok=True)
            with source.reading(), locked_store(new) as target:
                counts = copy(source, target, lambda table, rows: self.say(f"{table}: {rows:,} rows"))
        except StoreError as error:
            raise FocusError(f"{new}: the copy is not complete: {error}; run the same command to go on") from None
        except OSError as error:
            raise FocusError(f"cannot write to {new}: {error.strerror}") from None
        finally:
            source.close()
        print(f"{counts['page']:,} pages and {counts['link']:,} links are in {shown(new)}")
