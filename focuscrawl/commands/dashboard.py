"""`scrapy dashboard`: a crawl, or a folder of crawls, in a web browser."""

from __future__ import annotations

import argparse
import ipaddress
import webbrowser
from importlib.util import find_spec

from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError, printable

_NEEDED = ("starlette", "jinja2", "uvicorn")


class Command(FocusCommand):
    """Serve the dashboard until it is stopped."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR|FOLDER> [--port P] [--open] [--host ADDRESS --token TOKEN]"

    def short_desc(self) -> str:
        return "Show a crawl, or a folder of crawls, in a web browser"

    def long_desc(self) -> str:
        return (
            "Show the crawl in DIR, running or finished, or all crawls below FOLDER in a web browser: figures, pages,"
            " search, queue, hosts. It reads the crawl's file and writes only marks. It listens on this machine alone,"
            f" unless --host and --token are given. Example: {program()} dashboard crawls/demo --open"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Dashboard").add_argument
        add("--port", type=int, default=8080, metavar="P", help="port to listen on, 0 for any free one (default 8080)")
        add("--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (default 127.0.0.1)")
        add("--token", default="", help="ask for this token; needed with --host")
        add("--open", action="store_true", help="open it in the web browser")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give the directory of a crawl, or a folder of crawls", print_help=False)
        if any(find_spec(name) is None for name in _NEEDED):
            raise FocusError(f"{program()} dashboard needs some packages: pip install 'focuscrawl[dashboard]'")
        if not _is_loopback(opts.host) and not opts.token:
            raise FocusError(f"--host {opts.host}: anyone there could read the crawl; add --token with a secret")
        if opts.token and len(opts.token) < 8:
            raise FocusError("--token: expected at least 8 characters")
        from focuscrawl.dashboard.server import Server

        try:
            server = Server(args[0], opts.host, opts.port, opts.token)
        except OverflowError:
            raise FocusError(f"--port {opts.port}: expected a port from 0 to 65535") from None
        except OSError as error:
            raise FocusError(
                f"cannot listen on {opts.host}, port {opts.port}: {error.strerror}; choose another with --port"
            ) from None
        print(f"{printable(server.describe())}, Ctrl-C stops")
        print(f"  {server.address}", flush=True)
        if opts.open:
            webbrowser.open(server.address)
        try:
            server.serve()
        except KeyboardInterrupt:
            print()
        finally:
            server.close()


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
