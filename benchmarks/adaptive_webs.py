"""How much of the best possible order `adaptive` reaches on labelled webs, from every kind of start.

    python benchmarks/adaptive_webs.py [--webs wikipedia,webkb] [--starts full,keywords,urls] [--topics even|odd|a,b]

The learner crawls without Scrapy and without politeness: the best waiting URL is fetched next, a dead link costs a
fetch, and links of pages with nofollow are not followed. The score is the lab's: the area under the curve of relevant
pages over that of the omniscient crawler. *Off by* is the expected calibration error of the scores from page 100 on, by
the strategy's own judge and by the labels.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import labelled

from focuscrawl import urls
from focuscrawl.judge import KeywordJudge
from focuscrawl.lab.measures import area
from focuscrawl.lab.orders import omniscient
from focuscrawl.lab.reliability import FROM, Fetched, reliability
from focuscrawl.lab.survey import Reader as Redirects
from focuscrawl.lab.survey import Survey, web_digest
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.strategies.adaptive.beforehand import Known
from focuscrawl.strategies.adaptive.learner import SEED, Learner
from focuscrawl.strategies.adaptive.reading import Reader
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
        labels = {topic.label for topic in self.topics.values()}
        self.generic = GENERIC.get(name) or [self.survey.generic_start(labels) or ""]

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
    import numpy as np  # after focuscrawl, which has it use one core

    keywords, examples, others = cut(topic, start)
    vectors = load_vectors() if start != "full" else None
    reader = Reader(keywords, vectors.embed if vectors is not None else None, roles=start == "full")
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

    seed_numbers = [number_of(url) for url in seeds]
    waiting, done = list(seed_numbers), set[int]()
    met, closed = set(seed_numbers), set[int]()  # found only on pages that ask that no link be followed
    relevant: list[bool] = []
    fetched: list[Fetched] = []
    seconds = 0.0
    while len(relevant) < pages:
        score = None
        if waiting:
            number = waiting.pop(0)
        else:
            scores = learner.scores.copy()
            scores[[one for one in done | closed if one < len(scores)]] = np.nan
            if np.isnan(scores).all():
                break
            number = int(np.nanargmax(scores))
            score = float(scores[number])
        url = web.end(addresses[number])
        final = number_of(url)
        if final in done:
            done.add(number)
            relevant.append(False)  # a redirect to a page that was fetched: nothing is learned
            continue
        done.update((number, final))
        page = web.page(url)
        targets = np.array([number_of(link.url) for link in page.links], dtype=np.int64)
        if "nofollow" in page.robots:
            closed.update(number for number in targets.tolist() if number not in met)
        else:
            closed.difference_update(targets.tolist())
        met.update(targets.tolist())
        addresses_there = [link.url for link in page.links]
        is_seed = learner.by_seeds and number in seed_numbers
        began = time.process_time()
        reading = reader.read(page)
        p = 0.0 if page.problem else learner.shown(SEED) if is_seed else learner.relevance(reading)
        if page.links:
            learner.preview(reading.links, p)
        learner.take_in(
            len(relevant) + 1,
            number,
            reading,
            p,
            targets,
            lambda place, there=addresses_there: urls.key(there[place]),
            dead=bool(page.problem),
            seed=is_seed,
        )
        learner.changes()
        seconds += time.process_time() - began
        relevant.append(topic.label in web.web.labels(url))
        if score is not None and len(relevant) > FROM:
            fetched.append(Fetched(score, p, relevant[-1]))
    return Crawled(relevant, fetched, seconds)


def best_order(web: LabelledWeb, topic: Topic, seeds: Sequence[str], pages: int) -> list[int]:
    """The curve of the omniscient crawler."""
    relevant = web.survey.labelled(topic.label)
    order = omniscient(web.survey.graph, web.survey.numbers(map(web.end, seeds)), relevant, pages)
    return list(accumulate(page in relevant for page in order))


def measure(web: LabelledWeb, topic: Topic, start: str, seeds: Sequence[str], pages: int) -> dict[str, float]:
    """The figures of a crawl."""
    done = crawl(web, topic, start, seeds, pages)
    curve, best = list(accumulate(done.relevant)), best_order(web, topic, seeds, pages)
    row = {f"relevant {step}": float(curve[min(step, len(curve)) - 1]) for step in STEPS}
    row |= {f"score {step}": area(curve, step) / area(best, step) for step in STEPS}
    good = reliability(done.fetched)
    return row | ({"judge": good.by_judge, "labels": good.by_labels} if good else {})


def table(found: Mapping[tuple[str, str, str], Sequence[Mapping[str, float]]]) -> str:
    """Means over topics, by web, what is given of the topic, and the start."""
    columns = {
        "relevant of 38": ("relevant 38", ".1f"),
        **{f"score at {step}": (f"score {step}", ".3f") for step in STEPS[1:]},
        "off by, judge": ("judge", ".3f"),
        "labels": ("labels", ".2f"),
    }
    lines = [("web", "given", "start", *columns), (*["---"] * 3, *["---:"] * len(columns))]
    for (web, start, kind), those in found.items():
        means = [
            format(fmean([row[key] for row in those if key in row]), form) if any(key in row for row in those) else "–"
            for key, form in columns.values()
        ]
        lines.append((web, STARTS[start], kind, *means))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> None:
    parser: ArgumentParser = labelled.parser(__doc__)
    parser.add_argument("--pages", type=int, default=STEPS[-1])
    parser.add_argument("--starts", default=",".join(STARTS))
    parser.add_argument("--cache", type=Path, help="folder to keep the link graphs in")
    parser.add_argument("--webs", default="wikipedia,webkb")
    parser.add_argument("--topics", default="", help="some topics; `even` or `odd`: one half of them")
    parser.add_argument("--folder", type=Path, default=labelled.WEBS)
    given = parser.parse_args()
    found: dict[tuple[str, str, str], list[dict[str, float]]] = {}
    for name in given.webs.split(","):
        if not (given.folder / f"{name}.sqlite").exists():
            sys.exit(f"{given.folder / name}.sqlite does not exist; give the folder of the webs with --folder")
        web = LabelledWeb(name, given.folder, given.cache)
        names = sorted(web.topics)
        if given.topics in ("even", "odd"):
            names = names[given.topics == "odd" :: 2]
        elif given.topics:
            names = given.topics.split(",")
        for start in given.starts.split(","):
            for one in names:
                topic = web.topics[one]
                for kind, seeds in (("own seeds", topic.seeds), ("generic", web.generic)):
                    row = measure(web, topic, start, seeds, given.pages)
                    found.setdefault((name, start, kind), []).append(row)
                    figures = " ".join(f"{key} {value:.3f}" for key, value in row.items())
                    print(f"{name} {start} {one} {kind}: {figures}", file=sys.stderr, flush=True)
    print(table(found))


if __name__ == "__main__":
    main()
