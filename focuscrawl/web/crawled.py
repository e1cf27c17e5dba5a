"""A crawl as a web: answers requests with the responses stored in `crawl.sqlite`.

Pages keep their status, and redirects their targets. Pages that the crawl judged relevant have its topic as their
label, which is the best available substitute for manual labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from focuscrawl import urls
from focuscrawl.store.places import open_store
from focuscrawl.web.webs import NOT_FOUND, Answer, Web, canonical, header


class CrawledWeb(Web):
    """The pages of a crawl."""

    def __init__(self, path: str | Path) -> None:
        self.store = open_store(path, create=False, any_thread=True)
        #: The name of the crawl's topic: the label of its relevant pages.
        self.topic = self.store.meta("topic") or ""

    def get(self, url: str) -> Answer:
        with self.store.reading():
            page = self._pages.get(canonical(url))
            if page is None:
                location = self._redirects.get(canonical(url))
                return Answer(301, location=header(location)) if location is not None else NOT_FOUND
            response = self.store.pages.response(page)
            if not 100 <= response.status <= 999:
                raise ValueError(f"{response.status} is not a status")
            return Answer(response.status, header(response.content_type), response.body)

    @cached_property
    def _pages(self) -> dict[str, int]:
        return {canonical(page.url): page.number for page in self.store.pages.each()}

    @cached_property
    def _redirects(self) -> dict[str, str]:
        """The target of each URL that was redirected."""
        found: dict[str, str] = {}
        for passed in self.store.pages.redirects():
            found.update({canonical(source): target for source, target in pairwise(passed)})
        return found

    def labels(self, url: str) -> list[str]:
        with self.store.reading():
            page = self.store.pages.get(self._pages.get(canonical(url), 0))
            return [self.topic] if page is not None and page.relevant else []

    def hosts(self) -> list[str]:
        with self.store.reading():
            return sorted({urls.host(url) for url in self.page_urls()})

    def page_urls(self) -> Iterator[str]:
        with self.store.reading():
            for page in self.store.pages.each():
                yield page.url
