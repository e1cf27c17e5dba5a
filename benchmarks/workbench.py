"""The way from an idea to a corpus, by commands alone: what the person in the loop gains.

    python benchmarks/workbench.py [--pages N] [TOPIC …]        shipped topics; default all

For each topic of the embedded web: `new` makes a topic from its description, `crawl` crawls it, `review` shows twenty
pages, which are marked by their labels, `judge` judges all stored pages by what the marks teach, and `crawl` goes on.
For comparison, a copy of the first crawl goes on without any marks. Precision and recall of URLs.txt after each step,
by the labels of the pages fetched so far. Then `audit` estimates both from fifty pages, and `search` finds the name of
the topic.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

from focuscrawl.topic import load_topic, shipped_topics
from focuscrawl.web.webs import open_web

MARKED, SAMPLE = 20, 50
AUDITED = ("precision", "recall")
#: What the correction must bring, in F1.
MARGIN = 0.05


class Standing(NamedTuple):
    """How good the matched URLs of a crawl are."""

    fetched: int
    matched: int
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / ((self.precision + self.recall) or 1)


class Workbench:
    """A topic of the embedded web, worked on in a folder."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.topic = load_topic(name)
        self.web = open_web("demo")
        self.crawl = folder / "crawl"

    def run(self, *command: str) -> str:
        """Run a command as a user would; returns what it prints."""
        done = subprocess.run(self._line(*command), cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    @staticmethod
    def _line(*command: str) -> list[str]:
        return [sys.executable, "-m", "focuscrawl", *command]

    def new(self) -> None:
        """A topic from a sentence and the shipped topic's seeds."""
        seeds = [part for url in self.topic.seeds for part in ("--seeds", url)]
        idea = self.topic.description.removeprefix("pages about ")
        self.run("new", idea, "--name", self.name, *seeds, "--output", "topic.toml", "-s", "FOCUS_WEB=demo")

    def go_on(self, pages: int) -> Standing:
        """Crawl up to a number of pages."""
        where = ("-s", f"FOCUS_DIR={self.crawl}", "-s", "FOCUS_WEB=demo", "-s", "DOWNLOAD_DELAY=0")
        self.run("crawl", "-a", "topic=topic.toml", "-a", f"max_pages={pages}", *where)
        return self.standing()

    def review(self) -> None:
        """Answer for each page that is shown whether it has the label of the topic."""
        line = self._line("review", str(self.crawl), "--borderline", str(MARKED // 2), "--limit", str(MARKED))
        piped = subprocess.PIPE
        asking = subprocess.Popen(
            line, cwd=self.folder, stdin=piped, stdout=piped, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert asking.stdin is not None
        assert asking.stdout is not None
        for shown in asking.stdout:
            url, _, kind = shown.rstrip().rpartition(" (")
            if kind in ("borderline)", "drawn at random)"):
                asking.stdin.write("y" if self.is_relevant(url) else "n")
                asking.stdin.flush()
        if asking.wait():
            raise RuntimeError("review failed")

    def judge(self) -> Standing:
        """Judge all stored pages by what the marks teach."""
        self.run("judge", str(self.crawl))
        return self.standing()

    def audit(self) -> dict[str, dict[str, float]]:
        """Precision and recall, as estimated from a sample that is marked by its labels."""
        sample = json.loads(self.run("audit", str(self.crawl), "--sample", str(SAMPLE), "--json"))
        marks = self.folder / "marks.txt"
        urls = sample["left"]
        marks.write_text("".join(f"{url}\t{'yes' if self.is_relevant(url) else 'no'}\n" for url in urls), "utf-8")
        if urls:
            self.run("audit", str(self.crawl), "--marks", str(marks))
        found: dict[str, dict[str, float]] = json.loads(self.run("audit", str(self.crawl), "--json"))
        return found

    def search(self) -> str:
        """The first page that search finds for the name of the topic."""
        return self.run("search", str(self.crawl), self.name, "--limit", "1")

    def is_relevant(self, url: str) -> bool:
        """Whether a page is on the topic by its label."""
        return self.topic.label in self.web.labels(url)

    def standing(self) -> Standing:
        """How good URLs.txt is, by the labels of the pages fetched so far."""
        lines = (self.crawl / "pages.jsonl").read_text("utf-8").splitlines()
        fetched = {json.loads(line)["url"] for line in lines}
        matched = set((self.crawl / "URLs.txt").read_text("utf-8").split())
        good = sum(map(self.is_relevant, matched))
        relevant = sum(map(self.is_relevant, fetched))
        return Standing(len(fetched), len(matched), good / (len(matched) or 1), good / (relevant or 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topics", nargs="*", metavar="TOPIC")
    parser.add_argument("--pages", type=int, default=150, help="pages of the first crawl (default 150)")
    options = parser.parse_args()
    names = options.topics or shipped_topics()
    print("| topic | first crawl | judged again | crawled on | without marks | audit: precision | recall |")
    print("|---|---|---|---|---|---|---|")
    better = {"same": 0, "on": 0, "on by much": 0}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            bench = Workbench(name, Path(folder))
            bench.new()
            first = bench.go_on(options.pages)
            copytree(folder, f"{folder}/uncorrected")
            alone = Workbench(name, Path(folder, "uncorrected")).go_on(2 * options.pages)
            bench.review()
            again = bench.judge()
            on = bench.go_on(2 * options.pages)
            audit = bench.audit()
            bench.search()
        better["same"] += again.f1 >= first.f1 + MARGIN
        better["on"] += on.f1 > alone.f1
        better["on by much"] += on.f1 >= alone.f1 + MARGIN
        told = [f"{one.precision:.2f} / {one.recall:.2f}" for one in (first, again, on, alone)]
        told += [
            f"{audit[figure]['estimate']:.2f} ({audit[figure]['low']:.2f}–{audit[figure]['high']:.2f})"
            for figure in AUDITED
        ]
        print(f"| {name} | {' | '.join(told)} |", flush=True)
    print(f"\nPrecision / recall of URLs.txt. Corrected by {MARKED} marks, F1 on the same pages is better by {MARGIN}")
    print(
        f"or more on {better['same']} of {len(names)} topics. Crawled on to twice the pages, it is better than without"
    )
    print(f"marks on {better['on']}, by {MARGIN} or more on {better['on by much']}.")


if __name__ == "__main__":
    main()
