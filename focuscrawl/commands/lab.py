"""`scrapy lab`: every strategy on the same labelled web, against the best possible order."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import arglist_to_dict

from focuscrawl import urls
from focuscrawl.crawl.checks import check_settings
from focuscrawl.crawl.lock import LockedError, take_lock
from focuscrawl.errors import FocusError, printable
from focuscrawl.spiders import with_our_spiders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from focuscrawl.lab.advice import Needs
    from focuscrawl.lab.crawls import Outcome, Workers
    from focuscrawl.lab.lab import Lab
    from focuscrawl.lab.plan import Job, Trial
    from focuscrawl.lab.survey import Survey
    from focuscrawl.lab.tables import Summary


class Command(ScrapyCommand):
    """Compare strategies on a labelled web."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "[papers [1 2 …]] --web FILE --topics DIR [--spiders a,b|all] [--seeds topic,generic,URL] [--pages N]"

    def short_desc(self) -> str:
        return "Compare strategies on a labelled web, against the best possible order"

    def long_desc(self) -> str:
        return (
            "Crawl a labelled web with several strategies from the same seeds, and tell which finds most of what there"
            " is to find, soonest, measured against a crawler that knows everything and against chance. The web is a"
            " web file, the crawl.sqlite of a finished crawl, or demo. Example: scrapy lab --web demo --topics sorting"
            " --spiders best_first,keyword,hits:every=50 --seeds topic,generic --pages 300 --out crawls/lab. With"
            " `papers` it runs the experiments of the papers behind the strategies, all or those given by number, and"
            " sets their figures beside ours: scrapy lab papers 1 4 --web demo --topics sorting --pages 200"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Comparison").add_argument
        add("--web", metavar="FILE", default="demo", help="a web file, a finished crawl's file, or demo (default demo)")
        add(
            "--topics",
            metavar="DIR",
            default="sorting",
            help="a folder of topic files, or files and shipped topics with commas; shipped: all",
        )
        add(
            "--spiders",
            metavar="A,B",
            default="all",
            help="spiders to compare, with options as name:option=value:option=value (default all)",
        )
        add("--pages", type=int, default=500, metavar="N", help="pages that each crawl fetches (default 500)")
        add(
            "--seeds",
            nargs="+",
            default=["topic"],
            metavar="WAY",
            help="where to begin: topic (the topic's seeds), generic (a page of no topic), URLs; several make several"
            " comparisons (default topic)",
        )
        add("--generic", metavar="URL,URL", help="the generic start (default the page with most links and no label)")
        add("--repeat", type=int, default=1, metavar="R", help="crawls of each kind, by other chances (default 1)")
        add("--baseline", default="best_first", metavar="A", help="what others are tested against (default best_first)")
        add("--seed", type=int, default=1, help="of all that is left to chance (default 1)")
        add(
            "-a",
            dest="arguments",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an option for all spiders that have it",
        )
        add("--jobs", type=int, metavar="J", help="crawls at a time (default one a core)")
        add("--keep", action="store_true", help="keep the crawls' files, not their outcomes alone")
        add("--out", type=Path, default=Path("crawls/lab"), metavar="DIR", help="where to write (default crawls/lab)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args and args[0] != "papers":
            raise UsageError(
                f"cannot read '{args[0]}'; a web is given with --web, topics with --topics", print_help=False
            )
        try:
            if args:
                self._papers(args[1:], opts)
            else:
                self._run(opts)
        except _UnfinishedError as error:
            _say(str(error))
            self.exitcode = 1
        except FocusError as error:
            _say(str(error))
            self.exitcode = 2
        except KeyboardInterrupt:
            _say("stopped; the same command goes on where it was")
            self.exitcode = 130

    def _run(self, opts: argparse.Namespace) -> None:
        # here, because every command imports every command
        from focuscrawl.lab.advice import needs_of
        from focuscrawl.lab.character import character
        from focuscrawl.lab.charts import styles, write_charts
        from focuscrawl.lab.crawls import workers
        from focuscrawl.lab.report import lab_report
        from focuscrawl.lab.tables import summarise, superpositions, write_tables

        lab = self._lab(opts)
        console = Console(soft_wrap=True, highlight=False)
        with _lock(lab.folder), workers(_jobs(opts.jobs)) as processes:
            survey, trials, outcomes, failures = _crawl(lab, processes, console)
        rows = lab.rows(survey, trials, outcomes)
        baseline = opts.baseline
        summaries = summarise(rows, lab.pages, baseline, lab.seed)
        write_tables(lab.folder, rows, summaries, lab.pages)
        look = styles(list(dict.fromkeys(one.spider for one in summaries)))
        drawn = write_charts(lab.folder, summaries, look)
        about = character(survey, list({trial.topic: trial.relevant for trial in trials}.values())).tell(lab.title)
        needs = needs_of(lab.spiders)
        text = lab_report(
            summaries,
            superpositions(rows),
            look,
            web=lab.title,
            pages=lab.pages,
            baseline=baseline,
            starts=lab.starts,
            needs=needs,
            about=about,
            notes=[*lab.problems, *failures],
            command=shlex.join(["scrapy", *sys.argv[1:]]),
        )
        (lab.folder / "report.html").write_text(text, "utf-8")
        _conclude(console, lab, summaries, about, needs, baseline, drawn=drawn)
        if failures:
            self.exitcode = 1

    def _papers(self, args: Sequence[str], opts: argparse.Namespace) -> None:
        from focuscrawl.lab.crawls import workers
        from focuscrawl.lab.experiment import Results, as_markdown
        from focuscrawl.lab.papers import EXPERIMENTS

        numbers = [str(experiment.number) for experiment in EXPERIMENTS]
        for number in args:
            if number not in numbers:
                raise UsageError(f"paper '{number}' is none of {', '.join(numbers)}", print_help=False)
        lab = self._lab(opts)
        for problem in lab.problems:
            _say(problem)
        assert self.settings is not None
        loader = get_spider_loader(with_our_spiders(self.settings))
        console = Console(soft_wrap=True, highlight=False)
        parts: list[str] = []
        path = lab.folder / "papers.md"
        with _lock(lab.folder), workers(_jobs(opts.jobs)) as processes:
            for experiment in EXPERIMENTS:
                if args and str(experiment.number) not in args:
                    continue
                console.print(Text(f"\n{experiment.number}. {experiment.title}", style="bold"))
                try:
                    here = experiment.on(lab, loader)
                    survey, trials, outcomes, failures = _crawl(here, processes, console)
                    results = Results(here, survey, trials, outcomes)
                    if missing := experiment.missing(results):
                        raise FocusError(f"{', '.join(missing)} did not crawl")
                    if ways := [way for way in experiment.ways if way not in here.ways]:
                        raise FocusError(f"there is no {' or '.join(ways)} start")
                except FocusError as error:
                    _say(f"paper {experiment.number} cannot be tried on {lab.title}: {error}")
                    self.exitcode = 1
                    continue
                tables, verdict = experiment.tables(results), experiment.verdict(results)
                for table in tables:
                    shown = Table(title=table.title)
                    for column, name in enumerate(table.head):
                        shown.add_column(name, justify="right" if column else "left", overflow="fold")
                    for row in table.rows:
                        shown.add_row(*map(Text, row))
                    console.print(shown)
                console.print(Text(f"{verdict.word}: {verdict.why}"))
                parts.append(as_markdown(experiment, tables, verdict))
                path.write_text("\n".join(parts), "utf-8")
                if failures:
                    self.exitcode = 1
        if not parts:
            raise _UnfinishedError("no experiment could be tried")
        console.print(Text(f"\n{path}"))

    def _lab(self, opts: argparse.Namespace) -> Lab:
        """The comparison that was asked for; refuses what makes no sense before anything is read."""
        from focuscrawl.lab.lab import Lab
        from focuscrawl.lab.plan import read_spiders, read_starts, read_topics
        from focuscrawl.web.webs import open_web, web_file

        for option in ("pages", "repeat", "jobs"):
            value = getattr(opts, option)
            if value is not None and value < 1:
                raise FocusError(f"--{option} {value}: expected a whole number, at least 1")
        if opts.seed < 0:
            raise FocusError(f"--seed {opts.seed}: expected a whole number, at least 0")
        assert self.settings is not None
        check_settings(self.settings)
        settings = _settings(opts.set)
        try:
            common = arglist_to_dict(opts.arguments)
        except ValueError:
            raise FocusError("-a: expected NAME=VALUE") from None
        open_web(opts.web)
        ways, given = read_starts(opts.seeds)
        topics, problems = read_topics(opts.topics)
        loader = get_spider_loader(with_our_spiders(self.settings))
        spiders, unknown = read_spiders(opts.spiders, loader, opts.baseline, common)
        if problems or unknown:  # the rest is compared, but not what was asked for
            self.exitcode = 1
        _prepare(opts.out)
        file = web_file(opts.web)
        return Lab(
            web_name=opts.web if file is None else str(file.resolve()),
            topics=topics,
            spiders=spiders,
            ways=ways,
            given=given,
            generic=_generic(opts.generic),
            pages=opts.pages,
            repeats=opts.repeat,
            seed=opts.seed,
            folder=opts.out.resolve(),
            settings=settings,
            keep=opts.keep,
            problems=[*problems, *unknown],
        )


class _UnfinishedError(FocusError):
    """The work itself failed, not what was asked for."""


#: Settings that say which pages a crawl can reach; the limit and chance go by the web and the rules as they are.
_REACH = {
    *("FOCUS_ALLOW", "FOCUS_DENY", "FOCUS_SCOPE", "FOCUS_NOFOLLOW", "FOCUS_ROBOTS_META", "FOCUS_SITEMAPS"),
    *("ROBOTSTXT_OBEY", "DEPTH_LIMIT", "URLLENGTH_LIMIT", "REDIRECT_ENABLED"),
}


def _settings(given: list[str]) -> dict[str, str]:
    """The settings for all crawls."""
    settings: dict[str, str] = arglist_to_dict(given)
    for name in settings:
        if name in _REACH:
            raise FocusError(
                f"setting {name}: changes which pages can be reached, of which the limit and a random order would know"
                " nothing; compare on a web that has only what you want"
            )
    return settings


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    try:
        file = take_lock(folder / "crawls")
    except LockedError:
        raise FocusError(f"{folder} is in use by another comparison; wait for it, or choose another --out") from None
    with file:
        yield


def _crawl(
    lab: Lab, processes: Workers, console: Console
) -> tuple[Survey, list[Trial], dict[Job, Outcome], Counter[str]]:
    """Read the web and crawl it; what went wrong is told, and how often."""
    with _progress("reading the web") as show:
        survey = lab.read(processes, show)
    trials, jobs = lab.plan(survey)
    for problem in lab.problems:
        _say(problem)
    if not jobs:
        raise FocusError("nothing is left to compare")
    if "generic" in lab.ways:
        console.print(Text(f"The generic start is {printable(', '.join(lab.generic))}"))
    failures: Counter[str] = Counter()
    finished = 0
    with _progress("crawling") as show:
        show(0, len(jobs))

        def done(job: Job, problem: str | None) -> None:
            nonlocal finished
            finished += 1
            show(finished, len(jobs))
            if problem:
                failures[f"{job} failed: {problem}"] += 1

        outcomes = lab.run(processes, jobs, done)
    for failure, times in failures.items():
        _say(failure if times == 1 else f"{failure} ({times} times)")
    if not outcomes:
        raise _UnfinishedError("no crawl was finished")
    return survey, trials, outcomes, failures


def _jobs(asked: int | None) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return asked or cores or 1


def _generic(text: str | None) -> list[str]:
    from focuscrawl.lab.plan import read_starts

    if not text:
        return []
    ways, given = read_starts([text])
    if ways != ["given"]:
        raise FocusError(f"--generic {text}: expected one URL or more, separated by commas")
    return [urls.check(url) for url in given]


def _prepare(folder: Path) -> None:
    """A folder of ours, or a new one; somebody else's files are not written over."""
    for name in ("results.csv", "report.html"):
        if (folder / name).exists() and not (folder / "crawls").is_dir():
            raise FocusError(f"{folder} holds {name}, but no crawls that it belongs to; choose another --out")
    try:
        (folder / "crawls").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FocusError(f"cannot write to {folder}: {error.strerror}; choose another --out") from None


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; elsewhere a line for every tenth."""
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
    told = 0

    def show(done: int, total: int) -> None:
        nonlocal told
        bar.update(task, completed=done, total=total)
        if not live and total and done * 10 // total > told:
            told = done * 10 // total
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)

    with bar:
        yield show


def _conclude(
    console: Console,
    lab: Lab,
    summaries: Sequence[Summary],
    about: str,
    needs: Needs,
    baseline: str,
    *,
    drawn: bool,
) -> None:
    from focuscrawl.lab.advice import FEW, WAYS, advise

    console.print(Text(f"\n{about}"))
    for way in dict.fromkeys(one.seeds for one in summaries):
        those = [one for one in summaries if one.seeds == way]
        table = Table(title=f"{lab.title}, {lab.pages:,} pages from {WAYS.get(way, way)}")
        table.add_column("spider", overflow="fold")
        for name in ("score", "95 %", "harvest", "targets", "against", "p"):
            table.add_column(name, justify="right", no_wrap=True)
        for one in those:
            shares = one.means["harvest"], one.means["target_recall"]
            table.add_row(
                Text(one.title),
                f"{one.score:.3f}",
                f"{one.interval[0]:.2f}–{one.interval[1]:.2f}" if one.interval else "–",
                *("–" if share is None else f"{share:.1%}" for share in shares),
                f"{one.against.difference:+.3f}" if one.against else "–",
                f"{one.against.p:.2g}" if one.against and one.against.better + one.against.worse >= FEW else "–",
            )
        console.print()
        console.print(table)
        console.print(Text(f"against: difference of the score to that of {baseline}, and the probability p by chance."))
        console.print(Text(advise(those, lab.title, lab.pages, needs)))
    console.print(Text(f"\n{lab.folder / 'report.html'}"))
    console.print(Text(f"{lab.folder}/{{results,curves,summary,superposition,costs}}.csv"))
    if not drawn:
        console.print(Text("The charts are there as SVG; for PNG, too: pip install 'focuscrawl[lab]'"))


def _say(message: str) -> None:
    print(f"focuscrawl: {FocusError(message)}", file=sys.stderr)
