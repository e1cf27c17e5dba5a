"""Seeds, examples and counterexamples of a topic, from ranked lists of search results.

Paper: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling": send the topic to three search engines. URLs
in all three lists are the most relevant, those in two are relevant, the rest are in one list only. The topic's words,
negated, find off-topic examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.search.index import Index
from focuscrawl.search.query import Query
from focuscrawl.seeding.searxng import SearXNG
from focuscrawl.store.places import crawl_folder, read_crawl
from focuscrawl.topic import Topic

#: The classes of URLs: in all lists, in at least two, in one only.
MOST_RELEVANT, RELEVANT, SINGLE = 3, 2, 1

#: Lines without a URL that are reported one by one, per file.
MAX_WARNINGS = 10

Warn = Callable[[str], None]

# Characters to escape in a basic string of TOML; lone surrogates cannot be written at all.
_ESCAPES = {
    **{code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    ord('"'): '\\"',
    ord("\\"): "\\\\",
}


def negated(text: str) -> str:
    """The query for off-topic pages: `bubble "merge sort"` becomes `-bubble -"merge sort"`."""
    return " ".join(f'-"{word}"' if " " in word else f"-{word}" for word in Query.parse(text).keywords())


# ---- ranked lists


def read_list(path: Path, warn: Warn) -> list[str]:
    """The URLs in a text file, one per line. Lines without one are reported and skipped."""
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except IsADirectoryError:
        raise FocusError(f"list {path}: is a directory; to search the crawl in it, write crawl:{path}") from None
    except FileNotFoundError:
        raise FocusError(f"list {path}: no such file; give a FILE, searxng:URL?q=… or crawl:DIR") from None
    except UnicodeDecodeError:
        raise FocusError(f"list {path}: not UTF-8 text; save it as UTF-8, with one URL per line") from None
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
                raise ValueError(f"'{url}' is a file, not a page")
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

    One of the wanted words or phrases is enough. If the query has only unwanted ones, these are the pages without them,
    in the order stored. The crawl's file is not changed.
    """
    query = Query.parse(text).any_word()
    with read_crawl(folder) as store:
        pages = map(store.pages.get, Index.complete(store).best(query, top))
        return [page.url for page in pages if page is not None]


class Sources:
    """Reads ranked lists from a SOURCE: a file, `searxng:URL?q=…` or `crawl:DIR`."""

    def __init__(self, query: str, *, top: int, timeout: float, warn: Warn) -> None:
        self.query = query
        self.top = top
        self.timeout = timeout
        self.warn = warn

    def read(self, source: str, query: str | None = None) -> list[str]:
        """The URLs of a list, best first. Searches use *query*, by default the topic's query."""
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
    """A URL of the lists: its class, the number of lists that contain it, and the sum of its reciprocal ranks."""

    url: str
    level: int
    lists: int
    score: float


def combine(lists: Sequence[Sequence[str]], top: int) -> list[Found]:
    """The URLs among the first *top* of each list, by class, then by the sum of their reciprocal ranks.

    URLs with the same key are merged, and spelt as in the list that ranks them best.
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
    """The URLs found that are in none of the lists."""
    held = {urls.key(url) for ranked in lists for url in ranked}
    return [entry.url for entry in found if urls.key(entry.url) not in held]


def class_name(level: int, lists: int) -> str:
    """The name of a class in tables and files."""
    return {
        MOST_RELEVANT: f"most relevant: in {'both' if lists == 2 else f'all {lists}'} lists",
        RELEVANT: "relevant: in at least two lists",
        SINGLE: "in one list only",
    }[level]


# ---- the topic file


def toml(topic: Topic, headings: Mapping[str, str] | None = None) -> str:
    """A topic as a file that `load_topic` reads, without Dewey numbers and label.

    *headings* maps the URL of a seed to the comment above it.
    """
    lines = [
        f"name = {quoted(topic.name.strip())}",
        f"description = {quoted(topic.description)}",
        "",
        *_array("seeds", topic.seeds, headings or {}),
        "",
        *([f"languages = [{', '.join(map(quoted, topic.languages))}]"] if topic.languages else []),
        f"keywords = {_inline(topic.keywords, topic.keywords_in)}",
        "",
        *_array("examples", map(str, topic.examples), {}),
        "",
        *_array("counterexamples", map(str, topic.counterexamples), {}),
        *(["", *_array("targets", topic.targets, {})] if topic.targets else []),
    ]
    return "\n".join(lines) + "\n"


def _inline(keywords: Mapping[str, float], in_languages: Mapping[str, Mapping[str, float]]) -> str:
    """Keywords as an inline table, with one inside for each language."""
    pairs = [f"{quoted(word)} = {number_text(weight)}" for word, weight in keywords.items()]
    pairs += [f"{language} = {_inline(table, {})}" for language, table in in_languages.items()]
    return f"{{ {', '.join(pairs)} }}"


def _array(key: str, items: Iterable[str], headings: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    heading = ""
    for item in items:
        if headings.get(item, heading) != heading:
            heading = headings[item]
            lines.append(f"    # {heading}")
        lines.append(f"    {quoted(item)},")
    return [f"{key} = [", *lines, "]"] if lines else [f"{key} = []"]


def quoted(text: str) -> str:
    """A basic string of TOML; lone surrogates become replacement characters."""
    return f'"{text.translate(_ESCAPES)}"'


def number_text(value: float) -> str:
    """A number of TOML, without a point if it is a whole one."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
