"""The pages by which the keywords of a topic are judged: its examples and counterexamples, and a crawl of it.

Nothing is fetched. An example that is a URL is read from the crawl, or from the web that FOCUS_WEB names.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.store.pages import StoredPage
from focuscrawl.store.places import earlier_crawl
from focuscrawl.store.store import Store
from focuscrawl.topic import Topic
from focuscrawl.web.webs import Web, open_web

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Pages of a crawl that are read, of either side: more change the order of the terms little.
MOST_PAGES = 1_000


@dataclass
class Example:
    """An example or counterexample: how the topic names it, and its page; None if it can only be fetched."""

    source: Path | str
    page: Page | None


@dataclass
class Evidence:
    """Pages on the topic and others, and where both are from."""

    relevant: list[Page] = field(default_factory=list)
    others: list[Page] = field(default_factory=list)
    #: What the sides consist of, for the user: `16 examples`, `36 counterexamples`.
    sides: tuple[str, str] = ("no pages", "no pages")
    examples: list[Example] = field(default_factory=list)
    counterexamples: list[Example] = field(default_factory=list)


class Library:
    """Reads pages without fetching anything: from files, a crawl of the topic, or a web in a file."""

    def __init__(self, store: Store | None = None, web: Web | None = None) -> None:
        self.store = store
        self.web = web

    @classmethod
    @contextmanager
    def open(cls, topic: Topic, crawl: str | None, web: str | None) -> Iterator[Library]:
        """Open the crawl in the directory *crawl*, which must be of that topic, and the web with the name *web*."""
        with earlier_crawl(crawl, topic.name) if crawl else nullcontext() as store:
            yield cls(store, open_web(web) if web else None)

    def example(self, source: Path | str) -> Example:
        """An example of the topic."""
        if not isinstance(source, Path):
            return Example(source, self.page(source))
        try:
            return Example(source, read_page(Page(urls.of_file(source)), source.read_bytes()))
        except OSError as error:
            raise FocusError(f"example {source} cannot be read: {error.strerror}") from None

    def page(self, url: str) -> Page | None:
        """The page at a URL; None if it is neither in the crawl nor in the web."""
        if self.store is not None:
            example = self.store.examples.get(url)
            if example is not None:
                return read_page(Page(url), example.body, example.content_type)
            stored = self.stored(url)
            if stored is not None and stored.problem is None:
                return self.read(stored)
        if self.web is not None:
            answer = self.web.get(url)
            if answer.status == 200:
                return read_page(Page(url), answer.body, answer.content_type)
        return None

    def stored(self, url: str) -> StoredPage | None:
        """What the crawl knows of the page at a URL."""
        assert self.store is not None
        found = self.store.urls.find(urls.key(url), urls.key(url, any_scheme=False))
        if found is None:
            return None
        return self.store.pages.of_url(found[0]) or self.store.pages.at(url, found[1])

    def read(self, stored: StoredPage) -> Page:
        """A page of the crawl."""
        assert self.store is not None
        response = self.store.pages.response(stored.number)
        return read_page(Page(stored.url), response.body, response.content_type)


def gather(topic: Topic, library: Library) -> Evidence:
    """The evidence for a topic: examples and counterexamples, and the pages of the crawl that are neither."""
    evidence = Evidence(
        examples=[library.example(source) for source in topic.examples],
        counterexamples=[library.example(source) for source in topic.counterexamples],
    )
    relevant, others = (
        {urls.key(one.page.url): one.page for one in side if one.page is not None and not one.page.problem}
        for side in (evidence.examples, evidence.counterexamples)
    )
    told = [_number(len(relevant), "example")] if relevant else []
    told_others = [_number(len(others), "counterexample")] if others else []
    if library.store is not None:
        found, rejected = _sides(library.store.pages.each())
        for side, stored, words, name in (
            (relevant, found, told, "relevant page"),
            (others, rejected, told_others, "other page"),
        ):
            # what the topic says of a page counts more than what the crawl says
            new = [page for page in stored if urls.key(page.url) not in relevant.keys() | others.keys()]
            side.update((urls.key(page.url), library.read(page)) for page in new)
            if new:
                words.append(_number(len(new), name))
    evidence.relevant, evidence.others = list(relevant.values()), list(others.values())
    evidence.sides = " and ".join(told) or "no pages", " and ".join(told_others) or "no pages"
    return evidence


def _number(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def _sides(pages: Iterable[StoredPage]) -> tuple[list[StoredPage], list[StoredPage]]:
    """The pages that a crawl judged on topic and off topic, at most MOST_PAGES of each, evenly chosen.

    Matched pages would not do: for some strategies, all pages match.
    """
    relevant: list[StoredPage] = []
    rejected: list[StoredPage] = []
    for page in pages:
        if page.relevant is not None and page.problem is None and page.duplicate_of is None and not page.listing:
            (relevant if page.relevant else rejected).append(page)
    return _evenly(relevant), _evenly(rejected)


def _evenly(pages: list[StoredPage]) -> list[StoredPage]:
    step = max(1.0, len(pages) / MOST_PAGES)
    return [pages[int(place * step)] for place in range(min(len(pages), MOST_PAGES))]
