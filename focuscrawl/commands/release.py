"""`scrapy release`: a folder with a crawl's pages that others can use, cite, check and repeat."""

from __future__ import annotations

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.commands.export import show_progress
from focuscrawl.console.program import program
from focuscrawl.errors import printable
from focuscrawl.export.release import Release, check_release
from focuscrawl.store.places import crawl_folder


class Command(FocusCommand):
    """Write or check a release."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> <OUT> [--urls-only] [--where CONDITIONS] [--author NAME] | --check <OUT>"

    def short_desc(self) -> str:
        return "Write a release of a crawl that others can use, cite, check and repeat"

    def long_desc(self) -> str:
        return (
            "Write the pages of the crawl in DIR to the folder OUT: Parquet files, the WARC file if there is one, a"
            " dataset card, a datasheet, CITATION.cff, the command that repeats the crawl, and checksums. --check"
            " verifies such a folder."
            f" Example: {program()} release crawls/best_first-sorting-algorithms sorting-2026 --where matched --dedupe"
            f" --author 'A. Author'; {program()} release --check sorting-2026"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Release").add_argument
        add("--check", action="store_true", help="verify the release in OUT")
        add("--urls-only", action="store_true", help="no texts: URLs, digests, dates, relevance and rights")
        add("--where", action="append", default=[], metavar="CONDITIONS", help="only pages that fulfil all of these")
        add("--dedupe", action="store_true", help="only the first page of each group of near-duplicates")
        add(
            "--text",
            default="fast",
            metavar="KIND",
            help=f"best, fast or all, as for {program()} export (default fast)",
        )
        add("--question", default="", metavar="TEXT", help="what the collection is for, for the datasheet")
        add("--author", action="append", default=[], metavar="NAME", help="for CITATION.cff; may be repeated")
        add("--force", action="store_true", help="replace OUT if it exists")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.check:
            if len(args) != 1:
                raise UsageError("give the folder of a release", print_help=False)
            self._check(Path(args[0]))
            return
        if len(args) != 2:
            raise UsageError("give the directory of a crawl and a folder for the release", print_help=False)
        release = Release(*(opts.where, opts.dedupe, opts.text, opts.urls_only, opts.question, opts.author, opts.force))
        place = Path(args[1])
        try:
            pages = release.run(crawl_folder(args[0]), place, show_progress)
        except KeyboardInterrupt:
            self.say("stopped; nothing was written")
            self.exitcode = 130
            return
        print(printable(f"{pages:,} page{'' if pages == 1 else 's'} released in {place}"))
        if not opts.author:
            self.say(f"{place / 'CITATION.cff'} names no author; give --author NAME, or edit it and the checksum")

    def _check(self, place: Path) -> None:
        problems = check_release(place)
        for problem in problems:
            self.say(f"{place}: {problem}")
        if problems:
            self.exitcode = 1
        else:
            print(printable(f"{place} is as it was released"))
