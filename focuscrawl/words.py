"""From text to words and their stems.

Words are the same in every language; stems follow the language of the page that a word is on. The stems of a language
other than English are marked with its code (`de:orgel`), so that a model never mistakes the German "die" for the
English one.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from sys import intern

import Stemmer

from focuscrawl.language.languages import algorithm, is_latin

# Scripts whose words are not separated by spaces, or, in Korean, carry endings that no stemmer removes. Each pair of
# neighbouring characters counts as a word, and keywords are looked up in the text itself.
_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\U00020000-\U0003ffff"
)
_SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u1000-\u102a\u1780-\u17b3"
)
_UNSPACED = f"{_CJK}{_SOUTH_EAST_ASIAN}"


def _ranges(found: list[int]) -> str:
    """Characters as the inside of a character class."""
    parts: list[str] = []
    start = previous = found[0]
    for code in [*found[1:], sys.maxunicode + 1]:
        if code != previous + 1:
            parts.append(f"{chr(start)}-{chr(previous)}")
            start = code
        previous = code
    return "".join(parts)


#: Vowel signs and other marks, which are parts of words in many scripts.
_MARKS = _ranges(
    [
        code
        for block in (range(0x300, 0x2000), range(0xA600, 0xAC00))  # higher ones would make the patterns slow
        for code in block
        if unicodedata.category(chr(code)) in ("Mn", "Mc")
    ]
)
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_SIGN = re.compile(rf"[^\w\x00-\x7f{_MARKS}]")


@cache  # compiling it takes longer than most commands
def _pair_or_word() -> re.Pattern[str]:
    """Two neighbouring characters with their marks, a single character, or a word of another script."""
    return re.compile(
        rf"(?=([{_UNSPACED}][{_MARKS}]*+[{_UNSPACED}][{_MARKS}]*+))[{_UNSPACED}][{_MARKS}]*+"
        rf"|(?<![{_UNSPACED}{_MARKS}])[{_UNSPACED}][{_MARKS}]*+"
        rf"|(?![{_MARKS}])[^\s{_UNSPACED}]++"
    )


@cache
def _around_unspaced() -> re.Pattern[str]:
    return re.compile(f"(?=[{_UNSPACED}])|(?<=[{_UNSPACED}])(?![{_MARKS}])")


#: Characters that make one word look like two: soft hyphens, joiners, vowel points; and those written in two ways.
_ODD = re.compile(
    "[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670\u200d\u2060\ufb00-\ufb06\ufeff\uff00-\uffef]"
)
_DROPPED = re.compile("[\u00ad\u0307\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670\u200d\u2060\ufeff]")
# Translating bytes is four times as fast as a regular expression over the same text, and twice as fast as `lower`.
_ASCII = bytes(range(0x80))
_ASCII_WORDS = bytes(
    byte if byte >= 0x80 else ord(chr(byte).lower()) if chr(byte).isalnum() else 0x20 for byte in range(256)
)

#: Signs that are replaced one by one; with more of them a regular expression is faster.
_FEW_SIGNS = 12

#: Anything longer is data or a trap, not a word: it is neither stemmed nor cached.
LONGEST = 100


def tokenize(text: str) -> list[str]:
    """The words of a text in lower case, in order."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    text = folded(text)
    if not is_unspaced(text):
        return spaced(text).split()
    return [match[1] or match[0] for match in _pair_or_word().finditer(spaced(text))]


def _strange(text: str) -> str:
    """The characters of a text that are not ASCII, each once: looking at few is faster than searching a whole text."""
    return "".join(set(text.encode("utf-8", "replace").translate(None, _ASCII).decode()))


def is_even(text: str) -> bool:
    """Whether the words of a text can be cut out of `spaced`, which has spaces in place of everything else."""
    if text.isascii():
        return True
    strange = _strange(text)
    return not (_ODD.search(strange) or _UNSPACED_CHARACTER.search(strange) or "\u0130" in strange)


def spaced(text: str) -> str:
    """The words of a text in lower case, with spaces in place of everything else: as long as the text if it is even."""
    if not text.isascii():
        strange = _strange(text)
        if strange.lower() != strange:
            text = text.lower()
            strange = _strange(text)
        signs = _SIGN.findall(strange)
        if len(signs) <= _FEW_SIGNS:
            for sign in signs:
                text = text.replace(sign, " ")
        else:
            text = _SIGN.sub(" ", text)  # a plain replacement; one with groups would run Python code for every match
    return text.encode("utf-8", "replace").translate(_ASCII_WORDS).decode()


def folded(text: str) -> str:
    """A text in lower case, as keywords without spaces between words are looked up in it."""
    text = text.lower()
    if not text.isascii() and _ODD.search(_strange(text)):
        text = _DROPPED.sub("", unicodedata.normalize("NFKC", text))
    return text


def is_unspaced(text: str) -> bool:
    """Whether a text has characters of a script without spaces between words."""
    return not text.isascii() and _UNSPACED_CHARACTER.search(_strange(text)) is not None


def apart(text: str, by: str = " ") -> str:
    """A text with *by* around each character of a script without spaces between words."""
    return _around_unspaced().sub(by, text) if is_unspaced(text) else text


class _Stems(dict[str, str]):
    """A cache of the stems of a language: most words of a page have been seen before."""

    LIMIT = 200_000

    def __init__(self, language: str) -> None:
        super().__init__()
        name = algorithm(language)
        self._stem = Stemmer.Stemmer(name, 0).stemWord if name else str
        self._mark = f"{language}:" if language not in ("en", "") else ""
        #: Whether ASCII words are words of another language: English.
        self._ascii_is_english = not is_latin(language)

    def __missing__(self, word: str) -> str:
        if len(word) > LONGEST:
            return word
        if len(self) >= self.LIMIT:
            self.clear()
        # equal stems are one object, so that dictionaries find them sooner
        stemmed = self[word] = intern(self._stemmed(word))
        return stemmed

    def _stemmed(self, word: str) -> str:
        if not self._mark:
            return str(self._stem(word))
        if word.isdigit():
            return word
        if self._ascii_is_english and word.isascii():
            return stem(word)
        return f"{self._mark}{self._stem(word)}"


#: Languages whose stems are remembered: pages in a hundred, made to be so, must not fill the memory.
LANGUAGES = 8


@lru_cache(maxsize=LANGUAGES)
def _stems_in(language: str) -> _Stems:
    return _Stems(language)


def stem(word: str, language: str = "en") -> str:
    """The stem of one lower-case word, marked with its language unless that is English."""
    return _stems_in(language)[word]


def stems(words: Iterable[str], language: str = "en") -> list[str]:
    """The stems of lower-case words."""
    known = _stems_in(language)
    return [known[word] for word in words]


@lru_cache(maxsize=256)
def stems_of(text: str, language: str = "en") -> tuple[str, ...]:
    """The stems of a text, cached because those of a page are needed repeatedly."""
    known = _stems_in(language)
    return tuple([known[word] for word in tokenize(text)])


def bare(stemmed: str) -> str:
    """A stem without the mark of its language."""
    return stemmed[3:] if stemmed[2:3] == ":" else stemmed


def count_stems(words: Mapping[str, int], language: str = "en") -> dict[str, int]:
    """How often each stem occurs among lower-case words, which are given with their numbers."""
    known = _stems_in(language)
    counts: dict[str, int] = {}
    for word, number in words.items():
        stemmed = known[word]
        counts[stemmed] = counts.get(stemmed, 0) + number
    return counts
