"""Webs that answer requests without a network: from a file, from memory, or generated on request.

A web file is an SQLite file with the tables page(url, host, content_type, body, labels) and link(src, dst, anchor), and
optionally redirect(src, dst); bodies are compressed with zlib, labels are JSON lists. A crawl's file is also a web
(`crawled.py`).
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

from focuscrawl import urls
from focuscrawl.errors import FocusError, printable
from focuscrawl.store.bodies import body_of
from focuscrawl.store.sqlite_file import UNREADABLE, from_json, open_file


class Answer(NamedTuple):
    """A web's answer to a request."""

    status: int
    content_type: str = "text/html"
    body: bytes = b""
    location: str = ""
    #: Additional headers, for webs in memory.
    headers: tuple[tuple[str, str], ...] = ()


NOT_FOUND = Answer(404, "text/html; charset=utf-8", b"<title>Not found</title><p>There is no such page.")


def conditional(answer: Answer, if_none_match: str = "", if_modified_since: str = "") -> Answer:
    """An answer with an ETag, or 304 if the client already has that version (RFC 9110, 13.1)."""
    if answer.status != 200:
        return answer
    headers = {name.lower(): value for name, value in answer.headers}
    if "etag" not in headers:
        headers["etag"] = f'"{blake2b(answer.body, digest_size=8).hexdigest()}"'
        answer = answer._replace(headers=(*answer.headers, ("ETag", headers["etag"])))
    if if_none_match:
        known = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
        same = "*" in known or headers["etag"].removeprefix("W/") in known
    else:
        same = bool(if_modified_since) and headers.get("last-modified") == if_modified_since
    return answer._replace(status=304, body=b"") if same else answer


def latency(url: str, mean: float) -> float:
    """The seconds that a web takes to answer: each URL has its own, from half to one and a half of the mean."""
    return mean * (0.5 + zlib.crc32(url.encode()) / 2**32)


class Web(ABC):
    """A web that can be crawled without a network."""

    @abstractmethod
    def get(self, url: str) -> Answer:
        """The answer to a GET request; 404 for an unknown URL."""

    def labels(self, url: str) -> list[str]:
        """The labels of a page."""
        return []

    def hosts(self) -> list[str]:
        """The names of all hosts, in order."""
        return []

    def page_urls(self) -> Iterator[str]:
        """The URLs of all pages, without redirects."""
        return iter(())


#: Queries for malformed rows of a web file.
_WRONG_PAGE = (
    "SELECT url FROM page WHERE typeof(url) != 'text' OR typeof(host) != 'text' OR typeof(body) != 'blob'"
    " OR typeof(content_type) NOT IN ('text', 'null') OR typeof(labels) NOT IN ('text', 'null') LIMIT 1"
)
_WRONG_REDIRECT = "SELECT src FROM redirect WHERE typeof(src) != 'text' OR typeof(dst) != 'text' LIMIT 1"


@contextmanager
def unreadable(path: str | Path) -> Iterator[None]:
    """Report any error caused by a damaged web file in one line."""
    try:
        yield
    except UNREADABLE as error:
        raise FocusError(f"web '{path}' cannot be read: {error or type(error).__name__}") from None


def header(text: str) -> str:
    """A text from a file as a valid header value."""
    return printable(text).encode("latin-1", "replace").decode("latin-1")


class WebFile(Web):
    """A web in an SQLite file."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise FocusError(f"web '{path}': no such file; give a web file, demo or synthetic:N")
        with unreadable(path):
            self.connection = open_file(self.path, "ro&immutable=1", any_thread=True)
            self.has_redirects = self._columns("redirect") >= {"src", "dst"}
            columns = self._columns("page")
            if not columns:
                raise FocusError(f"web '{path}': it has no table 'page'; is it a web file?")
            if not {"url", "host", "content_type", "body", "labels"} <= columns:
                raise FocusError(f"web '{path}': table 'page' lacks url, host, content_type, body or labels")
            for query in (_WRONG_PAGE, *([_WRONG_REDIRECT] if self.has_redirects else [])):
                row = self.connection.execute(query).fetchone()
                if row is not None:
                    raise FocusError(f"web '{path}': {row[0]!r} is not a valid page or redirect")

    def _columns(self, table: str) -> set[str]:
        """The stored columns of a table; views and computed columns are not trusted."""
        query = "SELECT type FROM sqlite_master WHERE name = ? AND sql NOT LIKE 'CREATE VIRTUAL%'"
        if self.connection.execute(query, (table,)).fetchone() != ("table",):
            return set()
        query = "SELECT name FROM pragma_table_xinfo(?) WHERE NOT hidden"
        return {name for (name,) in self.connection.execute(query, (table,))}

    def get(self, url: str) -> Answer:
        with unreadable(self.path):
            answer = self._exact(url)
            if answer is None:
                known = self._by_canonical.get(canonical(url))
                answer = self._exact(known) if known is not None else None
            return answer or NOT_FOUND

    def _exact(self, url: str) -> Answer | None:
        row = self.connection.execute("SELECT content_type, body FROM page WHERE url = ?", (url,)).fetchone()
        if row is not None:
            return Answer(200, header(row[0] or ""), body_of(row[1]))
        if self.has_redirects:
            row = self.connection.execute("SELECT dst FROM redirect WHERE src = ?", (url,)).fetchone()
            if row is not None:
                return Answer(301, location=header(row[0]))
        return None

    @cached_property
    def _by_canonical(self) -> dict[str, str]:
        """Pages by canonical URL, to resolve links that are spelled differently."""
        query = "SELECT url FROM page"
        if self.has_redirects:
            query = f"SELECT src FROM redirect UNION ALL {query}"
        return {canonical(url): url for (url,) in self.connection.execute(query)}

    def labels(self, url: str) -> list[str]:
        query = "SELECT labels FROM page WHERE url = ?"
        with unreadable(self.path):
            row = self.connection.execute(query, (url,)).fetchone()
            if row is None:
                known = self._by_canonical.get(canonical(url))
                row = self.connection.execute(query, (known,)).fetchone()
            return list(map(str, from_json(row[0] or None, list))) if row else []

    def hosts(self) -> list[str]:
        with unreadable(self.path):
            return [host for (host,) in self.connection.execute("SELECT DISTINCT host FROM page ORDER BY host")]

    def page_urls(self) -> Iterator[str]:
        with unreadable(self.path):
            for (url,) in self.connection.execute("SELECT url FROM page ORDER BY url"):
                yield url


class MemoryWeb(Web):
    """A web in memory, made by a builder or a test."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.page_labels: dict[str, list[str]] = {}

    def add(
        self, url: str, body: str | bytes, labels: list[str] | None = None, content_type: str = "text/html"
    ) -> None:
        """Add a page."""
        self.answers[url] = Answer(200, content_type, body.encode() if isinstance(body, str) else body)
        self.page_labels[url] = labels or []

    def redirect(self, source: str, target: str) -> None:
        """Add a redirect."""
        self.answers[source] = Answer(301, location=target)

    def get(self, url: str) -> Answer:
        return self.answers.get(url, NOT_FOUND)

    def labels(self, url: str) -> list[str]:
        return self.page_labels.get(url, [])

    def hosts(self) -> list[str]:
        return sorted({urls.host(url) for url in self.answers})

    def pages(self) -> Iterator[tuple[str, Answer]]:
        """The pages, without redirects."""
        return ((url, answer) for url, answer in self.answers.items() if not answer.location)

    def page_urls(self) -> Iterator[str]:
        return (url for url, _ in self.pages())

    def save(self, path: Path) -> None:
        """Write the web to a file, with the links between its pages."""
        from focuscrawl.page import Page
        from focuscrawl.reading.documents import read_page

        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as connection:
            connection.executescript(
                "CREATE TABLE page (url TEXT PRIMARY KEY, host TEXT, content_type TEXT, body BLOB, labels TEXT);"
                "CREATE TABLE link (src TEXT, dst TEXT, anchor TEXT);"
                "CREATE TABLE redirect (src TEXT PRIMARY KEY, dst TEXT);"
            )
            for url, answer in self.answers.items():
                if answer.location:
                    connection.execute("INSERT INTO redirect VALUES (?, ?)", (url, answer.location))
                    continue
                row = (
                    url,
                    urls.host(url),
                    answer.content_type,
                    zlib.compress(answer.body, 9),
                    json.dumps(self.labels(url)),
                )
                connection.execute("INSERT INTO page VALUES (?, ?, ?, ?, ?)", row)
                page = read_page(Page(url), answer.body, answer.content_type)
                connection.executemany(
                    "INSERT INTO link VALUES (?, ?, ?)",
                    [(url, link.url, link.anchor) for link in page.links if link.url in self.answers],
                )
        connection.close()


def canonical(url: str) -> str:
    """The canonical form in which URLs of a web are compared."""
    return urls.canonical(urls.join(url, "") or url)


#: Webs without a file, by the name under which they are opened.
IN_MEMORY: dict[str, Web] = {}


def open_web(name: str) -> Web:
    """The web with that name: a file, a crawl, `demo`, or `synthetic:PAGES?hosts=20&links=60&bytes=20000`."""
    return IN_MEMORY.get(name) or _open(name)


@cache
def _open(name: str) -> Web:
    if name == "demo":
        from focuscrawl.web.demo import demo_web

        return demo_web()
    if name.startswith("synthetic:"):
        from focuscrawl.web.synthetic import SyntheticWeb

        pages, _, query = name.removeprefix("synthetic:").partition("?")
        try:
            options = {key: int(value) for key, value in parse_qsl(query, strict_parsing=bool(query))}
            return SyntheticWeb(int(pages), **options)
        except (TypeError, ValueError):
            raise FocusError(f"web '{name}': write synthetic:PAGES?hosts=20&links=60&bytes=20000") from None
    from focuscrawl.store.places import crawl_folder, is_address
    from focuscrawl.store.store import is_crawl
    from focuscrawl.web.crawled import CrawledWeb

    if is_address(name):
        return CrawledWeb(crawl_folder(name))
    path = web_file(name) or Path(name)
    return CrawledWeb(path) if is_crawl(path) else WebFile(path)


def web_file(name: str) -> Path | None:
    """The file of the web with that name (for a directory, the crawl in it); None for webs without a file."""
    from focuscrawl.store.places import is_address

    if name == "demo" or name.startswith("synthetic:") or name in IN_MEMORY or is_address(name):
        return None
    path = Path(name)
    return path / "crawl.sqlite" if path.is_dir() else path
