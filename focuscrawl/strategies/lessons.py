"""Lessons: the links that a crawl followed, each with how likely the page it led to is relevant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from focuscrawl.learning.table import probability
from focuscrawl.page import CONTEXT_WORDS, Link, Page, context_chars
from focuscrawl.reading.documents import read_page
from focuscrawl.store.links import FollowedLink
from focuscrawl.store.store import Store


class Lesson(NamedTuple):
    """A page that was reached by a link: its number, the probability that it is relevant, and the link."""

    page: int
    label: float
    link: Link


def lessons(store: Store, pages: Sequence[int]) -> list[Lesson]:
    """The lessons of some pages, in their order, with the words that the crawl stored."""
    return [_lesson(followed, followed.link) for followed in _readable(store, pages)]


def wide_lessons(store: Store, words: int) -> list[Lesson]:
    """All lessons, with *words* words on either side of each link, more than a crawl stores by default.

    The pages that the links are on are read again. A page stored without its body keeps the words that were stored.
    """
    found = _readable(store)
    if words <= CONTEXT_WORDS:
        return [_lesson(followed, followed.link) for followed in found]
    wanted: dict[int, set[int]] = {}
    for followed in found:
        wanted.setdefault(followed.source, set()).add(followed.link.position)
    wide = {source: _read_again(store, source, positions, words) for source, positions in wanted.items()}
    return [
        _lesson(followed, wide[followed.source].get((followed.link.position, followed.link.url), followed.link))
        for followed in found
    ]


def _readable(store: Store, pages: Sequence[int] | None = None) -> list[FollowedLink]:
    return [
        followed
        for followed in store.links.followed(pages)
        if followed.problem is None and followed.relevance is not None
    ]


def _lesson(followed: FollowedLink, link: Link) -> Lesson:
    assert followed.relevance is not None
    return Lesson(followed.page, probability(followed.relevance), link)


def _read_again(store: Store, source: int, positions: Collection[int], words: int) -> dict[tuple[int, str], Link]:
    """Some links of a stored page by position and URL, detached from the page so that it need not stay in memory."""
    stored = store.pages.content(source)
    page = read_page(Page(stored.url), stored.body, stored.content_type)
    chars = context_chars(words)
    links = [link for link in page.links if link.position in positions]
    return {
        (link.position, link.url): Link(
            link.url, link.anchor, link.text_before(chars), link.text_after(chars), link.position, page.language
        )
        for link in links
    }
