"""`scrapy parse`: what a spider makes of a single page."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands.parse import Command as ParseCommand
from scrapy.http import Request, Response
from scrapy.utils.defer import maybe_deferred_to_future

from focuscrawl.command import SinglePageCommand
from focuscrawl.console.program import program
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import reason_of
from focuscrawl.crawl.verdict import LANGUAGE, LISTING, NOINDEX
from focuscrawl.errors import FocusError
from focuscrawl.language.languages import NAMES
from focuscrawl.manners.rights import RESERVATIONS
from focuscrawl.middlewares.scoring import ScoringMiddleware
from focuscrawl.page import Page
from focuscrawl.pipelines.classify import ClassifyPipeline
from focuscrawl.reports.explain import describe_links, describe_page
from focuscrawl.spider import FocusedSpider

if TYPE_CHECKING:
    from scrapy import Spider
    from twisted.python.failure import Failure


class Command(SinglePageCommand, ParseCommand):
    """Scrapy's command; for our pages it shows relevance and links instead of fields."""

    #: Why the page could not be fetched.
    failure: str | None = None

    def short_desc(self) -> str:
        return "Show what a spider makes of a page: its relevance, and the scores of its links"

    def long_desc(self) -> str:
        return (
            "Fetch a single page and show how relevant the spider finds it, whether it matches, and the scores of its"
            f" links, best first, without crawling anything. Example: {program()} parse --spider best_first -a"
            " topic=sorting -s FOCUS_WEB=demo http://sorting-handbook.example/"
        )

    def look(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.crawler_process is not None
        loader = self.crawler_process.spider_loader
        if args and not opts.spider and not loader.find_by_request(Request(args[0])):
            raise FocusError(f"give a spider with --spider NAME; `{program()} list` shows them")
        opts.output = opts.output or opts.overwrite_output  # Scrapy's command only looks at the first
        super().look(args, opts)

    def start_parsing(self, url: str, opts: argparse.Namespace) -> None:
        assert self.crawler_process is not None
        assert self.spidercls is not None
        self.pcrawler = self._create_crawler(self.spidercls)
        self.crawler_process.crawl(self.pcrawler, **opts.spargs)
        self.crawler_process.start()

    def prepare_request(self, spider: Spider, request: Request, opts: argparse.Namespace) -> Request:
        request = super().prepare_request(spider, request, opts)
        parse: Any = request.callback

        async def callback(response: Response, **arguments: Any) -> Any:
            # Scrapy's command returns a Deferred, which Scrapy warns about
            return await maybe_deferred_to_future(parse(response, **arguments))

        request.callback, request.errback = callback, self._failed
        return request

    def _failed(self, failure: Failure) -> None:
        assert failure.value is not None
        request: Request = failure.request  # type: ignore[attr-defined]
        self.failure = f"{request.url}: {reason_of(failure.value)}"

    def scraped_data(self, args: tuple[Any, ...]) -> list[Any]:
        for item in args[0]:
            if isinstance(item, Page):
                self._judge(item)
        return super().scraped_data(args)

    def _judge(self, page: Page) -> None:
        """Process a page as a crawl would, as far as that needs no other pages."""
        crawler = self.pcrawler
        scoring = crawler.get_spider_middleware(ScoringMiddleware)
        classify = crawler.get_item_pipeline(ClassifyPipeline)
        assert self.first_response is not None
        try:
            if scoring is not None:
                scoring.score(page, self.first_response)
            if classify is not None:
                classify.process_item(page)
        except FocusError as error:
            self.failure = str(error)
            return

    def print_results(self, opts: argparse.Namespace) -> None:
        if self.failure is not None:
            self.say(self.failure)
            self.exitcode = 1
        if self.failure is not None or self.first_response is None:
            return
        pages = [item for items in self.items.values() for item in items if isinstance(item, Page)]
        for page in pages:
            self._print_page(page, opts)
        for level, items in self.items.items():
            self.items[level] = [item for item in items if not isinstance(item, Page)]
        if not issubclass(self.pcrawler.spidercls, FocusedSpider) or any(
            (*self.items.values(), *self.requests.values())
        ):
            super().print_results(opts)
        elif not pages or any(page.problem for page in pages):
            self.exitcode = 1

    def _print_page(self, page: Page, opts: argparse.Namespace) -> None:
        lines = [] if opts.noitems else describe_page(page, self._unmatched(page))
        if not opts.nolinks and not page.problem:
            lines += [*([""] if lines else []), *describe_links(page)]
        encoding = sys.stdout.encoding or "utf-8"  # characters that a terminal cannot show must not cause a failure
        try:
            for line in lines:
                print(line.encode(encoding, "replace").decode(encoding))
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has closed the pipe, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _unmatched(self, page: Page) -> str:
        """Why a readable page does not match."""
        strategy, judgement = Crawl.of(self.pcrawler).strategy, page.judgement
        if page.withheld == LISTING:
            return "it is a list of URLs"
        if page.withheld == NOINDEX:
            return "it asks not to be indexed"
        if page.withheld is not None and page.withheld.startswith(LANGUAGE):
            return f"it is in {NAMES[page.language]}, which FOCUS_LANGUAGES leaves out"
        if page.withheld is not None:
            return RESERVATIONS[page.rights.left_out]
        if judgement is not None and judgement.relevance < strategy.threshold:
            return f"below the threshold of {strategy.threshold:g}"
        return f"spider '{strategy.name}' does not count it as a match"
