"""`scrapy review`: mark the pages of a crawl one by one, with one key each."""

from __future__ import annotations

import argparse
from itertools import islice

from rich.console import Console
from rich.text import Text
from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand, user_name
from focuscrawl.console.program import program
from focuscrawl.crawl.marking import mark_pages, marks_of_pages
from focuscrawl.errors import FocusError, printable
from focuscrawl.reports.keys import read_key, single_keys
from focuscrawl.reports.review import HELP, Card, Queue, Tally, card, review
from focuscrawl.store.places import crawl_folder, read_crawl


class Command(FocusCommand):
    """Show pages one by one, and mark them."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> [--borderline N] [--limit N] [--seed N] [--by NAME]"

    def short_desc(self) -> str:
        return "Mark the pages of a crawl one by one, with one key each"

    def long_desc(self) -> str:
        return (
            f"Show title, snippet and reasons of one page of the crawl in DIR after the other, and take a key: {HELP}."
            " The pages that the judge was least sure of come first, then all others in random order; marked pages are"
            f" not shown again. Marks count at once, also while the crawl runs. Example: {program()} review"
            " crawls/best_first-sorting-algorithms --borderline 20"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Review").add_argument
        add("--borderline", type=int, default=20, metavar="N", help="begin with the N most doubtful pages (default 20)")
        add("--limit", type=int, default=0, metavar="N", help="show at most N pages (default all)")
        add("--seed", type=int, default=1, metavar="N", help="random seed of the order (default 1)")
        add("--by", metavar="NAME", help="who says so (default: your user name)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give the directory of a crawl", print_help=False)
        for name in ("borderline", "limit", "seed"):
            if getattr(opts, name) < 0:
                raise FocusError(f"--{name} {getattr(opts, name)}: expected a whole number, at least 0")
        folder = crawl_folder(args[0])
        by = user_name() if opts.by is None else opts.by
        console = Console(highlight=False, soft_wrap=True, markup=False)
        sure: dict[int, bool] = {}
        with read_crawl(folder, check=False) as store:
            marks = {number: mark.verdict for number, mark in marks_of_pages(store).items()}
            queue = Queue(store, marks, opts.borderline, opts.seed)
            number = min(opts.limit or len(queue), len(queue))
            if not number:
                print("every page has a mark already")
                return

            def show(number: int, at_random: bool) -> Card | None:
                shown = card(store, number, at_random=at_random)
                if shown is not None:
                    show_card(console, shown, "drawn at random" if at_random else "borderline")
                return shown

            def mark(shown: Card, verdict: str) -> None:
                mark_pages(folder, [(shown.url, verdict, "")], by)
                marks[shown.number] = verdict
                if shown.random and shown.matched and verdict != "unsure":
                    sure[shown.number] = verdict == "yes"
                elif shown.number in sure:
                    del sure[shown.number]
                console.print(f"→ {verdict}{_standing(sure)}\n")

            console.print(f"{number:,} pages; {HELP}\n")
            try:
                with single_keys():
                    marked = review(islice(queue, number), show, read_key, mark)
            except KeyboardInterrupt:
                self.say("stopped; what was marked is safe")
                self.exitcode = 130
                return
        print(f"{marked:,} page{'' if marked == 1 else 's'} marked{_standing(sure)}")
        print(f"`{program()} audit {folder}` tells how good the whole crawl is")


def show_card(console: Console, shown: Card, kind: str) -> None:
    """Show a page on the terminal."""
    console.print(Text(printable(shown.title), "bold"))
    console.print(Text(printable(shown.url), "cyan"), f"({kind})")
    console.print(printable(shown.snippet))
    console.print(Text(printable(shown.why), "dim"))


def _standing(sure: dict[int, bool]) -> str:
    tally = Tally(sum(sure.values()), len(sure))
    return f"; precision {tally} by {tally.marked:,} matched pages drawn at random" if tally.marked else ""
