"""Workers of one crawl on a PostgreSQL server, each a process, on a web of many hosts on loopback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

from tests.conftest import ROOT
from tests.hosts import MISSING, Answer, ManyHosts, host, page, serving
from tests.postgres import Server

#: Seconds of a lease in these tests.
LEASE = 3.0


def web_of(hosts: int, pages: int) -> Callable[[str, str], Answer]:
    """A web in which every page links to the next one of its host, and to the same one of two other hosts."""
    names = [host(number) for number in range(hosts)]

    def answer(name: str, path: str) -> Answer:
        if path == "/robots.txt" or name not in names or not path.strip("/").isdigit():
            return MISSING
        here, number = names.index(name), int(path.strip("/"))
        links = [f"/{number + 1}"] if number + 1 < pages else []
        others = [names[(here * 2 + step) % hosts] for step in (1, 2)]
        port = answer.port  # type: ignore[attr-defined]
        return page(*links, *(f"http://{other}:{port}/{number}" for other in others))

    return answer


class Workers:
    """The workers of one crawl."""

    def __init__(self, server: Server, address: str, web: ManyHosts, folder: Path, **settings: object) -> None:
        self.server = server
        self.address = address
        self.schema = address.rpartition("=")[2]
        self.web = web
        self.folder = folder
        self.settings = {"FOCUS_LEASE": LEASE, "FOCUS_BACKOFF_MAX": 1, "LOG_LEVEL": "INFO", **settings}
        self.seed = web.at(host(0), "/0")
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(
        self, count: int = 1, spider: str = "breadth_first", prefix: tuple[str, ...] = (), **settings: object
    ) -> None:
        """Start workers, by a command with a prefix."""
        for _ in range(count):
            number = len(self.processes)
            given = {"FOCUS_STORE": self.address, "FOCUS_DIR": self.folder / f"w{number}", **self.settings, **settings}
            kinds = {name: "-s" if name.isupper() else "-a" for name in given}
            options = [word for name, value in given.items() for word in (kinds[name], f"{name}={value}")]
            seed = f"seeds={self.seed}"
            command = [*prefix, sys.executable, "-m", "scrapy", "crawl", spider, "-a", seed, *options]
            with (self.folder / f"w{number}.log").open("wb") as log:
                self.processes.append(
                    subprocess.Popen(command, cwd=ROOT, stderr=log, stdout=log, env={**os.environ, "NO_COLOR": "1"})
                )

    def log(self, number: int) -> str:
        """What a worker has said."""
        return (self.folder / f"w{number}.log").read_text()

    def kill(self, number: int, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to a worker."""
        self.processes[number].send_signal(how)

    def sql(self, query: str) -> list[tuple]:
        """The rows of a query."""
        return self.server.sql(query, schema=self.schema)

    def pages(self) -> int:
        """How many pages are stored; 0 before the crawl exists."""
        exists = self.server.sql("SELECT to_regclass(%s)", f"{self.schema}.page")[0][0]
        return self.sql("SELECT count(*) FROM page")[0][0] if exists else 0

    def wait_for(self, pages: int, timeout: float = 60) -> None:
        """Wait until so many pages are stored."""
        self.until(lambda: self.pages() >= pages, timeout)

    def until(self, condition: Callable[[], bool], timeout: float = 60) -> None:
        """Wait for a condition."""
        end = monotonic() + timeout
        while not condition():
            assert monotonic() < end, "\n".join(self.log(number)[-3000:] for number in range(len(self.processes)))
            sleep(0.1)

    def finish(self, timeout: float = 90) -> list[int]:
        """Wait until all workers have ended by themselves; their exit statuses."""
        end = monotonic() + timeout
        for number, process in enumerate(self.processes):
            try:
                process.wait(max(0.1, end - monotonic()))
            except subprocess.TimeoutExpired:
                raise AssertionError(f"worker {number} does not end: {self.log(number)[-3000:]}") from None
        return [process.returncode for process in self.processes]

    def gaps(self) -> dict[str, float]:
        """The shortest time between two requests for pages of a host, by the web server's log."""
        times: dict[str, list[float]] = defaultdict(list)
        for moment, name, _ in self.web.asked:
            times[name].append(moment)
        return {
            name: min(later - earlier for earlier, later in pairwise(sorted(found))) for name, found in times.items()
        }

    def asked(self) -> list[str]:
        """The pages that were asked for."""
        return [f"{name}{path}" for _, name, path in list(self.web.asked) if re.fullmatch(r"/\d+", path)]

    def end(self) -> None:
        """Kill those that still run."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()


@contextmanager
def cluster(server: Server, folder: Path, hosts: int, pages: int, **settings: object) -> Iterator[Workers]:
    """A web of so many hosts with so many pages each, and no workers yet."""
    answer = web_of(hosts, pages)
    with serving(answer) as web, server.schema() as address:
        answer.port = web.server_port  # type: ignore[attr-defined]
        workers = Workers(server, address, web, folder, **settings)
        try:
            yield workers
        finally:
            workers.end()
