"""`scrapy judge`: judge the stored pages of a crawl again, by other keywords, threshold, topic or examples."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import arglist_to_dict

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.crawl.files import write_whole
from focuscrawl.crawl.judging import BORDER, Change, judge_pages, write_verdicts
from focuscrawl.crawl.lock import locked_store
from focuscrawl.crawl.runs import arguments_again, not_taken, settings_again
from focuscrawl.errors import FocusError, printable
from focuscrawl.reading.types import parse_documents
from focuscrawl.reports.report import crawl_report
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.places import crawl_folder, read_crawl

#: Pages of each kind that are shown.
_SHOWN = 5
#: Pages between two lines of progress.
_TOLD_EVERY = 1000


class Command(FocusCommand):
    """Judge all stored pages again, without fetching anything."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> [-a threshold=NUMBER] [-a topic=TOPIC] [-a keywords=a,b:2] [--dry-run]"

    def short_desc(self) -> str:
        return "Judge the stored pages again by other keywords, threshold, topic or examples"

    def long_desc(self) -> str:
        return (
            "Judge all stored pages of the crawl in DIR again, show what changes, and rewrite verdicts and URLs.txt."
            " Nothing is fetched; what people have marked stays. What is not given stays as it was; without any -a, a"
            " strategy that has learned since judges by what it knows now. The next run takes the same arguments."
            f" Example: {program()} judge crawls/best_first-sorting-algorithms -a threshold=0.4 --dry-run"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Judging").add_argument
        add(
            "-a", dest="spargs", action="append", default=[], metavar="NAME=VALUE", help="another argument (repeatable)"
        )
        add("--dry-run", action="store_true", help="only show what would change")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give the directory of a crawl", print_help=False)
        try:
            given = arglist_to_dict(opts.spargs)
        except ValueError:
            raise UsageError("Invalid -a value, use -a NAME=VALUE", print_help=False) from None
        folder = crawl_folder(args[0])
        for name in {"max_pages", "max_hours", "seeds"} & given.keys():
            raise FocusError(f"-a {name}: judging fetches nothing; give it to `{program()} crawl`")
        strategy, arguments, documents = self._made_with(folder, given)
        # nobody may crawl in between; a dry run looks at a running crawl as well
        try:
            with nullcontext() if opts.dry_run else locked_store(folder) as store:
                spider, changes, models = judge_pages(folder, strategy, arguments, documents, partial(_progress, self))
                _show(spider, changes)
                if store is None:
                    print("nothing was changed; without --dry-run, it is")
                    return
                write_verdicts(folder, store, spider, changes, models)
                if not store.shared:
                    write_whole(folder / "report.html", crawl_report(store))
                where = "the list of matched pages" if store.shared else "URLs.txt"
                print(f"{where} has {store.pages.figures().matched:,} URLs now")
        except OSError as error:
            raise FocusError(f"cannot write to {folder}: {error.strerror}") from None

    def _made_with(
        self, folder: Path, given: dict[str, str]
    ) -> tuple[type[FocusedSpider], dict[str, Any], frozenset[str]]:
        """The strategy, the arguments, and the kinds of documents that a crawl was made with."""
        assert self.settings is not None
        with read_crawl(folder) as store:
            name, run = store.meta("spider"), store.runs()[-1]
            if not store.pages.count():
                raise FocusError(f"{folder} has no pages yet")
        loader = get_spider_loader(self.settings)
        if name not in loader.list() or not issubclass(strategy := loader.load(name), FocusedSpider):
            raise FocusError(f"{folder} was made by spider '{name}', which is not a FocusedSpider of this project")
        noted = {key: value for key, value in run.get("arguments", {}).items() if key != "seeds"}
        if "topic" in given and "keywords" not in given:
            noted.pop("keywords", None)  # another topic has its own
        again, asked = arguments_again(noted, strategy, given)
        taken, _ = settings_again(run.get("settings", {}), self.settings)
        if asked:
            raise FocusError(not_taken(folder, asked))
        arguments: dict[str, Any] = {"topic": taken.get("FOCUS_TOPIC"), **again}
        return strategy, arguments, parse_documents(taken.get("FOCUS_DOCUMENTS", self.settings["FOCUS_DOCUMENTS"]))


def _progress(command: Command, done: int, pages: int) -> None:
    if done % _TOLD_EVERY == 0 and sys.stderr.isatty():
        command.say(f"{done:,} of {pages:,} pages judged")


def _relevant(changes: Sequence[Change]) -> tuple[int, int]:
    """How many pages were relevant before, and are now."""
    return sum(bool(c.page.now.relevant) for c in changes), sum(bool(c.verdict.relevant) for c in changes)


def _show(spider: FocusedSpider, changes: Sequence[Change]) -> None:
    """What changes, in words, with the best examples of each kind."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    won, lost = [c for c in changes if c.won], [c for c in changes if c.lost]
    border = [c for c in changes if c.page.counts and not c.marked and _distance(spider, c) <= BORDER]
    won.sort(key=lambda c: -(c.now.relevance or 0.0))
    lost.sort(key=lambda c: -(c.page.now.relevance or 0.0))
    border.sort(key=lambda c: _distance(spider, c))
    before, now = _relevant(changes)
    console.print(f"{len(changes):,} readable pages, {before:,} relevant before, {now:,} now")
    for name, found, what in (
        ("won", won, "relevant now"),
        ("lost", lost, "no longer relevant"),
        ("borderline", border, f"within {BORDER:g} of the threshold {spider.threshold:g}"),
    ):
        console.print(Text(f"{name}: {len(found):,} {what}", "bold"))
        for change in found[:_SHOWN]:
            console.print(f"  {_number(change.page.own.relevance)} → {_number(change.now.relevance)}  ", end="")
            console.print(printable(change.page.title or "(no title)"))
            console.print("                   ", Text(printable(change.page.url), "cyan"), sep="")
    if marked := sum(change.marked for change in changes):
        console.print(
            f"{marked:,} page{' has a mark, which' if marked == 1 else 's have marks, which'} overrules the judge"
        )


def _distance(spider: FocusedSpider, change: Change) -> float:
    relevance = change.now.relevance
    return 1.0 if relevance is None else abs(relevance - spider.threshold)


def _number(value: float | None) -> str:
    return "  none" if value is None else f"{value:.4f}"
