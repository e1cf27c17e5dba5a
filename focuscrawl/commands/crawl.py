"""`scrapy crawl`, with errors in one line and an exit status that tells."""

from __future__ import annotations

import argparse
import difflib
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scrapy import Spider
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import NotConfigured, UsageError
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.log import configure_logging

from focuscrawl.crawl import Crawl
from focuscrawl.errors import FocusError, printable
from focuscrawl.extensions.progress import Progress
from focuscrawl.spider import check_settings

logger = logging.getLogger(__name__)


class Command(CrawlCommand):
    """Scrapy's own command; what a user can put right is said without a traceback."""

    def short_desc(self) -> str:
        return "Crawl a topic with a strategy: scrapy crawl keyword -a seeds=URL -a keywords=a,b -a max_pages=200"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        # on a terminal the progress bar tells how it goes, and only what is wrong need be said beside it
        asked_for = (self.settings.getpriority("LOG_LEVEL") or 0) > SETTINGS_PRIORITIES["project"]
        self.in_person = sys.stderr.isatty() and not (asked_for or opts.logfile or opts.nolog)
        if self.in_person:
            self.settings.set("LOG_LEVEL", "WARNING", priority="cmdline")
        try:
            check_settings(self.settings)
        except FocusError as problem:  # logging is not set up yet, and perhaps cannot be as the settings ask for
            if file := self.settings.get("LOG_FILE"):
                configure_logging({"LOG_FILE": file})
            self._say(str(problem))
            sys.exit(2)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one spider; `scrapy list` shows them")
        assert self.crawler_process is not None
        process = self.crawler_process
        known = sorted(process.spider_loader.list())
        if args[0] not in known:
            close = difflib.get_close_matches(args[0], known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            self._say(f"unknown spider '{args[0]}'; {hint}")
            self.exitcode = 2
            return
        spider = self.crawl(args[0], opts.spargs)
        if spider is not None:
            with suppress(NotConfigured):  # a spider that is none of ours
                self._conclude(Crawl.of(spider.crawler))

    def crawl(self, spider: str | type[Spider], arguments: Mapping[str, str]) -> Spider | None:
        """Run a spider to its end and return it; None, and a line that says why, if it could not begin."""
        assert self.crawler_process is not None
        process = self.crawler_process
        try:
            crawler = self._create_crawler(spider)
            task = process.crawl(crawler, **arguments)
            process.start()
            error = _error_of(task)
            if isinstance(error, FocusError):
                raise error
            if error is not None:
                logger.error("The crawl failed: %s", error, exc_info=error)
        except FocusError as problem:
            self._say(str(problem))
            self.exitcode = 2
            return None
        if process.bootstrap_failed:
            self.exitcode = 1
            return None
        progress = crawler.get_extension(Progress)
        if progress is not None:
            progress.stop()
        return crawler.spider

    def _conclude(self, crawl: Crawl) -> None:
        """A crawl that got nowhere has failed, and says why; another says where its results are."""
        crawl.close()  # it is open still if the crawl was stopped at once
        if problem := crawl.fatal or crawl.problem:
            self._say(problem)
            self.exitcode = 1
        elif self.in_person:
            for line in _places(crawl, crawl.folder):
                print(line, file=sys.stderr)
        else:  # whoever reads the log need not know where the crawl was started
            for line in _places(crawl, crawl.folder.absolute()):
                logger.info("%s", line)

    def _say(self, message: str) -> None:
        print(f"focuscrawl: {printable(message)}", file=sys.stderr)  # it may quote a page
        assert self.settings is not None
        if self.settings.get("LOG_FILE"):  # which is all that a user of Scrapyd sees
            logger.error("%s", message)


def _places(crawl: Crawl, folder: Path) -> tuple[str, str]:
    """Where the results are, in two lines."""
    return (
        f"{crawl.matched:,} matched URLs are in {folder / 'URLs.txt'}",
        f"The whole crawl is in {folder / 'crawl.sqlite'}, a summary in {folder / 'report.html'}",
    )


def _error_of(task: object) -> BaseException | None:
    """What a crawl failed with before it began; asking for it keeps asyncio from logging it as forgotten."""
    done = getattr(task, "done", None)
    if done is None or not done() or task.cancelled():  # type: ignore[attr-defined]
        return None
    error: BaseException | None = task.exception()  # type: ignore[attr-defined]
    return error
