"""What the intelligence of `adaptive` costs a page, beyond parsing it, as more and more URLs wait.

    python benchmarks/adaptive.py [--waiting N]

Synthetic pages of 400 words with 60 links each, in topical neighbourhoods. CPU time of what the strategy does with a
page: reading its words and links, judging it, scoring its links, learning from it and scoring what waits again.
"""

from __future__ import annotations

import argparse
import random
import time

import numpy as np

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


def synthetic_page(number: int, targets: list[int], source: random.Random) -> Page:
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
    return read_html(Page(f"http://h{number % 50}.example/p{number}"), "".join(parts).encode(), "text/html")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiting", type=int, default=STEPS[-1], help="most URLs that wait")
    most = parser.parse_args().waiting
    source = random.Random(1)
    keywords = KeywordJudge({"topic3": 3.0, "topic4": 1.0})
    reader, learner = Reader(keywords), Learner(keywords)
    urls, number, spent, pages = 1, 0, dict.fromkeys(("parse", "read", "score", "learn"), 0.0), 0
    print("waiting    in-links     parse      read     score     learn   ms a page without parsing")
    steps = iter(STEPS)
    step = next(steps)
    while True:
        number += 1
        targets = []
        for _ in range(LINKS):
            if urls > 100 and source.random() < MET:
                targets.append(source.randrange(1, urls))
            else:
                targets.append(urls)
                urls += 1
        began = time.process_time()
        page = synthetic_page(number, targets, source)
        page.counts, page.links  # noqa: B018
        start = time.process_time()
        reading = reader.read(page)
        p = learner.relevance(reading)
        reasons(learner.judge, page, reading)
        read_at = time.process_time()
        learner.preview(reading.links, p)
        scored_at = time.process_time()
        learner.take_in(number, source.randrange(1, urls), reading, p, np.array(targets), lambda _: 0)
        learner.changes()
        done = time.process_time()
        took = (start - began, read_at - start, scored_at - read_at, done - scored_at)
        spent = {name: value + more for (name, value), more in zip(spent.items(), took, strict=True)}
        pages += 1
        if len(learner.evidence.waiting()) >= step if number % 10 == 0 else False:
            each = [1000 * value / pages for value in spent.values()]
            print(
                f"{step:7,d} {len(learner.evidence):11,d} " + " ".join(f"{one:9.2f}" for one in (*each, sum(each[1:])))
            )
            spent, pages = dict.fromkeys(spent, 0.0), 0
            if step >= most:
                break
            step = next(steps)


if __name__ == "__main__":
    main()
