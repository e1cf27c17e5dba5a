"""Base classes of our commands. Errors that the user can fix are one line on stderr, with exit status 2.

They are not in `focuscrawl.commands`, because Scrapy treats every command class in that package as a command.
"""

from __future__ import annotations

import argparse
import getpass
import logging
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from scrapy.commands import BaseRunSpiderCommand, ScrapyCommand
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.conf import arglist_to_dict
from scrapy.utils.log import configure_logging

from focuscrawl.console.program import program
from focuscrawl.crawl.checks import check_settings
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.single_page import LookingLoader, leave_no_trace
from focuscrawl.errors import FocusError, printable, say, suggest
from focuscrawl.extensions.progress import Progress
from focuscrawl.options import options_of
from focuscrawl.reports.endings import RESUMES
from focuscrawl.reports.no_match import no_match
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.errors import StoreError
from focuscrawl.store.places import read_crawl, shown
from focuscrawl.topic import named_topics
from focuscrawl.web import replay, webs

logger = logging.getLogger(__name__)

_OPTION = re.compile(r"--[a-z][\w-]*", re.I)


class FocusCommand(ScrapyCommand):
    """Base of all our commands. A class that extends one of Scrapy's commands lists this base first."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        for place, argument in enumerate(args):
            if _OPTION.match(argument):  # Scrapy passes on the options that it does not know as arguments
                command = type(self).__module__.rpartition(".")[2]
                remedy = f"`{program()} {command} --help` lists the options"
                if hasattr(opts, "spargs"):  # it is for a spider
                    remedy = _as_spider_argument(argument, args[place + 1 : place + 2]) or remedy
                self.say(f"unknown option {argument}; {remedy}")
                sys.exit(2)
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            self.execute(args, opts)
        except FocusError as error:
            self.say(str(error))
            self.exitcode = 2

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the work of the command; by default, run the Scrapy command it extends. Raises FocusError."""
        super().run(args, opts)  # type: ignore[safe-super]

    def say(self, message: str) -> None:
        """Print a one-line message for the user."""
        say(message)


class CrawlerCommand(FocusCommand):
    """Base of the commands that run a crawler."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        # on a terminal the progress bar shows how the crawl is going, so only warnings are logged
        level_given = (self.settings.getpriority("LOG_LEVEL") or 0) > SETTINGS_PRIORITIES["project"]
        self.interactive = sys.stderr.isatty() and not (level_given or opts.logfile or opts.nolog)
        if self.interactive:
            self.settings.set("LOG_LEVEL", "WARNING", priority="cmdline")
        try:
            self.check_options(args, opts)
        except FocusError as problem:  # logging is not set up yet, and the settings may not allow it
            if file := self.settings.get("LOG_FILE"):
                configure_logging({"LOG_FILE": file})
            self.say(str(problem))
            sys.exit(2)

    def check_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Reject invalid options before anything starts."""
        assert self.settings is not None
        check_settings(self.settings)

    def attempt(self, work: Callable[[], object]) -> Crawler | None:
        """Call *work*, which runs a crawler until it finishes, and return the crawler; None if none ran."""
        assert self.crawler_process is not None
        process: Any = self.crawler_process
        begin = process.crawl
        begun: list[tuple[Crawler, object]] = []

        def crawl(crawler_or_spider: Any, *args: Any, **kwargs: Any) -> object:
            known = isinstance(crawler_or_spider, Crawler)
            crawler = crawler_or_spider if known else process.create_crawler(crawler_or_spider)
            task = begin(crawler, *args, **kwargs)
            begun.append((crawler, task))
            return task

        process.crawl = crawl  # Scrapy's commands ignore the outcome
        try:
            work()
            for _, task in begun:
                error = _error_of(task)
                if isinstance(error, FocusError):
                    raise error
                if error is not None:
                    logger.error("The crawl failed: %s", error, exc_info=error)
        finally:
            process.crawl = begin
        if process.bootstrap_failed:
            self.exitcode = 1
            return None
        if not begun:
            return None
        crawler, _ = begun[-1]
        progress = crawler.get_extension(Progress)
        if progress is not None:
            progress.stop()
        return crawler

    def conclude(self, crawl: Crawl) -> None:
        """Report why the crawl failed, or where its results are and what is missing."""
        lines = _close(crawl)
        problem = crawl.failure
        if not problem:  # readers of the log may not know the working directory
            lines += _places(crawl, crawl.folder if self.interactive else crawl.folder.absolute())
        for line in lines:
            if self.interactive:
                print(printable(line), file=sys.stderr)
            else:
                logger.info("%s", printable(line))
        if problem:
            self.say(problem)
            self.exitcode = 1

    def say(self, message: str) -> None:
        super().say(message)
        assert self.settings is not None
        if self.settings.get("LOG_FILE"):  # the only output that a Scrapyd user sees
            logger.error("%s", message)


class SinglePageCommand(CrawlerCommand):
    """Base of the commands that look at a single page (see single_page.py). They change no files of the user's."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        if not isinstance(self, BaseRunSpiderCommand):  # these already have -a
            text = "set spider argument (may be repeated)"
            parser.add_argument("-a", dest="spargs", action="append", default=[], metavar="NAME=VALUE", help=text)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if not isinstance(self, BaseRunSpiderCommand):
            try:
                opts.spargs = arglist_to_dict(opts.spargs)
            except ValueError:
                raise UsageError("Invalid -a value, use -a NAME=VALUE", print_help=False) from None

    def check_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().check_options(args, opts)
        assert self.settings is not None
        leave_no_trace(self.settings)
        if web := self.settings.get("FOCUS_WEB"):
            webs.open_web(web)
            replay.answer_from_web(self.settings)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        self.attempt(partial(self.look, args, opts))

    def look(self, args: list[str], opts: argparse.Namespace) -> None:
        """Look at the page, as Scrapy's own command does."""
        assert self.crawler_process is not None
        process, url = self.crawler_process, args[0] if args else None
        if opts.spider:
            check_spider(opts.spider, process.spider_loader.list())
        process.spider_loader = LookingLoader(process.spider_loader, url, opts.spargs)
        super().execute(args, opts)


def user_name() -> str:
    """The name of the user who runs a command; empty if the system does not know."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def check_spider(name: str, known: Sequence[str]) -> None:
    """Reject an unknown spider name, and what was meant as something else."""
    if name in known:
        return
    if meant := _meant(name):
        raise FocusError(f"'{name}' is not a spider; write {meant}")
    hint = suggest(name, known) or f"known spiders: {', '.join(sorted(known))}"
    raise FocusError(f"unknown spider '{name}'; {hint}")


def _meant(word: str) -> str:
    """How to write an argument, a topic or a seed that stands in place of a spider's name; empty if it is none."""
    if re.match(r"[a-z]\w*=", word):
        return f"-a {shlex.quote(word)}"
    if "://" in word:
        return f"-a seeds={shlex.quote(word)}"
    if word.endswith(".toml") or word in named_topics():
        return f"-a topic={shlex.quote(word)}"
    return ""


def _as_spider_argument(option: str, following: Sequence[str]) -> str:
    """How to write an option such as `--max-pages 100`, if it is a spider's; empty if it is not."""
    name, equals, value = option.removeprefix("--").partition("=")
    name = name.replace("-", "_").lower()
    if name not in {"topic", "seeds", "keywords", *options_of(FocusedSpider)}:
        return ""
    value = value if equals else next((word for word in following if not word.startswith("-")), "…")
    return f"options of a spider are written -a {name}={shlex.quote(value) if value != '…' else value}"


def _close(crawl: Crawl) -> list[str]:
    """Close a crawl, if it is still open; what the user should know of its end, a line each."""
    if not crawl.ending and not crawl.fatal and crawl.store.exists():  # it was stopped immediately
        with suppress(FocusError, StoreError), crawl.store.transaction():
            crawl.note_end("shutdown")
    crawl.close()
    if crawl.fatal or not crawl.store.exists():
        return []
    with suppress(FocusError), read_crawl(crawl.place, check=False) as store:
        lines = no_match(store) if crawl.judges else []
        if crawl.was_stopped:
            return [*lines, f"Stopped; {RESUMES}."]
        return [*lines, f"The crawl has stopped: {crawl.why_ended}."] if crawl.why_ended else lines
    return []


def _places(crawl: Crawl, folder: Path) -> tuple[str, str]:
    """Where the results are, in two lines."""
    store = folder / "crawl.sqlite" if crawl.mirrors else shown(crawl.place)
    return (
        f"{crawl.matched:,} matched URLs are in {folder / 'URLs.txt'}",
        f"The whole crawl is in {store}, a summary in {folder / 'report.html'}",
    )


def _error_of(task: object) -> BaseException | None:
    """The error that kept a crawl from starting. Retrieving it stops asyncio from logging it as never retrieved."""
    done = getattr(task, "done", None)
    if done is None or not done() or task.cancelled():  # type: ignore[attr-defined]
        return None
    error: BaseException | None = task.exception()  # type: ignore[attr-defined]
    return error
