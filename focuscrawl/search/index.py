"""The search index of a crawl: title, headings and visible text of its pages, in the crawl's own file.

The index holds no text: what a page says is in its body, and snippets are cut from there (`focuscrawl.store.search`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nsmallest
from typing import NamedTuple

from focuscrawl import urls, words
from focuscrawl.crawl.verdict import is_findable
from focuscrawl.errors import printable
from focuscrawl.html import read_page
from focuscrawl.page import Judgement, Page
from focuscrawl.search.query import JOINT, Query
from focuscrawl.store.scratch import highlighted
from focuscrawl.store.search import Entry, Filter
from focuscrawl.store.store import Store

#: How much a word counts in title, headings and text; headings are part of the text, too.
WEIGHTS = 10.0, 4.0, 1.0

#: Characters of a page that can be found, and that are searched for a snippet.
MAX_TEXT = 1_000_000
SNIPPET_TEXT = 100_000
#: Words of a snippet.
SNIPPET_WORDS = 30

#: Most pages that are ranked. Of more, only those are that have the words in title or headings; they come first, the
#: others follow as they were indexed.
MAX_RANKED = 10_000

#: Pages that are indexed in one transaction.
BATCH = 200

_MARK, _UNMARK = "\x02", "\x03"

#: A piece of text, and whether it is what was looked for.
Piece = tuple[str, bool]


class Hit(NamedTuple):
    """A page that was found."""

    url: str
    title: list[Piece]
    snippet: list[Piece]
    #: How well it answers the query: BM25, only to be compared within one answer; 0 if it was not ranked.
    score: float
    host: str
    fetched_at: str
    relevance: float | None
    relevant: bool
    matched: bool
    topics: list[str]


class Answer(NamedTuple):
    """The best pages for a query, how many were found, and whether there are more that were not looked at."""

    hits: list[Hit]
    total: int
    more: bool = False


class Index:
    """The search index in a crawl's file."""

    def __init__(self, store: Store) -> None:
        self.store = store

    # ---- writing

    def exists(self) -> bool:
        """Whether the file has an index, however complete."""
        return self.store.search.exists()

    def prepare(self) -> None:
        """Make the tables if they are not there."""
        self.store.search.make()

    def add(self, page_id: int, page: Page) -> None:
        """Make a stored page findable as it is now, whatever it was; one that must not be found is noted as seen."""
        if not is_findable(page):
            self.remove(page_id)
            return
        relevant = page.judgement is not None and page.judgement.relevant
        entry = Entry(page_id, urls.host(page.url), page.fetched_at, relevant, page.matched, page.topics)
        self.store.search.add(entry, _texts(page))

    def remove(self, page_id: int) -> None:
        """A stored page is no longer found."""
        self.store.search.hide(page_id)

    def waiting(self) -> int:
        """How many stored pages the index has not seen."""
        pages = self.store.pages.count()
        return max(0, pages - self.store.search.seen()) if self.exists() else pages

    def update(self, progress: Callable[[int], None] = lambda done: None) -> int:
        """Index the pages that wait, and tell how many; built anew if most of its entries belong to no page.

        Nobody else may write to the file meanwhile. *progress* is told the number done so far, some hundred at a time.
        """
        store = self.store
        with store.batch():
            if self.exists() and self._worn():
                store.search.drop()
            self.prepare()
        missing = store.search.missing()
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            with store.batch():
                for page_id in batch:
                    self.add(page_id, self._stored(page_id))
            progress(start + len(batch))
        return len(missing)

    def _worn(self) -> bool:
        return self.store.search.entries() > 2 * self.store.search.findable() + BATCH

    def _stored(self, page_id: int) -> Page:
        """A page as it is in the file, read again."""
        stored = self.store.search.page(page_id)
        page = Page(stored.url, matched=stored.matched, topics=stored.topics, fetched_at=stored.fetched_at)
        page.judgement = Judgement(stored.relevance or 0.0, stored.relevant, {})
        page.problem, page.withheld = stored.problem, stored.withheld
        if stored.packed is None:
            page.problem = page.problem or "no body"
        if is_findable(page):  # or there is no need to read it
            read_page(page, stored.body(), stored.content_type)
        return page

    # ---- reading

    def search(self, query: Query, where: Filter | None = None, limit: int = 10) -> Answer:
        """The best pages for a query, at most *limit*."""
        where = where or Filter()
        match = query.expression()
        found = self.store.search.matching(match, where, MAX_RANKED + 1)
        more = len(found) > MAX_RANKED
        ranked = self._ranked(query.expression("title headings") if more else match, where, limit)
        for page_id in found if more else ():
            if len(ranked) >= limit:
                break
            ranked.setdefault(page_id, 0.0)
        return Answer(self._hits(match, list(ranked.items())), min(len(found), MAX_RANKED), more)

    def _ranked(self, match: str, where: Filter, limit: int) -> dict[int, float]:
        """The best of the first pages that match, in order, of equals the first."""
        rows = self.store.search.ranked(match, where, WEIGHTS, MAX_RANKED)
        return {page_id: -score for score, page_id in nsmallest(limit, rows)}

    def _hits(self, match: str, ranked: Sequence[tuple[int, float]]) -> list[Hit]:
        pages = [self.store.search.page(page_id) for page_id, _ in ranked]
        texts: list[tuple[str, ...]] = []
        for stored in pages:
            page = read_page(Page(stored.url), stored.body(), stored.content_type)
            texts.append(tuple(" ".join(printable(text[:SNIPPET_TEXT]).split()) for text in _texts(page)))
        return [
            Hit(
                found.url,
                title,
                snippet,
                score,
                urls.host(found.url),
                str(found.fetched_at),
                None if found.relevance is None else float(found.relevance),
                found.relevant,
                found.matched,
                list(map(str, found.topics)),
            )
            for found, (_, score), (title, snippet) in zip(pages, ranked, _marked(match, texts), strict=True)
        ]


def _texts(page: Page) -> tuple[str, str, str]:
    """Title, headings and text as the index has them."""
    headings = "\n".join(heading.text for heading in page.headings)
    title, headings, text = (words.apart(part[:MAX_TEXT], JOINT) for part in (page.title, headings, page.raw_text))
    return title, headings, text


def _marked(match: str, texts: Sequence[tuple[str, ...]]) -> list[tuple[list[Piece], list[Piece]]]:
    """Title and snippet of each text: an index of these few, which does hold them, knows what matched and where."""
    found = highlighted(match, texts, marks=(_MARK, _UNMARK), words=SNIPPET_WORDS)
    marked = []
    for number, (title, _, text) in enumerate(texts, 1):
        # what matched may stand beyond the part of the text that is searched here
        shown = found.get(number) or (title, " ".join(text[:1000].split()[:SNIPPET_WORDS]))
        marked.append((_pieces(shown[0]), _pieces(shown[1])))
    return marked


def _pieces(text: str) -> list[Piece]:
    pieces: list[Piece] = []
    for number, part in enumerate(text.replace(JOINT, "").split(_MARK)):
        inside, mark, after = part.partition(_UNMARK)
        pieces += [(inside, number > 0), (after, False)] if mark else [(part, False)]
    return [piece for piece in pieces if piece[0]]
