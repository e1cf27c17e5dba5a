"""For tests of strategies: small webs in memory, and fast, real crawls of them.

from focuscrawl.testing import at, crawl, small_web

def test_links_that_name_the_topic_come_first(tmp_path):
    web = small_web({"root": ["x", "sorting"], "x": [], "sorting": []})
    crawled = crawl("shark_search", web, tmp_path, seeds=at("root"), keywords="sort")
    assert crawled.urls == [at("root"), at("sorting"), at("x")]
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.lab.virtual_time import run
from focuscrawl.web.webs import IN_MEMORY, MemoryWeb


def at(name: str) -> str:
    """The URL of a page of a small web: `a` is http://a.example/, `a/b` is http://a.example/b."""
    host, _, path = name.partition("/")
    return f"http://{host}.example/{path}"


def small_web(links: Mapping[str, Sequence[str]], texts: Mapping[str, str] | None = None) -> MemoryWeb:
    """A web from a mapping of page names to the names they link to; *texts* adds text to pages."""
    web = MemoryWeb()
    for name, targets in links.items():
        anchors = "".join(f'<p><a href="{at(target)}">to {target}</a></p>' for target in targets)
        web.add(at(name), f"<title>{name}</title><p>{(texts or {}).get(name, '')}</p>{anchors}")
    return web


class Crawled:
    """The results of a crawl."""

    def __init__(self, folder: Path, crawler: Crawler | None = None) -> None:
        self.folder = folder
        self.crawler = crawler
        self.stats: dict[str, Any] = crawler.stats.get_stats() if crawler else {}

    @property
    def pages(self) -> list[dict[str, Any]]:
        """The lines of pages.jsonl, in the order fetched."""
        return [json.loads(line) for line in (self.folder / "pages.jsonl").read_text("utf-8").splitlines()]

    @property
    def urls(self) -> list[str]:
        """The URLs of the pages, in the order fetched."""
        return [page["url"] for page in self.pages]

    @property
    def matched(self) -> list[str]:
        """The lines of URLs.txt."""
        return (self.folder / "URLs.txt").read_text("utf-8").splitlines()

    def sql(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """The rows that a query of crawl.sqlite returns."""
        connection = sqlite3.connect(self.folder / "crawl.sqlite")
        try:
            return connection.execute(query, parameters).fetchall()
        finally:
            connection.close()


def crawl(
    spider: type[Spider] | str,
    web: MemoryWeb,
    folder: Path,
    settings: Mapping[str, Any] | None = None,
    *,
    virtual_time: bool = False,
    **arguments: object,
) -> Crawled:
    """Crawl a web into *folder*, one request at a time; *spider* is a class, or the name of one of ours.

    In *virtual_time*, delays take no time: the clock jumps.
    """
    name = f"memory:{id(web)}"
    project = Settings()
    project.setmodule("focuscrawl.settings", priority="project")
    project.update(
        {
            "FOCUS_DIR": str(folder),
            "FOCUS_WEB": name,
            "FOCUS_PROGRESS": False,
            "FOCUS_REPORT_MINUTES": 0,
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
            await runner.crawl(crawler, **{key: str(value) for key, value in arguments.items()})
        finally:
            with suppress(NotConfigured):
                Crawl.of(crawler).close()
        return crawler

    IN_MEMORY[name] = web
    try:
        return Crawled(folder, run(go) if virtual_time else asyncio.run(go()))
    finally:
        del IN_MEMORY[name]
