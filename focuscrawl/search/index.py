"""The search index of a crawl: title, headings and visible text of its pages, in the crawl's own file.

The index holds no text; snippets are cut from the stored bodies (`focuscrawl.store.search`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nsmallest
from typing import NamedTuple

from focuscrawl import urls, words
from focuscrawl.crawl.verdict import is_findable
from focuscrawl.errors import printable
from focuscrawl.language.languages import stemmed
from focuscrawl.page import Judgement, Page
from focuscrawl.reading.documents import read_page
from focuscrawl.search.query import JOINT, Query, any_of
from focuscrawl.store.search import Entry, Filter, highlighted
from focuscrawl.store.store import Store

#: Weights of a word in title, headings and text; headings are part of the text as well.
WEIGHTS = 10.0, 4.0, 1.0

#: Characters of a page that are indexed, and that are searched for a snippet.
MAX_TEXT = 1_000_000
SNIPPET_TEXT = 100_000
#: Words in a snippet.
SNIPPET_WORDS = 30

#: Maximum number of pages to rank. If more match, only those with the words in title or headings are ranked and come
#: first; the others follow in the order indexed.
MAX_RANKED = 10_000

#: Pages indexed per transaction.
BATCH = 200

_MARK, _UNMARK = "\x02", "\x03"

#: A piece of text, and whether it matches the query.
Piece = tuple[str, bool]


class Hit(NamedTuple):
    """A page that matches a query."""

    url: str
    title: list[Piece]
    snippet: list[Piece]
    #: BM25, comparable only within one answer; 0 if the page was not ranked.
    score: float
    host: str
    fetched_at: str
    relevance: float | None
    relevant: bool
    matched: bool
    topics: list[str]
    #: What the page says of itself.
    authors: list[str]
    published: str | None
    modified: str | None
    site_name: str


class Answer(NamedTuple):
    """The best pages for a query, the number of matches counted, and whether there are more."""

    hits: list[Hit]
    total: int
    more: bool = False


class Mended(NamedTuple):
    """What a comparison of the index with the stored pages has put right."""

    #: Pages indexed, pages taken out of the index, and whether it was damaged and built anew.
    added: int
    removed: int
    rebuilt: bool


class Index:
    """The search index of a crawl."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @classmethod
    def complete(cls, store: Store) -> Index:
        """An index of all stored pages that leaves the file unchanged: the one in the file, or a temporary one."""
        index = cls(store)
        if not index.exists() or index.waiting():
            store.search.make_temporary()
            index.update()
        return index

    # ---- writing

    def exists(self) -> bool:
        """Whether there is an index, complete or not."""
        return self.store.search.exists()

    def prepare(self) -> None:
        """Create the tables if they do not exist."""
        self.store.search.make()

    def add(self, page_id: int, page: Page) -> None:
        """Index a stored page, or replace its entry. A page that must not be found is only marked as seen."""
        if not is_findable(page):
            self.remove(page_id)
            return
        relevant = page.judgement is not None and page.judgement.relevant
        entry = Entry(page_id, urls.host(page.url), page.fetched_at, relevant, page.matched, page.topics)
        title, headings, text = _texts(page, page.raw_text)
        self.store.search.add(entry, (title, headings, f"{text}\n{_stems(page)}"))

    def remove(self, page_id: int) -> None:
        """Remove a stored page from the index."""
        self.store.search.hide(page_id)

    def waiting(self) -> int:
        """The number of stored pages that the index has not seen."""
        pages = self.store.pages.count()
        return max(0, pages - self.store.search.seen()) if self.exists() else pages

    def update(self, progress: Callable[[int], None] = lambda done: None) -> int:
        """Index the pages that the index has not seen and return their number.

        Rebuilds the index if most of its entries belong to no page. The caller must be the only writer to the file.
        *progress* is called with the number of pages done after each batch.
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
                    self.renew(page_id)
            progress(start + len(batch))
        return len(missing)

    def mend(self, progress: Callable[[int], None] = lambda done: None) -> Mended:
        """Compare the index with the stored pages and put it right; it is made if there is none.

        As for `update`, the caller must be the only writer to the file. It may be interrupted between two batches.
        """
        search = self.store.search
        rebuilt = self.exists() and not search.is_sound()
        if rebuilt:
            with self.store.batch():
                search.drop()
        self.prepare()
        removed = search.forget_strays()
        differing = search.differing()
        search.forget(differing)
        removed += sum(not findable for findable in differing.values())
        kept = search.findable()
        self.update(progress)
        return Mended(search.findable() - kept, removed, rebuilt)

    def renew(self, page_id: int) -> None:
        """Index a stored page anew, from the file."""
        self.add(page_id, self._stored(page_id))

    def _worn(self) -> bool:
        return self.store.search.entries() > 2 * self.store.search.findable() + BATCH

    def _stored(self, page_id: int) -> Page:
        """A page parsed again from the file."""
        stored = self.store.search.page(page_id)
        page = Page(stored.url, matched=stored.matched, topics=stored.topics, fetched_at=stored.fetched_at)
        page.judgement = Judgement(stored.relevance or 0.0, stored.relevant, {})
        page.problem, page.withheld = stored.problem, stored.withheld
        if stored.packed is None:
            page.problem = page.problem or "no body"
        if is_findable(page):  # otherwise there is no need to parse it
            read_page(page, stored.body(), stored.content_type)
        return page

    # ---- reading

    def search(self, query: Query, where: Filter | None = None, limit: int = 10) -> Answer:
        """The best pages for a query, at most *limit*."""
        ranked, total = self._ranked(query, where or Filter(), limit)
        hits = self._hits(query.expression(), list(ranked.items()))
        return Answer(hits, min(total, MAX_RANKED), total > MAX_RANKED)

    def best(self, query: Query, limit: int) -> list[int]:
        """The numbers of the best pages for a query, at most *limit*.

        If the query has no wanted words, these are the first pages without the unwanted ones, in the order stored.
        """
        if not query.wanted:
            return self.store.search.not_matching(any_of(query.unwanted), limit)
        ranked, _ = self._ranked(query, Filter(), limit)
        return list(ranked)

    def _ranked(self, query: Query, where: Filter, limit: int) -> tuple[dict[int, float], int]:
        """Numbers and scores of the best pages, and the number of matches, counted up to MAX_RANKED + 1."""
        match = query.expression()
        found = self.store.search.matching(match, where, MAX_RANKED + 1)
        more = len(found) > MAX_RANKED
        if more:
            match = query.expression("title headings")
        rows = self.store.search.ranked(match, where, WEIGHTS, MAX_RANKED)
        ranked = {page_id: -score for score, page_id in nsmallest(limit, rows)}
        for page_id in found if more else ():
            if len(ranked) >= limit:
                break
            ranked.setdefault(page_id, 0.0)
        return ranked, len(found)

    def _hits(self, match: str, ranked: Sequence[tuple[int, float]]) -> list[Hit]:
        pages = [self.store.search.page(page_id) for page_id, _ in ranked]
        said = [self.store.metadata.get(page_id) for page_id, _ in ranked]
        texts: list[tuple[str, ...]] = []
        for stored in pages:
            page = read_page(Page(stored.url), stored.body(), stored.content_type)
            shown = _texts(page, page.main_text)
            texts.append(tuple(" ".join(printable(text[:SNIPPET_TEXT]).split()) for text in shown))
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
                about.authors,
                about.published,
                about.modified,
                about.site_name,
            )
            for found, about, (_, score), (title, snippet) in zip(
                pages, said, ranked, _marked(match, texts), strict=True
            )
        ]


def _texts(page: Page, text: str) -> tuple[str, str, str]:
    """Title, headings and text as they are indexed: all of it; and as they are shown: the main text."""
    headings = "\n".join(heading.text for heading in page.headings)
    title, headings, text = (words.apart(part[:MAX_TEXT], JOINT) for part in (page.title, headings, text))
    return title, headings, text


def _stems(page: Page) -> str:
    """The stems of a page in another language than English, whose stems FTS5 adds by itself."""
    if page.language not in stemmed():
        return ""
    return " ".join(map(words.bare, words.stems(page.all_words, page.language)))[:MAX_TEXT]


def _marked(match: str, texts: Sequence[tuple[str, ...]]) -> list[tuple[list[Piece], list[Piece]]]:
    """Title and snippet of each text, with the matches marked."""
    found = highlighted(match, texts, marks=(_MARK, _UNMARK), words=SNIPPET_WORDS)
    marked = []
    for number, (title, _, text) in enumerate(texts, 1):
        # the match may be beyond the part of the text that is searched here
        shown = found.get(number) or (title, " ".join(text[:1000].split()[:SNIPPET_WORDS]))
        marked.append((_pieces(shown[0]), _pieces(shown[1])))
    return marked


def _pieces(text: str) -> list[Piece]:
    pieces: list[Piece] = []
    for number, part in enumerate(text.replace(JOINT, "").split(_MARK)):
        inside, mark, after = part.partition(_UNMARK)
        pieces += [(inside, number > 0), (after, False)] if mark else [(part, False)]
    return [piece for piece in pieces if piece[0]]
