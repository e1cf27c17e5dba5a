"""A comparison from start to finish: read the web, plan the crawls, run them, measure them."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from focuscrawl import page, urls, words
from focuscrawl.errors import FocusError
from focuscrawl.lab import survey as surveys
from focuscrawl.lab.crawls import Outcome, Workers, run_all
from focuscrawl.lab.measures import measure
from focuscrawl.lab.orders import random_order
from focuscrawl.lab.plan import CHANCE, GENERIC, GIVEN, LIMIT, TOPIC, Job, Spec, Trial, jobs_of, label_of, make_trials
from focuscrawl.lab.polite import Manners, polite_random
from focuscrawl.lab.survey import Reader, Survey, read_pages, web_digest
from focuscrawl.lab.tables import Row
from focuscrawl.lab.tags import TagRelevance
from focuscrawl.reading import content, html
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.places import crawl_folder, is_address
from focuscrawl.topic import Topic
from focuscrawl.web.webs import Web, open_web

#: Pages of a web that a process reads per task.
_SHARE = 200

Say = Callable[[str], None]


@dataclass
class Lab:
    """What is compared, and where the results go."""

    web_name: str
    topics: dict[str, Topic]
    spiders: dict[Spec, type[FocusedSpider]]
    #: Kinds of start, and the URLs of those that are not the topics' own seeds.
    ways: list[str]
    given: list[str]
    generic: list[str]
    pages: int
    repeats: int
    seed: int
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    #: The politeness of all crawls, on their clock; None to fetch one page at a time, without delays.
    manners: Manners | None = None
    keep: bool = False
    #: Also count the pages whose tag-weighted keywords have a cosine with the topic's above this.
    keyword_threshold: float | None = None
    #: One line for each thing that could not be compared.
    problems: list[str] = field(default_factory=list)

    @cached_property
    def web(self) -> Web:
        """The web that is crawled."""
        return open_web(self.web_name)

    @cached_property
    def title(self) -> str:
        """The web's name in tables: that of its file, or of its directory if it is a crawl."""
        path = crawl_folder(self.web_name) if is_address(self.web_name) else Path(self.web_name)
        return path.resolve().parent.name if path.name == "crawl.sqlite" else path.stem if path.suffix else path.name

    @cached_property
    def _tags(self) -> TagRelevance:
        return TagRelevance(self.web, self.topics)

    @cached_property
    def _digest(self) -> str:
        return web_digest(self.web_name)

    # ---- the web

    def read(self, processes: Workers, progress: Callable[[int, int], None]) -> Survey:
        """Read the web, or load what an earlier run has read."""
        topics = list(self.topics.values())
        about = {
            name: (topic.name, topic.description, topic.all_keywords, topic.languages)
            for name, topic in self.topics.items()
        }
        code = [inspect.getsource(module) for module in (surveys, html, content, page, urls, words)]
        facts = json.dumps([self._digest, about, code], sort_keys=True)
        digest = hashlib.sha256(facts.encode()).hexdigest()
        path = self.folder / "crawls" / "web.json"
        known = Survey.load(path, digest)
        if known is not None:
            return known
        addresses = surveys.page_addresses(self.web)
        shares = [addresses[start : start + _SHARE] for start in range(0, len(addresses), _SHARE)]
        read = []
        progress(0, len(addresses))
        try:
            for future in [processes.submit(read_pages, self.web_name, share, topics) for share in shares]:
                read += future.result()
                progress(len(read), len(addresses))
        except BrokenProcessPool:
            raise FocusError(
                "a process that was reading the web was killed, possibly out of memory; try fewer --jobs"
            ) from None
        survey = Survey.of(self.web, self.topics, read)
        survey.save(path, digest)
        return survey

    @property
    def starts(self) -> dict[str, list[str]]:
        """The URLs of each kind of start; none for the topics' own seeds."""
        urls_of = {TOPIC: [], GIVEN: self.given, GENERIC: self.generic}
        return {way: urls_of[way] for way in self.ways}

    def _find_generic(self, survey: Survey) -> None:
        """Choose the generic start, if one is wanted and none was given."""
        if GENERIC not in self.ways or self.generic:
            return
        labels = set()
        for topic in self.topics.values():
            try:
                labels.add(label_of(topic, survey, self.title))
            except FocusError:  # reported when the trials are made
                continue
        start = survey.generic_start(labels)
        if start is not None:
            self.generic = [start]
        else:
            self.ways.remove(GENERIC)
            self.problems.append(
                f"--seeds {GENERIC}: every page of {self.title} has a topic's label; give --generic URL; left out"
            )

    # ---- the crawls

    def plan(self, survey: Survey) -> tuple[list[Trial], list[Job]]:
        """The trials and their crawls; whatever is left out is added to `problems`."""
        self._find_generic(survey)
        trials, problems = make_trials(
            self.topics, survey, self.starts, self.pages, self.title, Reader(self.web).end, self.manners
        )
        self.problems += problems
        jobs: list[Job] = []
        for trial in trials:
            topic = self.topics[trial.topic]
            for job in jobs_of(
                trial,
                topic,
                self.spiders,
                self.repeats,
                self.seed,
                web=self.web_name,
                pages=self.pages,
                settings=tuple(sorted(self.settings.items())),
                manners=self.manners,
                digests=(self._digest, _topic_digest(topic)),
            ):
                if isinstance(job, Job):
                    jobs.append(job)
                elif job not in self.problems:
                    self.problems.append(job)
        return trials, jobs

    def run(
        self, processes: Workers, jobs: Sequence[Job], done: Callable[[Job, str | None], None]
    ) -> dict[Job, Outcome]:
        """Run the crawls that no earlier run has finished."""
        return run_all(processes, jobs, self.folder / "crawls", keep=self.keep, done=done)

    # ---- measurement

    def rows(
        self, survey: Survey, trials: Sequence[Trial], outcomes: Mapping[Job, Outcome], after: int | None = None
    ) -> list[Row]:
        """A row per crawl and for the limit and chance, trial by trial; *after*: as they were after that many pages."""
        return [row for trial in trials for row in self._rows(survey, trial, outcomes, after or self.pages)]

    def _by_keywords(self, survey: Survey, topic: str) -> Callable[[int], bool] | None:
        """Whether a page is relevant to a topic by its keywords, if that is wanted."""
        least = self.keyword_threshold
        return None if least is None else lambda page: self._tags.of(topic, survey.urls[page]) > least

    def _rows(self, survey: Survey, trial: Trial, outcomes: Mapping[Job, Outcome], pages: int) -> Iterator[Row]:
        facts: dict[str, Any] = {
            "pages": pages,
            "relevant": trial.relevant,
            "reachable": trial.reachable,
            "targets": trial.targets,
            "limit": trial.best,
            "hosts": {number: urls.host(survey.urls[number]) for number in trial.relevant},
            "similarity": survey.similarity[trial.topic],
        }
        place = self.title, trial.topic, trial.seeds

        def order(name: str, repeat: int, order: Sequence[int], times: Sequence[float] | None) -> Row:
            first, times = order[:pages], times and times[:pages]
            measures = measure(first, [None] * len(first), requests=len(first), times=times, **facts)
            return Row(*place, name, repeat, measures)

        polite = trial.polite_best
        yield order(LIMIT, 1, polite.pages, polite.times) if polite else order(LIMIT, 1, trial.best, None)
        for job, outcome in outcomes.items():
            if (job.topic, job.seeds) == (trial.topic, trial.seeds):
                fetched = [survey.number(url) for url in outcome.urls[:pages]]
                judged, matched = outcome.judged[:pages], outcome.matched[:pages]
                times = outcome.times and outcome.times[:pages]
                by_keywords = self._by_keywords(survey, trial.topic)
                costs: dict[str, Any] = {"requests": outcome.requests, "times": times}
                measures = measure(fetched, judged, matched, by_keywords=by_keywords, **costs, **facts)
                yield Row(*place, job.spider, job.repeat, measures, outcome.cpu, outcome.seconds)
        for repeat in range(1, self.repeats + 1):
            chance = Random(f"{self.seed} {repeat} {trial.topic} {trial.seeds}")  # noqa: S311
            if self.manners is None:
                yield order(CHANCE, repeat, random_order(survey.graph, trial.first, self.pages, chance), None)
            else:
                timed = polite_random(survey.graph, survey.urls, trial.first, self.pages, self.manners, chance)
                yield order(CHANCE, repeat, timed.pages, timed.times)


def _topic_digest(topic: Topic) -> str:
    """A digest of a topic, including its example pages."""
    facts = {name: value for name, value in vars(topic).items() if name != "source"}
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode())
    for example in (*topic.examples, *topic.counterexamples):
        if isinstance(example, Path):
            digest.update(example.read_bytes())
    return digest.hexdigest()
