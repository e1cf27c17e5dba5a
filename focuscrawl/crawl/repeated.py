"""What the pages of a host have in common: names of sites, menus and notices that the markup does not tell.

A block of text, or a part of the title, that is on several pages of a host says nothing about any of them. The first
pages of a host are compared; a resumed crawl reads them again when the next page of the host arrives, so that it judges
as if it had never stopped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from focuscrawl import urls
from focuscrawl.crawl.duplicates import is_quick_to_read
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.store.pages import StoredPage
from focuscrawl.store.store import Store

#: Pages of a host that are compared, and blocks of each.
PAGES, BLOCKS = 8, 200
#: Hosts that are remembered: those met last; and the last pages among which a resumed crawl looks for their first ones.
HOSTS = 2_000
RECALLED = 200_000

_BETWEEN = re.compile(r" [-–—|·•»«:]+ | ?(?:\||——|»|«) ?")


@dataclass
class _Host:
    """The first pages of a host, by number, and how many of them have a text; None if they are still to be read."""

    numbers: list[int] = field(default_factory=list)
    counts: dict[int, int] | None = field(default_factory=dict)


class Repeated:
    """Tells what a page has in common with the first pages of its host.

    *read* reads a stored page by its number; *known* are the pages of earlier runs that are `compared`, in
    order: number and URL. They are asked for when the first page arrives.
    """

    def __init__(
        self, read: Callable[[int], Page], known: Iterable[tuple[int, str]] = (), *, hosts: int = HOSTS
    ) -> None:
        self._read, self._known, self._most = read, known, hosts
        self._hosts: dict[str, _Host] = {}

    def mark(self, page: Page) -> None:
        """Set what a page has in common with the first pages of its host."""
        self._recall()
        host = self._hosts.get(urls.host(page.url))
        if host is None or page.problem is not None or page.listing:
            return
        counts = self._counts(host)
        itself = page.number > 0 and page.number in host.numbers
        others = len(host.numbers) - itself
        # of two pages both have it, of several at least two and half of them
        least = max(min(2, others), (others + 1) // 2) + itself
        if not others or max(counts.values(), default=0) < least:  # as on most hosts whose markup tells
            return
        parts = _parts(page.title)
        repeated = [part for part in parts if counts.get(hash(part), 0) >= least]
        if len(repeated) < len(parts):
            page.repeated_title = " ".join(repeated)
            parts = [part for part in parts if part not in repeated]
        own = set(map(hash, parts))  # other pages may link here by the title
        blocks = _blocks(page)
        if len(blocks) > 1:  # a page of one block has nothing else to say
            page.repeated_blocks = [index for index, key in blocks if counts.get(key, 0) >= least and key not in own]

    def add(self, page: Page) -> None:
        """Remember a page that was stored."""
        if page.visit is not None or not compared(page):
            return
        self._recall()
        host = self._meet(page.url)
        if len(host.numbers) < PAGES:
            _count(page, self._counts(host))
            host.numbers.append(page.number)

    def _recall(self) -> None:
        for number, url in self._known:
            host = self._meet(url)
            if len(host.numbers) < PAGES:
                host.numbers.append(number)
                host.counts = None
        self._known = ()

    def _meet(self, url: str) -> _Host:
        name = urls.host(url)
        host = self._hosts.pop(name, None) or _Host()
        if len(self._hosts) >= self._most:
            del self._hosts[next(iter(self._hosts))]
        self._hosts[name] = host
        return host

    def _counts(self, host: _Host) -> dict[int, int]:
        if host.counts is None:
            host.counts = {}
            for number in host.numbers:
                _count(self._read(number), host.counts)
        return host.counts


def repeated_in(store: Store) -> Repeated:
    """What the pages of a crawl have in common, also those of earlier runs.

    A worker of a shared crawl learns it anew for every host: nothing in it may grow with the crawl.
    """
    last = 0 if store.shared else store.pages.last_number()
    known = (
        (page.number, page.url) for page in store.pages.each(after=max(0, last - RECALLED), upto=last) if compared(page)
    )
    return Repeated(partial(read_again, store), known if last else ())


def read_again(store: Store, number: int) -> Page:
    """A stored page, read from its stored bytes."""
    content = store.pages.content(number)
    return read_page(Page(content.url), content.body, content.content_type)


def compared(page: Page | StoredPage) -> bool:
    """Whether a page is compared: it has a text of its own, which is quick to read again."""
    own = page.problem is None and not page.listing and page.duplicate_of is None
    return own and is_quick_to_read(page.content_type)


def _parts(title: str) -> list[str]:
    return list(filter(None, map(str.strip, _BETWEEN.split(title))))


def _blocks(page: Page) -> list[tuple[int, int]]:
    """The first blocks of the main text, by index, with what tells them apart."""
    text, blocks = page.raw_text, page.blocks
    return [(index, hash(text[blocks[index].start : blocks[index].end])) for index in page.main_blocks[:BLOCKS]]


def _count(page: Page, counts: dict[int, int]) -> None:
    for key in {key for _, key in _blocks(page)}.union(map(hash, _parts(page.title))):
        counts[key] = counts.get(key, 0) + 1
