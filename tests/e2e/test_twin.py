"""A polite crawl over real HTTP, in real time, and its twin in virtual time."""

from __future__ import annotations

import json

import pytest

from focuscrawl.testing import MemoryWeb
from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import serving
from tests.conftest import scrapy

PAGES = 80
#: Strict order, so that the order does not depend on milliseconds.
SETTINGS = {
    "DOWNLOAD_DELAY": 0.1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "CONCURRENT_REQUESTS": 16,
    "FOCUS_PATIENCE": 1,
    "RETRY_ENABLED": False,
}


@pytest.mark.parametrize("spider", ["best_first", "shark_search"])
def test_a_crawl_in_real_time_and_its_twin_in_virtual_time_fetch_the_same_pages(crawl, tmp_path, spider):
    given = [part for name, value in SETTINGS.items() for part in ("-s", f"{name}={value}")]
    with serving(demo_web()) as server:
        done = scrapy(
            *("crawl", spider, "-a", "topic=sorting", "-a", f"max_pages={PAGES}", *given),
            *("-s", f"FOCUS_DIR={tmp_path / 'real'}"),
            http_proxy=server.address,
        )
    assert done.returncode == 0, done.stderr
    real = [json.loads(line)["url"] for line in (tmp_path / "real" / "pages.jsonl").read_text().splitlines()]
    settings = SETTINGS | {"FOCUS_WEB": "demo", "FOCUS_WEB_LATENCY": 0.002}
    twin = crawl(spider, MemoryWeb(), settings=settings, virtual_time=True, topic="sorting", max_pages=PAGES)
    assert len(real) == len(twin.urls) == PAGES
    assert len(set(real) & set(twin.urls)) >= 0.98 * PAGES
