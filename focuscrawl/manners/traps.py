"""Crawler traps: places on a host with endless URLs and no new content.

Two signs give them away. The first is the shape of a URL: repeated segments, ever deeper paths, session ids. The second
is the content behind similar URLs. URLs are grouped by pattern (numbers and names at the end of a path are ignored). If
page after page of a pattern has nothing new (a calendar, a list in every sort order, error pages with status 200), the
pattern is a trap until one of its pages has something new.

URLs in a trap are not dropped. Their scores are damped, so that all other URLs come first.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Set
from typing import NamedTuple

from focuscrawl.page import Page
from focuscrawl.urls import LIKELY_SESSION_IDS, SESSION_IDS
from focuscrawl.words import LONGEST

#: Number of consecutive stale pages that make a pattern a trap.
TRIES = 20
#: Number of first pages of a pattern that are never stale: there is too little to compare them with.
EARLY = 2
#: A page is stale if at most this share of its words is new to its pattern.
NEW = 0.05
#: Number of first pages of a pattern whose words are all compared. Of later ones every SELDOM-th is, as long as they
#: have something new: a trap is found a few pages later, and most pages need no comparison.
ALWAYS, SELDOM = 10, 8
#: Factor on the score of a URL in a trap.
DAMPING = 0.1
#: Factor for a URL with a session id, which costs little more than a second copy of a page.
SESSION_DAMPING = 0.5
#: Paths with more segments than this are damped, further with each additional segment.
DEEP = 12
#: Paths with at least this many segments also belong to the tree below their first segment.
_TREE = 4
#: Number of occurrences in one path at which a segment is repeated.
REPEATED = 3

#: Maximum number of pages reread per pattern when a crawl is resumed, and of bytes in total.
RECALLED, RECALLED_BYTES = 500, 100 << 20
#: Maximum number of words kept per pattern, and of patterns whose words are kept. A pattern with more words is not a
#: trap, and the pages of a trap arrive in quick succession.
_VOCABULARY = 1_000
_PATTERNS = 256

_PARTS = re.compile(r"(https?://[^/?#]*)([^?#]*)\??([^#]*)")
_NUMBER = re.compile(r"\d+")
_CODE = re.compile(r"[0-9a-f-]{8,}", re.IGNORECASE)
_SESSION = re.compile(
    rf"[;?&/](?:{SESSION_IDS}|{LIKELY_SESSION_IDS})="
    r"|[?&](?:sid|s)=[0-9a-f]{16,}|/\(s\([a-z0-9]{20,}\)\)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:19|20|21)\d\d[-/]?(?:0?[1-9]|1[0-2])\b|\b(?:year|month|day|date|cal\w*|agenda|events?)\b", re.IGNORECASE
)


class Pattern(NamedTuple):
    """The pages of a pattern: their number, and how many of the latest in a row were stale."""

    pages: int
    stale: int


def patterns(url: str) -> list[str]:
    """The patterns of a URL, narrowest first: with and without query parameters, and the tree of a deep path."""
    found = _PARTS.match(url)
    if found is None:
        return []
    host, path, query = found.groups()
    segments = path.split("/")
    last = len(segments) - 1
    for index, segment in enumerate(segments):
        if index == last and not query and segment and not segment.isdigit():
            dot = segment.rfind(".")
            segments[index] = "*" + segment[dot:].lower() if 0 < dot >= len(segment) - 6 else "*"
        elif segment.isdigit():
            segments[index] = "0"
        else:
            segments[index] = _NUMBER.sub("0", _CODE.sub(_without_code, segment))
    shape = host + "/".join(segments)
    tree = [f"{host}/{segments[1]}/**"] if path.strip("/").count("/") >= _TREE - 1 else []
    if not query:
        return [shape, *tree]
    names = sorted({part.partition("=")[0] for part in query.split("&")} - {""})
    return [*([f"{shape}?{'&'.join(names)}"] if names else []), f"{shape}?", *tree]


def _without_code(match: re.Match[str]) -> str:
    """The replacement for a run of hexadecimal digits; a run without decimal digits is a word, and is kept."""
    return "x" if _NUMBER.search(match[0]) else match[0]


class Traps:
    """Detects traps, and damps the scores of the URLs in them.

    *known* are the patterns of earlier runs. *pages_per_pattern* and *queries_per_path* limit the pages fetched per
    pattern, and per path with different queries, except for requests in flight; 0 means no limit.
    """

    def __init__(
        self,
        known: Iterable[tuple[str, int, int]] = (),
        *,
        pages_per_pattern: int = 0,
        queries_per_path: int = 0,
        watch: bool = True,
    ) -> None:
        self.patterns = {pattern: Pattern(pages, stale) for pattern, pages, stale in known}
        self.pages_per_pattern = pages_per_pattern
        self.queries_per_path = queries_per_path
        #: Whether traps are damped; otherwise only the limits apply.
        self.watch = watch
        #: The words of the pages of a pattern in earlier runs, page by page.
        self.recall: Callable[[str], Iterable[set[str]]] = lambda pattern: ()
        self._words: OrderedDict[str, set[str]] = OrderedDict()

    def notice(self, page: Page) -> list[tuple[str, int, int]]:
        """Record a page; return the new state of its patterns, to be stored."""
        found = patterns(page.url)
        same = page.problem is not None or page.duplicate_of is not None
        for pattern in found:
            before = self.patterns.get(pattern, Pattern(0, 0))
            stale = before.stale
            if page.problem is not None and pattern.endswith("/**"):
                pass  # dead links say nothing about a whole tree
            elif same:
                stale += 1
            elif _is_compared(before):
                stale = self._stale_after(pattern, page.word_counts.keys(), stale)
            self.patterns[pattern] = Pattern(before.pages + 1, stale)
        return [(pattern, *self.patterns[pattern]) for pattern in found]

    def _stale_after(self, pattern: str, said: Set[str], stale: int) -> int:
        if pattern not in self._words:
            for earlier in self.recall(pattern):
                self._known_words(pattern, earlier)
        known = self._known_words(pattern, said)
        if known is None:  # nothing to compare with: the first page of this run, or since the words were evicted
            return stale
        # counters change: a page that differs only in numbers is the same page
        words = len(said) - sum(map(str.isdigit, said))
        return 0 if words - known > NEW * words else stale + 1

    def _known_words(self, pattern: str, said: Set[str]) -> int | None:
        """Add the words of a page to its pattern; return how many were known before, None for the first page."""
        known = self._words.get(pattern)
        if known is None:
            self._words[pattern] = _worth_keeping(said)
            if len(self._words) > _PATTERNS:
                self._words.popitem(last=False)
            return None
        self._words.move_to_end(pattern)
        number = len(said & known)
        if len(known) < _VOCABULARY:
            known |= _worth_keeping(said)
        return number

    def is_trap(self, pattern: str) -> bool:
        """Whether a pattern is currently a trap."""
        return pattern in self.patterns and self.patterns[pattern].stale >= TRIES

    def damping(self, url: str) -> float:
        """The factor on the score of a URL: 1 outside of traps, 0 if it must not be fetched."""
        factor = 1.0
        for pattern in patterns(url):
            known = self.patterns.get(pattern)
            if known is None:
                continue
            if self._full(pattern, known.pages):
                return 0.0
            if known.stale >= TRIES:
                factor *= DAMPING
        return factor * _shape(url) if self.watch else 1.0

    def _full(self, pattern: str, pages: int) -> bool:
        if 0 < self.pages_per_pattern <= pages and not pattern.endswith(("?", "/**")):
            return True
        return 0 < self.queries_per_path <= pages and pattern.endswith("?")

    def why(self, url: str) -> str:
        """A description of the trap that a URL is in; empty outside of traps."""
        path = url.partition("?")[0]
        if _repeats(path):
            return "path segments repeat"
        if path.count("/") - 3 > DEEP:
            return f"path deeper than {DEEP} segments"
        for pattern in patterns(url):
            if pattern in self.patterns and self._full(pattern, self.patterns[pattern].pages):
                return f"page limit reached: {pattern}"
            if self.is_trap(pattern):
                stale = self.patterns[pattern].stale
                return f"{kind(pattern, url)}: the last {stale} pages like {pattern} had nothing new"
        return "session id" if _SESSION.search(url) else ""


def _is_compared(pattern: Pattern) -> bool:
    """Whether the next page of a pattern is compared with those before it."""
    if pattern.pages < EARLY:  # too early to say
        return False
    return bool(pattern.stale) or pattern.pages < ALWAYS or pattern.pages % SELDOM == 0


def kind(pattern: str, url: str) -> str:
    """The kind of trap, by the looks of its pattern."""
    if _DATE.search(url):
        return "calendar"
    if pattern.endswith("/**"):
        return "deep paths"
    return "query variations" if "?" in pattern else "path pattern"


def _shape(url: str) -> float:
    """The damping factor for the shape of a URL."""
    factor = 1.0
    path = url.partition("?")[0]
    depth = path.count("/") - 3
    if depth > DEEP:
        factor *= 0.8 ** (depth - DEEP)
    if depth >= REPEATED and _repeats(path):
        factor *= DAMPING
    if ("=" in url or "(" in url) and _SESSION.search(url):
        factor *= SESSION_DAMPING
    return factor


def _repeats(path: str) -> bool:
    segments = [segment for segment in path.split("/")[3:] if segment and not segment.isdigit()]
    return len(segments) >= REPEATED and max(Counter(segments).values()) >= REPEATED


def _worth_keeping(said: Set[str]) -> set[str]:
    """The words by which later pages are recognised: no numbers, not too many, and none of excessive length."""
    kept = {word for word in said if len(word) <= LONGEST and not word.isdigit()}
    return kept if len(kept) <= _VOCABULARY else set(sorted(kept)[:_VOCABULARY])


class Recall:
    """The words of the pages of earlier runs, by pattern, read from the crawl on first use.

    *pages* returns all pages in order: number, URL, and whether it has no content of its own. *words* returns the words
    of a page, and its size. The first pages of a pattern are reread, up to the limits.
    """

    def __init__(
        self, pages: Callable[[], Iterable[tuple[int, str, bool]]], words: Callable[[int], tuple[set[str], int]]
    ) -> None:
        self._pages = pages
        self._words = words
        self._left = RECALLED_BYTES
        self._by_pattern: dict[str, list[int]] | None = None

    def __call__(self, pattern: str) -> Iterable[set[str]]:
        """The words of the first pages of a pattern, page by page."""
        if self._by_pattern is None:
            self._by_pattern = self._read()
        known: set[str] = set()
        for number in self._by_pattern.pop(pattern, ()):
            if self._left <= 0 or len(known) >= _VOCABULARY:
                return
            words, size = self._words(number)
            self._left -= size
            known |= words
            yield words

    def _read(self) -> dict[str, list[int]]:
        seen: Counter[str] = Counter()
        found: dict[str, list[int]] = {}
        for number, url, same in self._pages():
            for pattern in patterns(url):
                seen[pattern] += 1
                if seen[pattern] > EARLY and not same:
                    numbers = found.setdefault(pattern, [])
                    if len(numbers) < RECALLED:
                        numbers.append(number)
        return found
