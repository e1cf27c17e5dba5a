"""`scrapy import`: an archive of pages becomes a crawl."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from scrapy.exceptions import UsageError

from focuscrawl import urls
from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError, printable
from focuscrawl.export.archives import Captured
from focuscrawl.export.importing import THRESHOLD, import_archive
from focuscrawl.topic import make_topic


def show_count(found: Iterable[Captured]) -> Iterable[Captured]:
    """The responses, with a count on a terminal."""
    if not sys.stderr.isatty():
        yield from found
        return
    columns = TextColumn("Importing"), BarColumn(), TextColumn("{task.completed:,}")
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    with bar:
        task = bar.add_task("", total=None)
        for captured in found:
            yield captured
            bar.advance(task)


class Command(FocusCommand):
    """Import a WARC file, a WACZ file or a folder of pages."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<FILE.warc.gz|FILE.wacz|FOLDER> <DIR> [--topic TOPIC] [--keywords WORDS] [--base URL]"

    def short_desc(self) -> str:
        return "Make a crawl of a WARC file, a WACZ file or a folder of pages"

    def long_desc(self) -> str:
        return (
            "Read the pages in a WARC file, a WACZ file or a folder, and store them in DIR as if a crawl had fetched"
            " them: with their links, languages, near-duplicates and, with a topic, their relevance. DIR can then"
            " be searched, exported, and crawled as a web with -s FOCUS_WEB=DIR."
            f" Example: {program()} import collection.wacz crawls/collection --topic sorting"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Import").add_argument
        add("--topic", metavar="TOPIC", help="judge the pages by the keywords of this topic: a name or FILE.toml")
        add("--keywords", metavar="WORDS", help="judge the pages by these keywords: a,b:2,'c d':3")
        add("--threshold", type=float, default=THRESHOLD, metavar="N", help="relevance of pages on topic (default 0.3)")
        add("--base", default="", metavar="URL", help="the URL of the folder (default http://file.invalid/)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("give an archive and a directory for the crawl", print_help=False)
        if not 0 <= opts.threshold <= 1:
            raise FocusError(f"--threshold {opts.threshold}: expected a number from 0 to 1")
        base = opts.base
        if base:
            try:
                base = urls.check(base)
            except ValueError as error:
                raise FocusError(f"--base: {error}") from None
        source, folder = Path(args[0]), Path(args[1])
        topic = make_topic(opts.topic, None, opts.keywords)
        topic.name = topic.name or source.name
        try:
            done = import_archive(source, folder, topic, base=base, threshold=opts.threshold, progress=show_count)
        except KeyboardInterrupt:
            self.say("stopped; nothing was written")
            self.exitcode = 130
            return
        judged = f", {done.matched:,} of them on topic" if topic.all_keywords else ""
        print(printable(f"{done.pages:,} page{'' if done.pages == 1 else 's'} imported to {folder}{judged}"))
        for reason, number in sorted(done.skipped.items(), key=lambda item: -item[1]):
            print(printable(f"  {number:,} left out: {reason}"))
