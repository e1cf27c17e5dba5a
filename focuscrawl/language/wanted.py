"""The setting FOCUS_LANGUAGES: in which languages pages are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from focuscrawl.errors import FocusError
from focuscrawl.language.languages import code_of

_FOLLOW = "follow="


class Wanted(NamedTuple):
    """The codes of the wanted languages (empty: all), and whether links of pages in other languages are followed."""

    wanted: frozenset[str] = frozenset()
    follow: bool = True

    def holds_back(self, language: str) -> bool:
        """Whether links are held back: those of a page in a language, and those whose `hreflang` names it."""
        return not self.follow and bool(language) and language not in self.wanted


def wanted_languages(items: Sequence[str]) -> Wanted:
    """Parse FOCUS_LANGUAGES: `de,fr`, or `de,fr,follow=no`."""
    given = ",".join(items)
    codes, follow = set(), True
    for item in filter(None, map(str.strip, items)):
        if item.startswith(_FOLLOW):
            choice = item.removeprefix(_FOLLOW).lower()
            if choice not in ("yes", "no"):
                raise FocusError(f"setting FOCUS_LANGUAGES={given}: expected follow=yes or follow=no, not '{item}'")
            follow = choice == "yes"
        elif code := code_of(item):
            codes.add(code)
        else:
            raise FocusError(
                f"setting FOCUS_LANGUAGES={given}: unknown language '{item}'; languages have codes of two letters, such"
                " as 'de' for German"
            )
    if not follow and not codes:
        raise FocusError(f"setting FOCUS_LANGUAGES={given}: names no language; write de,fr,follow=no")
    return Wanted(frozenset(codes), follow)
