"""From a page to numbers: the words of the page, and the features of each of its links.

A word is represented by a hash of its stem, so that nothing depends on the order in which words were met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from focuscrawl import urls, words
from focuscrawl.judge import KeywordJudge
from focuscrawl.language.frequencies import ENGLISH
from focuscrawl.learning.texts import tells
from focuscrawl.page import Link, Page
from focuscrawl.reading.markup import step_of

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

#: Number of hash values for words.
BITS = 18
SIZE = 1 << BITS
#: The kinds of sparse features. A feature is `kind * SIZE + hash`.
ANCHOR, URL_WORD, CONTEXT, HEADING, PATH, SHAPE, DIRECTORY, TOP, HOST = range(9)
KINDS = ("anchor", "url word", "context", "heading", "tag path", "url shape", "directory", "directory", "host")
#: How often a word of the title counts.
TITLE = 3

_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LOWER_RUN = re.compile(r"a(?:[-_.+%,9]+a)+")


def hash_of(text: str) -> int:
    """The hash of a stem, or of a place."""
    return crc32(text.encode("utf-8", "replace")) & (SIZE - 1)


class _Hashes(dict[str, int]):
    """A cache of hashes."""

    LIMIT = 200_000

    def __missing__(self, text: str) -> int:
        if len(self) >= self.LIMIT:
            self.clear()
        number = self[text] = hash_of(text)
        return number


#: Those of stems, and those of places: tag paths, URL shapes, directories, hosts.
_hashes, _place_hashes = _Hashes(), _Hashes()


def hashes(stems: Iterable[str]) -> list[int]:
    """The hashes of stems."""
    known = _hashes
    return [known[stem] for stem in stems]


def names_of(features: Collection[int]) -> dict[int, str]:
    """The stems and places that features stand for, as far as they are remembered."""
    found: dict[int, str] = {}
    for known, kinds in ((_hashes, range(PATH)), (_place_hashes, range(PATH, HOST + 1))):
        wanted = {feature & (SIZE - 1) for feature in features if feature >> BITS in kinds}
        names = {
            number: words.bare(name) if known is _hashes else name for name, number in known.items() if number in wanted
        }
        found |= {
            feature: names[feature & (SIZE - 1)]
            for feature in features
            if feature >> BITS in kinds and feature & (SIZE - 1) in names
        }
    return found


class _WordHashes(dict[str, int]):
    """A cache of the hashes of the stems of a language's words."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> int:
        number = _hashes[words.stem(word, self._language)]
        if len(word) <= words.LONGEST:
            if len(self) >= _Hashes.LIMIT:
                self.clear()
            self[word] = number
        return number


@lru_cache(maxsize=words.LANGUAGES)
def _word_hashes(language: str) -> _WordHashes:
    return _WordHashes(language)


class LinkWords(NamedTuple):
    """The stems of the words that speak for a link."""

    anchor: Sequence[str]
    url: Sequence[str]
    context: Sequence[str]
    heading: Sequence[str]


def link_words(link: Link) -> LinkWords:
    """The stems of a link's words, by where they are."""
    language = link.language
    return LinkWords(
        words.stems(words.tokenize(link.anchor), language),
        words.stems(urls.words(link.url), language),
        words.stems([*link.before(), *link.after()], language),
        words.stems(words.tokenize(link.subheading or link.main_heading), language),
    )


class Place(NamedTuple):
    """Where a URL leads: hashes of the shape of its path, its directory, the topmost directory and the host."""

    shape: int
    directory: int
    top: int
    host: int


def place_of(url: str) -> Place:
    """Where a URL leads."""
    parts = urlsplit(url)
    host, path = parts.netloc, parts.path
    directory = path.rpartition("/")[0]
    top = "".join(directory.split("/", 2)[1:2])
    shape = shape_of(path, parts.query)
    return Place(*[_place_hashes[name] for name in (shape, f"{host}{directory}/", f"{host}/{top}", host)])


def shape_of(path: str, query: str) -> str:
    """The shape of a URL: runs of letters and digits become one sign; the extension and the names of fields stay."""
    stem, dot, extension = path.rpartition(".")
    if not dot or "/" in extension or len(extension) > 5:
        stem, dot, extension = path, "", ""
    shape = _LOWER_RUN.sub("A", _LETTERS.sub("a", _DIGITS.sub("9", stem[:200])))
    fields = "&".join(sorted(part.partition("=")[0] for part in query[:200].split("&"))) if query else ""
    return f"{shape}{dot}{extension}?{fields}"


Embedding = NDArray[np.float32]
NO_EMBEDDING: Embedding = np.zeros(0, dtype=np.float32)


class Vector(NamedTuple):
    """A text: the hashes of its words, in order, and 1 + ln of how often each occurs."""

    words: Ints
    counts: NDArray[np.float32]
    #: Its embedding, if there is one.
    embedding: Embedding = NO_EMBEDDING
    #: How well it covers the keywords of the topic, from 0 to 1.
    coverage: float = 0.0
    language: str = ""


def vector_of(found: Sequence[int], counts: Sequence[float]) -> Vector:
    """The vector of a text, from the hashes of its words and how often each occurs."""
    places, row = np.unique(np.array(found, dtype=np.int32), return_inverse=True)
    totals = np.bincount(row, counts, minlength=len(places)) if len(places) else np.zeros(0)
    return Vector(places, (1 + np.log(totals)).astype(np.float32))


class Links(NamedTuple):
    """The links of a page as columns; `first` says where the features of each begin."""

    features: Ints
    first: NDArray[np.int64]
    paths: Ints
    places: Ints


class Reading(NamedTuple):
    """What the strategy sees of a page."""

    vector: Vector
    links: Links


class _Parts(dict[str, list[int]]):
    """The hashes of the keywords that are parts of the words of a language: an Orgelpfeife is about an Orgel."""

    def __init__(self, keywords: KeywordJudge, language: str) -> None:
        super().__init__()
        self._keywords, self._language = keywords, language

    def __missing__(self, word: str) -> list[int]:
        found = hashes(self._keywords.parts(words.stem(word, self._language), self._language))
        if len(word) <= words.LONGEST:
            if len(self) >= _Hashes.LIMIT:
                self.clear()
            self[word] = found
        return found


class Reader:
    """Reads pages for a topic: *keywords* are its own, *embed* makes a vector of the numbers of a page's words."""

    def __init__(
        self, keywords: KeywordJudge | None = None, embed: Callable[[Mapping[str, float]], Embedding] | None = None
    ) -> None:
        self._keywords, self._embed = keywords, embed
        self._parts: dict[str, _Parts | None] = {}
        # many pages link to the same URL, with the same anchor, under the same heading
        self._url_features = lru_cache(maxsize=20_000)(self._read_url)
        self._text_features = lru_cache(maxsize=20_000)(self._read_text)

    def read(self, page: Page) -> Reading:
        """What the strategy sees of a page."""
        return Reading(self.vector(page), self.links(page.links))

    def vector(self, page: Page) -> Vector:
        """The words of a page; those of its title count three times."""
        language = page.language
        counts = dict(page.word_counts)
        for word in words.tokenize(page.title):
            counts[word] = counts.get(word, 0) + TITLE - 1
        if language not in (ENGLISH, ""):
            counts = {word: count for word, count in counts.items() if tells(words.stem(word, language))}
        found, numbers = list(map(_word_hashes(language).__getitem__, counts)), list(counts.values())
        if (parts := self._parts_in(language)) is not None:
            for word, count in counts.items():
                found += parts[word]
                numbers += [count] * len(parts[word])
        vector = vector_of(found, numbers)._replace(language=language)
        if self._keywords is not None:
            vector = vector._replace(coverage=self._keywords.coverage(page, 0.0).relevance)
        if self._embed is not None and language in (ENGLISH, ""):  # the vectors know little of other languages
            vector = vector._replace(embedding=self._embed(page.word_counts))
        return vector

    def _parts_in(self, language: str) -> _Parts | None:
        """The keywords in the words of a language; None if words there do not contain others."""
        if language not in self._parts:
            if len(self._parts) >= words.LANGUAGES:
                del self._parts[next(iter(self._parts))]
            keywords = self._keywords
            has_parts = keywords is not None and keywords.has_parts(language)
            self._parts[language] = _Parts(keywords, language) if keywords is not None and has_parts else None
        return self._parts[language]

    def _read_url(self, url: str, language: str) -> tuple[list[int], Place]:
        """The features of a URL, and where it leads."""
        place = place_of(url)
        features = self._features(URL_WORD, urls.words(url), language)
        features += (
            SHAPE * SIZE + place.shape,
            DIRECTORY * SIZE + place.directory,
            TOP * SIZE + place.top,
            HOST * SIZE + place.host,
        )
        return features, place

    def _read_text(self, kind: int, text: str, language: str) -> list[int]:
        return self._features(kind, words.tokenize(text), language)

    def _features(self, kind: int, found: Sequence[str], language: str) -> list[int]:
        """The features of words of a kind."""
        start, known, parts = kind * SIZE, _word_hashes(language), self._parts_in(language)
        features = {start + known[word] for word in found}
        if parts is not None:
            features.update(start + part for word in found for part in parts[word])
        return list(features)

    def links(self, links: Sequence[Link]) -> Links:
        """The features of links, which are on one page."""
        features: list[int] = []
        first = [0]
        paths: list[int] = []
        places: list[Place] = []
        prefixes: dict[int, str] = {}
        language = links[0].language if links else ""
        url_features, text_features = self._url_features, self._text_features
        known, parts = _word_hashes(language), self._parts_in(language)
        for link in links:
            of_url, place = url_features(link.url, language)
            path = _place_hashes[_path(link, prefixes)]
            features += of_url
            features += text_features(ANCHOR, link.anchor, language)
            features += text_features(HEADING, link.subheading or link.main_heading, language)
            context = link.before() + link.after()
            features += {CONTEXT * SIZE + known[word] for word in context}
            if parts is not None:
                features += {CONTEXT * SIZE + part for word in context for part in parts[word]}
            features.append(PATH * SIZE + path)
            first.append(len(features))
            paths.append(path)
            places.append(place)
        return Links(
            np.array(features, dtype=np.int32),
            np.array(first, dtype=np.int64),
            np.array(paths, dtype=np.int32),
            np.array(places, dtype=np.int32).reshape(len(paths), 4),
        )


def _path(link: Link, prefixes: dict[int, str]) -> str:
    """The tag path of a link. *prefixes*: those of the elements around the links of its page, by their identity."""
    if len(link.elements) < 2:
        return link.path
    around = id(link.elements[-2])
    prefix = prefixes.get(around)
    if prefix is None:
        prefix = prefixes[around] = ">".join([step_of(*element) for element in link.elements[:-1]])
    return f"{prefix}>{step_of(*link.elements[-1])}"
