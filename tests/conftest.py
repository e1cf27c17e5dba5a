"""Crawls for tests: real spiders, middlewares and frontier on webs in memory, in this process or in one of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import hypothesis
import pytest

from focuscrawl import testing
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.testing import Crawled, at, small_web
from focuscrawl.web.webs import MemoryWeb

__all__ = ["Crawled", "at", "small_web"]

# a busy machine is no reason to fail, and two runs of the same code say the same; `make nightly` draws new examples
hypothesis.settings.register_profile("patient", deadline=None, derandomize=True)
hypothesis.settings.register_profile(
    "nightly", deadline=None, max_examples=2_000, print_blob=True, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "patient"))

ROOT = Path(__file__).resolve().parent.parent
SHARED_WEBS = ROOT.parent / "shared" / "webs"


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
    *arguments: object, cwd: Path = ROOT, timeout: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the scrapy command as a user does."""
    inherited = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *map(str, arguments)],
        cwd=cwd,
        env={**inherited, **environment},  # other tests load the project's settings; here scrapy.cfg says which
        timeout=timeout,
        text=True,
        capture_output=True,
        check=False,
    )


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
