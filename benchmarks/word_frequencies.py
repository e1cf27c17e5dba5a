"""Make the tables of document frequencies in data/words/ from the word lists of wordfreq.

    pip install wordfreq && python benchmarks/word_frequencies.py [LANGUAGE …]

A line of a table has the stems that are on exp(-k/4) of all pages, k being its first field. A page is taken to have 300
words. In scripts without spaces, pairs of neighbouring characters stand for stems, as everywhere: those within words
are counted, those across two words are estimated from the characters that words begin and end with.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from math import exp, floor, log
from pathlib import Path

from focuscrawl import words
from focuscrawl.language.languages import NAMES, code_of

FOLDER = Path(__file__).resolve().parent.parent / "data" / "words"
#: Words of a page.
PAGE = 300
#: The rarest stems that are kept: rarer ones weigh nearly as much as those that are not in the table.
LEVELS = 20
#: The English table has more, as word vectors are weighted by it.
ENGLISH_LEVELS = 34
#: Pairs of characters across words are made of those that words begin or end with at least this often.
OFTEN = 1e-4
HEAD = """\
# Document frequencies of {name} word stems: the stems of a line are on exp(-k/4) of all pages, k being its first field.
# Derived from the {name} word list of wordfreq 3 by Robyn Speer and others, licensed CC BY-SA 4.0; so is this file.
"""


def frequencies(language: str, listed: dict[str, float]) -> Counter[str]:
    """How often each stem of a language occurs among words."""
    found: Counter[str] = Counter()
    begin: Counter[str] = Counter()
    end: Counter[str] = Counter()
    for word, share in listed.items():
        parts = words.tokenize(word)
        if words.is_unspaced(word):
            begin[word[0]] += share
            end[word[-1]] += share
            parts = [part for part in parts if len(part) > 1]
        for stem in words.stems(parts, language):
            found[words.bare(stem)] += share
    for last in (letter for letter, share in end.items() if share >= OFTEN):
        for first in (letter for letter, share in begin.items() if share >= OFTEN):
            found[last + first] += end[last] * begin[first]
    return found


def table(language: str, listed: dict[str, float]) -> str:
    """The table of a language."""
    lines: dict[int, list[str]] = {}
    levels = ENGLISH_LEVELS if language == "en" else LEVELS
    for stem, share in frequencies(language, listed).items():
        on_a_page = 1 - exp(-PAGE * share)
        level = floor(-4 * log(on_a_page) + 0.5)
        if level <= levels and not stem.isdigit():
            lines.setdefault(level, []).append(stem)
    rows = [f"{level} {' '.join(sorted(stems))}\n" for level, stems in sorted(lines.items())]
    return HEAD.format(name=NAMES[language]) + "".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="codes such as de; all but English by default")
    options = parser.parse_args()
    try:
        import wordfreq
    except ImportError:
        sys.exit("wordfreq is not installed: pip install wordfreq")
    codes = {code_of(tag): tag for tag in wordfreq.available_languages("small")}
    for language in options.languages or sorted(codes.keys() - {"en"}):
        if language not in codes:
            sys.exit(f"wordfreq has no list for '{language}'; choose from {', '.join(sorted(codes))}")
        text = table(language, wordfreq.get_frequency_dict(codes[language], "small"))
        (FOLDER / f"{language}.txt").write_text(text, "utf-8")
        print(f"{language} {len(text.split()):7,d} stems {len(text.encode()):9,d} bytes")


if __name__ == "__main__":
    main()
