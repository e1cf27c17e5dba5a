"""`scrapy web`: serve a web file over HTTP on loopback."""

from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path

from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError
from focuscrawl.web.server import WebServer
from focuscrawl.web.webs import MemoryWeb, open_web


class Command(FocusCommand):
    """Serve a web file, as a proxy and directly, until it is stopped."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<FILE|demo> [--port P] [--synthetic N] [--save FILE]"

    def short_desc(self) -> str:
        return "Serve a web file over HTTP on loopback"

    def long_desc(self) -> str:
        return (
            "Serve a web file, the embedded web (demo) or a synthetic one (--synthetic N) over HTTP on 127.0.0.1: as a"
            " proxy, which keeps the original host names, and directly, as http://127.0.0.1:PORT/HOST/path."
            f" Example: {program()} web demo --port 8000"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--port", type=int, default=8000, help="port to listen on, 0 for any free one (default 8000)"
        )
        parser.add_argument("--synthetic", type=int, metavar="N", help="a web of N pages, generated on request")
        parser.add_argument(
            "--hosts", type=int, default=0, help="with --synthetic: number of hosts (default square root of N)"
        )
        parser.add_argument("--links", type=int, default=60, help="with --synthetic: links per page (default 60)")
        parser.add_argument("--bytes", type=int, default=20000, help="with --synthetic: bytes per page (default 20000)")
        parser.add_argument("--save", metavar="FILE", type=Path, help="write the web to a web file instead (demo only)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.synthetic is not None:
            name = f"synthetic:{opts.synthetic}?hosts={opts.hosts}&links={opts.links}&bytes={opts.bytes}"
        elif len(args) == 1:
            name = args[0]
        else:
            raise UsageError("give one web file, demo or --synthetic N", print_help=False)
        web = open_web(name)
        if opts.save:
            self._save(web, name, opts.save)
            return
        try:
            server = WebServer(web, opts.port)
        except OverflowError:
            raise FocusError(f"--port {opts.port}: expected a port from 0 to 65535") from None
        except OSError as error:
            raise FocusError(
                f"cannot listen on port {opts.port}: {error.strerror}; choose another with --port"
            ) from None
        print(f"Serving {name}, Ctrl-C stops")
        print(f"  in a browser  {server.address}/")
        print(f"  as a proxy    http_proxy={server.address} {program()} crawl … -s DOWNLOAD_DELAY=0", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
        finally:
            server.server_close()

    def _save(self, web: object, name: str, path: Path) -> None:
        if not isinstance(web, MemoryWeb):
            raise FocusError(f"web '{name}' cannot be saved; only demo can")
        if path.exists():
            raise FocusError(f"{path} already exists; move it away or choose another --save")
        try:
            web.save(path)
        except (OSError, sqlite3.Error) as error:
            raise FocusError(f"cannot write {path}: {error}") from None
        print(f"Wrote {path}: {sum(1 for _ in web.pages())} pages on {len(web.hosts())} hosts")
