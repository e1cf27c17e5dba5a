"""`scrapy mark`: say of pages whether they are relevant; that overrules the judge."""

from __future__ import annotations

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand, user_name
from focuscrawl.console.program import program
from focuscrawl.crawl.mark_file import read_marks
from focuscrawl.crawl.mark_watch import EVERY_PAGES, EVERY_SECONDS
from focuscrawl.crawl.marking import Marked, NewMark, mark_pages
from focuscrawl.errors import FocusError, printable
from focuscrawl.store.marks import VERDICTS
from focuscrawl.store.places import crawl_folder, read_crawl

#: URLs that a message names.
_NAMED = 5


class Command(FocusCommand):
    """Mark pages of a crawl, while it runs or afterwards."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> [<URL> …] --yes|--no|--unsure|--none [--note TEXT] [--by NAME] [--from FILE]"

    def short_desc(self) -> str:
        return "Say of pages whether they are relevant; that overrules the judge"

    def long_desc(self) -> str:
        return (
            "Mark pages of the crawl in DIR as relevant or not. A mark overrules the judge: URLs.txt, exports and"
            " search follow, and a judge that learns learns from it. A running crawl takes up the marks by itself."
            " A URL that is not in the crawl yet may be marked too. Without URLs and --from, lists the marks. Example:"
            f" {program()} mark crawls/demo/best_first http://sorting-handbook.example/index.html --yes"
            " --note 'the best one'"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        group = parser.add_argument_group(title="Marks")
        verdicts = group.add_mutually_exclusive_group()
        for name, text in zip(
            VERDICTS,
            ("the pages are relevant", "they are not", "nobody can tell: the verdict stays", "take back what was said"),
            strict=True,
        ):
            verdicts.add_argument(f"--{name}", dest="verdict", action="store_const", const=name, help=text)
        group.add_argument("--note", default="", metavar="TEXT", help="why, for people who look at it later")
        group.add_argument("--by", metavar="NAME", help="who says so (default: your user name)")
        group.add_argument(
            "--from",
            dest="file",
            type=Path,
            metavar="FILE",
            help="marks from a file: lines of a URL, a verdict and a note, or CSV or JSON Lines; - is standard input",
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("give the directory of a crawl", print_help=False)
        folder, urls = crawl_folder(args[0]), args[1:]
        if not urls and opts.file is None:
            if opts.verdict is not None:
                raise FocusError(f"--{opts.verdict} of which pages? Give their URLs, or --from FILE")
            _list(folder)
            return
        if urls and opts.verdict is None:
            raise FocusError("say what the pages are: --yes, --no, --unsure, or --none to take a mark back")
        marks = [NewMark(url, opts.verdict, opts.note) for url in urls]
        marks += read_marks(opts.file) if opts.file is not None else []
        if not marks:
            raise FocusError(f"{opts.file} has no marks in it")
        done = mark_pages(folder, marks, user_name() if opts.by is None else opts.by)
        for line in told(done):
            print(printable(line))


def _list(folder: Path) -> None:
    with read_crawl(folder, check=False) as store:
        marks = store.marks.all()
    for mark in marks:
        about = " ".join(filter(None, (mark.note, f"({mark.marked_by or 'somebody'}, {mark.marked_at[:10]})")))
        print(printable(mark.url), mark.verdict, printable(about), sep="\t")
    if not marks:
        print("no marks yet")


def told(done: Marked) -> list[str]:
    """What became of marks, in words."""
    lines = [f"{done.marks:,} page{'' if done.marks == 1 else 's'} marked"]
    if done.applied:
        lines[0] += f"; {done.changed:,} verdict{'' if done.changed == 1 else 's'} changed"
    else:
        lines[0] += f"; a crawl is running and takes up marks every {EVERY_PAGES} pages or {EVERY_SECONDS:g} seconds"
    if done.unknown:
        lines.append(f"not in the crawl yet, so the mark counts when the page arrives: {_some(done.unknown)}")
    if done.withheld:
        lines.append(f"stays out of URLs.txt: {_some([f'{url} ({why})' for url, why in done.withheld])}")
    return lines


def _some(names: list[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
