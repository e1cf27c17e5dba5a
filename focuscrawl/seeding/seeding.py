"""Seeds, examples and counterexamples of a topic, from ranked lists of search results.

Paper: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling": the topic is asked for in three places.
URLs that all three lists hold are the most relevant, those in two are relevant, the rest stand in one list only. The
topic's words, negated, give examples of what is off the topic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from focuscrawl import urls, words
from focuscrawl.errors import FocusError
from focuscrawl.html import read_page
from focuscrawl.manners.sitemap import is_sitemap
from focuscrawl.page import Page
from focuscrawl.seeding.searxng import SearXNG
from focuscrawl.store.errors import StoreError
from focuscrawl.store.scratch import ScratchIndex
from focuscrawl.store.store import Store, crawl_folder, read_crawl
from focuscrawl.topic import Topic

#: The classes of URLs: in all lists, in at least two, in one only.
MOST_RELEVANT, RELEVANT, SINGLE = 3, 2, 1

#: Lines of a file that are named one by one when they hold no URL.
MAX_WARNINGS = 10

#: How much more a word counts in the title of a page than in its text, when a crawl is searched.
TITLE_WEIGHT = 5.0

Warn = Callable[[str], None]

_QUERY_PART = re.compile(r'-?"[^"]*"|\S+')
_AROUND = re.compile(r"^\W+|\W+$")
# What a basic string of TOML cannot hold as it is; half a character cannot be written to a file at all.
_ESCAPES = {
    **{code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    ord('"'): '\\"',
    ord("\\"): "\\\\",
}


class Query(NamedTuple):
    """The words and quoted phrases of a query: those wanted, and those with a minus before them."""

    wanted: list[str]
    unwanted: list[str]

    @classmethod
    def of(cls, text: str) -> Query:
        """The query in a text."""
        query = cls([], [])
        for part in _QUERY_PART.findall(text):
            word = _AROUND.sub("", part).lower()
            kind = query.unwanted if part.startswith("-") else query.wanted
            if words.tokenize(word) and word not in kind:
                kind.append(word)
        return query


def negated(text: str) -> str:
    """The query for what is off the topic: `bubble "merge sort"` becomes `-bubble -"merge sort"`."""
    return " ".join(f'-"{word}"' if " " in word else f"-{word}" for word in Query.of(text).wanted)


# ---- ranked lists


def read_list(path: Path, warn: Warn) -> list[str]:
    """The URLs in a text file, one a line; lines with none are named and left out."""
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except IsADirectoryError:
        raise FocusError(f"list {path}: is a directory; to search the crawl in it, write crawl:{path}") from None
    except FileNotFoundError:
        raise FocusError(f"list {path}: no such file; give a FILE, searxng:URL?q=… or crawl:DIR") from None
    except UnicodeDecodeError:
        raise FocusError(f"list {path}: not UTF-8 text; save it as UTF-8, with one URL a line") from None
    except (OSError, ValueError) as error:
        raise FocusError(f"list {path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    found: list[str] = []
    bad = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            url = urls.check(text)
            if urls.is_binary(url):
                raise ValueError(f"'{url}' is a file that is no page")
            found.append(url)
        except ValueError as error:
            bad += 1
            if bad <= MAX_WARNINGS:
                warn(f"{path}, line {number}: left out: {error}")
    if bad > MAX_WARNINGS:
        warn(f"{path}: {bad - MAX_WARNINGS:,} more lines left out")
    return found


def search_crawl(folder: Path, text: str, top: int) -> list[str]:
    """The URLs of the *top* pages of an earlier crawl for a query, best first.

    Pages are ranked by BM25 over the stems of title and text, those with any of the words wanted and none of the
    unwanted; if none is wanted, in the order fetched. Left out are near-duplicates, failures and pages that ask not to
    be indexed. The crawl's file is only read.
    """
    query = Query.of(text)
    index = ScratchIndex()
    try:
        with read_crawl(folder) as store:
            _fill(index, store)
            try:
                found = _matches(index, query)
            except StoreError as error:
                raise FocusError(f"crawl:{folder}: cannot be searched for '{text}': {error}; use plain words") from None
            pages = (store.pages.get(number) for number in found[: max(top, 0)])
            return [page.url for page in pages if page is not None]
    finally:
        index.close()


def _fill(index: ScratchIndex, store: Store) -> None:
    """Index the stems of the stored pages that can be read."""
    for content in store.pages.searchable():
        if is_sitemap(content.body):
            continue
        page = read_page(Page(content.url), content.body, content.content_type)
        if not page.problem:
            index.add(content.number, _stemmed(page.title), _stemmed(page.raw_text))


def _matches(index: ScratchIndex, query: Query) -> list[int]:
    """The numbers of the pages for a query, best first."""
    refused = index.matching(_any(query.unwanted)) if query.unwanted else set()
    found = index.ranked(_any(query.wanted), TITLE_WEIGHT) if query.wanted else index.all()
    return [number for number in found if number not in refused]


def _stemmed(text: str) -> str:
    return " ".join(words.stems(words.tokenize(text)))


def _any(phrases: Iterable[str]) -> str:
    """What FTS5 reads as: any of these phrases."""
    return " OR ".join(f'"{_stemmed(phrase)}"' for phrase in phrases)


class Sources:
    """Reads ranked lists from where a SOURCE says: a file, `searxng:URL?q=…` or `crawl:DIR`."""

    def __init__(self, query: str, *, top: int, timeout: float, warn: Warn) -> None:
        self.query = query
        self.top = top
        self.timeout = timeout
        self.warn = warn

    def read(self, source: str, query: str | None = None) -> list[str]:
        """The URLs of a list, best first. Searches are for *query*, or for the query of the topic."""
        query = self.query if query is None else query
        if source.startswith("searxng:"):
            instance = SearXNG(source.removeprefix("searxng:"), self.timeout)
            if not (instance.query or query):
                raise FocusError(f"list {source}: what to search for? Add ?q=… to it, or give --query")
            return instance.search(instance.query or query, self.top, self.warn)
        if source.startswith("crawl:"):
            if not query:
                raise FocusError(f"list {source}: what to search for? Give --query")
            return search_crawl(crawl_folder(source.removeprefix("crawl:")), query, self.top)
        if source.startswith(("http://", "https://")):
            raise FocusError(f"list {source}: is a URL; if it is a SearXNG instance, write searxng:{source}")
        return read_list(Path(source), self.warn)


# ---- combining


class Found(NamedTuple):
    """A URL of the lists: its class, how many lists hold it, and the sum of its reciprocal ranks."""

    url: str
    level: int
    lists: int
    score: float


def combine(lists: Sequence[Sequence[str]], top: int) -> list[Found]:
    """The URLs among the first *top* of each list, the best class first and in it the highest sum of reciprocal ranks.

    URLs with the same key are one, and written as the list has it that ranks it best.
    """
    ranks: dict[int, list[tuple[int, str]]] = {}
    for ranked in lists:
        distinct: dict[int, str] = {}
        for url in ranked:
            distinct.setdefault(urls.key(url), url)
        for rank, (key, url) in enumerate(list(distinct.items())[:top], 1):
            ranks.setdefault(key, []).append((rank, url))
    found = [
        Found(
            min(places, key=lambda place: place[0])[1],
            MOST_RELEVANT if len(places) == len(lists) else RELEVANT if len(places) > 1 else SINGLE,
            len(places),
            sum(1 / rank for rank, _ in places),
        )
        for places in ranks.values()
    ]
    return sorted(found, key=lambda entry: (-entry.level, -entry.score))


def without(found: Iterable[Found], lists: Iterable[Iterable[str]]) -> list[str]:
    """The URLs found that none of the lists holds."""
    held = {urls.key(url) for ranked in lists for url in ranked}
    return [entry.url for entry in found if urls.key(entry.url) not in held]


def class_name(level: int, lists: int) -> str:
    """What a class is called in tables and files."""
    return {
        MOST_RELEVANT: f"most relevant: in {'both' if lists == 2 else f'all {lists}'} lists",
        RELEVANT: "relevant: in at least two lists",
        SINGLE: "in one list only",
    }[level]


# ---- the topic file


def toml(topic: Topic, headings: Mapping[str, str] | None = None) -> str:
    """A topic as a file that `load_topic` reads: name, description, seeds, keywords, examples, counterexamples.

    *headings* gives, by URL, the comment under which a seed stands.
    """
    keywords = [f"{_quoted(word)} = {_number(weight)}" for word, weight in topic.keywords.items()]
    lines = [
        f"name = {_quoted(topic.name.strip())}",
        f"description = {_quoted(topic.description)}",
        "",
        *_array("seeds", topic.seeds, headings or {}),
        "",
        f"keywords = {{ {', '.join(keywords)} }}",
        "",
        *_array("examples", map(str, topic.examples), {}),
        "",
        *_array("counterexamples", map(str, topic.counterexamples), {}),
    ]
    return "\n".join(lines) + "\n"


def _array(key: str, items: Iterable[str], headings: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    heading = ""
    for item in items:
        if headings.get(item, heading) != heading:
            heading = headings[item]
            lines.append(f"    # {heading}")
        lines.append(f"    {_quoted(item)},")
    return [f"{key} = [", *lines, "]"] if lines else [f"{key} = []"]


def _quoted(text: str) -> str:
    """A basic string of TOML; half a character, which no file can hold, becomes a replacement character."""
    return f'"{text.translate(_ESCAPES)}"'


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
