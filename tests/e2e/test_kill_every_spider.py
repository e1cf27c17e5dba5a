"""Killed and resumed, every strategy makes the same crawl: the same pages in the same order."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader

from tests.conftest import ROOT, Crawled

CASES = {
    "adaptive": [],
    "apprentice": ["lessons=auto", "lesson_pages=60"],
    "apprentice online": ["training=online"],
    "apprentice hubs": ["lessons=auto", "lesson_pages=60", "hubs_every=20"],
    "best_first batches": ["FOCUS_HOSTS_PER_BATCH=7"],
    "best_first aged": ["FOCUS_AGEING=0.01", "FOCUS_FRONTIER_SIZE=200"],
    "context_graph": ["crawl=auto", "crawl_pages=60"],
    "link_classifier": ["training_pages=30"],
    "link_classifier updatable": ["training_pages=30", "training=updatable"],
    "taxonomy_tunnel": ["window=10"],
    "treasure": ["crawl=auto", "crawl_pages=60"],
    "hits": ["every=20"],
    "pagerank": ["every=20"],
}
SPIDERS = sorted(SpiderLoader.from_settings(Settings({"SPIDER_MODULES": ["focuscrawl.spiders"]})).list())


@pytest.mark.parametrize("case", sorted({*SPIDERS, *CASES} - ({"adaptive"} - set(SPIDERS))))
def test_killed_and_resumed_it_is_the_same_crawl(case, tmp_path):
    for seed, kind in enumerate(("undisturbed", "killed")):  # words hash differently in each process of a user's
        command = [
            sys.executable,
            "-m",
            "tests.kills",
            kind,
            case.partition(" ")[0],
            str(tmp_path),
            *CASES.get(case, []),
        ]
        measured = {name for name in os.environ if name.startswith("COVERAGE_")}  # would take most of the time
        environment = {name: value for name, value in os.environ.items() if name not in measured}
        environment["PYTHONHASHSEED"] = str(seed)
        result = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert result.returncode == 0, result.stderr[-3000:]
    undisturbed, killed = Crawled(tmp_path / "undisturbed"), Crawled(tmp_path / "killed")
    assert len(undisturbed.urls) > 100
    assert killed.urls == undisturbed.urls
    assert killed.matched == undisturbed.matched
    assert killed.sql("PRAGMA integrity_check") == [("ok",)]
