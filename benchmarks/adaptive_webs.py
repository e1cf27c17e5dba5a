"""How much of the best possible order `adaptive` reaches on labelled webs, from every kind of start.

    python benchmarks/adaptive_webs.py [--pages 500] [--webs wikipedia,webkb] [--folder DIR] [--starts full,keywords,urls]

The learner crawls without Scrapy and without politeness: the best waiting URL is fetched next, and a dead link costs a
fetch. The score is the lab's: the area under the curve of relevant pages over that of the omniscient crawler. *Off by*
is the expected calibration error of the scores from page 100 on, by the strategy's own judge and by the labels.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import labelled
import numpy as np

from focuscrawl import urls
from focuscrawl.judge import KeywordJudge
from focuscrawl.lab.measures import area
from focuscrawl.lab.orders import omniscient
from focuscrawl.lab.reliability import FROM, Fetched, reliability
from focuscrawl.lab.survey import Reader as Redirects
from focuscrawl.lab.survey import Survey, web_digest
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.strategies.adaptive.learner import SEED, Known, Learner
from focuscrawl.strategies.adaptive.reading import Reader, Reading
from focuscrawl.strategies.adaptive.vectors import load_vectors
from focuscrawl.topic import Topic, load_topic
from focuscrawl.web.webs import open_web

STARTS = {"full": "full topic", "keywords": "keywords only", "urls": "three URLs only"}
STEPS = (38, 100, 500)
#: Starts off topic, by web; others start from the page without a label that has the most links.
GENERIC = {
    "wikipedia": ["http://schools-wikipedia.org/wp/u/United_States.htm"],
    "webkb": [f"http://www.cs.{name}.edu/" for name in ("cornell", "utexas", "washington", "wisc")],
}
#: Pages that stand for the topic in place of anything else.
URLS = 3


class Crawled(NamedTuple):
    """A crawl: whether each page is relevant by its label, the scores, and the seconds of CPU time without parsing."""

    relevant: list[bool]
    fetched: list[Fetched]
    seconds: float


class LabelledWeb:
    """A web with labels; pages are read once."""

    def __init__(self, name: str, folder: Path, cache: Path | None = None) -> None:
        path = str(folder / f"{name}.sqlite")
        self.web = open_web(path)
        self.topics = {one.stem: load_topic(str(one)) for one in labelled.topic_files(folder / "topics" / name)}
        self._redirects = Redirects(self.web)
        self._pages: dict[str, Page] = {}
        digest = web_digest(path)
        survey = Survey.load(cache / f"{name}.survey", digest) if cache else None
        self.survey = survey or Survey.of(self.web, {})
        if cache and survey is None:
            self.survey.save(cache / f"{name}.survey", digest)
        self.generic = GENERIC.get(name) or [self.survey.generic_start({topic.label for topic in self.topics.values()})]

    def end(self, url: str) -> str:
        """Where a URL leads after redirects."""
        return self._redirects.end(url) or url

    def page(self, url: str) -> Page:
        """A page, read."""
        page = self._pages.get(url)
        if page is None:
            answer = self.web.get(url)
            page = self._pages[url] = Page(url, answer.status)
            if answer.status >= 300:
                page.problem = str(answer.status)
            else:
                read_page(page, answer.body, answer.content_type)
                page.counts  # noqa: B018
        return page


def cut(topic: Topic, start: str) -> tuple[KeywordJudge | None, list[str], list[str]]:
    """What a start gives of a topic: keywords, examples, counterexamples."""
    if start == "urls":
        return None, topic.seeds[:URLS], []
    keywords = KeywordJudge(topic.keywords)
    if start == "keywords":
        return keywords, [], []
    return keywords, list(map(str, topic.examples)), list(map(str, topic.counterexamples))


def crawl(web: LabelledWeb, topic: Topic, start: str, seeds: Sequence[str], pages: int) -> Crawled:
    """Fetch the best waiting URL until there are enough pages."""
    keywords, examples, others = cut(topic, start)
    vectors = load_vectors() if start != "full" else None
    reader = Reader(keywords, vectors.embed if vectors is not None else None)
    known = [
        Known(urls.key(page.url), label, reader.read(page), [urls.key(link.url) for link in page.links])
        for label, those in ((1.0, examples if seeds != examples else []), (0.0, others))
        for page in (web.page(web.end(url)) for url in those)
        if not page.problem
    ]
    learner = Learner(keywords, known, vectors)
    numbers: dict[int, int] = {}
    addresses = [""]

    def number_of(url: str) -> int:
        number = numbers.setdefault(urls.key(url), len(addresses))
        if number == len(addresses):
            addresses.append(url)
        return number

    waiting = [number_of(url) for url in seeds]
    starts, done = set(waiting), np.zeros(1024, dtype=bool)
    relevant: list[bool] = []
    fetched: list[Fetched] = []
    seconds = 0.0
    while len(relevant) < pages:
        score = None
        if waiting:
            number = waiting.pop(0)
        else:
            now = np.where(done[: len(learner._now)], np.nan, learner._now[: len(done)])
            if np.isnan(now).all():
                break
            number = int(np.nanargmax(now))
            score = float(now[number])
        done[number] = True
        url = web.end(addresses[number])
        if (final := number_of(url)) != number:
            if len(done) <= final:
                done = np.concatenate([done, np.zeros(max(len(done), final), dtype=bool)])
            if done[final]:
                relevant.append(False)  # fetched before: nothing is learned
                continue
            done[final] = True
        page = web.page(url)
        began = time.process_time()
        is_seed = learner.by_seeds and number in starts
        reading = reader.read(page)
        p = 0.0 if page.problem else learner.shown(SEED) if is_seed else learner.relevance(reading)
        if page.links:
            learner.preview(reading.links, p)
        targets = np.array([number_of(link.url) for link in page.links], dtype=np.int64)
        keys = [link.url for link in page.links]
        learner.take_in(
            len(relevant) + 1,
            number,
            reading,
            p,
            targets,
            lambda place, keys=keys: urls.key(keys[place]),
            dead=bool(page.problem),
            seed=is_seed,
        )
        learner.changes()
        seconds += time.process_time() - began
        if len(done) < len(addresses):
            done = np.concatenate([done, np.zeros(len(addresses), dtype=bool)])
        if len(learner._now) < len(done):
            learner._now = np.concatenate([learner._now, np.full(len(done) - len(learner._now), np.nan)])
            learner._told = np.concatenate([learner._told, np.full(len(learner._now) - len(learner._told), np.nan)])
        is_relevant = topic.label in web.web.labels(url)
        relevant.append(is_relevant)
        if score is not None and len(relevant) > FROM:
            fetched.append(Fetched(score, p, is_relevant))
    return Crawled(relevant, fetched, seconds)


def best_order(web: LabelledWeb, topic: Topic, seeds: Sequence[str], pages: int) -> list[int]:
    """The curve of the omniscient crawler."""
    relevant = web.survey.labelled(topic.label)
    order = omniscient(web.survey.graph, web.survey.numbers(map(web.end, seeds)), relevant, pages)
    return list(accumulate(page in relevant for page in order))


def rows(web: LabelledWeb, start: str, pages: int, names: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """The figures of each topic, from its seeds and from a page off topic."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for name in names:
        topic = web.topics[name]
        for kind, seeds in (("topic", topic.seeds), ("generic", web.generic)):
            done = crawl(web, topic, start, seeds, pages)
            curve = list(accumulate(done.relevant))
            best = best_order(web, topic, seeds, pages)
            row = {f"score {step}": area(curve, step) / area(best, step) for step in STEPS if step <= pages}
            row |= {f"relevant {step}": float(curve[min(step, len(curve)) - 1]) for step in STEPS if step <= pages}
            good = reliability(done.fetched)
            row |= {"judge": good.by_judge, "labels": good.by_labels} if good else {}
            row["ms"] = 1000 * done.seconds / len(curve)
            found[name, kind] = row
            print(
                f"{start:9} {name[:28]:29}{kind:8}" + " ".join(f"{k} {v:.3f}" for k, v in row.items()), file=sys.stderr
            )
    return found


def main() -> None:
    parser: ArgumentParser = labelled.parser(__doc__)
    parser.add_argument("--pages", type=int, default=STEPS[-1])
    parser.add_argument("--starts", default="full,keywords,urls")
    parser.add_argument("--cache", type=Path, help="folder to keep the link graphs in")
    parser.add_argument("--webs", default="wikipedia,webkb")
    parser.add_argument("--topics", default="", help="some topics, or `even` or `odd` ones")
    parser.add_argument("--folder", type=Path, default=labelled.WEBS)
    given = parser.parse_args()
    for name in given.webs.split(","):
        web = LabelledWeb(name, given.folder, given.cache)
        names = sorted(web.topics)
        if given.topics in ("even", "odd"):
            names = names[given.topics == "odd" :: 2]
        elif given.topics:
            names = given.topics.split(",")
        for start in given.starts.split(","):
            found = rows(web, start, given.pages, names)
            keys = list(dict.fromkeys(key for row in found.values() for key in row))
            for kind in ("topic", "generic"):
                mine = [row for (_, one), row in found.items() if one == kind]
                means = {key: fmean(row[key] for row in mine if key in row) for key in keys}
                print(f"{name} {start:9}{kind:8} " + " ".join(f"{k} {v:.3f}" for k, v in means.items()), flush=True)


if __name__ == "__main__":
    main()
