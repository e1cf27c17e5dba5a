"""From an idea in a sentence to a topic: its name, its keywords and phrases with weights, and its language.

Words that say nothing (`the`, `pages about`) are left out, and words that stand together are a phrase. The rarer a word
is in general, the more it says: its weight follows from the table of English word frequencies that ships.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.language.frequencies import RARE, frequency_table
from focuscrawl.language.identify import identify
from focuscrawl.learning.texts import tells
from focuscrawl.page import Page

#: A sentence is enough; more of a text is left out.
LONGEST = 2_000
#: Keywords of a topic at most: a page is judged by the share of them that it has.
MOST_KEYWORDS, MOST_PHRASES = 12, 4
#: The most words of a name, and of a phrase.
_NAME_WORDS, _PHRASE_WORDS = 8, 3
#: The least and the largest weight, and the shares of all pages at which a word has them.
_WEIGHTS = (1, 5)
_COMMON, _RARE = 0.05, 0.0005
#: The least weight of the words of the name. Over the twelve shipped topics, their descriptions taken for ideas, it
#: raises the average precision of the keywords from 0.66 to 0.67, and the recall at the threshold from 0.32 to 0.38.
_SUBJECT = 3.0
#: An English word on more pages than this is no keyword, unless there is no other.
_EVERYWHERE = 0.15
#: The weight of a word of another language, of which the frequencies are not known.
_UNKNOWN = 3.0
#: How likely the language of a sentence must be; it is short.
_SURE = 0.6

_STOP = re.compile(r"[^\w\s'’-]|\s[-–—]\s|_")
#: What people write around a topic, and what it is made of rather than about.
_WRITTEN_AROUND = (
    "about all anything article articles blog blogs collect content corpus crawl everything explain explained"
    " explaining find gather good i'd i'm idea information interested kind kinds like looking material need page"
    " pages please posts related relating resource resources search site sites something stuff text texts topic"
    " topics various want web website websites written"
    " alles artikel seiten texte webseite webseiten"
    " tout artículos páginas sitios todo"
)
_FILLERS = frozenset(_WRITTEN_AROUND.split())
#: A name ends where a clause begins: `… and how they form`.
_CLAUSES = frozenset(("how", "that", "what", "when", "where", "which", "who", "why"))
#: Characters between the words of Japanese and Chinese: kana endings and particles, and the commonest Chinese ones.
_BETWEEN = re.compile("[\u3040-\u309f的和与與及在是了之关關于於有]+|[^\\w]+")


@dataclass
class Idea:
    """What was made of a sentence."""

    sentence: str
    name: str
    #: Words and phrases with their weights, the heaviest first.
    keywords: dict[str, float] = field(default_factory=dict)
    #: The code of the language that it is written in; empty if it cannot be told.
    language: str = ""


def understand(sentence: str) -> Idea:
    """What a sentence says about a topic; raises FocusError if it says nothing."""
    text = " ".join(sentence.split())
    if len(text) > LONGEST:
        raise FocusError(f"the idea has {len(text):,} characters; give a sentence of at most {LONGEST:,}")
    found = identify(text)
    language = found.code if found.confidence >= _SURE else ""
    name = _name(text, language)
    keywords = _unspaced(text) if words.is_unspaced(text) else _spaced(text, language, name)
    if not keywords:
        raise FocusError(f"'{text}' has no word that tells one page from another; say what the pages are about")
    return Idea(text, name, keywords, language)


def _spaced(text: str, language: str, name: str) -> dict[str, float]:
    stretches = [*_stretches(text, language)]
    if all(_share(word, language) > _EVERYWHERE for stretch in stretches for word in stretch):
        kept = stretches
    else:  # `way`, `people`: on so many pages that they say nothing, but part of a phrase if between others
        kept = [_trimmed(stretch, language) for stretch in stretches]
    phrases: dict[str, float] = {}
    single: dict[str, float] = {}
    known: set[str] = set()
    for stretch in kept:
        if 1 < len(stretch) <= _PHRASE_WORDS:
            heaviest = max(weight(word, language) for word in stretch)
            phrases.setdefault(" ".join(stretch), min(_WEIGHTS[1], heaviest + 1))  # it says more than its words
        for word in stretch:
            if (stem := words.stem(word, language or "en")) not in known:
                known.add(stem)
                single[word] = weight(word, language)
    subject = frozenset(words.tokenize(name))
    for kind in (phrases, single):
        for term in kind:
            if subject.issuperset(term.split()):  # `sorting` is a common word, but what the idea is about
                kind[term] = max(kind[term], _SUBJECT)
    several = dict(sorted(phrases.items(), key=lambda one: -one[1])[:MOST_PHRASES])
    ranked = sorted(single.items(), key=lambda one: -one[1])[: MOST_KEYWORDS - len(several)]
    return dict(sorted({**several, **dict(ranked)}.items(), key=lambda one: -one[1]))


def _stretches(text: str, language: str) -> Iterator[list[str]]:
    """The words that tell something, as they stand together: not across a stop word or a mark of punctuation."""
    for piece in _STOP.split(text):
        stretch: list[str] = []
        for written in piece.split():
            for word in words.tokenize(written):
                if _FILLERS.issuperset((written.lower(),)) or not _tells(word, language):
                    if stretch:
                        yield stretch
                    stretch = []
                else:
                    stretch.append(word)
        if stretch:
            yield stretch


def _trimmed(stretch: Sequence[str], language: str) -> list[str]:
    """A stretch without the words at its ends that are on too many pages."""
    kept = [place for place, word in enumerate(stretch) if _share(word, language) <= _EVERYWHERE]
    return list(stretch[kept[0] : kept[-1] + 1]) if kept else []


def _tells(word: str, language: str) -> bool:
    if word in _FILLERS:
        return False
    # an English stop word is one in a sentence of any language, whose own may not be known
    return tells(words.stem(word)) and (language in ("", "en") or tells(words.stem(word, language)))


def _unspaced(text: str) -> dict[str, float]:
    """The keywords of a text without spaces between words: what stands between endings and particles."""
    runs = (run.strip().lower() for run in _BETWEEN.split(text))
    found = dict.fromkeys((run for run in runs if len(run) > 1 or words.is_unspaced(run)), _UNKNOWN)
    return dict(list(found.items())[:MOST_KEYWORDS])


def _name(text: str, language: str) -> str:
    """The name of a topic: the sentence without what people write before its subject, up to a mark of punctuation."""
    if words.is_unspaced(text):
        return re.split(r"[^\w\s]", text)[0].strip()[:30] or text[:30]
    for piece in _STOP.split(text):
        several = piece.split()
        while several and not any(_tells(word, language) for word in words.tokenize(several[0])):
            several.pop(0)
        clause = (place for place, word in enumerate(several) if place and word.lower() in _CLAUSES)
        several = several[: min(_NAME_WORDS, next(clause, _NAME_WORDS))]
        while several and not any(_tells(word, language) for word in words.tokenize(several[-1])):
            several.pop()
        if several:
            name = " ".join(several)
            return name[0].upper() + name[1:]
    return text[:60]


# ---- weights


@cache
def _shares() -> dict[str, float]:
    return {stem: share for share, stems in frequency_table() for stem in stems}


def _share(word: str, language: str) -> float:
    """The share of English pages that a word is on; that of a rare one for words of other languages."""
    return _shares().get(words.stem(word), RARE) if language in ("", "en") else RARE


def weight(word: str, language: str = "en") -> float:
    """How much a word says about a topic: the more, the rarer it is."""
    if language not in ("", "en"):
        return _UNKNOWN
    if any(map(str.isdigit, word)):  # `19th` is rare, and on pages about anything
        return float(_WEIGHTS[0])
    place = log(_COMMON / _share(word, language)) / log(_COMMON / _RARE)
    least, most = _WEIGHTS
    return float(round(least + (most - least) * min(1.0, max(0.0, place))))


def common_words(pages: Iterable[Page], known: Iterable[str], limit: int = 8) -> list[str]:
    """Words on most of the pages that are rare in general, the most surprising first, without those *known*."""
    several = list(pages)
    if len(several) < 2:
        return []
    taken = {stem for keyword in known for stem in words.stems(words.tokenize(keyword))}
    having: dict[str, int] = {}
    forms: dict[str, dict[str, int]] = {}
    for page in several:
        for word, stem in {(word, stem) for word, stem in zip(page.words, page.stems, strict=True)}:
            forms.setdefault(stem, {}).setdefault(word, 0)
            forms[stem][word] += 1
        for stem in page.counts:
            having[stem] = having.get(stem, 0) + 1
    shares = _shares()
    ranked = sorted(
        (-number * log(number / len(several) / shares.get(stem, RARE)), stem)
        for stem, number in having.items()
        if number >= max(2, len(several) / 2)
        and stem not in taken
        and tells(stem)
        and stem.isalpha()
        and stem in shares
    )
    return [max(forms[stem], key=lambda form: (forms[stem][form], form)) for _, stem in ranked[:limit]]
