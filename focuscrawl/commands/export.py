"""`scrapy export`: the pages of a crawl in a format that other tools read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import track
from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import printable
from focuscrawl.export.export import FORMATS, Export
from focuscrawl.store.places import crawl_folder

T = TypeVar("T")


def show_progress(items: Iterable[T], total: int) -> Iterable[T]:
    """The items, with a bar on a terminal."""
    if not sys.stderr.isatty():
        return items
    return track(items, "Exporting", total, console=Console(stderr=True), transient=True)


class Command(FocusCommand):
    """Export the pages, texts, links or responses of a crawl."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> --to FORMAT [--where CONDITIONS] [--dedupe] [--text best|fast|all|none] [OUT]"

    def short_desc(self) -> str:
        return "Export the pages of a crawl to a format that other tools read"

    def long_desc(self) -> str:
        return (
            f"Export the crawl in DIR as {', '.join(FORMATS)} to OUT (default: DIR/export…; - is standard output)."
            " Pages that are withheld are left out. Conditions are separated by commas: matched, relevance>=0.5,"
            " language=de|fr, host=example.org, date>=2026-11-01, licence, rights!=tdm, marked=yes."
            f" Example: {program()} export crawls/best_first-sorting-algorithms --to parquet"
            " --where 'matched,language=en' --dedupe --text best sorting-pages"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Export").add_argument
        add("--to", metavar="FORMAT", help=f"{', '.join(FORMATS)}")
        add(
            "--where",
            action="append",
            default=[],
            metavar="CONDITIONS",
            help="only pages that fulfil all of these; may be given several times",
        )
        add("--dedupe", action="store_true", help="only the first page of each group of near-duplicates")
        add(
            "--text",
            default="fast",
            metavar="KIND",
            help="best: main text by trafilatura; fast: main text as the crawl judges it; all: everything; none"
            " (default fast)",
        )
        add("--by", default="page", metavar="WHAT", help="graphs: by page or by host (default page)")
        add("--unfetched", action="store_true", help="graphs: also links to what was not fetched")
        add("--rows", type=int, default=100_000, metavar="N", help="parquet: rows of a file (default 100000)")
        add("--chunk", type=int, default=1500, metavar="N", help="chunks: most characters of a chunk (default 1500)")
        add("--workers", type=int, metavar="N", help="processes that read texts (default: one per core)")
        add("--fetched", action="store_true", help="warc, wacz: what was sent and received, from pages.warc.gz")
        add("--force", action="store_true", help="replace OUT if it exists")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if not 1 <= len(args) <= 2:
            raise UsageError("give the directory of a crawl, and a place for the output if you like", print_help=False)
        if not opts.to:
            raise UsageError(f"give a format with --to: {', '.join(FORMATS)}", print_help=False)
        if opts.workers is not None and not 1 <= opts.workers <= 256:
            raise UsageError(f"--workers {opts.workers}: expected a number from 1 to 256", print_help=False)
        export = Export(
            *(opts.to, opts.where, opts.dedupe, opts.text, opts.by, opts.unfetched, opts.rows, opts.chunk),
            *(opts.force, opts.workers, opts.fetched),
        )
        export.check()
        folder = crawl_folder(args[0])
        place = Path(args[1]) if len(args) == 2 else export.default_place(folder)
        to_stdout = str(place) == "-"
        try:
            pages = export.run(folder, None if to_stdout else place, show_progress)
        except KeyboardInterrupt:
            self.say("stopped; nothing was written")
            self.exitcode = 130
            return
        except BrokenPipeError:  # as by `| head`
            sys.stderr.close()
            return
        if not pages:
            self.say(f"no page of {folder} is selected; see --where, or `{program()} export --help`")
        if not to_stdout:
            print(printable(f"{pages:,} page{'' if pages == 1 else 's'} exported to {place}"))
