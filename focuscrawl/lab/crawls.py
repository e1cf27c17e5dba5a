"""The crawls of a comparison: real spiders, middlewares and frontier on a replayed web, many in parallel.

Each process runs crawls one after the other, which saves the second that starting Python and loading libraries takes
each time. A crawl that is done leaves one JSON file; a file that is there is not crawled again.
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
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from focuscrawl.errors import FocusError
from focuscrawl.files import write_whole
from focuscrawl.lab.plan import Job

#: What makes a crawl repeat itself, and leaves the cores to other processes: sets have one order, matrices one thread.
ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass
class Outcome:
    """What a crawl fetched, in order, and what it took."""

    urls: list[str]
    #: Whether the spider judged each page relevant; None where it had nothing to judge by, or the page is a copy.
    judged: list[bool | None]
    #: Whether each page went into URLs.txt.
    matched: list[bool]
    #: Requests of any kind: pages, redirects, robots.txt, examples, and those of a crawl that was learned from.
    requests: int
    cpu: float
    seconds: float

    def save(self, path: Path) -> None:
        """Keep the outcome, whole or not at all."""
        write_whole(path, json.dumps(vars(self)))

    @classmethod
    def load(cls, path: Path) -> Outcome | None:
        """The outcome of an earlier run; None if there is none."""
        try:
            return cls(**json.loads(path.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except TypeError:  # written by an older version, which kept less
            return None
        except (OSError, ValueError) as error:
            raise FocusError(f"{path} cannot be read: {error}; remove it, and the crawl is run again") from None


@contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that crawl."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)  # processes are begun when there is something to do, so it stays until the end
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_begin)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin() -> None:
    """A process of the pool: Ctrl-C is the other's to hear, and it does not live on without it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def run_all(
    pool: ProcessPoolExecutor,
    jobs: Sequence[Job],
    folder: Path,
    *,
    keep: bool = False,
    done: Callable[[Job, str | None], None],
) -> dict[Job, Outcome]:
    """Run the crawls that are not done yet; *done* hears of each, with what went wrong if something did."""
    folder.mkdir(parents=True, exist_ok=True)
    outcomes: dict[Job, Outcome] = {}
    futures: dict[Future[Outcome], Job] = {}
    for job in jobs:
        outcome = Outcome.load(folder / f"{job.key}.json")
        if outcome is None or (keep and not (folder / job.key).is_dir()):
            futures[pool.submit(run_crawl, job, folder, keep)] = job
        else:
            outcomes[job] = outcome
            done(job, None)
    for future in as_completed(futures):
        job = futures[future]
        try:
            outcomes[job] = future.result()
        except BrokenProcessPool:
            raise FocusError(
                "a crawling process was ended from outside, for want of memory perhaps; run the same command again"
                " (what is done is kept), with fewer --jobs"
            ) from None
        except Exception as error:
            done(job, f"{error or type(error).__name__}")
        else:
            done(job, None)
    return {job: outcomes[job] for job in jobs if job in outcomes}


def run_crawl(job: Job, folder: Path, keep: bool = False) -> Outcome:
    """Run one crawl in this process and keep its outcome."""
    place = folder / job.key
    shutil.rmtree(place, ignore_errors=True)  # one that was cut short begins anew, so that it is like any other
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
    """Warnings of a crawl go to a file beside it."""
    handler = logging.FileHandler(path, delay=True)
    handler.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def _crawl(job: Job, place: Path) -> Outcome:
    from scrapy.crawler import AsyncCrawlerRunner
    from scrapy.utils.project import get_project_settings

    from focuscrawl.crawl import Crawl
    from focuscrawl.store import Store
    from focuscrawl.web.replay import ReplayHandler

    settings = get_project_settings()
    settings.update(dict(job.settings), priority="cmdline")
    settings.update(
        {
            "FOCUS_WEB": job.web,
            "FOCUS_DIR": str(place),
            "FOCUS_PROGRESS": False,
            "CONCURRENT_REQUESTS": 1,  # so that the order is that of the scores
            "TWISTED_REACTOR_ENABLED": False,
            "FOCUS_CRAWL_DELAY_MAX": 0,  # nobody is bothered by a web in a file
            "FOCUS_BACKOFF_MAX": 0,
            "RETRY_ENABLED": False,  # a web in a file says the same again
            "LOGSTATS_INTERVAL": 0,
            "FOCUS_INDEX": False,  # nobody searches in it
        },
        priority="cmdline",
    )
    seeds = place / "seeds.txt"  # a URL may have a comma in it
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

    answered, cpu, began = ReplayHandler.answered, process_time(), perf_counter()
    crawl = asyncio.run(go())
    cpu, seconds = process_time() - cpu, perf_counter() - began
    if problem := crawl.fatal or crawl.problem:
        raise FocusError(problem)
    store = Store(place / "crawl.sqlite", create=False)
    rows = store.execute("SELECT url, relevant, duplicate_of, matched FROM page ORDER BY id").fetchall()
    store.close()
    return Outcome(
        [url for url, *_ in rows],
        [None if relevant is None or copy is not None else bool(relevant) for _, relevant, copy, _ in rows],
        [bool(matched) for *_, matched in rows],
        ReplayHandler.answered - answered,
        cpu,
        seconds,
    )
