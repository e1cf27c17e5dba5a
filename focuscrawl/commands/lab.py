"""`scrapy lab`: every strategy on the same labelled web, against the best possible order."""

from __future__ import annotations

import argparse
import shlex
import sys
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import arglist_to_dict

from focuscrawl import urls
from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.crawl.checks import check_settings
from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.spiders import with_our_spiders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuscrawl.lab.experiment import Experiment
    from focuscrawl.lab.lab import Lab
    from focuscrawl.lab.polite import Manners


class Command(FocusCommand):
    """Compare strategies on a labelled web."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "[papers [1 2 …]] --web FILE --topics DIR [--spiders a,b|all] [--seeds topic,generic,URL] [--pages N]"

    def short_desc(self) -> str:
        return "Compare strategies on a labelled web, against the best possible order"

    def long_desc(self) -> str:
        return (
            "Crawl a labelled web with several strategies from the same seeds, and show which finds the most relevant"
            " pages soonest, compared with the best possible and with a random order. The web is a web file, the"
            f" crawl.sqlite of a finished crawl, or demo. Example: {program()} lab --web demo --topics sorting"
            " --spiders"
            " best_first,keyword,hits:every=50 --seeds topic,generic --pages 300 --out crawls/lab. With --pace, the"
            " crawls are polite and timed on a simulated clock. With `papers`, it runs the experiments of the papers"
            " behind the strategies, all or those given by number, and compares their figures with ours:"
            f" {program()} lab papers 1 4 --web demo --topics sorting --pages 200"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Comparison").add_argument
        add("--web", metavar="FILE", default="demo", help="a web file, a finished crawl's file, or demo (default demo)")
        add(
            "--topics",
            metavar="DIR",
            default="sorting",
            help="a folder of topic files, or files and shipped topics, separated by commas; shipped: all shipped ones",
        )
        add(
            "--spiders",
            metavar="A,B",
            default="all",
            help="spiders to compare, with options as name:option=value:option=value (default all)",
        )
        add("--pages", type=int, default=500, metavar="N", help="pages fetched by each crawl (default 500)")
        add(
            "--seeds",
            nargs="+",
            default=["topic"],
            metavar="WAY",
            help="where to start: topic (the topic's seeds), generic (a page without a topic), URLs; one comparison for"
            " each (default topic)",
        )
        add("--generic", metavar="URL,URL", help="the generic start (default the unlabelled page with the most links)")
        add("--repeat", type=int, default=1, metavar="R", help="repeat each crawl with R random seeds (default 1)")
        add(
            "--baseline",
            default="best_first",
            metavar="A",
            help="the spider that others are tested against (default best_first)",
        )
        add("--seed", type=int, default=1, help="random seed (default 1)")
        add(
            "-a",
            dest="arguments",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an option for all spiders that have it",
        )
        add(
            "--pace",
            type=float,
            metavar="S",
            help="crawl politely, on a simulated clock: seconds between two requests to a host",
        )
        add("--latency", type=float, metavar="S", help=f"with --pace: mean seconds per request (default {_LATENCY:g})")
        add("--concurrency", type=int, metavar="N", help=f"with --pace: most requests at once (default {_CONCURRENCY})")
        add("--jobs", type=int, metavar="J", help="crawls in parallel (default one per core)")
        add("--keep", action="store_true", help="keep the files of the crawls, not only their results")
        add("--out", type=Path, default=Path("crawls/lab"), metavar="DIR", help="where to write (default crawls/lab)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        # not at the top, because Scrapy imports all commands to run one
        from focuscrawl.lab.session import UnfinishedError

        if args and args[0] != "papers":
            raise UsageError(
                f"unexpected argument '{args[0]}'; give a web with --web, topics with --topics", print_help=False
            )
        try:
            if args:
                self._papers(args[1:], opts)
            else:
                self._compare(opts)
        except UnfinishedError as error:
            self.say(str(error))
            self.exitcode = 1
        except KeyboardInterrupt:
            self.say("stopped; the same command resumes the comparison")
            self.exitcode = 130

    def _compare(self, opts: argparse.Namespace) -> None:
        """Crawl with every spider, and write and show the results."""
        from focuscrawl.lab.findings import Findings
        from focuscrawl.lab.session import crawl, session
        from focuscrawl.lab.terminal import Terminal

        lab, terminal = self._lab(opts), Terminal()
        with session(lab.folder, opts.jobs) as processes:
            crawled = crawl(lab, processes, terminal)
        findings = Findings.of(lab, crawled, opts.baseline)
        pictures = findings.write(shlex.join([program(), "lab", *sys.argv[1:]]))
        terminal.show_findings(findings, pictures=pictures)
        if crawled.failures:
            self.exitcode = 1

    def _papers(self, args: Sequence[str], opts: argparse.Namespace) -> None:
        """Run the experiments of the papers, and write and show the results."""
        from focuscrawl.lab.experiment import CLAIMS, as_markdown, claim_rows
        from focuscrawl.lab.session import UnfinishedError, crawl_experiment, session
        from focuscrawl.lab.tables import write_csv
        from focuscrawl.lab.terminal import Terminal

        experiments = _experiments(args)
        lab, terminal = self._lab(opts), Terminal()
        for problem in lab.problems:
            self.say(problem)
        loader = self._loader()
        sections: list[str] = []
        claims: list[tuple[object, ...]] = []
        path = lab.folder / "papers.md"
        with session(lab.folder, opts.jobs) as processes:
            for experiment in experiments:
                terminal.begin_experiment(experiment)
                try:
                    results, failures = crawl_experiment(experiment, lab, loader, processes, terminal)
                except FocusError as error:
                    self.say(f"paper {experiment.number} cannot be run on {lab.title}: {error}")
                    self.exitcode = 1
                    continue
                tables, verdict = experiment.tables(results), experiment.verdict(results)
                terminal.show_experiment(tables, verdict)
                sections.append(as_markdown(experiment, tables, verdict))
                write_whole(path, "\n".join(sections))
                claims += claim_rows(experiment, results)
                write_csv(lab.folder / "claims.csv", CLAIMS, claims)
                if failures:
                    self.exitcode = 1
        if not sections:
            raise UnfinishedError("no experiment could be run")
        terminal.print(f"\n{path}")

    def _loader(self) -> Any:
        assert self.settings is not None
        return get_spider_loader(with_our_spiders(self.settings))

    def _lab(self, opts: argparse.Namespace) -> Lab:
        """The comparison that the options describe; invalid options are rejected before anything is read."""
        from focuscrawl.lab.lab import Lab
        from focuscrawl.lab.plan import read_spiders, read_starts, read_topics
        from focuscrawl.web.webs import open_web, web_file

        _check_numbers(opts)
        assert self.settings is not None
        check_settings(self.settings)
        manners = _manners(opts)
        settings = _settings(opts.set, manners)
        common = _common_options(opts.arguments)
        open_web(opts.web)
        ways, given = read_starts(opts.seeds)
        topics, problems = read_topics(opts.topics)
        spiders, unknown = read_spiders(opts.spiders, self._loader(), opts.baseline, common)
        if problems or unknown:  # the rest is compared, but the command has not done all its work
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
            manners=manners,
            keep=opts.keep,
            problems=[*problems, *unknown],
        )


def _experiments(numbers: Sequence[str]) -> list[Experiment]:
    """The experiments with these numbers, or all."""
    from focuscrawl.lab.papers import EXPERIMENTS

    known = [str(experiment.number) for experiment in EXPERIMENTS]
    for number in numbers:
        if number not in known:
            raise UsageError(f"unknown paper '{number}'; known papers: {', '.join(known)}", print_help=False)
    return [experiment for experiment in EXPERIMENTS if not numbers or str(experiment.number) in numbers]


def _check_numbers(opts: argparse.Namespace) -> None:
    for option in ("pages", "repeat", "jobs"):
        value = getattr(opts, option)
        if value is not None and value < 1:
            raise FocusError(f"--{option} {value}: expected a whole number, at least 1")
    if opts.seed < 0:
        raise FocusError(f"--seed {opts.seed}: expected a whole number, at least 0")


#: The politeness of a crawl on the clock, unless options say otherwise.
_LATENCY = 0.25
_CONCURRENCY = 16


def _manners(opts: argparse.Namespace) -> Manners | None:
    """The politeness of all crawls, if they are to be polite."""
    from focuscrawl.lab.polite import Manners

    for option in ("pace", "latency"):
        value = getattr(opts, option)
        if value is not None and not 0 <= value < inf:
            raise FocusError(f"--{option} {value:g}: expected a number of seconds, at least 0")
    if opts.concurrency is not None and opts.concurrency < 1:
        raise FocusError(f"--concurrency {opts.concurrency}: expected a whole number, at least 1")
    if opts.pace is None:
        for option in ("latency", "concurrency"):
            if getattr(opts, option) is not None:
                raise FocusError(f"--{option}: needs --pace, without which crawls are not timed")
        return None
    latency = _LATENCY if opts.latency is None else opts.latency
    return Manners(opts.pace, latency, opts.concurrency or _CONCURRENCY)


def _common_options(given: list[str]) -> dict[str, str]:
    """The options for all spiders that have them."""
    try:
        options: dict[str, str] = arglist_to_dict(given)
    except ValueError:
        raise FocusError("-a: expected NAME=VALUE") from None
    return options


#: Settings that change which pages a crawl can reach; the best possible and the random order ignore them.
_REACH = {
    *("FOCUS_ALLOW", "FOCUS_DENY", "FOCUS_SCOPE", "FOCUS_NOFOLLOW", "FOCUS_ROBOTS_META", "FOCUS_SITEMAPS"),
    *("ROBOTSTXT_OBEY", "DEPTH_LIMIT", "URLLENGTH_LIMIT", "REDIRECT_ENABLED"),
}


#: Settings that --pace decides, and what to do instead.
_PACED = {
    "DOWNLOAD_DELAY": "with --pace, that option sets the delay; give --pace only",
    "CONCURRENT_REQUESTS": "with --pace, give --concurrency instead",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "with --pace, a host gets one request at a time; leave it out",
    "FOCUS_WEB_LATENCY": "with --pace, give --latency instead",
}


def _settings(given: list[str], manners: Manners | None) -> dict[str, str]:
    """The settings for all crawls."""
    settings: dict[str, str] = arglist_to_dict(given)
    for name in settings:
        if manners is not None and name in _PACED:
            raise FocusError(f"setting {name}: {_PACED[name]}")
        if name in _REACH:
            raise FocusError(
                f"setting {name}: changes which pages can be reached, which the best possible and the random order"
                " ignore; compare on a web that has only the pages you want"
            )
    return settings


def _generic(text: str | None) -> list[str]:
    from focuscrawl.lab.plan import read_starts

    if not text:
        return []
    ways, given = read_starts([text])
    if ways != ["given"]:
        raise FocusError(f"--generic {text}: expected one URL or more, separated by commas")
    return [urls.check(url) for url in given]


def _prepare(folder: Path) -> None:
    """Create the folder for the results; refuses one with files that no comparison wrote."""
    for name in ("results.csv", "report.html"):
        if (folder / name).exists() and not (folder / "crawls").is_dir():
            raise FocusError(f"{folder} contains {name}, but no crawls; choose another --out")
    try:
        (folder / "crawls").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FocusError(f"cannot write to {folder}: {error.strerror}; choose another --out") from None
