"""Page and Link: what a fetched page says, with no Scrapy in it.

A page is parsed once (`focuscrawl.reading.html`), tokenised once and judged once; expensive values are computed on
first use and cached. All positions are offsets into one string, the page's text in document order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nlargest
from itertools import accumulate, chain
from typing import Any, NamedTuple

from focuscrawl import urls, words
from focuscrawl.language.identify import Language, identify, is_english
from focuscrawl.language.languages import code_of
from focuscrawl.manners.rights import Rights
from focuscrawl.reading import main_text
from focuscrawl.reading.around import after_in, before_in
from focuscrawl.reading.markup import BODY, LIST, step_of

#: The fields of a page that `pages.jsonl` and Scrapy's feeds show, in this order.
FIELDS = [
    *("url", "status", "depth", "parent", "score", "relevance", "matched", "title", "topics", "fetched_at"),
    *("authors", "published", "modified", "site_name", "description"),
]

#: How many words before and after a link the crawl keeps, unless the strategy needs more.
CONTEXT_WORDS = 10

#: Characters that hold CONTEXT_WORDS words in most languages.
_CONTEXT_CHARS = 100


def context_chars(count: int) -> int:
    """Characters that hold so many words; never fewer than the crawl keeps, so that a stored link reads the same."""
    return max(count, CONTEXT_WORDS) * _CONTEXT_CHARS // CONTEXT_WORDS


class Heading(NamedTuple):
    """A heading, and the index of the heading it stands under (-1: none)."""

    level: int
    text: str
    parent: int


class Block(NamedTuple):
    """A paragraph, list, table cell or heading: a stretch of the page's text, in one part of the page."""

    kind: str
    start: int
    end: int
    part: str = BODY


class Judgement(NamedTuple):
    """How relevant a page is to the topic, and why."""

    relevance: float
    relevant: bool
    why: dict[str, float]


class Visit(NamedTuple):
    """A later visit to a stored page: the page's number, the outcome and what has changed."""

    page: int
    outcome: str
    details: dict[str, Any]


class Unread(NamedTuple):
    """A link to a file that the crawl does not read: its URL and anchor, what the file is, and why it is not read."""

    url: str
    anchor: str
    type: str
    why: str


#: Prefix of the reason in `Link.why` if a rule keeps a link from being followed.
RULE = "rule: "


class Link:
    """A link on a page, or one read back from the store (then without block and headings)."""

    __slots__ = (
        "_after",
        "_before",
        "_language",
        "_list",
        "_page",
        "_text",
        "anchor",
        "elements",
        "end",
        "hreflang",
        "nofollow",
        "page_relevance",
        "position",
        "request",
        "score",
        "section",
        "start",
        "url",
        "why",
    )

    def __init__(
        self, url: str, anchor: str = "", before: str = "", after: str = "", position: int = 0, language: str = ""
    ) -> None:
        self.url = url
        self.anchor = anchor
        self.nofollow = False
        #: The language of the target, by the page: a hint such as `de` or `pt-br`; empty if the page says nothing.
        self.hreflang = ""
        self.position = position
        #: The elements around it, with their attributes: the outermost first, its own last.
        self.elements: Sequence[tuple[str, Mapping[str, str]]] = ()
        #: The relevance of the page that the link is on, if known: set by strategies, and for links in the queue.
        self.page_relevance: float | None = None
        #: Set by the scoring middleware: the strategy's estimate in [0, 1], or None for a refused link.
        self.score: float | None = None
        #: What the score was made of, for `scrapy explain`.
        self.why: dict[str, float] | None = None
        #: The spider's own request for the URL, with its callback; None for a plain GET.
        self.request: object = None
        self._page: Page | None = None
        #: The text of a stored page, read when it is needed.
        self._text: Callable[[], str] | None = None
        self._language = language
        self._before, self._after = before, after
        #: Where it begins and ends in the text of its page.
        self.start = self.end = 0
        #: The index of the last heading before it; -1 if there is none.
        self.section = -1
        self._list = -1

    def __repr__(self) -> str:
        return f"<Link {self.url} {self.anchor!r} score={self.score}>"

    def before(self, count: int = CONTEXT_WORDS) -> tuple[str, ...]:
        """The last words before the link in document order, at most *count*."""
        found = words.tokenize(self.text_before(context_chars(count)))
        return tuple(found[-count:]) if count else ()

    def after(self, count: int = CONTEXT_WORDS) -> tuple[str, ...]:
        """The first words after the link in document order, at most *count*."""
        found = words.tokenize(self.text_after(context_chars(count)))
        return tuple(found[:count])

    def text_before(self, chars: int = _CONTEXT_CHARS) -> str:
        """The text before the link, at most *chars* characters and whole words."""
        text = self._whole_text()
        return self._before if text is None else before_in(text, self.start, chars)

    def text_after(self, chars: int = _CONTEXT_CHARS) -> str:
        """The text after the link, at most *chars* characters and whole words."""
        text = self._whole_text()
        return self._after if text is None else after_in(text, self.end, chars)

    def _whole_text(self) -> str | None:
        if self._page is not None:
            return self._page.raw_text
        return None if self._text is None else self._text()

    def stand_in(self, text: Callable[[], str], start: int, end: int) -> None:
        """Set the text that a stored link stands in, and where."""
        self._text, self.start, self.end = text, start, end

    @property
    def page(self) -> Page | None:
        """The page that the link was read from; None for one from the store."""
        return self._page

    @property
    def path(self) -> str:
        """Where it is in the markup: the tags around it with their first classes, such as `div.content>ul>li>a`."""
        return ">".join([step_of(tag, attributes) for tag, attributes in self.elements])

    @property
    def language(self) -> str:
        """The code of the language of the page that the link is on."""
        return self._page.language if self._page is not None else self._language

    def stems(self, found: Iterable[str]) -> list[str]:
        """The stems of words in or around the link, in the language of its page."""
        return words.stems(list(found), self.language)

    @property
    def anchor_stems(self) -> list[str]:
        """The stems of the anchor text."""
        return words.stems(words.tokenize(self.anchor), self.language)

    @property
    def part(self) -> str:
        """The part of the page that the link is in: body, list, menu, aside, footer or notice; empty from the store."""
        page = self._page
        if page is None:
            return ""
        index = bisect_right(page.block_starts, self.start) - 1
        if index < 0:
            return BODY
        block = page.blocks[index]
        return LIST if block.part == BODY and main_text.is_list(block, page.plain_sizes[index]) else block.part

    @property
    def boundary(self) -> range:
        """The blocks of the link's topical boundary: its paragraph, or the whole list if it stands in one."""
        page = self._page
        if page is None:
            return range(0)
        if self._list >= 0:
            return page.blocks_in(page.lists[self._list])
        index = bisect_right(page.block_starts, self.start) - 1
        return range(index, index + 1 if index >= 0 and self.start <= page.blocks[index].end else index)

    @property
    def block(self) -> str:
        """The text of the link's topical boundary."""
        page = self._page
        if page is None:
            return ""
        parts = [page.lists[self._list]] if self._list >= 0 else [page.blocks[index] for index in self.boundary]
        return "".join(map(page.cut, parts))

    @property
    def headings(self) -> list[str]:
        """The headings of the sections around the link, the innermost first; without the main heading."""
        found: list[str] = []
        if self._page is not None:
            headings, main, index = self._page.headings, self._page.main_index, self.section
            while index >= 0:
                found += [headings[index].text] if index != main else []
                index = headings[index].parent
        return found

    @property
    def subheading(self) -> str:
        """The heading of the innermost section around the link."""
        return next(iter(self.headings), "")

    @property
    def heading(self) -> str:
        """The heading of the section around that one."""
        return next(iter(self.headings[1:]), "")

    @property
    def main_heading(self) -> str:
        """The page's main heading."""
        return self._page.main_heading if self._page is not None else ""

    @property
    def url_words(self) -> list[str]:
        """The words of the link's URL."""
        return urls.words(self.url)


@dataclass(eq=False)
class Page:
    """A fetched page: the item that goes through Scrapy's pipelines.

    The dataclass fields are exported; the rest belongs to the crawl.
    """

    url: str
    status: int = 200
    depth: int = 0
    #: URL of the page whose link led here; None for a seed.
    parent: str | None = None
    #: The score with which the page was fetched.
    score: float | None = None
    relevance: float | None = None
    matched: bool = False
    title: str = ""
    topics: list[str] = field(default_factory=list)
    fetched_at: str = ""
    #: What the page says of itself (`focuscrawl.reading.metadata`); dates in ISO 8601.
    authors: list[str] = field(default_factory=list)
    published: str | None = None
    modified: str | None = None
    site_name: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        self.content_type = ""
        self.body = b""
        #: Why the page cannot be read (not HTML, binary …); None if it can.
        self.problem: str | None = None
        #: Why the page is an empty shell that scripts fill (`problem` says so, too); None if it is not.
        self.shell: str | None = None
        #: What kind of page it says it is: a type of schema.org or Open Graph, such as NewsArticle.
        self.kind = ""
        self.keywords = ""
        #: Directives for this crawler in `<meta name=robots>` and X-Robots-Tag: noindex, nofollow …
        self.robots: set[str] = set()
        #: The language that the page declares, as a language tag; and those of the topic, which are likelier.
        self.declared_language = ""
        self.expected_languages: Collection[str] = ()
        self.canonical: str | None = None
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self.lists: list[Block] = []
        self.links: list[Link] = []
        #: Links to files that are not read, such as images and archives: strategies do not see them.
        self.unread: list[Unread] = []
        #: The ids of their URLs in the frontier, once the page is stored.
        self.link_ids: list[int] = []
        #: Links beyond the limit for one page, which were not read.
        self.links_left_out = 0
        self.raw_text = ""
        #: What other pages of its host have, too: blocks, by index, and a part of the title (`crawl.repeated`).
        self.repeated_blocks, self.repeated_title = list[int](), ""
        self._cuts: dict[Block, str] = {}
        self.judgement: Judgement | None = None
        #: Reads the link that led here; None for a seed.
        self.find_via: Callable[[], Link | None] | None = None
        #: The number of the page in the crawl once it is stored: pages are numbered in storage order.
        self.number = 0
        #: The id in the frontier of the requested URL; 0 if the frontier did not request the page.
        self.url_id = 0
        #: The URLs passed through by redirects, first to last, without the page's own.
        self.redirects: list[str] = []
        #: Whether it is a list of URLs, such as a sitemap: its links count, but it has no topic of its own.
        self.listing = False
        #: The number of the stored page that this one nearly duplicates, and the signature that shows it.
        self.duplicate_of: int | None = None
        self.signature: bytes | None = None
        #: Whether the strategy wants the page in URLs.txt (`matches`).
        self.wanted = False
        #: Whether a person's mark overrules the judge, and what the judge says then (`focuscrawl.crawl.verdict`).
        self.overruled = False
        self.own_judgement: Judgement | None = None
        #: Why the page is withheld from matched URLs and search: `listing`, `noindex`, `reservation: …` or `copy`.
        self.withheld: str | None = None
        self.rights = Rights(when=self.fetched_at)
        #: Validators: they tell the server on a later visit which version we have.
        self.etag: str | None = None
        self.last_modified: str | None = None
        #: Set if this is a later visit to a stored page; None on the first fetch.
        self.visit: Visit | None = None

    def __repr__(self) -> str:
        return f"<Page {self.status} {self.url}>"

    def cut(self, block: Block) -> str:
        """The text of a block, with white space folded."""
        text = self._cuts.get(block)
        if text is None:
            text = self._cuts[block] = " ".join(self.raw_text[block.start : block.end].split())
        return text

    @cached_property
    def via(self) -> Link | None:
        """The link that led here, as it was stored; None for a seed."""
        return self.find_via() if self.find_via is not None else None

    @cached_property
    def text(self) -> str:
        """The visible text, a line per block."""
        return "\n".join(self.cut(block) for block in self.blocks)

    @cached_property
    def block_starts(self) -> list[int]:
        """Where the blocks begin in the raw text."""
        return [block.start for block in self.blocks]

    @cached_property
    def block_offsets(self) -> list[int]:
        """The place in `all_words` of the first word of each block, and the number of words."""
        return list(accumulate(map(len, self._block_words), initial=len(words.tokenize(self.title))))

    def blocks_in(self, stretch: Block) -> range:
        """The blocks in a stretch of the text, such as a list."""
        return range(bisect_left(self.block_starts, stretch.start), bisect_left(self.block_starts, stretch.end))

    @cached_property
    def main_index(self) -> int:
        """The index of the main heading: the first one of the highest level; -1 if there is no heading."""
        return min(range(len(self.headings)), key=lambda index: self.headings[index].level, default=-1)

    @property
    def main_heading(self) -> str:
        """The main heading, or the title."""
        return self.headings[self.main_index].text if self.headings else self.title

    @cached_property
    def spaced(self) -> tuple[str, bool]:
        """The text with spaces in place of all that is no word, or, if that cannot be done in place, as it is."""
        even = words.is_even(self.raw_text)
        return words.spaced(self.raw_text) if even else self.raw_text, even

    @cached_property
    def _block_words(self) -> list[list[str]]:
        text, even = self.spaced
        cuts = (text[block.start : block.end] for block in self.blocks)
        return [cut.split() if even else words.tokenize(cut) for cut in cuts]

    @cached_property
    def main_blocks(self) -> list[int]:
        """The indexes of the blocks of the main text: what the page says, without menus, footers and notices."""
        if all(block.part == BODY for block in self.blocks):
            return list(range(len(self.blocks)))
        return main_text.main_blocks(self.blocks, self.plain_sizes)

    @cached_property
    def plain_sizes(self) -> list[int]:
        """How many characters of each block are in no link."""
        return main_text.without_links(self.blocks, [(link.start, link.end) for link in self.links])

    def without_lists(self) -> Page | None:
        """A directory as it would be without its lists of links; None if the page is no directory."""
        if not main_text.is_directory(self.blocks, self.plain_sizes, self.main_blocks):
            return None
        view = copy(self)  # in the same language
        for name in ("words", "word_counts", "stems", "counts", "main_text", "_main_stretches"):
            view.__dict__.pop(name, None)
        view.main_blocks = [
            index for index in self.main_blocks if not main_text.is_list(self.blocks[index], self.plain_sizes[index])
        ]
        return view

    @cached_property
    def main_text(self) -> str:
        """The main text, a line per block."""
        return "\n".join(self.cut(self.blocks[index]) for index in self.main_blocks)

    @cached_property
    def words(self) -> list[str]:
        """The words of title and main text in lower case, in order."""
        found = words.tokenize(self.title)
        text, even = self.spaced
        for start, end in self._main_stretches:
            found += text[start:end].split() if even else words.tokenize(text[start:end])
        return found

    @cached_property
    def word_counts(self) -> dict[str, int]:
        """How often each word occurs: the one walk over the words of a page that judge, traps and models share."""
        return Counter(self.words)

    @cached_property
    def _main_stretches(self) -> list[tuple[int, int]]:
        """Where the main text is: blocks that follow one another are one stretch."""
        stretches: list[tuple[int, int]] = []
        after = -1
        for index in self.main_blocks:
            block = self.blocks[index]
            if index == after:
                stretches[-1] = stretches[-1][0], block.end
            else:
                stretches.append((block.start, block.end))
            after = index + 1
        return stretches

    @cached_property
    def all_words(self) -> list[str]:
        """The words of title and visible text in lower case, in order."""
        return list(chain(words.tokenize(self.title), *self._block_words))

    @cached_property
    def identified(self) -> Language:
        """The language of the page, and how likely it is."""
        found = self.words
        if is_english(found):
            return Language("en", 1.0)
        longest = nlargest(3, self.main_blocks, key=lambda index: self.blocks[index].end - self.blocks[index].start)
        text = " ".join([self.cut(self.blocks[index]) for index in longest])
        return identify(f"{text} {self.title}", code_of(self.declared_language), self.expected_languages)

    @property
    def language(self) -> str:
        """The code of the page's language, such as `de`; empty if it is unknown."""
        return self.identified.code

    @cached_property
    def stems(self) -> list[str]:
        """The stemmed words of title and main text, in order."""
        return words.stems(self.words, self.language)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each stem occurs."""
        return words.count_stems(self.word_counts, self.language)


def attach(link: Link, page: Page, start: int, end: int, list_index: int, heading: int) -> None:
    """Tie a link to its place on a page; called by the reader when the page's text is complete."""
    link._page = page
    link.start, link.end = start, end
    link._list, link.section = list_index, heading
