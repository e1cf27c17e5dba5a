"""A polite crawl over real HTTP, in real time, and its twin in virtual time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from focuscrawl.testing import MemoryWeb
from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import serving
from tests.conftest import scrapy

PAGES = 80
#: Seconds per host. On a busy machine, requests are late: the longer the delay, the less that matters.
DELAYS = (0.1, 0.3, 1.0)
#: Strict order, so that the order does not depend on milliseconds.
SETTINGS = {
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "CONCURRENT_REQUESTS": 16,
    "FOCUS_PATIENCE": 1,
    "RETRY_ENABLED": False,
}


def in_real_time(spider: str, settings: dict[str, object], folder: Path) -> list[str]:
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    with serving(demo_web()) as server:
        done = scrapy(
            *("crawl", spider, "-a", "topic=sorting", "-a", f"max_pages={PAGES}", *given, "-s", f"FOCUS_DIR={folder}"),
            http_proxy=server.address,
        )
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["url"] for line in (folder / "pages.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("spider", ["best_first", "shark_search"])
def test_a_crawl_in_real_time_and_its_twin_in_virtual_time_fetch_the_same_pages(crawl, tmp_path, spider):
    shared = 0.0
    for delay in DELAYS:
        settings = SETTINGS | {"DOWNLOAD_DELAY": delay}
        real = in_real_time(spider, settings, tmp_path / f"real-{delay}")
        here = settings | {"FOCUS_WEB": "demo", "FOCUS_WEB_LATENCY": 0.002}
        folder = tmp_path / f"twin-{delay}"
        twin = crawl(spider, MemoryWeb(), folder, here, virtual_time=True, topic="sorting", max_pages=PAGES)
        assert len(real) == len(twin.urls) == PAGES
        shared = len(set(real) & set(twin.urls)) / PAGES
        if shared >= 0.98:
            break
    assert shared >= 0.98
