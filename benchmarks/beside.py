"""What a crawl pays for being watched: a dashboard that is open beside it, and the report that it writes meanwhile.

    python benchmarks/beside.py [ROUNDS]

Crawls a synthetic web, and asks its dashboard for the view Now every two seconds in every other stretch of the crawl;
compares the CPU time of the crawl's process per page, and the time that a page takes. Then writes the report of a large
crawl from a thread, as a running crawl does, and measures for how long the main thread could not run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import exp, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from dashboard import Serving, ask, build

from focuscrawl.errors import FocusError
from focuscrawl.reports.report import crawl_report
from focuscrawl.store.places import read_crawl
from focuscrawl.store.store import Store

#: Seconds between two requests for Now, as the page itself makes them.
POLL = 2.0
#: Seconds of a stretch: neighbours are alike, whatever else the machine does.
WINDOW = 2.0
#: Pages of the large crawl whose report is written.
LARGE = 200_000
WEB = "synthetic:1000000?hosts=50&links=40&bytes=15000"


@contextmanager
def crawling(folder: Path) -> Iterator[int]:
    """A crawl in a process of its own, while the block runs."""
    command = [
        *(sys.executable, "-m", "scrapy", "crawl", "best_first", "-a", "keywords=basalt,lava", "-L", "ERROR"),
        *("-a", "seeds=http://host-0.synthetic.example/", "-s", f"FOCUS_WEB={WEB}"),
        *("-s", f"FOCUS_DIR={folder}", "-s", "FOCUS_PROGRESS=False"),
    ]
    process = subprocess.Popen(command)
    try:
        while not stored(folder):
            time.sleep(0.1)
        yield process.pid
    finally:
        process.kill()
        process.wait()


def stored(folder: Path) -> int:
    """Pages stored so far."""
    try:
        with read_crawl(folder, check=False) as store:
            return store.pages.last_number()
    except FocusError:  # it is being created
        return 0


def cpu(process: int) -> float:
    """CPU seconds that a process has taken, to the nanosecond, with those of threads that have ended."""
    return time.clock_gettime((~process << 3) | 2)  # its clock, as clock_getcpuclockid(3) makes the number


class Window(NamedTuple):
    """What a page of the crawl took in some seconds."""

    cpu: float
    wall: float


def window(folder: Path, process: int, address: str | None) -> Window:
    """Watch the crawl for some seconds; with an address, Now is asked for meanwhile."""
    pages, before, began = stored(folder), cpu(process), time.monotonic()
    while time.monotonic() < began + WINDOW:
        if address is not None:
            ask(f"{address}c/{folder.name}/now")
        time.sleep(POLL)
    pages = stored(folder) - pages
    return Window((cpu(process) - before) / pages, (time.monotonic() - began) / pages)


def ratio(watched: Sequence[float], alone: Sequence[float]) -> str:
    """The median ratio of pairs, with its 95 % interval, both by Wilcoxon's signed ranks: no pair counts for much.

    That is the median of the means of all pairs of log ratios (Hodges and Lehmann, 1963).
    """
    logs = np.log(np.array(watched) / np.array(alone))
    count = len(logs)
    one, other = np.triu_indices(count)
    means = np.sort((logs[one] + logs[other]) / 2)
    middle = len(means) / 2
    error = 1.96 * sqrt(count * (count + 1) * (2 * count + 1) / 24)
    low, high = max(0, round(middle - error)), min(len(means) - 1, round(middle + error))
    at = (exp(value) for value in (np.median(means), means[low], means[high]))
    return "{:.1%} (95 % interval {:.1%} to {:.1%})".format(*at)


def beside(rounds: int) -> None:
    """Compare the same crawl with and without somebody who looks at its dashboard, in turns."""
    alone: list[Window] = []
    watched: list[Window] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "crawl")
        with crawling(folder) as process, Serving(folder) as (address, _):
            ask(f"{address}c/{folder.name}/now")
            for number in range(rounds):
                for looks in (False, True) if number % 2 else (True, False):
                    (watched if looks else alone).append(window(folder, process, address if looks else None))
            pages = stored(folder)
    print(f"a crawl whose dashboard is asked every {POLL:g} s, against the same crawl without:")
    print(f"CPU per page   {ratio([one.cpu for one in watched], [one.cpu for one in alone])}")
    print(f"time per page  {ratio([one.wall for one in watched], [one.wall for one in alone])}")
    middle = statistics.median(one.cpu for one in alone)
    print(f"{rounds} pairs of {WINDOW:g} s by turns, {1000 * middle:.2f} ms of CPU a page, {pages:,} pages")


def report(pages: int) -> None:
    """Write the report of a large crawl from a thread, while the main thread wants to run every millisecond."""
    with tempfile.TemporaryDirectory() as place:
        build(Path(place), pages)
        path = Path(place, "crawl.sqlite")

        def write() -> None:
            store = Store(path, create=False, check=False, any_thread=True)
            store.browse.small_cache()
            Path(place, "report.html").write_text(crawl_report(store, running=True))
            store.close()

        thread = threading.Thread(target=write)
        began = before = time.perf_counter()
        taken, longest = time.process_time(), 0.0
        thread.start()
        while thread.is_alive():
            time.sleep(0.001)
            now = time.perf_counter()
            longest, before = max(longest, now - before), now
        taken = time.process_time() - taken
        took = time.perf_counter() - began
    print(
        f"report of {pages:,} pages: {taken:.1f} s of CPU in {took:.1f} s; the longest pause of the main thread:"
        f" {1000 * longest:.0f} ms"
    )


def main() -> None:
    beside(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
    report(LARGE)


if __name__ == "__main__":
    main()
