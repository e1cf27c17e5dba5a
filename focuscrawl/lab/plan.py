"""What a comparison is made of: topics, ways to begin, spiders with their options, and the crawls they make."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from random import Random
from typing import Any

from focuscrawl import __version__, urls
from focuscrawl.errors import FocusError
from focuscrawl.lab.orders import omniscient
from focuscrawl.lab.survey import Survey
from focuscrawl.options import options_of
from focuscrawl.resources import data
from focuscrawl.spider import FocusedSpider
from focuscrawl.topic import Topic, load_topic, shipped_topics, slug

#: Rows of every table that are no spiders: the best order there is, and a random one.
LIMIT = "omniscient"
CHANCE = "random"
#: The spider that is in every comparison.
FLOOR = "breadth_first"
#: Ways to begin: at the topic's seeds, at a page of no topic, at URLs given by the user.
TOPIC, GENERIC, GIVEN = "topic", "generic", "given"


@dataclass(frozen=True)
class Spec:
    """A spider with options, as it is written: `hits:every=50:focused=yes`."""

    text: str
    name: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read `name:option=value:option=value`; a value may have colons in it."""
        name, *pairs = re.split(r":(?=\w+=)", text.strip())
        options = tuple((option, value) for option, _, value in (pair.partition("=") for pair in pairs))
        return cls(text.strip(), name, options)


def read_spiders(text: str, loader: Any, baseline: str) -> tuple[dict[Spec, type[FocusedSpider]], list[str]]:
    """The spiders to compare and their classes, with the floor and the baseline; and what is wrong with others."""
    known = sorted(loader.list())
    asked = known if text == "all" else [part for part in text.split(",") if part.strip()]
    if not asked:
        raise FocusError(f"--spiders: name some of {', '.join(known)}, or all")
    found: dict[Spec, type[FocusedSpider]] = {}
    problems: list[str] = []
    for spec in dict.fromkeys(Spec.parse(part) for part in (FLOOR, *asked, baseline)):
        if spec.name not in known:
            close = difflib.get_close_matches(spec.name, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            problems.append(f"unknown spider '{spec.name}'; {hint}")
            continue
        spider = loader.load(spec.name)
        if not issubclass(spider, FocusedSpider):
            if text != "all":
                problems.append(f"spider '{spec.name}' has no strategy of ours: it is no FocusedSpider")
            continue
        found[spec] = spider
    return found, problems


def read_topics(place: str) -> tuple[dict[str, Topic], list[str]]:
    """The topics of a folder, a file or a shipped name, by the names of their files; and what is wrong with others."""
    path = Path(place)
    if path.is_dir():
        files = sorted(path.glob("*.toml"))
        if not files:
            raise FocusError(f"--topics {place}: no *.toml in that folder; write one as README.md tells")
    elif path.is_file() or place in shipped_topics():
        return {path.stem: load_topic(place)}, []
    else:
        raise FocusError(
            f"--topics {place}: no such folder, nor a topic file, nor one of {', '.join(shipped_topics())}"
        )
    topics: dict[str, Topic] = {}
    problems: list[str] = []
    for file in files:
        try:
            topics[file.stem] = load_topic(str(file))
        except FocusError as error:
            problems.append(str(error))
    return topics, problems


def read_starts(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """The ways to begin, and the URLs among them: `topic,generic,http://…`."""
    kinds: dict[str, None] = {}
    given: list[str] = []
    for text in texts:
        for part in re.split(rf",(?=\s*(?:https?://|{TOPIC}\b|{GENERIC}\b))", text):
            item = part.strip().strip(",")
            if item in (TOPIC, GENERIC):
                kinds[item] = None
                continue
            try:
                given.append(urls.check(item))
            except ValueError as error:
                raise FocusError(f"--seeds: {error}; give {TOPIC}, {GENERIC} or URLs") from None
            kinds[GIVEN] = None
    return list(kinds), given


@dataclass(frozen=True)
class Trial:
    """A topic and a way to begin: what each spider has to crawl from."""

    topic: str
    seeds: str
    starts: tuple[str, ...]
    #: By label; the order of the limit is made from them.
    relevant: frozenset[int]
    #: Relevant pages that can be reached.
    reachable: int
    #: Pages that count for target recall.
    targets: frozenset[int]
    best: tuple[int, ...]


def make_trials(
    topics: Mapping[str, Topic], survey: Survey, starts: Mapping[str, Sequence[str]], pages: int, web: str
) -> tuple[list[Trial], list[str]]:
    """The trials that make sense, and why others do not.

    *starts* are the URLs of each way to begin; those of `topic` are the topics' own.
    """
    trials: list[Trial] = []
    problems: list[str] = []
    for name, topic in topics.items():
        try:
            label = label_of(topic, survey, web)
        except FocusError as error:
            problems.append(f"{error}; left out")
            continue
        relevant = survey.labelled(label)
        for kind, given in starts.items():
            where = f"topic '{name}' from {kind} seeds"
            urls_of_kind = topic.seeds if kind == TOPIC else given
            first = survey.numbers(urls_of_kind)
            if not first:
                problems.append(f"{where}: none of {len(urls_of_kind)} seeds is a page of {web}; left out")
                continue
            reachable = survey.graph.reachable(first)
            best = omniscient(survey.graph, first, relevant, pages)
            if relevant.isdisjoint(best):
                why = "can be reached" if relevant.isdisjoint(reachable) else f"can be reached in {pages} pages"
                problems.append(f"{where}: none of {len(relevant)} pages labelled '{label}' {why}; left out")
                continue
            targets = set(survey.numbers(topic.targets))
            if not topic.targets:
                known = {*first, *survey.numbers(item for item in topic.examples if isinstance(item, str))}
                targets = (relevant & reachable) - known or relevant & reachable
            elif targets.isdisjoint(reachable):
                problems.append(f"{where}: none of its {len(topic.targets)} targets can be reached; left out")
                continue
            trials.append(
                Trial(
                    name,
                    kind,
                    tuple(urls_of_kind),
                    frozenset(relevant),
                    len(relevant & reachable),
                    frozenset(targets),
                    tuple(best),
                )
            )
    return trials, problems


def label_of(topic: Topic, survey: Survey, web: str) -> str:
    """The label that counts as relevant: the topic's own, or the topic's name in a web that knows it by that."""
    counts = survey.label_counts()
    for label in (topic.label, topic.name):
        if label in counts:
            return label
    there = ", ".join(list(counts)[:12]) or "there are none at all"
    if not topic.label:
        raise FocusError(
            f"topic '{topic.source}' has no label; say which of {web} counts, as in label = \"…\": {there}"
        )
    raise FocusError(f"topic '{topic.source}': no page of {web} is labelled '{topic.label}'; labels: {there}")


@dataclass(frozen=True)
class Job:
    """One crawl: all that it depends on."""

    web: str
    topic: str
    topic_source: str
    seeds: str
    starts: tuple[str, ...]
    spider: str
    name: str
    options: tuple[tuple[str, str], ...]
    repeat: int
    pages: int
    settings: tuple[tuple[str, str], ...] = ()
    #: Digests of the web, the topic and the spider's code.
    digests: tuple[str, ...] = field(default=())

    @property
    def key(self) -> str:
        """A name for the crawl's file: readable, and another one whenever anything is another."""
        facts = asdict(self)
        del facts["web"], facts["topic_source"]  # where they lie does not matter, their digests say what is in them
        digest = hashlib.sha256(json.dumps([__version__, facts], sort_keys=True).encode()).hexdigest()[:16]
        return f"{slug(self.topic)}.{self.seeds}.{slug(self.spider)}.{self.repeat}.{digest}"

    def __str__(self) -> str:
        return f"{self.spider} on '{self.topic}' from {self.seeds} seeds"


def jobs_of(
    trial: Trial, topic: Topic, spiders: Mapping[Spec, type[FocusedSpider]], repeats: int, seed: int, **facts: Any
) -> Iterator[Job | str]:
    """The crawls of a trial; for a spider that cannot do it, a line that says why.

    The first repeat begins at the seeds as they are given; further ones shuffle them, and give spiders that leave
    something to chance another `seed`.
    """
    pages: int = facts["pages"]
    digests: tuple[str, ...] = facts.pop("digests")
    for spec, spider in spiders.items():
        digest = code_digest(spider)
        for repeat in range(1, repeats + 1):
            options = spider.options_for(pages) | dict(spec.options)
            if "seed" in options_of(spider):
                options.setdefault("seed", str(seed + repeat - 1))
            starts = list(trial.starts)
            if repeat > 1:
                Random(f"{seed} {repeat} {trial.topic}").shuffle(starts)  # noqa: S311
            try:
                _check(spider, topic, options)
            except FocusError as error:
                yield f"{spec.text} is left out of '{trial.topic}': {error}"
                break
            yield Job(
                topic=trial.topic,
                topic_source=topic.source,
                seeds=trial.seeds,
                starts=tuple(starts),
                spider=spec.text,
                name=spec.name,
                options=tuple(sorted(options.items())),
                repeat=repeat,
                digests=(*digests, digest),
                **facts,
            )


def _check(spider: type[FocusedSpider], topic: Topic, options: Mapping[str, str]) -> None:
    """Find out before any crawl whether a spider can do with a topic and options."""
    if "max_pages" in options:
        raise FocusError("option max_pages is that of the comparison; give --pages")
    for part in spider.needs:
        if not getattr(topic, part):
            raise FocusError(topic.lacks(part))
    spider(topic=topic.source, seeds="http://a.example/", **options)


#: Parts of the package that have no say in what crawls fetch; spiders have, but each in its own crawls only.
_NO_SAY = ("commands", "data", "lab", "spiders")


def _sources(place: Traversable) -> Iterator[str]:
    for item in sorted(place.iterdir(), key=lambda item: item.name):
        if item.is_dir() and item.name not in _NO_SAY:
            yield from _sources(item)
        elif item.name.endswith((".py", ".txt")):
            yield item.read_text("utf-8")


@cache
def _crawler_digest() -> str:
    """What stands for all that crawls have in common: the code of the crawler, and the Dewey lexicon."""
    texts = [*_sources(files("focuscrawl")), *_sources(data("dewey"))]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def code_digest(spider: type) -> str:
    """What stands for the code of a crawl: that of the spider and its bases, and what all crawls have in common."""
    sources = [_crawler_digest()]
    for cls in spider.__mro__:
        if cls.__module__.startswith(("builtins", "scrapy.")):
            continue
        module = inspect.getmodule(cls)
        try:
            sources.append(inspect.getsource(module) if module else cls.__module__)
        except OSError:  # typed into a shell: there is no file to look at
            sources.append(cls.__module__)
    return hashlib.sha256("".join(sources).encode()).hexdigest()
