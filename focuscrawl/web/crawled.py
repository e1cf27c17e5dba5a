"""A crawl as a web: what `crawl.sqlite` holds is answered again, as it was answered then.

Pages keep their status, redirects lead where they led. A page's label is the topic of the crawl if the crawl judged it
relevant: the best there is to measure by where nobody has labelled the pages.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.store import VERSION
from focuscrawl.web.webs import NOT_FOUND, Answer, Web, canonical


def is_crawl(path: Path) -> bool:
    """Whether a file is one of a crawl, whatever shape it is in."""
    if not path.is_file():
        return False
    try:
        connection = _connect(path)
        try:
            return any(row[1] == "url_id" for row in connection.execute("PRAGMA table_info(page)"))
        finally:
            connection.close()
    except sqlite3.DatabaseError:
        return False


def _connect(path: Path) -> sqlite3.Connection:
    target = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(target, uri=True, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError:  # a medium that cannot be written: even readers have to be told that nobody writes
        connection.close()
        connection = sqlite3.connect(f"{target}&immutable=1", uri=True, check_same_thread=False)
    return connection


class CrawledWeb(Web):
    """The pages of a crawl."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.connection = _connect(self.path)
            meta = dict(self.connection.execute("SELECT key, value FROM meta WHERE key IN ('version', 'topic')"))
            version = json.loads(meta.get("version", "null"))
            #: The name of the crawl's topic, which is the label of its relevant pages.
            self.topic = str(json.loads(meta.get("topic", '""')))
        except (sqlite3.DatabaseError, ValueError) as error:
            raise FocusError(f"web '{path}' cannot be read: {error}") from None
        if version != VERSION:
            raise FocusError(
                f"web '{path}' is a crawl of another version of focuscrawl (format {version}, not {VERSION});"
                " use that version"
            )

    def get(self, url: str) -> Answer:
        page = self._pages.get(canonical(url))
        if page is None:
            location = self._redirects.get(canonical(url))
            return Answer(301, location=location) if location is not None else NOT_FOUND
        status, content_type, body = self.connection.execute(
            "SELECT page.status, page.content_type, ifnull(page.body, first.body) FROM page"
            " LEFT JOIN page AS first ON first.id = page.duplicate_of WHERE page.id = ?",
            (page,),
        ).fetchone()
        return Answer(status, content_type or "", zlib.decompress(body) if body else b"")

    @cached_property
    def _pages(self) -> dict[str, int]:
        return {canonical(url): page for page, url in self.connection.execute("SELECT id, url FROM page")}

    @cached_property
    def _redirects(self) -> dict[str, str]:
        """Where each URL led that was no page."""
        found: dict[str, str] = {}
        rows = self.connection.execute("SELECT redirects, url FROM page WHERE redirects NOT NULL")
        for passed, url in rows:
            found.update({canonical(source): target for source, target in pairwise([*json.loads(passed), url])})
        return found

    def labels(self, url: str) -> list[str]:
        page = self._pages.get(canonical(url))
        row = self.connection.execute("SELECT relevant FROM page WHERE id = ?", (page,)).fetchone()
        return [self.topic] if row and row[0] else []

    def hosts(self) -> list[str]:
        return sorted({urls.host(url) for url in self.page_urls()})

    def page_urls(self) -> Iterator[str]:
        return (url for (url,) in self.connection.execute("SELECT url FROM page ORDER BY id"))
