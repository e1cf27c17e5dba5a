"""Crawls for tests: real spiders, middlewares and frontier on webs in memory, in this process or in one of their own."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import hypothesis
import pytest
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.settings import Settings

from focuscrawl.crawl import Crawl
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.web import webs
from focuscrawl.web.webs import MemoryWeb

# a busy machine is no reason to fail, and two runs of the same code say the same
hypothesis.settings.register_profile("patient", deadline=None, derandomize=True)
hypothesis.settings.load_profile("patient")

ROOT = Path(__file__).resolve().parent.parent
SHARED_WEBS = ROOT.parent / "shared" / "webs"


class Crawled:
    """What a crawl left behind."""

    def __init__(self, folder: Path, crawler: Crawler | None = None) -> None:
        self.folder = folder
        self.crawler = crawler
        self.stats: dict[str, Any] = crawler.stats.get_stats() if crawler else {}
        #: When each page was asked for.
        self.asked: list[float] = []

    @property
    def gaps(self) -> list[float]:
        """Seconds between two pages that were asked for."""
        return [later - earlier for earlier, later in pairwise(self.asked)]

    @property
    def pages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "pages.jsonl").read_text("utf-8").splitlines()]

    @property
    def urls(self) -> list[str]:
        return [page["url"] for page in self.pages]

    @property
    def matched(self) -> list[str]:
        return (self.folder / "URLs.txt").read_text("utf-8").splitlines()

    def sql(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(self.folder / "crawl.sqlite")
        try:
            return connection.execute(query, parameters).fetchall()
        finally:
            connection.close()


@pytest.fixture
def crawl(tmp_path, monkeypatch):
    """Crawl a web in memory with a spider class or a spider's name, in this process."""

    def run(
        spider, web: MemoryWeb, folder: Path | None = None, settings: dict[str, Any] | None = None, **arguments
    ) -> Crawled:
        asked = watch(web)
        monkeypatch.setattr(webs, "open_web", lambda name: web)
        folder = folder or tmp_path / "crawl"
        project = Settings()
        project.setmodule("focuscrawl.settings", priority="project")
        project.update(
            {
                "FOCUS_DIR": str(folder),
                "FOCUS_WEB": "a test's web",
                "FOCUS_PROGRESS": False,
                "CONCURRENT_REQUESTS": 1,
                "TWISTED_REACTOR_ENABLED": False,
                **(settings or {}),
            },
            priority="cmdline",
        )

        async def go() -> Crawler:
            runner = AsyncCrawlerRunner(project)
            crawler = runner.create_crawler(spider)
            try:
                await runner.crawl(crawler, **{name: str(value) for name, value in arguments.items()})
            finally:
                if crawler.spider is not None and hasattr(crawler.spider, "crawl"):
                    Crawl.of(crawler).close()
            return crawler

        crawled = Crawled(folder, asyncio.run(go()))
        crawled.asked = asked
        return crawled

    return run


def scrapy(
    *arguments: object, cwd: Path = ROOT, timeout: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the scrapy command as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=timeout,
        text=True,
        capture_output=True,
        check=False,
    )


def small_web(links: dict[str, list[str]], texts: dict[str, str] | None = None) -> MemoryWeb:
    """A web from names to the names they link to; `a` is http://a.example/, `a/b` is http://a.example/b."""
    web = MemoryWeb()
    for name in links:
        anchors = "".join(f'<p><a href="{at(target)}">to {target}</a></p>' for target in links[name])
        web.add(at(name), f"<title>{name}</title><p>{(texts or {}).get(name, '')}</p>{anchors}")
    return web


def at(name: str) -> str:
    host, _, path = name.partition("/")
    return f"http://{host}.example/{path}"


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
