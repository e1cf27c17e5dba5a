"""Crawls for tests: real spiders, middlewares and frontier on webs in memory, in this process or in one of their own."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from time import monotonic
from types import CodeType
from typing import Any

import hypothesis
import pytest

from focuscrawl import testing
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.testing import Crawled, at, small_web
from focuscrawl.web.browser import Browser
from focuscrawl.web.webs import MemoryWeb
from tests import forks

__all__ = ["Crawled", "at", "small_web"]

# a busy machine is no reason to fail, and two runs of the same code say the same; `make nightly` draws new examples
hypothesis.settings.register_profile("patient", deadline=None, derandomize=True)
hypothesis.settings.register_profile(
    "nightly", deadline=None, max_examples=2_000, print_blob=True, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "patient"))

ROOT = Path(__file__).resolve().parent.parent
SHARED_WEBS = ROOT.parent / "shared" / "webs"


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that start a process as slow: `make test-fast` leaves them out."""
    known: dict[object, bool] = {}
    cases: Counter[object] = Counter()
    for item in items:
        # by hand: it computes for long, on lines that other tests cover; so do those that try many inputs
        if item.get_closest_marker("slow") or item.path.is_relative_to(ROOT / "tests" / "doors"):
            item.add_marker(pytest.mark.no_cover)
        if isinstance(item, pytest.Function):
            cases[item.function] += 1
            if "crawl" in item.fixturenames and cases[item.function] > 2:
                item.add_marker(pytest.mark.no_cover)  # a third crawl by the same lines; tracing takes two fifths
            fixtures = [fixture.func for several in item._fixtureinfo.name2fixturedefs.values() for fixture in several]
            if any(_starts_a_process(function, known) for function in (item.function, *fixtures)):
                item.add_marker(pytest.mark.slow)


def _starts_a_process(thing: object, known: dict[object, bool]) -> bool:
    """Whether a function or class of the tests, or one that it names, starts one."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    if thing is subprocess or thing is forks or thing is Browser:
        return True
    if not (inspect.isfunction(thing) or inspect.isclass(thing)) or not thing.__module__.startswith("tests."):
        return False
    if thing not in known:
        known[thing] = False  # until it is known, and where functions call each other
        if inspect.isclass(thing):
            named = list(vars(thing).values())
        else:
            named = [thing.__globals__.get(name) for name in _names(thing.__code__)]
        known[thing] = any(_starts_a_process(other, known) for other in named)
    return known[thing]


def _names(code: CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def pytest_xdist_auto_num_workers() -> int:
    """A worker more than cores: many tests wait, for a server or for a process, and leave their core idle."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


@contextmanager
def measuring_nothing() -> Iterator[None]:
    """Processes that are started in the block measure no coverage."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
            patch.delenv(name)
        yield


@pytest.fixture
def unmeasured():
    """For a test whose processes run lines that other tests cover: measuring would take half of their time."""
    with measuring_nothing():
        yield


def pytest_sessionfinish() -> None:
    """Each worker ends the process that it forked commands from."""
    forks.close()


class Watched(Crawled):
    """What a crawl left behind, and when each page was asked for."""

    asked: list[float]

    @property
    def gaps(self) -> list[float]:
        """Seconds between two pages that were asked for."""
        return [later - earlier for earlier, later in pairwise(self.asked)]


@pytest.fixture
def crawl(tmp_path):
    """Crawl a web in memory with a spider class or a spider's name, in this process."""

    def run(
        spider, web: MemoryWeb, folder: Path | None = None, settings: dict[str, Any] | None = None, **arguments
    ) -> Watched:
        asked = watch(web)
        crawled = testing.crawl(spider, web, folder or tmp_path / "crawl", settings, **arguments)
        watched = Watched(crawled.folder, crawled.crawler)
        watched.asked = asked
        return watched

    return run


def scrapy(
    *arguments: object, cwd: Path = ROOT, timeout: float = 120, program: str = "scrapy", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the scrapy command, or another program, as a user does, in a process of its own.

    The process is forked from one that has imported everything, unless the environment asks for a new interpreter.
    With FORKS=no, it always is a new interpreter.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    given = {**inherited, **environment}  # other tests load the project's settings; here scrapy.cfg says which
    words = [str(argument) for argument in arguments]
    if os.environ.get("FORKS") != "no" and (done := forks.run(words, cwd, given, timeout, program)) is not None:
        return done
    return subprocess.run(
        [sys.executable, "-m", program, *words],
        cwd=cwd,
        env=given,
        timeout=timeout,
        text=True,
        capture_output=True,
        check=False,
    )


def focuscrawl(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the focuscrawl command as `scrapy` runs the other one."""
    return scrapy(*arguments, program="focuscrawl", **options)


def watch(web: MemoryWeb) -> list[float]:
    """The times at which pages are asked of a web from now on, as they are asked."""
    asked: list[float] = []
    answer = web.get

    def get(url: str):
        if not url.endswith((".txt", ".json")):
            asked.append(monotonic())
        return answer(url)

    web.get = get  # type: ignore[method-assign]
    return asked


class FixedScores(FocusedSpider):
    """Scores links by the number in their anchor text: <a>to a/0.7</a>."""

    name = "fixed_scores"
    needs = ()

    def score(self, page: Page):
        return [float(link.anchor.rpartition("/")[2]) for link in page.links]


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for this test session."""
    server = pytest.importorskip("tests.postgres", exc_type=ImportError).Server()
    yield server
    server.remove()


@pytest.fixture
def database(postgres):
    """The address of a crawl on a PostgreSQL server that does not exist yet."""
    with postgres.schema() as address:
        yield address
