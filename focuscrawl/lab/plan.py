"""The plan of a comparison: topics, starts, spiders with their options, and the resulting crawls."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from random import Random
from typing import Any

from focuscrawl import __version__, urls
from focuscrawl.errors import FocusError, suggest
from focuscrawl.lab.orders import omniscient
from focuscrawl.lab.polite import Manners, Timed, polite_omniscient
from focuscrawl.lab.survey import Survey
from focuscrawl.options import options_of, read_options
from focuscrawl.resources import data
from focuscrawl.spider import FocusedSpider
from focuscrawl.topic import Topic, load_topic, named_topics, shipped_topics, slug

#: Rows of every table that are not spiders: the best order and a random one.
LIMIT = "omniscient"
CHANCE = "random"
#: The spider that is in every comparison.
FLOOR = "breadth_first"
#: Kinds of start: the topic's seeds, a page of no topic, URLs given by the user.
TOPIC, GENERIC, GIVEN = "topic", "generic", "given"
#: At most this many of a web's labels are listed in an error message.
_LABELS = 20


@dataclass(frozen=True)
class Spec:
    """A spider with options, as in `hits:every=50:focused=yes`."""

    text: str
    name: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read `name:option=value:option=value`; values may contain colons."""
        name, *pairs = re.split(r":(?=\w+=)", text.strip())
        options = tuple((option, value) for option, _, value in (pair.partition("=") for pair in pairs))
        return cls(text.strip(), name, options)

    @classmethod
    def of(cls, text: str, name: str, **options: Any) -> Spec:
        """A spider with options under another name."""
        return cls(text, name, tuple((option, str(value)) for option, value in options.items()))


#: Spider options that the comparison sets, and the command-line option to use instead.
_COMPARISONS = {"max_pages": "--pages", "topic": "--topics", "seeds": "--seeds"}


def read_spiders(
    text: str, loader: Any, baseline: str, common: Mapping[str, str] | None = None
) -> tuple[dict[Spec, type[FocusedSpider]], list[str]]:
    """The spiders to compare and their classes, including the floor and the baseline; and problems with others.

    *common* are options for all spiders that accept them.
    """
    known = sorted(loader.list())
    asked = known if text == "all" else _parts(text, known)
    if not asked:
        raise FocusError(f"--spiders: name some of {', '.join(known)}, or all")
    found: dict[Spec, type[FocusedSpider]] = {}
    problems: list[str] = []
    for spec in dict.fromkeys(Spec.parse(part) for part in (FLOOR, *asked, baseline)):
        try:
            spider = _load(spec, loader, known)
        except FocusError as error:
            if spec.text == baseline:
                raise FocusError(f"--baseline {baseline}: {error}") from None
            if text != "all":
                problems.append(str(error))
            continue
        takes = options_of(spider)
        options = {name: value for name, value in (common or {}).items() if name in takes} | dict(spec.options)
        found[Spec(spec.text, spec.name, tuple(options.items()))] = spider
    if problems and len(problems) == len(set(asked)):  # only the floor and the baseline would be left
        raise FocusError(f"--spiders: {'; '.join(problems)}")
    for name in common or {}:
        if not any(name in options_of(spider) for spider in found.values()):
            raise FocusError(f"-a {name}=…: none of the spiders has this option")
    return found, problems


def _parts(text: str, known: Sequence[str]) -> list[str]:
    """The spiders of a list; a comma not followed by a spider belongs to the options of the previous one."""
    parts: list[str] = []
    for part in text.split(","):
        if parts and "=" in parts[-1] and Spec.parse(part).name not in known:
            parts[-1] += f",{part}"
        elif part.strip():
            parts.append(part)
    return parts


def _load(spec: Spec, loader: Any, known: Sequence[str]) -> type[FocusedSpider]:
    """The class of a spider, which must accept these options."""
    if spec.name not in known:
        hint = suggest(spec.name, known) or f"known spiders: {', '.join(known)}"
        raise FocusError(f"unknown spider '{spec.name}'; {hint}")
    spider: type[FocusedSpider] = loader.load(spec.name)
    if not issubclass(spider, FocusedSpider):
        raise FocusError(f"spider '{spec.name}' is not a FocusedSpider")
    options = dict(spec.options)
    for name, instead in _COMPARISONS.items():
        if name in options:
            raise FocusError(f"{spec.text}: option {name} is set by the comparison; give {instead}")
    try:
        read_options(spider, options, ("keywords",))
    except FocusError as error:
        raise FocusError(f"{spec.text}: {error}") from None
    return spider


def read_topics(place: str) -> tuple[dict[str, Topic], list[str]]:
    """The topics of a folder or of files, or shipped ones, by file name without suffix; and problems with others.

    *place* is one of these or several, separated by commas; `shipped` means all topics of the embedded web.
    """
    if Path(place).is_dir():
        sources = [str(path) for path in sorted(Path(place).glob("*.toml"))]
        if not sources:
            raise FocusError(f"--topics {place}: no *.toml in that folder; write one as described in README.md")
    else:
        sources = shipped_topics() if place == "shipped" else [part.strip() for part in place.split(",")]
        for source in sources:
            if not Path(source).is_file() and source not in named_topics():
                raise FocusError(f"--topics {source}: not a folder, a topic file or one of {', '.join(named_topics())}")
    topics: dict[str, Topic] = {}
    problems: list[str] = []
    for source in sources:
        try:
            topics[Path(source).stem] = load_topic(source)
        except FocusError as error:
            if len(sources) == 1:
                raise
            problems.append(str(error))
    return topics, problems


def read_starts(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """The kinds of start, and the URLs among them: `topic,generic,http://…`."""
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
    """A topic and a start: the task of each spider."""

    topic: str
    seeds: str
    starts: tuple[str, ...]
    #: The pages that the starts lead to.
    first: tuple[int, ...]
    #: Relevant pages by label.
    relevant: frozenset[int]
    #: Number of relevant pages that can be reached.
    reachable: int
    #: Pages that count for target recall.
    targets: frozenset[int]
    #: The order of the limit; and if the crawls are polite, that of a limit which is, too.
    best: tuple[int, ...]
    polite_best: Timed | None = None


def make_trials(
    topics: Mapping[str, Topic],
    survey: Survey,
    starts: Mapping[str, Sequence[str]],
    pages: int,
    web: str,
    end: Callable[[str], str | None],
    manners: Manners | None = None,
) -> tuple[list[Trial], list[str]]:
    """The trials that can be run, and why others cannot.

    *starts* are the URLs of each kind of start; `topic` stands for the topics' own seeds. *end* resolves redirects.
    With *manners*, there is also a limit that is as polite as the crawls.
    """
    trials: list[Trial] = []
    problems: list[str] = []

    def numbers(addresses: Iterable[str]) -> list[int]:
        return survey.numbers(target for url in addresses if (target := end(url)) is not None)

    for name, topic in topics.items():
        try:
            label = label_of(topic, survey, web)
        except FocusError as error:
            problems.append(f"{error}; left out")
            continue
        if topic.label not in ("", label):
            problems.append(
                f"topic '{topic.source}': no page of {web} is labelled '{topic.label}'; those labelled '{label}', its"
                " name, count instead"
            )
        relevant = survey.labelled(label)
        for kind, given in starts.items():
            where = f"topic '{name}' from {kind} seeds"
            urls_of_kind = topic.seeds if kind == TOPIC else given
            first = numbers(urls_of_kind)
            if not first:
                problems.append(f"{where}: none of {len(urls_of_kind)} seeds is a page of {web}; left out")
                continue
            reachable = survey.graph.reachable(first)
            best = omniscient(survey.graph, first, relevant, pages)
            if relevant.isdisjoint(best):
                why = "can be reached" if relevant.isdisjoint(reachable) else f"can be reached in {pages} pages"
                problems.append(f"{where}: none of {len(relevant)} pages labelled '{label}' {why}; left out")
                continue
            targets = set(numbers(topic.targets))
            if not topic.targets:
                known = {*first, *numbers(item for item in topic.examples if isinstance(item, str))}
                targets = (relevant & reachable) - known or relevant & reachable
            elif targets.isdisjoint(reachable):
                problems.append(f"{where}: none of its {len(topic.targets)} targets can be reached; left out")
                continue
            trials.append(
                Trial(
                    name,
                    kind,
                    tuple(urls_of_kind),
                    tuple(first),
                    frozenset(relevant),
                    len(relevant & reachable),
                    frozenset(targets),
                    tuple(best),
                    None
                    if manners is None
                    else polite_omniscient(survey.graph, survey.urls, first, relevant, pages, manners),
                )
            )
    return trials, problems


def label_of(topic: Topic, survey: Survey, web: str) -> str:
    """The label that counts as relevant: the topic's own, or else the topic's name (case-insensitive).

    A crawl that is used as a web labels its pages with the name of its topic.
    """
    counts = survey.label_counts()
    if topic.label in counts:
        return topic.label
    if by_name := [label for label in counts if label.casefold() == topic.name.casefold()]:
        return by_name[0]
    there = ", ".join([*list(counts)[:_LABELS], *(["…"] if len(counts) > _LABELS else [])]) or "it has none"
    if not topic.label:
        raise FocusError(
            f"topic '{topic.source}' has no label; add label = \"…\" with one of the labels of {web}: {there}"
        )
    hint = suggest(topic.label, counts, "'{}'") or f"labels: {there}"
    raise FocusError(f"topic '{topic.source}': no page of {web} is labelled '{topic.label}'; {hint}")


@dataclass(frozen=True)
class Job:
    """One crawl: everything that its result depends on."""

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
    #: The crawl's politeness; None if it fetches one page at a time, without delays.
    manners: Manners | None = None
    #: Digests of the web, the topic and the spider's code.
    digests: tuple[str, ...] = field(default=())

    @property
    def key(self) -> str:
        """A readable name for the crawl's file, which changes whenever anything the crawl depends on changes."""
        facts = asdict(self)
        del facts["web"], facts["topic_source"]  # paths do not matter, digests cover the content
        digest = hashlib.sha256(json.dumps([__version__, facts], sort_keys=True).encode()).hexdigest()[:16]
        return f"{slug(self.topic)}.{self.seeds}.{slug(self.spider)}.{self.repeat}.{digest}"

    def __str__(self) -> str:
        return f"{self.spider} on '{self.topic}' from {self.seeds} seeds"


def jobs_of(
    trial: Trial, topic: Topic, spiders: Mapping[Spec, type[FocusedSpider]], repeats: int, seed: int, **facts: Any
) -> Iterator[Job | str]:
    """The crawls of a trial; for a spider that cannot run it, a line that says why.

    The first repeat uses the seeds in the given order; later ones shuffle them and give spiders that have an option
    `seed` a new value.
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
    """Check before any crawl whether a spider accepts a topic and options."""
    for part in spider.needs:
        if not getattr(topic, part):
            raise FocusError(topic.lacks(part))
    spider(topic=topic.source, seeds="http://a.example/", **options)


#: Parts of the package that do not affect what crawls fetch; a spider affects only its own crawls.
_IRRELEVANT = ("commands", "data", "lab", "spiders")


def _sources(place: Traversable) -> Iterator[str]:
    for item in sorted(place.iterdir(), key=lambda item: item.name):
        if item.is_dir() and item.name not in _IRRELEVANT:
            yield from _sources(item)
        elif item.name.endswith((".py", ".txt")):
            yield item.read_text("utf-8")


@cache
def _crawler_digest() -> str:
    """A digest of what all crawls share: the code of the crawler and the Dewey lexicon."""
    texts = [*_sources(files("focuscrawl")), *_sources(data("dewey"))]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def code_digest(spider: type) -> str:
    """A digest of the code behind a crawl: the spider, its base classes, and what all crawls share."""
    sources = [_crawler_digest()]
    for cls in spider.__mro__:
        if cls.__module__.startswith(("builtins", "scrapy.")):
            continue
        module = inspect.getmodule(cls)
        try:
            sources.append(inspect.getsource(module) if module else cls.__module__)
        except OSError:  # defined in a shell: there is no source file
            sources.append(cls.__module__)
    return hashlib.sha256("".join(sources).encode()).hexdigest()
