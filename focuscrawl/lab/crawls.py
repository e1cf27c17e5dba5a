"""The crawls of a comparison: real spiders, middlewares and frontier on a replayed web, in parallel.

Each process runs many crawls in sequence, which saves about a second of start-up time per crawl. A finished crawl
leaves one JSON file; crawls that have a file are not run again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, TypeVar

from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.lab import virtual_time
from focuscrawl.lab.plan import Job
from focuscrawl.lab.polite import Manners

T = TypeVar("T")
#: Makes crawls reproducible (fixed order of sets) and leaves the cores to other processes (one thread per process).
ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass
class Outcome:
    """What a crawl fetched, in order, and what it cost."""

    urls: list[str]
    #: Whether the spider judged each page relevant; None if it had nothing to judge by, or for a near-duplicate.
    judged: list[bool | None]
    #: Whether each page is listed in URLs.txt.
    matched: list[bool]
    #: Requests of any kind: pages, redirects, robots.txt, examples, and those of a crawl that the spider learned from.
    requests: int
    cpu: float
    seconds: float
    #: When each page arrived, in seconds on the crawl's clock; None for a crawl without politeness.
    times: list[float] | None = None
    #: What the crawl expected of its next pages: pages stored, pages ahead, expected relevant pages, their interval.
    forecasts: list[Sequence[float]] = field(default_factory=list)
    #: The score that each page was fetched with, None for a seed, and the relevance that the spider saw when it came.
    seen: list[Sequence[float | None]] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Save the outcome atomically."""
        write_whole(path, json.dumps(vars(self)))

    @classmethod
    def load(cls, path: Path) -> Outcome | None:
        """The outcome of an earlier run; None if there is no readable one."""
        try:
            return cls(**json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError):  # missing, truncated, or of an older version: it is run again
            return None


class Workers:
    """A pool of processes that crawl. If one is killed, the pool breaks and is replaced."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.count, mp_context=get_context("spawn"), initializer=_begin)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Call a function in a worker process."""
        try:
            return self._pool.submit(function, *arguments)
        except BrokenProcessPool:  # it broke since the last call
            self.renew()
            return self._pool.submit(function, *arguments)

    def renew(self) -> None:
        """Replace the pool."""
        self.close()
        self._pool = self._new()

    def close(self) -> None:
        """Stop the processes after their current tasks."""
        self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def workers(count: int) -> Iterator[Workers]:
    """A pool of worker processes, with a fixed environment."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)  # processes start on demand, so it stays set until the end
    processes = Workers(count)
    try:
        yield processes
    finally:
        processes.close()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin() -> None:
    """Set up a worker process: it ignores Ctrl-C, which its parent handles, and exits when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def run_all(
    processes: Workers,
    jobs: Sequence[Job],
    folder: Path,
    *,
    keep: bool = False,
    done: Callable[[Job, str | None], None],
) -> dict[Job, Outcome]:
    """Run the crawls that are not finished yet; calls *done* for each, with the error if it failed."""
    folder.mkdir(parents=True, exist_ok=True)
    outcomes: dict[Job, Outcome] = {}
    left: list[Job] = []
    for job in jobs:
        outcome = Outcome.load(folder / f"{job.key}.json")
        if outcome is None or (keep and not (folder / job.key).is_dir()):
            left.append(job)
        else:
            outcomes[job] = outcome
            done(job, None)

    def run(some: Sequence[Job]) -> bool:
        """Run some crawls; False if a process was killed and the pool replaced."""
        futures = {processes.submit(run_crawl, job, folder, keep): job for job in some}
        whole = True
        for future in as_completed(futures):
            job = futures[future]
            try:
                outcomes[job] = future.result()
            except BrokenProcessPool:
                whole = False
                continue
            except Exception as error:
                done(job, f"{error or type(error).__name__}")
            else:
                done(job, None)
            left.remove(job)
        if not whole:
            processes.renew()
        return whole

    while left and not run(left):
        # one of the crawls in flight killed its process: run them one by one to find it
        for job in left[: processes.count + 1]:
            if not run([job]):
                left.remove(job)
                done(job, "its process was killed, possibly out of memory; try fewer --jobs")
    return {job: outcomes[job] for job in jobs if job in outcomes}


def run_crawl(job: Job, folder: Path, keep: bool = False) -> Outcome:
    """Run one crawl in this process and save its outcome."""
    place = folder / job.key
    shutil.rmtree(place, ignore_errors=True)  # an interrupted crawl starts over, to be reproducible
    place.mkdir(parents=True)
    try:
        with _log(place / "log.txt"):
            outcome = _crawl(job, place)
        outcome.save(folder / f"{job.key}.json")
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
    return outcome


@contextmanager
def _log(path: Path) -> Iterator[None]:
    """Write a crawl's warnings to a file in its directory."""
    handler = logging.FileHandler(path, delay=True)
    handler.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


@cache
def _warm_up(web: str, learns: bool) -> None:
    """One-time work of a process that would otherwise count as the first crawl's CPU time."""
    from focuscrawl.testing import at, crawl, small_web
    from focuscrawl.web.webs import open_web

    if learns:
        from sklearn import linear_model, model_selection, naive_bayes, tree  # noqa: F401
    open_web(web).get(at("nowhere"))
    with TemporaryDirectory() as folder:
        crawl("best_first", small_web({"a": ["b"], "b": []}), Path(folder), seeds=at("a"), keywords="a")


def _politeness(manners: Manners | None) -> dict[str, Any]:
    """The settings for a crawl's politeness."""
    if manners is None:  # the order must follow the scores, and a web file needs no politeness
        return {"CONCURRENT_REQUESTS": 1, "FOCUS_CRAWL_DELAY_MAX": 0, "FOCUS_BACKOFF_MAX": 0}
    return {
        "CONCURRENT_REQUESTS": manners.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": manners.delay,
        "FOCUS_WEB_LATENCY": manners.latency,
    }


def _crawl(job: Job, place: Path) -> Outcome:
    from scrapy.crawler import AsyncCrawlerRunner
    from scrapy.spiderloader import get_spider_loader
    from scrapy.utils.project import get_project_settings

    from focuscrawl.crawl.crawl import Crawl
    from focuscrawl.spiders import with_our_spiders
    from focuscrawl.store.store import Store
    from focuscrawl.web.replay import ReplayHandler

    settings = with_our_spiders(get_project_settings())
    # labelled webs hold no other documents, so each link to one would be a miss; the user may say otherwise
    settings.set("FOCUS_DOCUMENTS", "text,markdown,feed", priority="project")
    settings.update(dict(job.settings), priority="cmdline")
    settings.update(
        {
            "FOCUS_WEB": job.web,
            "FOCUS_DIR": str(place),
            "FOCUS_PROGRESS": False,
            "TWISTED_REACTOR_ENABLED": False,
            "RETRY_ENABLED": False,  # a web file would answer the same
            "LOGSTATS_INTERVAL": 0,
            "FOCUS_INDEX": False,  # these crawls are not searched
            "FOCUS_REPORT_MINUTES": 0,
            **_politeness(job.manners),
        },
        priority="cmdline",
    )
    seeds = place / "seeds.txt"  # URLs may contain commas
    seeds.write_text("\n".join(job.starts), "utf-8")
    arguments: dict[str, Any] = {"topic": job.topic_source, "seeds": f"@{seeds}", "max_pages": job.pages}
    arguments |= dict(job.options)

    async def go() -> Crawl:
        runner = AsyncCrawlerRunner(settings)
        crawler = runner.create_crawler(job.name)
        try:
            await runner.crawl(crawler, **arguments)
        finally:
            if crawler.spider is not None and hasattr(crawler.spider, "crawl"):
                Crawl.of(crawler).close()
        return Crawl.of(crawler)

    needs: Sequence[str] = getattr(get_spider_loader(settings).load(job.name), "needs", ())
    _warm_up(job.web, learns="examples" in needs)
    answered, cpu, began = ReplayHandler.answered, process_time(), perf_counter()
    crawl = asyncio.run(go()) if job.manners is None else virtual_time.run(go)
    cpu, seconds = process_time() - cpu, perf_counter() - began
    if problem := crawl.fatal or crawl.problem:
        raise FocusError(problem)
    store = Store(place / "crawl.sqlite", create=False)
    pages = list(store.pages.each())
    arrived = {
        page["url"]: (page["score"] if page["parent"] else None, page["relevance"]) for page in store.pages.records()
    }
    errors = [failure for failure in store.failures.each() if failure.reason.startswith("spider error")]
    store.close()
    if errors:  # these pages were fetched but lost, so the crawl does not measure the strategy
        first = min(errors, key=lambda failure: failure.url)
        more = f", and at {len(errors) - 1} more pages" if errors[1:] else ""
        raise FocusError(f"{first.reason} at {first.url}{more}")
    times = None
    if job.manners is not None:  # a page is stored later than others if it waits for its host's tdmrep.json
        pages.sort(key=lambda page: page.fetched_at)
        times = [(datetime.fromisoformat(page.fetched_at) - virtual_time.EPOCH).total_seconds() for page in pages]
    return Outcome(
        [page.url for page in pages],
        [None if page.duplicate_of is not None else page.relevant for page in pages],
        [page.matched for page in pages],
        ReplayHandler.answered - answered,
        cpu,
        seconds,
        times,
        [forecast[:5] for forecast in crawl.outlook.forecasts],
        [arrived.get(page.url, (None, None)) for page in pages],
    )
