"""`scrapy recrawl`: revisit the stored pages of a crawl, and report what has changed."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError

from focuscrawl.commands.crawl import Command as CrawlCommand
from focuscrawl.console.program import program
from focuscrawl.crawl import clock
from focuscrawl.crawl.files import write_whole
from focuscrawl.crawl.runs import arguments_again, not_taken, settings_again
from focuscrawl.errors import FocusError, printable
from focuscrawl.recrawl.changes import Changes, as_atom, as_json, as_text, changes_since
from focuscrawl.recrawl.revisit import parse_age, parse_since
from focuscrawl.recrawl.spider import RevisitingSpider, revisiting
from focuscrawl.recrawl.watch import Round, Watch
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.places import address_of, crawl_folder, is_address, read_crawl

#: The priority of settings that the crawl was made with: above a spider's own, below the command line.
_PRIORITY = 35


class Command(CrawlCommand):
    """Revisits pages by change history and relevance, with conditional requests."""

    def syntax(self) -> str:
        return "[options] <DIR>"

    def short_desc(self) -> str:
        return "Revisit the pages of a crawl, and report what is new, changed or gone"

    def long_desc(self) -> str:
        return (
            "Revisit the stored pages of the crawl in DIR, first those that are relevant and likely to have changed,"
            " update the crawl and report what is new, changed or gone. Pages are requested with If-None-Match and"
            " If-Modified-Since; the spider, its topic and its settings are those of the crawl."
            f" Example: {program()} recrawl crawls/best_first-sorting-algorithms --pages 500 --older-than 7d --new 50."
            f" Until stopped: {program()} recrawl DIR --watch --every 6h."
            f" Report only: {program()} recrawl DIR --report --since 2026-11-01 --atom changes.xml"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Visits").add_argument
        add("--pages", type=int, default=0, metavar="N", help="visit the N most worthwhile pages (default all due)")
        add(
            "--older-than",
            default="1d",
            metavar="AGE",
            help="skip pages visited within this time: 12h, 7d, 2w (default 1d)",
        )
        add("--new", type=int, default=0, metavar="N", help="then fetch up to N new pages, best first (default 0)")
        add("--watch", action="store_true", help="visit in rounds until stopped, and keep the search index complete")
        add("--every", metavar="AGE", help="with --watch: time from one round to the next: 30m, 6h, 1d (default 1h)")
        add = parser.add_argument_group(title="Report").add_argument
        add("--report", action="store_true", help="only report, without any request")
        add("--since", metavar="DATE", help="report what has changed since a date (UTC) or an age (default last run)")
        add("--json", action="store_true", help="print the report as JSON")
        add("--atom", type=Path, metavar="FILE", help="also write the report as an Atom feed")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        self.requires_crawler_process = not opts.report

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give the directory of a crawl", print_help=False)
        folder = crawl_folder(args[0])
        since = parse_since(opts.since, clock.utc().timestamp()) if opts.since else None
        if opts.watch:
            self._watch(folder, opts)
        elif opts.every is not None:
            raise FocusError(f"--every {opts.every} is for --watch; give both")
        elif opts.report or self._visit(folder, opts):
            self._report(folder, since, opts)

    def _spider(self, folder: Path, opts: argparse.Namespace) -> tuple[type[RevisitingSpider], dict[str, Any]]:
        """The spider that visits the pages that are due, and its arguments."""
        older_than = parse_age(opts.older_than, "--older-than")
        for name in ("pages", "new"):
            if getattr(opts, name) < 0:
                raise FocusError(f"--{name} {getattr(opts, name)}: expected a whole number, at least 0")
        strategy, arguments, seeds_told = self._made_with(folder, opts.spargs)
        bounds = {"older_than": older_than, "most_visits": opts.pages, "new_pages": opts.new}
        return revisiting(strategy, **bounds, seeds_told=seeds_told), arguments

    def _visit(self, folder: Path, opts: argparse.Namespace) -> bool:
        """Visit the pages that are due; if that fails, print why and return False."""
        spider = self.crawl(*self._spider(folder, opts))
        if not isinstance(spider, RevisitingSpider):
            return False
        if problem := self._finish(spider):
            self.say(problem)
            self.exitcode = 1
            return False
        if not spider.due:
            self.say(
                f"no page of {folder} is due: all were visited within the last {opts.older_than}; see --older-than"
            )
        return True

    def _finish(self, spider: RevisitingSpider) -> str:
        """Close a crawl that has visited its pages; returns what went wrong, or an empty text."""
        crawl = spider.crawl
        crawl.close()  # still open if the crawl was stopped immediately
        if not crawl.fatal and spider.seeds_told and spider.crawler.stats.get_value("focus/private_address"):
            self.say(
                f"{crawl.folder} has pages on this machine or on a private network; to visit them, give"
                " -s FOCUS_PRIVATE_HOSTS=True"
            )
        return crawl.fatal or ""

    def _watch(self, folder: Path, opts: argparse.Namespace) -> None:
        """Visit the pages that are due in rounds, until stopped."""
        for name in ("report", "json"):
            if getattr(opts, name):
                raise FocusError(f"--{name} does not go with --watch, which reports each round in one line")
        every = parse_age(opts.every or "1h", "--every")
        if not every:
            raise FocusError(f"--every {opts.every}: expected a time above 0, such as 30m or 6h")
        spider, arguments = self._spider(folder, opts)
        process: Any = self.crawler_process

        async def visit() -> str:
            crawler = process.create_crawler(spider)
            await process.crawl(crawler, **arguments)
            return self._finish(crawler.spider)

        def tell(done: Round, next_at: float) -> None:
            print(f"{clock.now()[:19]}  {printable(done.line(next_at))}", flush=True)
            if opts.atom is not None:
                since = parse_since(opts.since, clock.utc().timestamp()) if opts.since else done.changes.since
                with read_crawl(folder, check=False) as store:
                    self._write_feed(opts.atom, changes_since(store, since))

        watch = Watch(folder, every, visit, tell, older_than=spider.older_than, new_pages=spider.new_pages)
        self._run(watch)
        self.say(f"stopped after {watch.rounds:,} round{'' if watch.rounds == 1 else 's'}; nothing is lost")

    def _run(self, watch: Watch) -> None:
        """Run a watch in Scrapy's process, which ends when its `join` does, and calls `stop` on Ctrl-C and SIGTERM."""
        process: Any = self.crawler_process
        stop_crawls = process.stop
        over = asyncio.Event()
        problems: list[Exception] = []

        async def join() -> None:
            try:
                await watch.run()
            except Exception as error:
                problems.append(error)
            finally:
                over.set()

        async def stop() -> None:
            first = watch.stop()
            await stop_crawls()
            if first:  # a second Ctrl-C waits for nothing
                await over.wait()

        process.join, process.stop = join, stop
        process.start()
        for problem in problems:
            raise problem

    def _made_with(self, folder: Path, given: dict[str, str]) -> tuple[type[FocusedSpider], dict[str, Any], bool]:
        """The strategy and the arguments that a crawl was made with, and whether the seeds come only from the file.

        Also applies its settings.
        """
        assert self.crawler_process is not None
        for name in {"max_pages", "max_hours", "stop_below"} & given.keys():
            raise FocusError(f"-a {name}: stored pages are bounded by --pages, new ones by --new")
        with read_crawl(folder) as store:
            name, run = store.meta("spider"), store.runs()[-1]
            if not store.pages.count():
                raise FocusError(
                    f"{folder} has no pages yet; finish it with {program()} crawl {name} -s FOCUS_DIR={folder}"
                )
        if name not in self.crawler_process.spider_loader.list():
            raise FocusError(
                f"{folder} was made by spider '{name}', which is not in this project; see `{program()} list`"
            )
        strategy = self.crawler_process.spider_loader.load(name)
        if not issubclass(strategy, FocusedSpider):
            raise FocusError(
                f"{folder} was made by spider '{name}', which is not a FocusedSpider and cannot revisit pages; --report"
                f" shows what its last run found, {program()} crawl {name} resumes it"
            )
        noted = run.get("arguments", {})
        topic = str(given.get("topic", noted.get("topic", "")))
        if Path(topic).is_absolute() and not Path(topic).is_file():
            raise FocusError(
                f"{folder} was made with topic {topic}, which no longer exists; give its new path with -a topic=FILE"
            )
        settings = self.crawler_process.settings
        taken, asked = settings_again(run.get("settings", {}), settings)
        arguments, asked_too = arguments_again(noted, strategy, given)
        if asked or asked_too:
            raise FocusError(not_taken(folder, [*asked_too, *asked]))
        settings.setdict(taken, priority=_PRIORITY)
        if is_address(folder):
            settings.set("FOCUS_STORE", address_of(folder), priority="cmdline")
        else:
            settings.set("FOCUS_DIR", str(folder), priority="cmdline")
        told = "seeds" in arguments and "seeds" not in given
        return strategy, arguments, told or ("topic" not in arguments and "FOCUS_TOPIC" in taken)

    def _report(self, folder: Path, since: str | None, opts: argparse.Namespace) -> None:
        with read_crawl(folder) as store:
            changes = changes_since(store, since or store.runs()[-1].get("began", ""))
        if opts.atom is not None:
            self._write_feed(opts.atom, changes)
        if opts.json:
            print(as_json(changes))
        else:
            sys.stdout.writelines(f"{line}\n" for line in as_text(changes))

    def _write_feed(self, path: Path, changes: Changes) -> None:
        try:
            write_whole(path, as_atom(changes))
        except OSError as error:
            raise FocusError(f"cannot write {path}: {error.strerror}; choose another --atom") from None
