"""`scrapy workers`: who crawls a shared crawl."""

from __future__ import annotations

import argparse
import json

from rich import box
from rich.console import Console
from rich.table import Table
from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError, printable
from focuscrawl.store.leases import Worker
from focuscrawl.store.places import crawl_folder, is_address, open_store

#: Seconds after which a worker that says nothing is shown as silent.
_SILENT = 60.0


class Command(FocusCommand):
    """List the workers of a crawl on PostgreSQL."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "[--all] [--json] <ADDRESS>"

    def short_desc(self) -> str:
        return "Show who crawls a shared crawl, and what each worker holds"

    def long_desc(self) -> str:
        return (
            "List the workers of the crawl at ADDRESS: the hosts that each holds, its pages, its pace, and how many of"
            f" its leases have expired. Example: {program()} workers postgresql://crawler@db/crawl"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--all", action="store_true", help="also list workers that have left")
        parser.add_argument("--json", action="store_true", help="print JSON, for scripts")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give the address of a crawl", print_help=False)
        place = crawl_folder(args[0])
        if not is_address(place):
            raise FocusError(
                f"{place} is a directory: only a crawl on PostgreSQL has workers; see `{program()} status`"
            )
        store = open_store(place, create=False)
        try:
            with store.reading():
                found: list[Worker] = store.leases.workers()  # type: ignore[attr-defined]
        finally:
            store.close()
        shown = [worker for worker in found if opts.all or not worker.gone]
        if opts.json:
            print(json.dumps([worker._asdict() | {"gone": bool(worker.gone)} for worker in shown], indent=2))
        elif shown:
            Console(highlight=False).print(_table(shown))
        else:
            print(
                f"nobody crawls; {len(found):,} {'worker has' if len(found) == 1 else 'workers have'} left, see --all"
            )


def _table(workers: list[Worker]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("worker", "machine and process", "state", "joined (UTC)"):
        table.add_column(name)
    for name in ("hosts", "pages", "relevant", "pages/s", "expired"):
        table.add_column(name, justify="right")
    for worker in workers:
        state = "left" if worker.gone else f"silent for {worker.silent:,.0f} s" if worker.silent > _SILENT else "works"
        table.add_row(
            *(str(worker.id), printable(worker.name), state, worker.joined, f"{worker.hosts:,}", f"{worker.pages:,}"),
            *(f"{worker.relevant:,}", f"{worker.pace:.1f}", f"{worker.expired:,}"),
        )
    return table
