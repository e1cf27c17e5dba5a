"""Reviewing pages one by one: which ones, what is shown of each, and what the keys do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.reports.explain import sum_of
from focuscrawl.store.store import Store
from focuscrawl.store.verdicts import Judged

#: What the keys say; `s` skips a page, `b` goes back to the one before, `q` ends.
KEYS = {"y": "yes", "n": "no", "u": "unsure"}
HELP = "y yes, n no, u unsure, s skip, b back, q quit"

#: Words of a snippet, and how many of them come before the word that it shows.
_WORDS, _BEFORE = 50, 12
#: Characters of a page that a snippet is searched in.
_TEXT = 20_000

#: Two standard deviations of a normal distribution, near enough: 95 % are within.
_Z = 1.96


class Card(NamedTuple):
    """What is shown of a page."""

    number: int
    url: str
    title: str
    snippet: str
    #: The judge's relevance and what it is made of, in words.
    why: str
    matched: bool
    #: Whether it was drawn at random, so that it says something about the crawl as a whole.
    random: bool


class Tally(NamedTuple):
    """How many of some pages are relevant."""

    relevant: int = 0
    marked: int = 0

    def add(self, relevant: bool) -> Tally:
        """The same with one page more."""
        return Tally(self.relevant + relevant, self.marked + 1)

    def __str__(self) -> str:
        low, high = wilson(self.relevant, self.marked)
        return f"{self.relevant / self.marked:.0%} ({low:.0%} to {high:.0%})" if self.marked else "unknown"


def wilson(hits: int, cases: int) -> tuple[float, float]:
    """The 95 % interval of a share after Wilson, which is sound for few cases and near 0 and 1."""
    if not cases:
        return 0.0, 1.0
    share, spread = hits / cases, _Z * _Z / cases
    middle = (share + spread / 2) / (1 + spread)
    reach = _Z / (1 + spread) * sqrt(share * (1 - share) / cases + spread / cases / 4)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def to_review(store: Store, marked: Collection[int], borderline: int, seed: int) -> list[tuple[int, bool]]:
    """The pages to ask about, each with whether it was drawn at random: the borderline ones first, then all in random
    order. Those that have a mark are not asked about again.
    """
    known = store.standing.threshold()
    threshold = 0.5 if known is None else known
    pages = [page for page in store.verdicts.each() if page.findable and page.counts and page.number not in marked]
    near = sorted(pages, key=lambda page: (abs((page.own.relevance or 0.0) - threshold), page.number))[:borderline]
    first = [page.number for page in near]
    rest = sorted({page.number for page in pages} - set(first))
    rest = [rest[place] for place in np.random.default_rng(seed).permutation(len(rest))]
    return [(number, False) for number in first] + [(number, True) for number in rest]


def card(store: Store, number: int, *, at_random: bool) -> Card | None:
    """What is shown of a page."""
    judged = store.verdicts.get(number)
    if judged is None:
        return None
    response = store.pages.response(number)
    page = read_page(Page(judged.url), response.body, response.content_type)
    title = page.title or judged.title or "(no title)"
    return Card(number, judged.url, title, snippet(page, judged.why), _why(judged), judged.now.matched, at_random)


def _why(judged: Judged) -> str:
    verdict = "matched" if judged.now.matched else "not matched"
    relevance = "not judged" if judged.own.relevance is None else f"relevance {judged.own.relevance:.4f}"
    return f"{relevance}, {verdict}{sum_of(judged.why)}"


def snippet(page: Page, why: Mapping[str, Any]) -> str:
    """Some words of a page, around the first of those that count most in its judgement."""
    found = page.main_text[:_TEXT].split()
    wanted = [name.casefold() for name in sorted(why, key=lambda name: -abs(float(why[name])))[:3]]
    places = (place for place, word in enumerate(found) if any(word.casefold().startswith(name) for name in wanted))
    start = max(0, next(places, 0) - _BEFORE)
    text = " ".join(found[start : start + _WORDS])
    return f"{'… ' if start else ''}{text}{' …' if len(found) > start + _WORDS else ''}"


def review(
    pages: Iterable[tuple[int, bool]],
    show: Callable[[int, bool], Card | None],
    key: Callable[[], str],
    mark: Callable[[Card, str], None],
) -> int:
    """Show pages one by one until they end or `q` is pressed; returns how many were marked.

    *show* shows a page and returns it, None if it is gone; *key* returns the next key, `q` at the end of the input;
    *mark* sets a mark.
    """
    waiting = list(pages)
    place = 0
    marked: set[int] = set()
    while place < len(waiting):
        shown = show(*waiting[place])
        if shown is None:
            del waiting[place]
            continue
        while (pressed := key()) not in {*KEYS, *"sbq"}:
            pass
        if pressed == "q":
            break
        if pressed == "b":
            place = max(0, place - 1)
            continue
        if pressed in KEYS:
            mark(shown, KEYS[pressed])
            marked.add(shown.number)
        place += 1
    return len(marked)
