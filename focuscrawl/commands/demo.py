"""`scrapy demo`: three crawls of the embedded web on loopback, compared."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.reports import report
from focuscrawl.store.store import Store
from focuscrawl.topic import load_topic
from focuscrawl.web.server import serving
from focuscrawl.web.webs import Web, open_web

SPIDERS = ("adaptive", "breadth_first", "keyword", "best_first")
TOPIC = "sorting"


class Outcome(NamedTuple):
    """The result of a crawl by the web's labels: relevant pages after each page fetched, hosts, matched URLs."""

    curve: list[int]
    hosts: int
    matched: int
    right: int


class Command(FocusCommand):
    """Crawl the embedded web with several strategies and compare them; no network is needed."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "[--pages N] [--dir DIR]"

    def short_desc(self) -> str:
        return "Crawl the embedded web with several strategies and compare them"

    def long_desc(self) -> str:
        return (
            "Serve the embedded web on loopback, crawl it adaptively, breadth-first, by keywords and best-first, and"
            f" show which found more pages on the topic. No network is needed. Example: {program()} demo --pages 300"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--pages", type=int, default=300, help="pages each crawl may fetch (default 300)")
        parser.add_argument(
            "--dir", type=Path, default=Path("crawls/demo"), help="where to write (default crawls/demo)"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"unexpected argument '{args[0]}'; this command takes only options", print_help=False)
        if opts.pages < 1:
            raise FocusError(f"--pages {opts.pages}: expected a whole number, at least 1")
        self._compare(opts.pages, opts.dir)

    def _compare(self, pages: int, folder: Path) -> None:
        console = Console(soft_wrap=True, highlight=False)
        web = open_web("demo")
        label = load_topic(TOPIC).label
        outcomes: dict[str, Outcome] = {}
        with serving(web) as server:
            hosts = len(web.hosts())
            console.print(f"A web of {hosts} hosts, served at {server.address}; the topic is [bold]{TOPIC}[/bold].")
            console.print(f"Each crawl fetches {pages} pages from the same two seeds.\n")
            for spider in SPIDERS:
                crawl_folder = folder / spider
                _clear(crawl_folder)
                if not self._crawl(spider, pages, crawl_folder, server.address):
                    self.say(f"the crawl with {spider} failed; see the lines above")
                    self.exitcode = 1
                    return
                outcomes[spider] = _outcome(crawl_folder, web, label)
        console.print()
        console.print(_table(outcomes, pages))
        write_whole(folder / "report.html", _report(outcomes, pages))
        console.print("relevant: on the topic by labels that the crawlers do not see, duplicates counted once;")
        console.print("gain: over breadth-first; URLs.txt: pages that matched according to the spider;")
        console.print("precision: share of them that are relevant. The report of a single crawl counts other pages as")
        console.print("relevant: those that the spider judged so, without labels.\n")
        console.print(f"{'comparison':14} {folder / 'report.html'}")
        for spider in SPIDERS:
            console.print(f"{spider:14} {folder / spider}/{{URLs.txt,pages.jsonl,crawl.sqlite,report.html}}")
        found = (folder / SPIDERS[0] / "URLs.txt").read_text("utf-8").splitlines()
        right = [url for url in found if label in web.labels(url)]
        if right:
            console.print(f"\nWhy a page was fetched:\n  {program()} explain {folder / SPIDERS[0]} {right[-1]}")

    def _crawl(self, spider: str, pages: int, folder: Path, proxy: str) -> bool:
        """Crawl with a spider, in a process of its own; False if it fails."""
        command = [sys.executable, "-m", program(), "crawl", spider]
        command += ["-a", f"topic={TOPIC}", "-a", f"max_pages={pages}"]
        settings = {
            "FOCUS_DIR": folder,
            "FOCUS_WEB": "",  # the embedded web is served instead, whatever the project sets
            "FOCUS_PROGRESS": sys.stderr.isatty(),
            "LOG_LEVEL": "WARNING",
            "DOWNLOAD_DELAY": 0,  # the server is ours
            "FOCUS_CONTACT": proxy,
            "CONCURRENT_REQUESTS": 1,  # so that the table is always the same
        }
        for name, value in settings.items():
            command += ["-s", f"{name}={value}"]
        # with our own settings instead of the project's
        environment = {
            **os.environ,
            "http_proxy": proxy,
            "no_proxy": "",
            "SCRAPY_SETTINGS_MODULE": "focuscrawl.settings",
        }
        if not sys.stderr.isatty():
            print(f"crawling with {spider} …", flush=True)
        return subprocess.run(command, env=environment, check=False).returncode == 0  # noqa: S603


def _clear(folder: Path) -> None:
    """Remove the crawl of an earlier demo, but no other files."""
    if not (folder / "crawl.sqlite").exists():
        return
    store = Store(folder / "crawl.sqlite", create=False)
    topic = store.meta("topic")
    store.close()
    if topic != load_topic(TOPIC).name:
        raise FocusError(f"{folder} holds a crawl of topic '{topic}'; choose another --dir")
    for name in ("crawl.sqlite", "crawl.sqlite-wal", "crawl.sqlite-shm", "URLs.txt", "pages.jsonl", "report.html"):
        (folder / name).unlink(missing_ok=True)


def _outcome(folder: Path, web: Web, label: str) -> Outcome:
    store = Store(folder / "crawl.sqlite", create=False)
    curve: list[int] = []
    matched = right = 0
    for page in store.pages.each():
        relevant = label in web.labels(page.url) and page.duplicate_of is None
        curve.append((curve[-1] if curve else 0) + relevant)
        matched += page.matched
        right += page.matched and relevant
    hosts = store.hosts.count()
    store.close()
    return Outcome(curve, hosts, matched, right)


def _table(outcomes: dict[str, Outcome], pages: int) -> Table:
    table = Table(title=f"Pages on the topic among the first {pages}")
    for name in ("spider", "relevant", "harvest", "gain", "hosts", "URLs.txt", "precision"):
        table.add_column(name, justify="left" if name == "spider" else "right", no_wrap=True)
    floor = outcomes["breadth_first"].curve[-1]
    for spider, outcome in outcomes.items():
        found, fetched = outcome.curve[-1], len(outcome.curve)
        table.add_row(
            spider,
            f"{found:,}",
            f"{found / fetched:.0%}",
            f"{found / max(1, floor):.2f}×",
            f"{outcome.hosts}",
            f"{outcome.matched:,}",
            f"{outcome.right / outcome.matched:.0%}" if outcome.matched else "–",
        )
    return table


def _report(outcomes: dict[str, Outcome], pages: int) -> str:
    chart = report.chart({spider: outcome.curve for spider, outcome in outcomes.items()}, "relevant pages")
    rows = [
        (
            f'<a href="{spider}/report.html">{spider}</a>',
            f"{outcome.curve[-1]:,}",
            f"{outcome.curve[-1] / len(outcome.curve):.0%}",
        )
        for spider, outcome in outcomes.items()
    ]
    table = report.table(("spider", "relevant", "harvest rate"), rows, 2)
    told = (
        "Relevant: on the topic by the labels of the embedded web, which the crawlers do not see, duplicates"
        " counted once. The report of each crawl counts the pages that its spider judged relevant instead."
    )
    body = f"<h2>Relevant pages over pages fetched</h2>{chart}{table}<p><small>{told}</small></p>"
    return report.page("Four ways to crawl a small web", f"Topic {TOPIC}, {pages} pages each, relevant by label", body)
