"""The language of a text.

Most pages can be told to be English by three words. For the others py3langid compares the text with the byte patterns
of 97 languages; its model comes with the package and is loaded when it is first needed. What the page or the topic says
about the language decides where the text leaves doubt.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any, NamedTuple

from focuscrawl.language.languages import NAMES, code_of

#: Characters of a text that are looked at: enough for 99 of 100 texts (benchmarks/identify.py).
SAMPLE = 200
#: How much more likely a language is if the page declares it, and if the topic has it.
DECLARED, EXPECTED = 20.0, 5.0
#: The same for English if the topic names no language: half of the web is English.
ENGLISH = 2.0
#: A text that is in no language with this likelihood is a list of names or numbers: its language is unknown.
LIKELY = 0.4

#: Words that are frequent in English and rare in all other languages, and the share of words that they are at least.
_ENGLISH = ("the", "and", "of")
_ENGLISH_SHARE = 1 / 25


class Language(NamedTuple):
    """A language by its code, and how likely it is; the code is empty if nothing is known."""

    code: str
    confidence: float


def is_english(words: list[str]) -> bool:
    """Whether words in lower case, in order, are those of an English text."""
    found = sum(map(words.count, _ENGLISH))
    return found >= 3 and found >= _ENGLISH_SHARE * len(words)


def identify(text: str, declared: str = "", expected: Collection[str] = ()) -> Language:
    """The language of a text, of which the start is enough.

    *declared* is what the page says, as a code; *expected* are the languages of the topic.
    """
    sample = " ".join(text[: 4 * SAMPLE].split())[:SAMPLE]
    if not any(map(str.isalpha, sample)):
        return Language(declared, 0.5 if declared else 0.0)
    likely: dict[str, float] = {}
    for name, probability in _identifier().rank(sample):
        code = code_of(name)
        likely[code] = likely.get(code, 0.0) + float(probability)
    for code in likely:
        likely[code] *= (DECLARED if code == declared else 1.0) * (EXPECTED if code in expected else 1.0)
    if not expected and "en" in likely:
        likely["en"] *= ENGLISH
    best = max(likely, key=likely.__getitem__)
    confidence = likely[best] / sum(likely.values())
    return Language(best if confidence >= LIKELY else "", confidence)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([name for name in identifier.labels if code_of(name) in NAMES])
    return identifier
