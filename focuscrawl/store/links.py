"""Table `link`: the links of the stored pages."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from focuscrawl.language.languages import code_of
from focuscrawl.manners.recent import Recent
from focuscrawl.page import CONTEXT_WORDS, Link, context_chars
from focuscrawl.reading.around import after_in, before_in
from focuscrawl.store.part import Part
from focuscrawl.store.sqlite_file import as_json, from_json

if TYPE_CHECKING:
    from focuscrawl.store.store import Store

#: What the score of a link is made of: its own reason, or the one that it shares with others of its page.
WHY = "coalesce(link.why, (SELECT reason.why FROM reason WHERE reason.id = link.reason))"
#: The columns of a link that `as_link` takes, but for its URL and the language of its page.
COLUMNS = f"link.page, anchor, before, after, start, stop, position, link.score, nofollow, {WHY}"
_LINK = f"url.url, {COLUMNS}, (SELECT source.language FROM page AS source WHERE source.id = link.page)"

#: Bytes of the texts of pages that are kept, because several of their links are read one after the other.
_TEXTS = 8 << 20

_ADD = "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_REASON = "INSERT INTO reason (id, why) VALUES (?, ?)"
_WITHOUT_CONTEXT = "SELECT id, start, stop FROM link WHERE id >= ? AND id < ? AND before IS NULL"
_KEEP_CONTEXT = "UPDATE link SET before = ?, after = ?, start = NULL, stop = NULL WHERE id = ?"
_GET = f"SELECT {_LINK} FROM link JOIN url ON url.id = link.url_id WHERE link.id = ?"
_READ_BACK = (
    f"SELECT link.url_id, {_LINK} FROM link JOIN url ON url.id = link.url_id"
    " WHERE link.id >= ? AND link.id < ? ORDER BY link.id"
)
_PAGE_URL = "SELECT page.url FROM link JOIN page ON page.id = link.page WHERE link.id = ?"
_TELL_WHY = "UPDATE link SET score = ?, why = ?, reason = NULL WHERE id = (SELECT via FROM page WHERE id = ?)"
_SET_SCORE = "UPDATE link SET score = ?, why = ?, reason = NULL WHERE id = ?"
_OF_PAGE = (
    "SELECT link.url_id, url.url, link.score, page.depth + 1, link.id FROM link"
    " JOIN url ON url.id = link.url_id JOIN page ON page.id = link.page"
    " WHERE (link.id >= ? AND link.id < ? OR link.id < 0 AND link.page = ?) AND link.score IS NOT NULL"
    " ORDER BY link.id < 0, link.id"
)
_STEP_TO = (
    "SELECT source.url_id, source.url, url.url FROM page JOIN link ON link.id = page.via"
    " JOIN page AS source ON source.id = link.page JOIN url ON url.id = link.url_id WHERE page.url_id = ?"
)
_FOLLOWED = (
    f"SELECT page.id, link.page, page.relevance, page.relevant, page.problem, {_LINK} FROM page"
    " JOIN link ON link.id = page.via JOIN url ON url.id = link.url_id"
)
_ENDORSEMENTS = (
    "SELECT url.key, page.relevance FROM link JOIN page ON page.id = link.page JOIN url ON url.id = link.url_id"
    " WHERE page.problem IS NULL"
)
#: Some pages, by their numbers.
_SOME = "page.id IN (SELECT value FROM json_each(?))"


class OpenLink(NamedTuple):
    """A link that was not refused: its target, score, depth and id."""

    url_id: int
    url: str
    score: float
    depth: int
    via: int


class FollowedLink(NamedTuple):
    """A link that was followed, and the judgement of the page it led to."""

    #: The number of that page, and of the page that the link is on.
    page: int
    source: int
    relevance: float | None
    relevant: bool
    problem: str | None
    link: Link


class Step(NamedTuple):
    """A link that was followed: the page it is on, and the URL it leads to."""

    page_url_id: int
    page_url: str
    target: str


class Links(Part):
    """The links of the stored pages."""

    #: How many words before and after each link are stored; set by a strategy that needs more.
    context_words = CONTEXT_WORDS

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._texts: Recent[int, str] = Recent(_TEXTS)

    def add(self, page_id: int, links: Sequence[Link], url_ids: Sequence[int], *, later: bool = False) -> int:
        """Store the links of a page and return the id of the first; the others follow in order.

        Links found on a *later* visit get negative ids, which keeps the others in the order of their pages. The text of
        the page is stored with its body; links of a copy, which has none, and of a later visit keep the words around
        them themselves.
        """
        first = self._first_id(page_id, len(links), later=later)
        page = links[0].page if links and not later else None
        has_text = page is not None and page.duplicate_of is None
        chars = context_chars(self.context_words)
        rows: list[tuple[object, ...]] = []
        reasons: list[tuple[int, str]] = []
        alike = Counter([id(link.why) for link in links])  # most strategies have one or a few per page
        known: dict[int, int] = {}
        for index, (link, url_id) in enumerate(zip(links, url_ids, strict=True)):
            number = first + index
            own, shared = None, known.get(id(link.why))
            if link.why and shared is None:
                own = as_json(link.why)
                if alike[id(link.why)] > 1:
                    reasons.append((number, own))
                    own, shared = None, number
                    known[id(link.why)] = number
            around: tuple[object, ...]
            if has_text and link.page is page:
                around = link.anchor, None, None, link.nofollow, link.score, own, link.start, link.end, shared
            else:
                before, after = link.text_before(chars), link.text_after(chars)
                around = link.anchor, before, after, link.nofollow, link.score, own, None, None, shared
            rows.append((number, page_id, url_id, link.position, *around))
        self.store.executemany(_ADD, rows)
        if reasons:
            self.store.executemany(_ADD_REASON, reasons)
        return first

    def _first_id(self, page_id: int, count: int, *, later: bool) -> int:
        """The id of the first of so many new links of a page."""
        if later:
            return int(min(0, self.store.execute("SELECT min(id) FROM link").fetchone()[0] or 0)) - count
        return int(max(0, self.store.execute("SELECT max(id) FROM link").fetchone()[0] or 0)) + 1

    def keep_contexts(self, page_id: int) -> None:
        """Store the words around the links of a page with them: the text of the page is about to change."""
        bounds = self.first_of(page_id), self.first_of(page_id + 1)
        found = self.store.execute(_WITHOUT_CONTEXT, bounds).fetchall()
        text, chars = self.text(page_id) if found else "", context_chars(self.context_words)
        rows = [(before_in(text, start, chars), after_in(text, stop, chars), link_id) for link_id, start, stop in found]
        self.store.executemany(_KEEP_CONTEXT, rows)
        self._texts.pop(page_id)

    def text(self, page_id: int) -> str:
        """The text of a page that its links stand in."""
        text = self._texts.get(page_id)
        if text is None:
            text = self.store.pages.text(page_id)
            self._texts.put(page_id, text, len(text) + 100)
        return text

    def set_scores(self, scores: Iterable[tuple[float, Mapping[str, float], int | None]]) -> None:
        """Replace the scores of links: score, its components, id of the link."""
        rows: list[tuple[float, str, int | None]] = []
        last: Mapping[str, float] | None = None
        text = ""
        for score, why, link_id in scores:
            if why is not last:  # links of a page share their reason
                last, text = why, as_json(why)
            rows.append((score, text, link_id))
        self.store.executemany(_SET_SCORE, rows)

    def tell_why(self, page: int, score: float, why: Mapping[str, float]) -> None:
        """Replace the score and the reasons of the link that led to a page."""
        self.store.execute(_TELL_WHY, (score, as_json(why), page))

    def get(self, link_id: int | None) -> Link | None:
        """A stored link."""
        row = self.store.execute(_GET, (link_id,)).fetchone()
        return self.as_link(*row) if row else None

    def page_of(self, link_id: int | None) -> int | None:
        """The number of the page that a stored link is on."""
        row = self.store.execute("SELECT page FROM link WHERE id = ?", (link_id,)).fetchone()
        return row[0] if row else None

    def page_url(self, link_id: int) -> str | None:
        """The URL of the page that a stored link is on."""
        row = self.store.execute(_PAGE_URL, (link_id,)).fetchone()
        return row[0] if row else None

    def refused(self, url_id: int) -> int | None:
        """The id of a link to a URL that was refused."""
        row = self.store.execute("SELECT id FROM link WHERE url_id = ? AND score IS NULL", (url_id,)).fetchone()
        return row[0] if row else None

    def of_page(self, page_id: int) -> Iterator[OpenLink]:
        """The links of a stored page that were not refused."""
        bounds = self.first_of(page_id), self.first_of(page_id + 1), page_id
        return map(OpenLink._make, self.store.execute(_OF_PAGE, bounds))

    def read_back(self, page_id: int) -> list[tuple[int, Link]]:
        """All links of a stored page as its first visit found them, in order, each with the id of its URL."""
        bounds = self.first_of(page_id), self.first_of(page_id + 1)
        return [(url_id, self.as_link(*link)) for url_id, *link in self.store.execute(_READ_BACK, bounds)]

    def targets_of(self, page_id: int) -> set[int]:
        """The ids of the URLs that a stored page links to, or linked to on an earlier visit."""
        rows = self.store.execute(
            "SELECT url_id FROM link WHERE id >= ? AND id < ? OR id < 0 AND page = ?",
            (self.first_of(page_id), self.first_of(page_id + 1), page_id),
        )
        return {url_id for (url_id,) in rows}

    def between(self, after: int, upto: int) -> Iterator[tuple[int, int]]:
        """The links of the pages after *after* up to *upto*: page, and the id of the URL it links to."""
        return self.store.execute(
            "SELECT page, url_id FROM link WHERE id >= ? AND id < ? AND url_id <= (SELECT max(id) FROM url)"
            " ORDER BY id",
            (self.first_of(after + 1), self.first_of(upto + 1)),
        )

    def each(self, after: int = 0) -> Iterator[tuple[int, int, int]]:
        """The links with an id above *after*, in order: page, id of the URL it leads to, id of the link."""
        return self.store.execute("SELECT page, url_id, id FROM link WHERE id > ? ORDER BY id", (after,))

    def endorsements(self, pages: Sequence[int] | None = None) -> Iterator[tuple[int, float | None]]:
        """The links on readable pages, all or some, in order: key of the URL, relevance of the page."""
        conditions, values = (f" AND {_SOME}", (as_json(list(pages)),)) if pages is not None else ("", ())
        return self.store.execute(f"{_ENDORSEMENTS}{conditions} ORDER BY link.id", values)

    def followed(self, pages: Sequence[int] | None = None) -> Iterator[FollowedLink]:
        """The links that led to pages, all or some, in the order of these pages."""
        conditions, values = (f" WHERE {_SOME}", (as_json(list(pages)),)) if pages is not None else ("", ())
        found = self.store.execute(f"{_FOLLOWED}{conditions} ORDER BY page.id", values)
        for page, source, relevance, relevant, problem, *link in found:
            yield FollowedLink(page, source, relevance, bool(relevant), problem, self.as_link(*link))

    def step_to(self, url_id: int) -> Step | None:
        """The link that led to the page of a URL."""
        row = self.store.execute(_STEP_TO, (url_id,)).fetchone()
        return Step(*row) if row else None

    def first_of(self, page_id: int) -> int:
        """The id of the first link of that page or a later one: links are stored page by page and need no index."""
        last = max(0, self.store.execute("SELECT max(id) FROM link").fetchone()[0] or 0)

        def page_of(link: int) -> int:
            number: int = self.store.execute("SELECT page FROM link WHERE id >= ? LIMIT 1", (link,)).fetchone()[0]
            return number

        return bisect_left(range(1, last + 1), page_id, key=page_of) + 1

    def as_link(
        self,
        url: str,
        page: int,
        anchor: str,
        before: str | None,
        after: str | None,
        start: int | None,
        stop: int | None,
        position: int,
        score: float | None,
        nofollow: int,
        why: str | None,
        language: str | None,
    ) -> Link:
        """A link as strategies see it, from its stored columns."""
        link = Link(url, anchor, before or "", after or "", position, language=code_of(language or ""))
        if start is not None and stop is not None:
            link.stand_in(partial(self.text, page), start, stop)
        link.score, link.nofollow = score, bool(nofollow)
        link.why = from_json(why, dict) if why else None
        return link
