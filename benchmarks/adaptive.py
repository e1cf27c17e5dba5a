"""What the intelligence of `adaptive` costs a page, beyond parsing it, as more and more URLs wait.

    python benchmarks/adaptive.py [--waiting N]

Synthetic pages of 400 words with 60 links each, in topical neighbourhoods. CPU time of what the strategy does with a
page: reading its words and links, judging it, scoring its links, learning from it and scoring what waits again.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.strategies.adaptive.learner import Learner
from focuscrawl.strategies.adaptive.reading import Reader
from focuscrawl.strategies.adaptive.telling import reasons

LINKS, WORDS, TOPICS = 60, 400, 20
#: Of the links of a page, as many lead to URLs that were met before.
MET = 0.5
STEPS = (1_000, 10_000, 30_000, 100_000)
#: Pages that are measured at once, and what is measured.
BATCH = 20
PARTS = ("parse", "read", "score", "learn")


def synthetic_html(number: int, targets: list[int], source: random.Random) -> str:
    """A page about one of some topics; most of its links lead to pages about the same one."""
    topic = number % TOPICS
    text = [f"word{int(source.paretovariate(0.6)) % 5000}" for _ in range(WORDS)]
    text[::8] = [f"topic{topic}"] * len(text[::8])
    parts = ["<html><body><div class=main><p>"]
    for place in range(LINKS):
        target = targets[place]
        words = " ".join(text[place * 6 : place * 6 + 6])
        url = f"http://h{target % 50}.example/d{target % 97}/p{target}.html"
        parts.append(f"{words} <a href='{url}'>topic{target % TOPICS} page</a> ")
    parts.append("</p></div></body></html>")
    return "".join(parts)


class Stopwatch:
    """CPU time by part of the work. Asking for it is slow on some machines, so it is asked for once a batch."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.pages = 0

    @contextmanager
    def batch(self, pages: int) -> Iterator[Callable[[str], None]]:
        """Measure the parts of a batch: call what is given with the name of each part when it has ended."""
        parts: dict[str, float] = {}
        began, last = time.process_time(), time.perf_counter()

        def ended(part: str) -> None:
            nonlocal last
            now = time.perf_counter()
            parts[part] = parts.get(part, 0.0) + now - last
            last = now

        yield ended
        share = (time.process_time() - began) / sum(parts.values())
        for part, seconds in parts.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + share * seconds
        self.pages += pages

    def __str__(self) -> str:
        each = [1000 * self.seconds[part] / self.pages for part in PARTS]
        return " ".join(f"{one:9.2f}" for one in (*each, sum(each[1:])))


def main() -> None:
    import numpy as np  # after focuscrawl, which has it use one core

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiting", type=int, default=STEPS[-1], help="most URLs that wait")
    most = parser.parse_args().waiting
    source = random.Random(1)
    keywords = KeywordJudge({"topic3": 3.0, "topic4": 1.0})
    reader, learner = Reader(keywords), Learner(keywords)
    urls, number = 1, 0
    print("waiting    in-links     parse      read     score     learn   ms a page without parsing")
    for step in (one for one in STEPS if one <= most):
        watch = Stopwatch()
        while len(learner.evidence.waiting()) < step:
            made: list[tuple[str, list[int]]] = []
            for _ in range(BATCH):
                targets = []
                for _ in range(LINKS):
                    if urls > 100 and source.random() < MET:
                        targets.append(source.randrange(1, urls))
                    else:
                        targets.append(urls)
                        urls += 1
                made.append((synthetic_html(number + len(made) + 1, targets, source), targets))
            with watch.batch(BATCH) as ended:
                for html, targets in made:
                    number += 1
                    page = read_html(Page(f"http://h{number % 50}.example/p{number}"), html.encode(), "text/html")
                    page.counts, page.links  # noqa: B018
                    ended("parse")
                    reading = reader.read(page)
                    p = learner.relevance(reading)
                    reasons(learner.judge, reading, page)
                    ended("read")
                    told, _ = learner.preview(reading.links, p)
                    ended("score")
                    url, there = source.randrange(1, urls), np.array(targets)
                    learner.take_in(number, url, reading, p, there, lambda _: 0, told=told)
                    learner.changes()
                    ended("learn")
        print(f"{step:7,d} {len(learner.evidence):11,d} {watch}", flush=True)


if __name__ == "__main__":
    main()
