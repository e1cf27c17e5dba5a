"""Killed and resumed, every strategy makes the same crawl: the same pages in the same order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from select import select

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
    "link_classifier fixed": ["training_pages=30", "training=fixed", "level_limit=1"],
    "link_classifier tree": ["training_pages=30", "classifier=tree", "level_by=prediction", "level_limit=0"],
    "niche_genetic sampled": ["sample=20", "select=0.8", "hub_links=median"],
    "taxonomy_tunnel": ["window=10"],
    "treasure": ["crawl=auto", "crawl_pages=60"],
    "hits": ["every=20"],
    "pagerank": ["every=20"],
}
SPIDERS = sorted(SpiderLoader.from_settings(Settings({"SPIDER_MODULES": ["focuscrawl.spiders"]})).list())


@pytest.fixture(scope="module")
def processes(unmeasured_processes):
    """A process for each kind of crawl, which forks for every part of one."""
    with ExitStack() as stack:
        started = {
            kind: stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.kills", kind],
                    cwd=ROOT,
                    env={**os.environ, "PYTHONHASHSEED": seed},  # words hash differently in each process of a user's
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for seed, kind in zip("01", ("undisturbed", "killed"), strict=True)
        }
        yield started
        for process in started.values():
            process.kill()


@pytest.mark.parametrize("case", sorted({*SPIDERS, *CASES} - ({"adaptive"} - set(SPIDERS))))
def test_killed_and_resumed_it_is_the_same_crawl(case, tmp_path, processes):
    for process in processes.values():
        print(json.dumps([case.partition(" ")[0], str(tmp_path), CASES.get(case, [])]), file=process.stdin, flush=True)
        assert select([process.stdout], [], [], 300)[0], "no answer within five minutes"
        assert process.stdout.readline() == "0\n"
    undisturbed, killed = Crawled(tmp_path / "undisturbed"), Crawled(tmp_path / "killed")
    assert len(undisturbed.urls) > 80
    assert killed.urls == undisturbed.urls
    assert killed.matched == undisturbed.matched
    assert killed.sql("PRAGMA integrity_check") == [("ok",)]
    if undisturbed.sql("SELECT name FROM sqlite_master WHERE name = 'prediction'"):
        predictions = "SELECT * FROM prediction"
        assert killed.sql(predictions) == undisturbed.sql(predictions) != []
