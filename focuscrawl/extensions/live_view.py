"""The live view of a crawl on a terminal: progress, harvest so far, hosts at work, the last matches."""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text
from scrapy.utils.log import get_scrapy_root_handler

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.errors import printable
from focuscrawl.frontier.activity import BLOCKED, RESTING, Activity, HostNow, activity_of
from focuscrawl.page import Page
from focuscrawl.reports.status import soon

#: Bars of the harvest, and matches that are shown.
BARS = 40
MATCHES = 3
_BLOCKS, _ASCII = "▁▂▃▄▅▆▇█", "_.-:=+*#"
#: Fewer lines than this leave room for the progress alone.
_SMALL = 12
#: Widest name of a row.
_NAME = 9


class Harvest:
    """The share of relevant pages in equal parts of the crawl. Parts are joined in pairs when there are too many."""

    def __init__(self, most: int = BARS) -> None:
        self.most = most
        #: Pages per part.
        self.size = 1
        self._relevant: list[int] = []
        self._last = 0

    def add(self, relevant: int, pages: int = 1) -> None:
        """Add some pages, of which so many are relevant; all belong to one part."""
        if not self._relevant or self._last >= self.size:
            if len(self._relevant) == self.most:
                self._join()
            self._relevant.append(0)
            self._last = 0
        self._relevant[-1] += relevant
        self._last += pages

    def _join(self) -> None:
        pairs = range(0, self.most, 2)
        self._relevant = [sum(self._relevant[place : place + 2]) for place in pairs]
        self.size *= 2

    def shares(self) -> list[float]:
        """The share of relevant pages in each part."""
        sizes = [self.size] * (len(self._relevant) - 1) + [max(1, self._last)]
        return [min(1.0, good / size) for good, size in zip(self._relevant, sizes, strict=False)]

    @classmethod
    def of(cls, points: Sequence[int], pages: int, most: int = BARS) -> Harvest:
        """The harvest of a crawl that is resumed, from its curve: relevant pages at evenly spaced points."""
        found = cls(most)
        found.size = max(1, -(-pages // max(1, len(points))))
        before = 0
        for point in points:
            found.add(point - before, found.size)
            before = point
        return found


def bars(shares: Sequence[float], *, ascii_only: bool = False) -> str:
    """Shares as a row of bars."""
    blocks = _ASCII if ascii_only else _BLOCKS
    return "".join(blocks[min(len(blocks) - 1, int(share * len(blocks)))] for share in shares)


def hosts_line(now: Activity) -> str:
    """Hosts at work, in one line."""
    parts = [f"{now.busy:,} busy", f"{now.resting:,} resting{_first(now.of(RESTING))}"]
    if now.blocked:
        parts.append(f"{now.blocked:,} blocked{_first(now.of(BLOCKED))}")
    return ", ".join(parts)


def _first(hosts: Sequence[HostNow]) -> str:
    if not hosts:
        return ""
    host = hosts[0]
    slot = "" if host.next_in is None else f" {soon(host.next_in)}"
    why = f", {host.why}" if host.why else ""
    return f" (next {printable(host.name)}{slot}{why})"


class LiveView:
    """Draws a crawl on the terminal behind standard error. Log lines appear above it."""

    def __init__(self, crawl: Crawl, name: str, total: int | None) -> None:
        self.crawl = crawl
        self.console = Console(stderr=True)
        self.harvest = Harvest.of(*crawl.store.standing.harvest(BARS // 2))
        self.matches: deque[Page] = deque(maxlen=MATCHES)
        self._figures: list[str] = []
        self._notes: list[str] = []
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}", markup=True),
            BarColumn(bar_width=None),
            TimeElapsedColumn(),
            console=self.console,
            auto_refresh=False,
            expand=True,
        )
        self._task = self._bar.add_task(f"{name}, {printable(crawl.topic.name)}"[:60].replace("[", "("), total=total)
        self._live = Live(console=self.console, auto_refresh=False, get_renderable=self._draw)
        self._handler: logging.StreamHandler[Any] | None = None

    def start(self) -> None:
        """Take over the terminal."""
        self._live.start()
        handler = get_scrapy_root_handler()
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.__stderr__:
            handler.setStream(sys.stderr)  # log lines then appear above the view instead of breaking it
            self._handler = handler

    def stop(self) -> None:
        """Give the terminal back."""
        self._live.stop()
        if self._handler is not None:
            self._handler.setStream(sys.__stderr__)

    def add(self, page: Page) -> None:
        """Show a page that was stored."""
        self.harvest.add(page.judgement is not None and page.judgement.relevant)
        if page.matched:
            self.matches.append(page)

    def show(self, done: int, figures: Sequence[str], notes: Sequence[str]) -> None:
        """Draw the crawl as it is now: pages done, its figures, and what slows it down."""
        self._figures, self._notes = [*figures], [*notes]
        self._bar.update(self._task, completed=done)
        self._live.refresh()

    # ---- drawing

    def _draw(self) -> RenderableType:
        options: ConsoleOptions = self.console.options
        rows: list[RenderableType] = [self._bar, _line("", ", ".join(self._figures))]
        if self.console.height >= _SMALL:
            rows += self._more(ascii_only=options.ascii_only)
        if self._notes:  # last, because they come and go
            rows.append(_line("", ", ".join(self._notes), "yellow"))
        return Group(*rows)

    def _more(self, *, ascii_only: bool) -> Iterator[RenderableType]:
        if self.crawl.judges and (shares := self.harvest.shares()):
            row = _line("harvest", bars(shares, ascii_only=ascii_only), "green")
            each = f"{self.harvest.size:,} page{'' if self.harvest.size == 1 else 's'} a bar"
            yield row.append(f"  {each}", "dim")
        scheduler = self.crawl.scheduler
        if scheduler is not None and not scheduler.closing:
            yield _line("hosts", hosts_line(activity_of(self.crawl)))
        for place, page in enumerate(reversed(self.matches)):
            yield _match("" if place else "matched", page)


def _line(name: str, text: str, style: str = "") -> Text:
    row = Text("  ", no_wrap=True, overflow="ellipsis")
    if name:
        row.append(f"{name:<{_NAME}}", "dim")
    return row.append(text, style)


def _match(name: str, page: Page) -> Text:
    where = printable(page.url.partition("://")[2])
    row = Text("  ", no_wrap=True, overflow="ellipsis").append(f"{name:<{_NAME}}", "dim")
    if page.relevance is not None:
        row.append(f"{page.relevance:.2f}  ", "green")
    title = printable(page.title)[:50]
    return row.append(f"{title}  " if title else "").append(where, "dim")
