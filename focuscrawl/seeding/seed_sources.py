"""Where the seeds of a new topic come from: URLs, files, feeds, sitemaps, pages of links, bookmarks, a search.

A source that is on the web is read later, by the spider that looks at the seeds (`focuscrawl.seeding.look`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from focuscrawl import urls, words
from focuscrawl.errors import FocusError
from focuscrawl.judge import KeywordJudge
from focuscrawl.manners.sitemap import is_sitemap, read_sitemap
from focuscrawl.page import Link, Page
from focuscrawl.reading.documents import read_page
from focuscrawl.reading.feeds import is_feed
from focuscrawl.seeding.seeding import Sources, Warn
from focuscrawl.web.addresses import PUBLIC, is_literal, network

#: Bytes of a file that are read: browsers' bookmarks of many years have a few.
MAX_BYTES = 20_000_000
#: What stands before a URL whose page is not a seed itself, but lists them.
LINKS = "links:"

#: Seconds to wait for a search.
_TIMEOUT = 20
_HTML = (b"<!doctype", b"<html", b"<dl", b"<meta")


class Wish(NamedTuple):
    """A seed that the user wishes for, or a page that lists some."""

    url: str
    #: The page is read for its links only.
    links: bool = False
    #: It is one of many links, which the user has not chosen for the topic: in a feed, on a page, among bookmarks.
    listed: bool = False


def wishes(source: str, query: str, keywords: Mapping[str, float], most: int, warn: Warn) -> list[Wish]:
    """What a source gives: a URL, links:URL, a FILE, searxng:URL?q=… or crawl:DIR; at most *most* seeds of a list."""
    text = source.strip().removeprefix("@")
    links = text.startswith(LINKS)
    if links or text.startswith(("http://", "https://")):
        try:
            return [Wish(urls.check(text.removeprefix(LINKS)), links)]
        except ValueError as error:
            raise FocusError(f"seed {source}: {error}") from None
    searched = text.startswith(("searxng:", "crawl:"))
    if not searched and (listed := _links_in(Path(text))) is not None:
        if not (found := [Wish(link.url, listed=True) for link in best(public(listed, ""), keywords, most)]):
            raise FocusError(f"seeds {text}: no link to a page in it; give a file with URLs, one per line")
        return found
    read = Sources(query, top=most, timeout=_TIMEOUT, warn=warn).read(text)
    return [Wish(url, listed=searched) for url in [*dict.fromkeys(read)][:most]]


def _links_in(path: Path) -> list[Link] | None:
    """The links in a file of bookmarks, or in a page, feed or sitemap that was saved; None for any other file."""
    try:
        if not path.exists():
            raise FocusError(f"seed {path}: is neither a file nor a URL; a URL begins with https:// or http://")
        if not path.is_file():
            return None
        if path.stat().st_size > MAX_BYTES:
            raise FocusError(f"seeds {path}: has more than {MAX_BYTES // 1_000_000} MB; give a part of it")
        body = path.read_bytes()
    except (OSError, ValueError) as error:
        raise FocusError(f"seeds {path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    start = body[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(_HTML) or is_feed(body) or is_sitemap(body):
        return links_of(Page(urls.of_file(path)), body)
    return None


def links_of(page: Page, body: bytes, content_type: str = "") -> list[Link]:
    """The links of a page that lists seeds: a feed, a sitemap, or a page of links."""
    if is_sitemap(body):
        read_sitemap(page, body, MAX_BYTES)
    else:
        read_page(page, body, content_type)
    return page.links


def is_list(body: bytes) -> bool:
    """Whether a response is not a page, but lists some: a feed or a sitemap."""
    return is_feed(body) or is_sitemap(body)


def public(links: Iterable[Link], host: str) -> list[Link]:
    """The links to pages on the internet, or on *host*: a page must not send us into the local network."""
    kept = []
    for link in links:
        theirs = urls.host(link.url)
        local = urls.is_local(link.url) or (is_literal(theirs) and network(theirs) != PUBLIC)
        if link.url.startswith(("http://", "https://")) and (not local or theirs == host):
            kept.append(link)
    return kept


def best(links: Sequence[Link], keywords: Mapping[str, float], most: int) -> list[Link]:
    """The links whose anchor or URL speaks of the topic, the best first; if none does, the first ones."""
    judge = KeywordJudge(keywords)
    distinct: dict[int, Link] = {}
    for link in links:
        distinct.setdefault(urls.key(link.url), link)
    scored = [
        (judge.cosine([*words.tokenize(link.anchor), *urls.words(link.url)], link.language or "en"), link)
        for link in distinct.values()
    ]
    ranked = sorted(scored, key=lambda one: -one[0])
    return [link for score, link in ranked if score > 0 or not ranked[0][0]][:most]
