"""Search queries: from what a user types to an FTS5 expression.

All words must occur, in any form: `sorting` finds "sorts". `"merge sort"` is a phrase, `-heap` and `-"heap sort"`
exclude, `merge OR quick` requires one of the two. Everything else is punctuation: no text is a syntax error.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.language.languages import stemmed

_PART = re.compile(r'-*"[^"]*"|[^\s"]+')
_AROUND = re.compile(r"^\W+|\W+$")
#: Separates characters that are words of their own (Chinese, Japanese): invisible, and not a letter to FTS5.
JOINT = "\u200b"
#: Longer phrases are quotations.
_MOST_STEMMED = 20


class Query(NamedTuple):
    """Groups of words and phrases, and excluded ones. A page must contain one of each group."""

    wanted: list[list[str]]
    unwanted: list[str]

    @classmethod
    def of(cls, text: str) -> Query:
        """Parse a query; raises FocusError if it has no word to look for."""
        query = cls.parse(text)
        if not query.wanted:
            raise FocusError(
                f"query '{text.strip()}' only excludes words; add a word to look for"
                if query.unwanted
                else f"query '{text.strip()}' has no word to look for"
            )
        return query

    @classmethod
    def parse(cls, text: str) -> Query:
        """Parse a query, which may have excluded words only, or no words."""
        query = cls([], [])
        either = False
        for part in _PART.findall(text):
            if part == "OR":
                either = bool(query.wanted)
                continue
            phrase = _phrase(part)
            if not phrase or part == "AND":  # AND is the default
                continue
            if part.startswith("-"):
                query.unwanted.append(phrase)
            elif either:
                query.wanted[-1].append(phrase)
            else:
                query.wanted.append([phrase])
            either = False
        return query

    def keywords(self) -> list[str]:
        """The distinct wanted words and phrases, in lower case and without surrounding punctuation."""
        plain = (_AROUND.sub("", " ".join(phrase.lower().split())) for group in self.wanted for phrase in group)
        return list(dict.fromkeys(word for word in plain if words.tokenize(word)))

    def any_word(self) -> Query:
        """The same query, but one of the wanted words or phrases is enough."""
        keywords = self.keywords()
        return Query([keywords] if keywords else [], self.unwanted)

    def expression(self, columns: str = "") -> str:
        """The FTS5 expression; the wanted words must be in *columns*, or in any column if it is empty."""
        wanted = " AND ".join(f"({any_of(group)})" for group in self.wanted)
        if columns:
            wanted = f"{{{columns}}} : ({wanted})"
        return f"({wanted}) NOT ({any_of(self.unwanted)})" if self.unwanted else wanted


def any_of(phrases: list[str]) -> str:
    """The FTS5 expression for texts that contain at least one of the phrases, in any form."""
    forms = dict.fromkeys(form for phrase in phrases for form in _forms(phrase))
    return " OR ".join(f'"{words.apart(form, JOINT)}"' for form in forms)


@lru_cache(maxsize=1_000)
def _forms(phrase: str) -> list[str]:
    """A phrase, and its stems in all languages: FTS5 itself stems as in English only."""
    found = words.tokenize(phrase)
    if words.is_unspaced(phrase) or len(found) > _MOST_STEMMED:
        return [phrase]
    stems = (" ".join(map(words.bare, words.stems(found, language))) for language in stemmed())
    return list(dict.fromkeys([phrase, *stems]))


def _phrase(part: str) -> str:
    """The words of a part of a query, without characters that are special to FTS5; empty if there are none."""
    text = part.replace('"', " ").replace("\x00", " ").encode("utf-8", "replace").decode().strip(" -")
    return text if any(map(str.isalnum, text)) else ""
