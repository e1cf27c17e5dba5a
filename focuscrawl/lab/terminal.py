"""What `scrapy lab` shows on a terminal: messages, progress, tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import rich.table
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from focuscrawl.lab.advice import FEW, WAYS, advise
from focuscrawl.lab.experiment import Experiment, Table, Verdict
from focuscrawl.lab.tables import Summary

if TYPE_CHECKING:
    from focuscrawl.lab.findings import Findings


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal; otherwise a line for every tenth."""
    live = sys.stderr.isatty()
    bar = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        disable=not live,
    )
    task = bar.add_task(what, total=None)
    shown = 0

    def show(done: int, total: int) -> None:
        nonlocal shown
        bar.update(task, completed=done, total=total)
        if not live and total and done * 10 // total > shown:
            shown = done * 10 // total
            sys.stderr.write(f"{what}: {done} of {total}\n")
            sys.stderr.flush()

    with bar:
        yield show


class Terminal:
    """Standard output: paragraphs and tables."""

    def __init__(self) -> None:
        self._console = Console(soft_wrap=True, highlight=False)

    def print(self, text: str = "", style: str = "") -> None:
        """Print a paragraph; markup is not interpreted."""
        self._console.print(Text(text, style=style))

    def show_findings(self, findings: Findings, *, pictures: bool) -> None:
        """Print the tables of a comparison with advice below each, and the files written; *pictures*: PNG files too."""
        lab = findings.lab
        self.print(f"\n{findings.about}")
        for way, summaries in findings.by_way().items():
            self.print()
            title = f"{lab.title}, {lab.pages:,} pages from {WAYS.get(way, way)}"
            self._console.print(_summary_table(title, summaries, polite=lab.manners is not None))
            if lab.manners is not None:
                self.print(f"per hour, time: relevant pages per hour, and the duration, at {lab.manners}.")
            baseline = findings.baseline
            self.print(f"against: score minus that of {baseline}; p: probability of such a difference by chance.")
            self.print(advise(summaries, lab.title, lab.pages, findings.needs))
        self.print(f"\n{lab.folder / 'report.html'}")
        self.print(f"{lab.folder}/{{results,curves,summary,superposition,costs}}.csv")
        if not pictures:
            self.print("The charts are SVG only; to get PNG too: pip install 'focuscrawl[lab]'")

    def show_experiment(self, tables: Sequence[Table], verdict: Verdict) -> None:
        """Print the tables and the verdict of a paper's experiment."""
        for table in tables:
            shown = rich.table.Table(title=table.title)
            for column, name in enumerate(table.head):
                shown.add_column(name, justify="right" if column else "left", overflow="fold")
            for row in table.rows:
                shown.add_row(*map(Text, row))
            self._console.print(shown)
        self.print(f"{verdict.word}: {verdict.why}")

    def begin_experiment(self, experiment: Experiment) -> None:
        """Print the title of a paper's experiment."""
        self.print(f"\n{experiment.number}. {experiment.title}", style="bold")


def _summary_table(title: str, summaries: Sequence[Summary], *, polite: bool) -> rich.table.Table:
    """The table of a comparison; that of polite crawls leaves out some columns, to fit into 80 characters."""
    table = rich.table.Table(title=title)
    table.add_column("spider", overflow="fold")
    between = ("harvest", "per hour", "time") if polite else ("95 %", "harvest", "targets")
    for name in ("score", *between, "against", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in summaries:
        harvest, targets = (_percent(one.means[name]) for name in ("harvest", "target_recall"))
        interval = f"{one.interval[0]:.2f}–{one.interval[1]:.2f}" if one.interval else "–"
        cells = (harvest, *one.speed) if polite else (interval, harvest, targets)
        against = one.against
        table.add_row(
            Text(one.title),
            f"{one.score:.3f}",
            *cells,
            f"{against.difference:+.3f}" if against else "–",
            f"{against.p:.2g}" if against and against.better + against.worse >= FEW else "–",
        )
    return table


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
