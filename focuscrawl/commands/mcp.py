"""`scrapy mcp`: a server for language models (Model Context Protocol) over standard input and output."""

from __future__ import annotations

import argparse
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.crawl.checks import check_settings
from focuscrawl.errors import FocusError
from focuscrawl.mcp_server.crawls import Bounds, Crawls
from focuscrawl.mcp_server.shelf import Shelf


class Command(FocusCommand):
    """Serve crawls to a language model."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR>… [--allow-crawl --hosts HOSTS --pages N --hours H | --bounds FILE]"

    def short_desc(self) -> str:
        return "Let a language model search and read crawls (Model Context Protocol)"

    def long_desc(self) -> str:
        return (
            "Serve the crawls in each DIR, which is a crawl or holds crawls, to a language model over standard input"
            " and output, with the Model Context Protocol: search, read, explain, status, topics. It can start and"
            " resume crawls only with --allow-crawl and all three bounds. Example, as the command of a client:"
            f" {program()}"
            " mcp crawls --allow-crawl --hosts example.com,example.org --pages 500 --hours 2"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Crawls that the model may start").add_argument
        add("--allow-crawl", action="store_true", help="let the model start and resume crawls within these bounds")
        add("--hosts", metavar="HOSTS", help="hosts that crawls may fetch from, separated by commas")
        add("--pages", type=int, metavar="N", help="pages that all of them together may fetch")
        add("--hours", type=float, metavar="H", help="hours that all of them together may take")
        add("--bounds", type=Path, metavar="FILE", help="a TOML file with hosts, pages and hours")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("give directories of crawls, or one that holds crawls", print_help=False)
        assert self.settings is not None
        check_settings(self.settings)
        bounds = _bounds(opts)
        shelf = Shelf(args, self.settings.getlist("FOCUS_RIGHTS"))
        crawls = Crawls(shelf, bounds, self.settings, opts.set) if bounds is not None else None
        if find_spec("mcp") is None or find_spec("mcp_types") is None:
            raise FocusError("the MCP SDK is not installed; run: pip install 'focuscrawl[mcp]'")
        from focuscrawl.mcp_server.server import make_server

        if sys.stdin.isatty():
            self.say("waiting for a client on standard input, which docs/mcp.md tells how to register; Ctrl-C ends")
        signal.signal(signal.SIGTERM, _end)
        try:
            make_server(shelf, crawls).run("stdio")
        except KeyboardInterrupt:
            self.exitcode = 130
        finally:
            if crawls is not None:
                crawls.close()


def _end(*_: Any) -> None:
    sys.exit(143)


def _bounds(opts: argparse.Namespace) -> Bounds | None:
    """The bounds of crawls; None if the model may not start any."""
    given = {name: getattr(opts, name) for name in ("hosts", "pages", "hours")}
    some = [f"--{name}" for name, value in given.items() if value is not None]
    if opts.bounds is not None and some:
        raise FocusError(f"{some[0]} and --bounds exclude each other; give one of them")
    if not opts.allow_crawl:
        if some or opts.bounds is not None:
            raise FocusError(
                f"{[*some, '--bounds'][0]} has no effect without --allow-crawl; add it, or remove the bounds"
            )
        return None
    if opts.bounds is not None:
        return Bounds.read(opts.bounds)
    if len(some) < len(given):
        missing = next(f"--{name}" for name, value in given.items() if value is None)
        raise FocusError(f"--allow-crawl needs --hosts, --pages and --hours; {missing} is missing")
    return Bounds(tuple(host.strip() for host in opts.hosts.split(",") if host.strip()), opts.pages, opts.hours)
