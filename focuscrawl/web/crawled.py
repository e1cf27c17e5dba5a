"""A crawl as a web: what `crawl.sqlite` holds is answered again, as it was answered then.

Pages keep their status, redirects lead where they led. A page's label is the topic of the crawl if the crawl judged it
relevant: the best there is to measure by where nobody has labelled the pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from focuscrawl import urls
from focuscrawl.store.sqlite_file import UNREADABLE, from_json, inflate, open_file
from focuscrawl.store.store import Store
from focuscrawl.web.webs import NOT_FOUND, Answer, Web, canonical, header


def is_crawl(path: Path) -> bool:
    """Whether a file is one of a crawl, whatever shape it is in."""
    if not path.is_file():
        return False
    try:
        connection = open_file(path, "ro&immutable=1")
        try:
            return any(row[1] == "url_id" for row in connection.execute("PRAGMA table_info(page)"))
        finally:
            connection.close()
    except UNREADABLE:
        return False


class CrawledWeb(Web):
    """The pages of a crawl."""

    def __init__(self, path: str | Path) -> None:
        self.store = Store(Path(path), create=False, any_thread=True)
        #: The name of the crawl's topic, which is the label of its relevant pages.
        self.topic = self.store.meta("topic") or ""

    def get(self, url: str) -> Answer:
        with self.store.reading():
            page = self._pages.get(canonical(url))
            if page is None:
                location = self._redirects.get(canonical(url))
                return Answer(301, location=header(location)) if location is not None else NOT_FOUND
            status, content_type, body = self.store.execute(
                "SELECT page.status, page.content_type, ifnull(page.body, first.body) FROM page"
                " LEFT JOIN page AS first ON first.id = page.duplicate_of WHERE page.id = ?",
                (page,),
            ).fetchone()
            if not 100 <= status <= 999:
                raise ValueError(f"{status} is no status")
            return Answer(status, header(content_type or ""), inflate(body) if body else b"")

    @cached_property
    def _pages(self) -> dict[str, int]:
        return {canonical(url): page for page, url in self.store.execute("SELECT id, url FROM page")}

    @cached_property
    def _redirects(self) -> dict[str, str]:
        """Where each URL led that was no page."""
        found: dict[str, str] = {}
        rows = self.store.execute("SELECT redirects, url FROM page WHERE redirects NOT NULL")
        for passed, url in rows:
            found.update({canonical(source): target for source, target in pairwise([*from_json(passed, list), url])})
        return found

    def labels(self, url: str) -> list[str]:
        with self.store.reading():
            page = self._pages.get(canonical(url))
            row = self.store.execute("SELECT relevant FROM page WHERE id = ?", (page,)).fetchone()
            return [self.topic] if row and row[0] else []

    def hosts(self) -> list[str]:
        with self.store.reading():
            return sorted({urls.host(url) for url in self.page_urls()})

    def page_urls(self) -> Iterator[str]:
        with self.store.reading():
            for (url,) in self.store.execute("SELECT url FROM page ORDER BY id"):
                yield url
