"""What a large crawl on PostgreSQL takes, computed from a small one that is measured first.

    python benchmarks/scale.py [--pages 1000] [--urls 10] [--cores 16] [--memory 64] [--servers 1,10]

Two workers crawl synthetic pages of 20 kB with 60 links, without delay, with bodies in WARC files. Measured: CPU of
workers and server per page, memory of a worker, bytes per page in the database and in WARC files, bytes per URL seen.
Assumed, and printed: new URLs per page of a real crawl, cores and memory of a server, half of its cores busy. Delays of
hosts are not counted: they decide how many hosts are needed, not how many machines.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import cluster  # noqa: E402

from tests.postgres import Server  # noqa: E402

WEB = "synthetic:1000000?hosts=40&links=60&bytes=20000"
#: Share of a server's cores and of its memory that a crawl is to take.
BUSY = 0.5


class Costs(NamedTuple):
    """What was measured: seconds of CPU and bytes."""

    worker: float
    server: float
    worker_memory: float
    row: float
    body: float
    url: float
    key: float


def memory(process: subprocess.Popen[bytes]) -> float:
    """The most memory that a process has had, in bytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * float(line.split()[1])
    return 0.0


def measured(server: Server, folder: Path, pages: int) -> Costs:
    """Crawl so many pages with two workers."""
    with server.schema() as address:
        options = {
            "DOWNLOAD_DELAY": 0,
            "FOCUS_PATIENCE": 0,
            "CONCURRENT_REQUESTS": 16,
            "FOCUS_BODIES": f"warc:{folder}/b",
        }
        started = [cluster.worker(address, folder / f"w{number}", WEB, pages, **options) for number in range(2)]
        most = [0.0]

        def stored() -> int:
            most.extend(memory(process) for process in started if process.poll() is None)
            return cluster.stored_pages(server, address)

        found = cluster.measure(started, lambda: cluster.server_cpu(server), stored, pages)

        def size(*tables: str) -> int:
            listed = ", ".join(f"'{name}'" for name in tables)
            query = f"SELECT sum(pg_total_relation_size(name::regclass))::bigint FROM unnest(ARRAY[{listed}]) AS name"
            return int(cluster.rows(server, address, query)[0][0])

        (urls,) = cluster.rows(server, address, "SELECT count(*) FROM url")[0]
        (keys,) = cluster.rows(server, address, "SELECT pg_relation_size('url_key')")[0]
        number = found.pages
        return Costs(
            found.workers / 1000,
            found.server / 1000,
            max(most),
            size("page", "link", "reason", "rights", "metadata") / number,
            sum(path.stat().st_size for path in (folder / "b").iterdir()) / number,
            size("url", "frontier", "news") / urls,
            keys / urls,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--urls", type=float, default=10)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--memory", type=float, default=64)
    parser.add_argument("--servers", default="1,10")
    given = parser.parse_args()
    server = Server()
    try:
        with tempfile.TemporaryDirectory() as folder:
            costs = measured(server, Path(folder), given.pages)
    finally:
        for process in cluster.WORKERS:
            process.kill()
        server.remove()
    print(
        f"measured, {given.pages:,} pages of 20 kB with 60 links, two workers:\n"
        f"  CPU per page      worker {1000 * costs.worker:.1f} ms, server {1000 * costs.server:.1f} ms\n"
        f"  memory            {costs.worker_memory / 1e6:.0f} MB per worker\n"
        f"  per page          {costs.row / 1e3:.1f} kB in the database, {costs.body / 1e3:.1f} kB in WARC files\n"
        f"  per URL seen      {costs.url:.0f} bytes in the database, {costs.key:.0f} of them in the index of keys\n"
        f"assumed: {given.urls:g} new URLs per page, servers with {given.cores} cores and {given.memory:g} GB, half of"
        " both for the crawl"
    )
    for pages in (10**8, 10**9):
        for servers in map(int, given.servers.split(",")):
            rate = servers * BUSY * given.cores / costs.server
            urls = given.urls * pages
            keys = costs.key * urls / servers / 1e9
            print(
                f"{pages:,} pages on {servers} server{'' if servers == 1 else 's'}: at most {rate:,.0f} pages/s,"
                f" {pages / rate / 3600:,.0f} hours, {rate * costs.worker:,.0f} cores for workers;"
                f" {(costs.row * pages + costs.url * urls) / servers / 1e12:.1f} TB of database per server,"
                f" {costs.body * pages / 1e12:.1f} TB of WARC files; the index of keys takes {keys:,.0f} GB of memory"
                f" per server{'' if keys <= BUSY * given.memory else ': more than there is'}"
            )
    print(
        f"one server ends at about {BUSY * given.memory * 1e9 / costs.key / given.urls / 1e6:,.0f} million pages, where"
        " the index of keys no longer fits into its memory"
    )


if __name__ == "__main__":
    main()
