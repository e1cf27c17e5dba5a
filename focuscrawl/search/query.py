"""What a user writes into a search box, and what FTS5 reads.

Words must all occur, in any form: `sorting` finds "sorts". `"merge sort"` is a phrase, `-heap` and `-"heap sort"` leave
out, `merge OR quick` asks for one of the two. Everything else is punctuation: no text is a syntax error.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from focuscrawl import words
from focuscrawl.errors import FocusError

_PART = re.compile(r'-*"[^"]*"|[^\s"]+')
#: What sets characters apart that are words without spaces between them; nobody sees it, and to FTS5 it is no letter.
JOINT = "\u200b"


class Query(NamedTuple):
    """Groups of words and phrases, of each of which one must occur, and what must not."""

    wanted: list[list[str]]
    unwanted: list[str]

    @classmethod
    def of(cls, text: str) -> Query:
        """The query in a text; one that asks for nothing is refused."""
        query = cls([], [])
        either = False
        for part in _PART.findall(text):
            if part == "OR":
                either = bool(query.wanted)
                continue
            phrase = _phrase(part)
            if not phrase or part == "AND":  # that is what happens anyway
                continue
            if part.startswith("-"):
                query.unwanted.append(phrase)
            elif either:
                query.wanted[-1].append(phrase)
            else:
                query.wanted.append([phrase])
            either = False
        if not query.wanted:
            raise FocusError(
                f"query '{text.strip()}' only says what to leave out; add a word that the pages should have"
                if query.unwanted
                else f"query '{text.strip()}' has no word to look for"
            )
        return query

    def expression(self, columns: str = "") -> str:
        """The query as FTS5 reads it; *columns* are those that must hold what is wanted, all if it is empty."""
        wanted = " AND ".join(f"({_any(group)})" for group in self.wanted)
        if columns:
            wanted = f"{{{columns}}} : ({wanted})"
        return f"({wanted}) NOT ({_any(self.unwanted)})" if self.unwanted else wanted


def _phrase(part: str) -> str:
    """The words of a part of a query, with nothing in it that means something to FTS5; empty if there are none."""
    text = part.replace('"', " ").replace("\x00", " ").encode("utf-8", "replace").decode().strip(" -")
    return words.apart(text, JOINT) if any(map(str.isalnum, text)) else ""


def _any(phrases: list[str]) -> str:
    return " OR ".join(f'"{phrase}"' for phrase in phrases)
