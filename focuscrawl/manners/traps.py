"""Traps: places on a host that give URLs without end, and nothing new.

Two things give them away. The shape of a URL: segments that repeat, paths that get ever deeper, session ids. And what
its likes have given: URLs are grouped by pattern (numbers and names at the end of a path do not matter), and when page
after page of a pattern says nothing that an earlier one did not say, such as a calendar, a list in every order, or an
error page that is called a success, the pattern is a trap until a page of it says something new again.

URLs in a trap are not thrown away: they are damped, so that all others come first.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from focuscrawl.page import Page
from focuscrawl.urls import LIKELY_SESSION_IDS, SESSION_IDS

#: So many pages in a row without anything new make a trap.
TRIES = 20
#: So many pages of a pattern are too early to say what is new.
EARLY = 2
#: A page whose words are new to its pattern by less than this share says nothing new.
NEW = 0.05
#: What the score of a URL in a trap is multiplied by.
DAMPING = 0.1
#: Session ids cost little more than a second copy of a page.
SESSION_DAMPING = 0.5
#: Paths with more segments than this are damped, more with each further one.
DEEP = 12
#: Paths with so many segments belong to the tree below their first one, too.
_TREE = 4
#: A segment that occurs so often in one path repeats.
REPEATED = 3

#: Pages of one pattern that are read again after a crawl was stopped, and bytes of pages in all.
RECALLED, RECALLED_BYTES = 500, 100 << 20
#: Words kept of a pattern, and patterns whose words are kept: one with more words is no trap, and one that says nothing
#: new has come up lately.
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
    """What the pages of a pattern were like: how many, and how many of the last said nothing new."""

    pages: int
    stale: int


def patterns(url: str) -> list[str]:
    """The patterns of a URL, the narrowest first: with its query parameters and without, and the tree it is deep in."""
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
    """What stands for a run of hexadecimal digits: one without any number in it is a word."""
    return "x" if _NUMBER.search(match[0]) else match[0]


class Traps:
    """Notices traps and says how far the URLs in them are to be damped.

    *known* are the patterns of earlier runs. *pages_per_pattern* and *queries_per_path* bound what is fetched of one
    pattern and of one path with different queries, whatever it says, but for what is under way; 0 is no bound.
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
        #: Whether traps count, or the bounds alone.
        self.watch = watch
        #: What the pages of a pattern said in earlier runs, page by page.
        self.recall: Callable[[str], Iterable[set[str]]] = lambda pattern: ()
        self._words: OrderedDict[str, set[int]] = OrderedDict()

    def notice(self, page: Page) -> list[tuple[str, int, int]]:
        """A page has come: what its patterns have given by now, to be kept, and whether one has become a trap."""
        found = patterns(page.url)
        same = page.problem is not None or page.duplicate_of is not None
        # numbers count on: a page that differs by them alone is the same page
        words = {word for word in page.words if not word.isdigit()} if not same else set()
        for pattern in found:
            before = self.patterns.get(pattern, Pattern(0, 0))
            stale = before.stale
            if page.problem is not None and pattern.endswith("/**"):
                pass  # dead links say nothing about a whole tree
            elif same:
                stale += 1
            elif before.pages < EARLY:
                pass  # too early to say
            else:
                stale = self._stale_after(pattern, words, stale)
            self.patterns[pattern] = Pattern(before.pages + 1, stale)
        return [(pattern, *self.patterns[pattern]) for pattern in found]

    def _stale_after(self, pattern: str, said: set[str], stale: int) -> int:
        if pattern not in self._words:
            for earlier in self.recall(pattern):
                self._new_words(pattern, earlier)
        new = self._new_words(pattern, said)
        if new is None:  # the first of this run, or of those that were not forgotten
            return stale
        return 0 if new > NEW * len(said) else stale + 1

    def _new_words(self, pattern: str, said: set[str]) -> int | None:
        """How many words of a page are new to its pattern, which knows them from now on; None for the first page."""
        words = {hash(word) for word in said}
        known = self._words.get(pattern)
        if known is None:
            self._words[pattern] = words if len(words) <= _VOCABULARY else set(map(hash, sorted(said)[:_VOCABULARY]))
            if len(self._words) > _PATTERNS:
                self._words.popitem(last=False)
            return None
        self._words.move_to_end(pattern)
        new = words - known
        if len(known) < _VOCABULARY:
            known |= new
        return len(new)

    def is_trap(self, pattern: str) -> bool:
        """Whether a pattern is a trap at the moment."""
        return pattern in self.patterns and self.patterns[pattern].stale >= TRIES

    def damping(self, url: str) -> float:
        """What the score of a URL is to be multiplied by: 1 outside of traps, 0 if it is not to be fetched at all."""
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
        """What kind of trap a URL is in, in words; empty outside of traps."""
        path = url.partition("?")[0]
        if _repeats(path):
            return "path segments repeat"
        if path.count("/") - 3 > DEEP:
            return f"path deeper than {DEEP} segments"
        for pattern in patterns(url):
            if pattern in self.patterns and self._full(pattern, self.patterns[pattern].pages):
                return f"limit of pages reached: {pattern}"
            if self.is_trap(pattern):
                stale = self.patterns[pattern].stale
                return f"{kind(pattern, url)}: the last {stale} pages like {pattern} had nothing new"
        return "session id" if _SESSION.search(url) else ""


def kind(pattern: str, url: str) -> str:
    """What a pattern that gives nothing new looks like."""
    if _DATE.search(url):
        return "calendar"
    if pattern.endswith("/**"):
        return "deep paths"
    return "query variations" if "?" in pattern else "path pattern"


def _shape(url: str) -> float:
    """What a URL is to be damped by for how it looks."""
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


class Recall:
    """What the pages of earlier runs said, by pattern, read from the crawl when it is first asked for.

    *pages* are all of them in order: number, URL, and whether it said nothing of its own. *words* are those of a page,
    and its size. The first pages of a pattern are read again, they are what it is known by.
    """

    def __init__(
        self, pages: Callable[[], Iterable[tuple[int, str, bool]]], words: Callable[[int], tuple[set[str], int]]
    ) -> None:
        self._pages = pages
        self._words = words
        self._left = RECALLED_BYTES
        self._by_pattern: dict[str, list[int]] | None = None

    def __call__(self, pattern: str) -> Iterable[set[str]]:
        """The words of the pages by which a pattern is known, page by page."""
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
