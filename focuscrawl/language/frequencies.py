"""How common words are in general, by tables that ship: so that the first page of a crawl tells what is rare on it."""

from __future__ import annotations

from functools import lru_cache
from math import exp

from focuscrawl.resources import data

#: The document frequency of a word that is not in the table of its language.
RARE = 1e-4
#: The language of stems without a mark.
ENGLISH = "en"
#: Tables that are remembered.
_TABLES = 8


@lru_cache(maxsize=_TABLES)
def frequency_table(language: str = ENGLISH) -> list[tuple[float, list[str]]]:
    """Stems by the share of all pages of a language that they are on, the commonest first; empty without a table."""
    file = data("words", f"{language or ENGLISH}.txt")
    if not file.is_file():
        return []
    lines = [line.split() for line in file.read_text("utf-8").splitlines()]
    mark = f"{language}:" if language not in (ENGLISH, "") else ""
    return [(exp(-int(level) / 4), [mark + stem for stem in stems]) for level, *stems in lines if level != "#"]
