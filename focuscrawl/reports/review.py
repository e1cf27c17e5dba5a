"""Reviewing pages one by one: which ones, what is shown of each, and what the keys do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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

#: The largest log-odds of a relevance that count, and how far from the threshold the border may well be.
_ODDS, _TRUST = 6.0, 2.0
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


def border(threshold: float, marked: Iterable[tuple[float, bool]]) -> float:
    """From which relevance on pages are relevant, as far as marks tell; without any, from the threshold on.

    *marked*: the relevance of pages by the judge, and whether people find them relevant. The farther a page is above
    the border, the surer it is relevant; the border is the one by which the marks surprise least.
    """
    relevance, relevant = np.array(list(marked), dtype=float).reshape(-1, 2).T
    signs, borders = 2 * relevant - 1, np.linspace(-_ODDS, _ODDS, 241)
    surprise = np.logaddexp(0, -signs * (_log_odds(relevance) - borders[:, None])).sum(axis=1)
    surprise += ((borders - _log_odds(threshold)) / _TRUST) ** 2 / 2
    return float(1 / (1 + np.exp(-borders[np.argmin(surprise)])))


def _log_odds(relevance: Any) -> Any:
    least = 1 / (1 + np.exp(_ODDS))
    share = np.clip(relevance, least, 1 - least)
    return np.log(share / (1 - share))


class Queue:
    """The pages to ask about, each with whether it was drawn at random: the borderline ones first, then all in random
    order. Those that have a mark are not asked about again.

    *marks*: the verdicts by page so far. With each one that is added, the border is better known.
    """

    def __init__(self, store: Store, marks: Mapping[int, str], borderline: int, seed: int) -> None:
        known = store.standing.threshold()
        self._threshold = 0.5 if known is None else known
        self._marks, self._borderline, self._seed = marks, borderline, seed
        pages = [page for page in store.verdicts.each() if page.findable and page.counts]
        self._numbers = np.array([page.number for page in pages], dtype=np.int64)
        self._relevance = np.array([page.own.relevance or 0.0 for page in pages])
        self._left = ~np.isin(self._numbers, list(marks))

    def __len__(self) -> int:
        return int(self._left.sum())

    def __iter__(self) -> Iterator[tuple[int, bool]]:
        left = self._left.copy()
        for _ in range(min(self._borderline, len(self))):
            distance = np.where(left, np.abs(self._relevance - self._border()), np.inf)
            nearest = int(np.argmin(distance))
            left[nearest] = False
            yield int(self._numbers[nearest]), False
        rest = self._numbers[left]
        yield from ((int(rest[place]), True) for place in np.random.default_rng(self._seed).permutation(len(rest)))

    def _border(self) -> float:
        said = {page: verdict == "yes" for page, verdict in self._marks.items() if verdict != "unsure"}
        places = np.flatnonzero(np.isin(self._numbers, list(said))).tolist()
        return border(
            self._threshold, [(float(self._relevance[place]), said[int(self._numbers[place])]) for place in places]
        )


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
    following = iter(pages)
    waiting: list[tuple[int, bool]] = []
    place = 0
    marked: set[int] = set()
    while True:
        if place == len(waiting):
            if (page := next(following, None)) is None:
                break
            waiting.append(page)
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
