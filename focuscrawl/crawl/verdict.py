"""The verdict on a page: whether it counts as relevant, whether it matches, and why it is withheld if it is.

This is the only place that decides. It is asked again whenever something new is known of a page: its judgement, what
its host reserves, that it repeats another page, what a person says of it. Matched URLs, exports and search leave out
what is withheld.

A person's mark overrules the judge: a page marked `yes` has relevance 1, one marked `no` has relevance 0. It does not
overrule what withholds a page: a host's reservation, noindex, a language that is not wanted, a copy of another page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeVar

from focuscrawl.page import Judgement, Page

Answer = TypeVar("Answer")

#: Why a page is withheld. A reservation is followed by its name.
LISTING, NOINDEX, RESERVATION, COPY = "listing", "noindex", "reservation: ", "copy"
#: The same for a page that is in none of the wanted languages; its own follows.
LANGUAGE = "language: "
#: The marks that overrule the judge.
YES, NO = "yes", "no"


class Verdict(NamedTuple):
    """What is said of a page: by the judge alone, or in the end."""

    #: None if the topic has nothing to judge by.
    relevance: float | None
    relevant: bool | None
    #: The judge alone: whether the strategy wants the page in URLs.txt. In the end: whether it is there.
    matched: bool


def overrule(own: Verdict, mark: str | None, *, readable: bool, counts: bool, findable: bool) -> Verdict:
    """The verdict in the end, from the judge's *own* and a person's mark.

    *counts*: the page is no list of URLs and repeats no other; *findable*: it is readable and not withheld.
    """
    if mark == YES and readable:
        return Verdict(1.0, counts, findable)
    if mark == NO and readable:
        return Verdict(0.0, False, False)
    return own._replace(matched=own.matched and findable)


def settle(
    page: Page,
    *,
    robots_meta: bool = True,
    reservations: Sequence[str] = (),
    languages: Collection[str] = (),
    mark: str | None = None,
) -> None:
    """Set `withheld`, `matched` and the judgement of a page.

    *robots_meta*: whether the page's own noindex is obeyed (FOCUS_ROBOTS_META). *reservations*: those that keep a page
    out of the exports (FOCUS_RIGHTS). *languages*: the codes of those that do not (FOCUS_LANGUAGES); empty: all.
    *mark*: what a person says of the page.
    """
    rights = page.rights
    rights.noai, rights.noimageai = "noai" in page.robots, "noimageai" in page.robots
    rights.left_out = rights.reserved(reservations) if page.problem is None else ""
    page.withheld = _withheld(page, robots_meta, languages)
    counts = not page.listing and page.duplicate_of is None
    judgement = page.own_judgement if page.overruled else page.judgement
    if judgement is not None and judgement.relevant and not counts:
        judgement = judgement._replace(relevant=False)  # its links count, but the page does not
    own = _verdict(judgement, page.wanted)
    readable = page.problem is None
    verdict = overrule(own, mark, readable=readable, counts=counts, findable=is_findable(page))
    page.matched = verdict.matched
    if readable and mark in (YES, NO):
        page.overruled, page.own_judgement = True, judgement
        page.judgement = Judgement(verdict.relevance or 0.0, bool(verdict.relevant), judgement.why if judgement else {})
        page.relevance = verdict.relevance
    else:
        if page.overruled:
            page.relevance = own.relevance
        page.overruled, page.own_judgement, page.judgement = False, None, judgement


def own_verdict(page: Page) -> Verdict:
    """What the judge alone says of a settled page."""
    return _verdict(page.own_judgement if page.overruled else page.judgement, page.wanted)


def _verdict(judgement: Judgement | None, wanted: bool) -> Verdict:
    return Verdict(None, None, wanted) if judgement is None else Verdict(*judgement[:2], wanted)


def by_the_judge(page: Page, ask: Callable[[], Answer]) -> Answer:
    """What *ask* says of a page by the judge's own judgement, without a person's mark."""
    if not page.overruled:
        return ask()
    marked = page.judgement
    page.judgement = page.own_judgement
    try:
        return ask()
    finally:
        page.judgement = marked


def is_findable(page: Page) -> bool:
    """Whether a page may be exported and belongs into the search index."""
    return page.problem is None and page.withheld is None


def _withheld(page: Page, robots_meta: bool, languages: Collection[str]) -> str | None:
    if page.listing:
        return LISTING
    if robots_meta and "noindex" in page.robots:
        return NOINDEX
    if page.rights.left_out:
        return RESERVATION + page.rights.left_out
    if languages and page.problem is None and page.language and page.language not in languages:
        return LANGUAGE + page.language
    if page.duplicate_of is not None:  # last: a copy that takes the place of its original is no longer withheld
        return COPY
    return None
