"""A web as crawlers see it: its pages, their links and labels, and their similarity to each topic.

The pages are parsed as a crawl parses them. Redirects are followed to the end and pages forbidden by robots.txt are
left out. Dead links are kept, because they cost a crawl a request.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from pathlib import Path
from typing import Any, NamedTuple

from focuscrawl import __version__, urls, words
from focuscrawl.crawl.files import write_whole
from focuscrawl.lab.orders import Graph
from focuscrawl.learning.texts import tells
from focuscrawl.manners.robots import Matcher, Rules
from focuscrawl.manners.robots_tags import robots_directives
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.topic import Topic
from focuscrawl.web.webs import Web, canonical, open_web, web_file

#: Limits of redirects and of the length of a URL, as in the settings of a crawl.
_REDIRECTS = 10
_URL_LENGTH = 2083
#: The crawler's name in robots.txt files.
_AGENT = "focuscrawl"

#: Stems with their weights.
Vector = Mapping[str, float]


class Read(NamedTuple):
    """A page that was read: the targets of its links, and its similarity to each topic."""

    links: list[str]
    similarity: list[float]


def topic_vector(topic: Topic) -> dict[str, float]:
    """A topic as a vector: the words of its description; without one, its keywords with their weights, or its name."""
    for texts in ({topic.description: 1.0}, topic.all_keywords, {topic.name: 1.0}):
        vector: dict[str, float] = {}
        for text, weight in texts.items():
            for language in topic.languages or ["en"]:
                for stem in words.stems(words.tokenize(text), language):
                    if tells(stem):
                        vector[stem] = max(weight, vector.get(stem, 0.0))
        if vector:
            return vector
    return {}


def cosine(counts: Mapping[str, int], topics: Sequence[Vector]) -> list[float]:
    """The cosine of a text with each topic; words count by the logarithm of their frequency, stop words not at all."""
    damped = {stem: 1 + log(number) for stem, number in counts.items() if tells(stem)}
    length = sqrt(sum(value * value for value in damped.values()))
    found = []
    for topic in topics:
        product = sum(weight * damped.get(stem, 0.0) for stem, weight in topic.items())
        found.append(product / (length * sqrt(sum(weight * weight for weight in topic.values()))) if product else 0.0)
    return found


class Reader:
    """Reads pages of a web, and caches where links lead."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self._ends: dict[str, str | None] = {}
        self._rules: dict[str, Matcher | None] = {}

    def read(self, url: str, topics: Sequence[Vector]) -> Read:
        answer = self.web.get(url)
        page = Page(url, answer.status)
        if answer.status >= 300:
            return Read([], [0.0] * len(topics))
        read_page(page, answer.body, answer.content_type)
        tags = [value for name, value in answer.headers if name.lower() == "x-robots-tag"]
        closed = "nofollow" in page.robots.union(*(robots_directives(tag, _AGENT) for tag in tags))
        links = [] if closed else [self.end(link.url) for link in page.links if len(link.url) <= _URL_LENGTH]
        return Read([link for link in dict.fromkeys(links) if link is not None], cosine(page.counts, topics))

    def end(self, url: str) -> str | None:
        """Where a link leads after redirects; None if robots.txt forbids it, or it leads nowhere."""
        key = canonical(url)
        if key not in self._ends:
            self._ends[key] = self._follow(url)
        return self._ends[key]

    def _follow(self, url: str) -> str | None:
        for _ in range(_REDIRECTS + 1):
            if not self._allowed(url):
                return None
            location = self.web.get(url).location
            if not location:
                return url
            target = urls.join(url, location)
            if target is None:
                return None
            url = target
        return None

    def _allowed(self, url: str) -> bool:
        root = urls.site(url)
        if root not in self._rules:
            answer = self.web.get(f"{root}/robots.txt")
            readable = answer.body if answer.status < 300 else b""
            self._rules[root] = Rules.read(readable, _AGENT).matcher() if answer.status < 500 else None
        rules = self._rules[root]
        return rules is not None and rules.allows(url)


def read_pages(web: Web | str, addresses: Sequence[str], topics: Sequence[Topic]) -> list[Read]:
    """Read some pages of a web; this is the task of a worker process."""
    reader = Reader(open_web(web) if isinstance(web, str) else web)
    vectors = [topic_vector(topic) for topic in topics]
    return [reader.read(url, vectors) for url in addresses]


@dataclass
class Survey:
    """A web that was read. Pages are numbered; numbers from `pages` on are dead links."""

    urls: list[str]
    pages: int
    links: list[list[int]]
    #: By name of the topic, for each page.
    similarity: dict[str, list[float]]
    labels: list[list[str]]

    @classmethod
    def of(cls, web: Web, topics: Mapping[str, Topic], read: Iterable[Read] | None = None) -> Survey:
        """A survey of all pages from what was *read*; None reads them now."""
        addresses = page_addresses(web)
        read = list(read if read is not None else read_pages(web, addresses, list(topics.values())))
        numbers: dict[str, int] = {}
        names: list[str] = []
        labels: list[list[str]] = []
        for url in addresses:
            numbers[canonical(url)] = len(names)
            names.append(url)
            labels.append(web.labels(url))
        links: list[list[int]] = []
        for page in read:
            targets: dict[int, None] = {}
            for url in page.links:
                number = numbers.setdefault(canonical(url), len(names))
                if number == len(names):
                    names.append(url)
                targets[number] = None
            links.append(list(targets))
        links += [[] for _ in range(len(names) - len(links))]
        similarity = {name: [page.similarity[place] for page in read] for place, name in enumerate(topics)}
        return cls(names, len(addresses), links, similarity, labels)

    @cached_property
    def graph(self) -> Graph:
        """The link graph."""
        return Graph(self.links)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {canonical(url): number for number, url in enumerate(self.urls)}

    def number(self, url: str) -> int | None:
        """The number of a page, whatever the spelling of its URL; None if it is unknown."""
        return self._numbers.get(canonical(url))

    def numbers(self, addresses: Iterable[str]) -> list[int]:
        """The numbers of those pages that exist."""
        return [number for url in addresses if (number := self.number(url)) is not None and number < self.pages]

    def labelled(self, label: str) -> set[int]:
        """The pages with a label."""
        return {page for page, labels in enumerate(self.labels) if label in labels}

    def label_counts(self) -> dict[str, int]:
        """How many pages have each label, most first."""
        counts: dict[str, int] = {}
        for labels in self.labels:
            for label in labels:
                counts[label] = counts.get(label, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def generic_start(self, topics: Set[str]) -> str | None:
        """The page without a label that links to the most pages; the first of several.

        If every page has a label, it is a page with none of the topics' labels.
        """
        linking = [page for page in range(self.pages) if self.links[page]]
        candidates = [page for page in linking if not self.labels[page]]
        candidates = candidates or [page for page in linking if topics.isdisjoint(self.labels[page])]
        if not candidates:
            return None
        return self.urls[max(candidates, key=lambda page: sum(link < self.pages for link in self.links[page]))]

    # ---- the cache file

    def save(self, path: Path, digest: str) -> None:
        """Save the survey atomically."""
        data = {"of": digest, "urls": self.urls, "pages": self.pages, "links": self.links}
        data |= {"similarity": self.similarity, "labels": self.labels}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(data))

    @classmethod
    def load(cls, path: Path, digest: str) -> Survey | None:
        """The saved survey, if it is of this web and these topics."""
        try:
            data: dict[str, Any] = json.loads(path.read_text("utf-8"))
            if data.pop("of") != digest:
                return None
            return cls(**data)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):  # missing or unreadable: it is made again
            return None


def page_addresses(web: Web) -> list[str]:
    """The pages of a web without duplicates and without robots.txt files."""
    found: dict[str, str] = {}
    for url in web.page_urls():
        if not url.endswith("/robots.txt"):
            found.setdefault(canonical(url), url)
    return list(found.values())


def web_digest(name: str) -> str:
    """A digest of the content of a web: of its file, or of its name and this version if it is generated."""
    path = web_file(name)
    if path is None:
        return hashlib.sha256(f"{name} {__version__}".encode()).hexdigest()
    digest = hashlib.sha256()
    for part in (path, path.with_name(f"{path.name}-wal")):  # the database and its write-ahead log
        if part.is_file():
            with part.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
