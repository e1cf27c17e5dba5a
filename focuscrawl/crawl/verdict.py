"""The verdict on a page: whether it counts as relevant, whether it matches, and why it is withheld if it is.

This is the only place that decides. It is asked again whenever something new is known of a page: its judgement, what
its host reserves, that it repeats another page. Matched URLs, exports and search leave out what is withheld.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from focuscrawl.page import Page

#: Why a page is withheld. A reservation is followed by its name.
LISTING, NOINDEX, RESERVATION, COPY = "listing", "noindex", "reservation: ", "copy"
#: The same for a page that is in none of the wanted languages; its own follows.
LANGUAGE = "language: "


def settle(
    page: Page, *, robots_meta: bool = True, reservations: Sequence[str] = (), languages: Collection[str] = ()
) -> None:
    """Set `withheld` and `matched` of a page, and whether its judgement counts.

    *robots_meta*: whether the page's own noindex is obeyed (FOCUS_ROBOTS_META). *reservations*: those that keep a page
    out of the exports (FOCUS_RIGHTS). *languages*: the codes of those that do not (FOCUS_LANGUAGES); empty: all.
    """
    rights = page.rights
    rights.noai, rights.noimageai = "noai" in page.robots, "noimageai" in page.robots
    rights.left_out = rights.reserved(reservations) if page.problem is None else ""
    page.withheld = _withheld(page, robots_meta, languages)
    page.matched = page.wanted and is_findable(page)
    judgement = page.judgement
    if judgement is not None and judgement.relevant and (page.listing or page.duplicate_of is not None):
        page.judgement = judgement._replace(relevant=False)  # its links count, but the page does not


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
