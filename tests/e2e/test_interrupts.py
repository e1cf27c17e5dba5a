"""Ctrl-C, once and twice, at any moment: no traceback, and the same command resumes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.conftest import ROOT, Crawled

PAGES = 60


class Crawling:
    """A crawl in a process of its own, whose log is watched."""

    def __init__(self, folder: Path, log: Path) -> None:
        self.log = log
        options = [
            "-a",
            "topic=sorting",
            "-a",
            f"max_pages={PAGES}",
            "-s",
            "FOCUS_WEB=demo",
            "-s",
            f"FOCUS_DIR={folder}",
        ]
        polite = ["-s", "FOCUS_WEB_LATENCY=0.2", "-s", "CONCURRENT_REQUESTS=4"]
        with log.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scrapy", "crawl", "best_first", *options, *polite],
                cwd=ROOT,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def wait_for(self, text: str) -> None:
        until = monotonic() + 60
        while text not in self.log.read_text("utf-8") and self.process.poll() is None:
            assert monotonic() < until, self.log.read_text("utf-8")
            sleep(0.005)

    def interrupt(self, times: int) -> str:
        for _ in range(times):
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGINT)
            sleep(0.05)
        self.process.wait(60)
        return self.log.read_text("utf-8")


@pytest.mark.parametrize(
    ("moment", "says", "times"),
    [
        ("Scrapy 2", "again to resume", 2),  # while the commands and the spider are loaded
        ("The crawl is in", "again to resume", 1),
        ("The crawl is in", "again to resume", 2),
        ("Closing spider", "", 1),  # it may be over by then
    ],
    ids=["start", "crawl", "crawl twice", "end"],
)
def test_no_traceback_and_the_same_command_resumes(tmp_path, moment, says, times):
    first = Crawling(tmp_path / "crawl", tmp_path / "first.txt")
    first.wait_for(moment)
    text = first.interrupt(times)
    assert "Traceback" not in text
    assert "KeyboardInterrupt" not in text
    assert says in text
    second = Crawling(tmp_path / "crawl", tmp_path / "second.txt")
    text = second.interrupt(0)
    assert second.process.returncode == 0, text
    crawled = Crawled(tmp_path / "crawl")
    assert len(crawled.urls) == len(set(crawled.urls)) == PAGES
    assert crawled.sql("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("module", ["scrapy", "focuscrawl"])
def test_a_mistake_costs_one_line_also_at_the_very_end(tmp_path, module):
    """A process of its own: what is left over is taken down with the interpreter."""
    command = [sys.executable, "-m", module, "crawl", "adaptiv", "-a", "topic=chess", "-L", "WARNING"]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.splitlines() == ["focuscrawl: unknown spider 'adaptiv'; did you mean adaptive?"]
