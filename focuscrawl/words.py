"""From text to stemmed words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from sys import intern

import Stemmer

# Chinese and Japanese are written without spaces: each character counts as a word, and keywords match as phrases.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK_WORD = re.compile(f"[{_CJK}]")
_AROUND_CJK = re.compile(f"(?=[{_CJK}])|(?<=[{_CJK}])")
_SIGN = re.compile(r"[^\w\x00-\x7f]")
# Translating bytes is four times as fast as a regular expression over the same text.
_ASCII_WORDS = bytes(byte if byte >= 0x80 or chr(byte).isalnum() else 0x20 for byte in range(256))

#: Anything longer is data or a trap, not a word: it is neither stemmed nor cached.
LONGEST = 100


def tokenize(text: str) -> list[str]:
    """The words of a text in lower case, in order."""
    return spaced(text).split()


def spaced(text: str) -> str:
    """The words of a text in lower case, with spaces in place of everything else."""
    text = text.lower()
    if not text.isascii():
        text = _SIGN.sub(" ", text)  # a plain replacement; one with groups would run Python code for every match
        text = apart(text)
    return text.encode("utf-8", "replace").translate(_ASCII_WORDS).decode()


def apart(text: str, by: str = " ") -> str:
    """A text with *by* around each character that is a word by itself."""
    return _AROUND_CJK.sub(by, text) if not text.isascii() and _CJK_WORD.search(text) else text


class _Stems(dict[str, str]):
    """A cache of Porter stems: most words of a page have been seen before."""

    LIMIT = 200_000

    def __init__(self) -> None:
        super().__init__()
        self._stem = Stemmer.Stemmer("porter", 0).stemWord

    def __missing__(self, word: str) -> str:
        if len(word) > LONGEST:
            return word
        if len(self) >= self.LIMIT:
            self.clear()
        stemmed = intern(self._stem(word))  # equal stems are one object, so that dictionaries find them sooner
        self[word] = stemmed
        return stemmed


_stems = _Stems()


def stem(word: str) -> str:
    """The Porter stem of one lower-case word."""
    return _stems[word]


def stems(words: list[str]) -> list[str]:
    """The Porter stems of lower-case words."""
    known = _stems
    return [known[word] for word in words]


@lru_cache(maxsize=256)
def stems_of(text: str) -> tuple[str, ...]:
    """The Porter stems of a text, cached because those of a page are needed repeatedly."""
    known = _stems
    return tuple([known[word] for word in tokenize(text)])


def count_stems(words: list[str]) -> dict[str, int]:
    """How often each Porter stem occurs among lower-case words."""
    known = _stems
    counts: dict[str, int] = {}
    for word, number in Counter(words).items():  # pages repeat words: each one is looked up once
        stemmed = known[word]
        counts[stemmed] = counts.get(stemmed, 0) + number
    return counts
