"""From a page to numbers: the words of the page, and the features of each of its links.

A word is represented by a hash of its stem, so that nothing depends on the order in which words were met.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, repeat
from string import ascii_letters, digits
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from focuscrawl import urls, words
from focuscrawl.judge import KeywordJudge
from focuscrawl.language.frequencies import ENGLISH
from focuscrawl.learning.texts import tells
from focuscrawl.page import CONTEXT_WORDS, Link, Page, context_chars
from focuscrawl.reading.markup import step_of

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

#: Number of hash values for words.
BITS = 18
SIZE = 1 << BITS
#: The kinds of sparse features. A feature is `kind * SIZE + hash`.
ANCHOR, URL_WORD, CONTEXT, HEADING, PATH, SHAPE, DIRECTORY, TOP, HOST = range(9)
KINDS = ("anchor", "url word", "context", "heading", "tag path", "url shape", "directory", "directory", "host")
#: Number of sparse features.
FEATURES = len(KINDS) * SIZE
#: Languages without spaces between words.
UNSPACED = ("ja", "km", "ko", "lo", "my", "th", "zh")
#: How often a word of the title counts.
TITLE = 3

_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LOWER_RUN = re.compile(r"a(?:[-_.+%,9]+a)+")
#: The same for ASCII, in one step and without calling Python for each run.
_SIGNS = str.maketrans({**dict.fromkeys(ascii_letters, "a"), **dict.fromkeys(digits, "9")})
_REPEATED = re.compile(r"(?<=a)a+|(?<=9)9+")


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
    return Place(*_place_of(url))


def _place_of(url: str) -> tuple[int, int, int, int]:
    host, directory, name, query = _split(url)
    shape, in_directory, top, in_host = _above(host, directory)
    return _place_hashes[f"{shape}/{_shape_of_name(name, query)}"], in_directory, top, in_host


def _split(url: str) -> tuple[str, str, str, str]:
    """Host, directory, name and query of an absolute URL."""
    if "#" in url:
        url = url.partition("#")[0]
    host, _, path = url.partition("://")[2].partition("/")
    query = ""
    if "?" in path:
        path, _, query = path.partition("?")
    directory, slash, name = path.rpartition("/")
    return host, f"/{directory}" if slash else "", name, query


@lru_cache(maxsize=20_000)
def _above(host: str, directory: str) -> tuple[str, int, int, int]:
    """The shape of a directory; hashes of the directory, of the topmost one and of the host."""
    top = "".join(directory.split("/", 2)[1:2])
    hashed = _place_hashes
    return _folded(directory), hashed[f"{host}{directory}/"], hashed[f"{host}/{top}"], hashed[host]


def shape_of(path: str, query: str) -> str:
    """The shape of a URL: runs of letters and digits become one sign; the extension and the names of fields stay."""
    directory, _, name = path.rpartition("/")
    return f"{_folded(directory)}/{_shape_of_name(name, query)}"


def _shape_of_name(name: str, query: str) -> str:
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > 5:
        stem, dot, extension = name, "", ""
    fields = "&".join(sorted([part.partition("=")[0] for part in query[:200].split("&")])) if query else ""
    return f"{_folded(stem)}{dot}{extension}?{fields}"


def _folded(text: str) -> str:
    """A part of a path without what differs among pages of a kind."""
    text = text[:200]
    plain = _REPEATED.sub("", text.translate(_SIGNS)) if text.isascii() else _LETTERS.sub("a", _DIGITS.sub("9", text))
    return _LOWER_RUN.sub("A", plain)


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
    places, numbers = np.array(found, dtype=np.int32), np.array(counts, dtype=np.float64)
    order = np.argsort(places)
    places = places[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    totals = np.add.reduceat(numbers[order], first) if len(places) else numbers
    return Vector(places[first], (1 + np.log(totals)).astype(np.float32))


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
    #: The words of the page by their hashes.
    names: Mapping[int, str]
    #: Those of all its text that were not met before, if anybody asks what words mean.
    new_words: Mapping[int, str]


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
        #: Whether anybody asks how well pages cover the keywords.
        self.covers = True
        self._met: set[str] = set()
        self._parts: dict[str, _Parts | None] = {}
        # many pages link to the same URL, with the same anchor, under the same heading
        self._url_features = lru_cache(maxsize=20_000)(self._read_url)
        self._text_features = lru_cache(maxsize=20_000)(self._read_text)

    def read(self, page: Page) -> Reading:
        """What the strategy sees of a page."""
        vector, names = self._vector(page)
        return Reading(vector, self.links(page.links), names, self._new_words(page))

    def _new_words(self, page: Page) -> dict[int, str]:
        """The words of a page, those of its links included, that were not met before; the shortest of a hash."""
        if self._embed is None or page.language not in (ENGLISH, ""):
            return {}
        new = set(words.spaced(page.raw_text).split()) - self._met
        if len(self._met) + len(new) > _Hashes.LIMIT:
            self._met.clear()
        self._met |= new
        known = _word_hashes(page.language)
        return {
            known[word]: word for word in sorted(new, key=lambda word: (-len(word), word)) if len(word) <= words.LONGEST
        }

    def _vector(self, page: Page) -> tuple[Vector, dict[int, str]]:
        """The words of a page, which are also returned by their hashes; those of its title count three times."""
        language, counts = page.language, page.word_counts
        known = _word_hashes(language)
        titles = words.tokenize(page.title)
        if language not in (ENGLISH, ""):
            counts = {word: count for word, count in counts.items() if tells(words.stem(word, language))}
            titles = [word for word in titles if tells(words.stem(word, language))]
        found, numbers = [known[word] for word in counts], list(counts.values())
        names = dict(zip(found, counts, strict=True))
        found += [known[word] for word in titles]
        numbers += [TITLE - 1] * len(titles)
        if (parts := self._parts_in(language)) is not None:
            for word, count in (*counts.items(), *zip(titles, repeat(TITLE - 1))):
                found += parts[word]
                numbers += [count] * len(parts[word])
        coverage, embedding = 0.0, NO_EMBEDDING
        if self._keywords is not None and self.covers:
            coverage = self._keywords.coverage(page, 0.0).relevance
        if self._embed is not None and language in (ENGLISH, ""):  # the vectors know little of other languages
            embedding = self._embed(page.word_counts)
        return Vector(*vector_of(found, numbers)[:2], embedding, coverage, language), names

    def _parts_in(self, language: str) -> _Parts | None:
        """The keywords in the words of a language; None if words there do not contain others."""
        if language not in self._parts:
            if len(self._parts) >= words.LANGUAGES:
                del self._parts[next(iter(self._parts))]
            keywords = self._keywords
            has_parts = keywords is not None and keywords.has_parts(language)
            self._parts[language] = _Parts(keywords, language) if keywords is not None and has_parts else None
        return self._parts[language]

    def _read_url(self, url: str, language: str) -> tuple[bytes, bytes]:
        """The features of a URL, and where it leads."""
        shape, directory, top, host = place = _place_of(url)
        features = self._features(URL_WORD, urls.words(url), language)
        features += (SHAPE * SIZE + shape, DIRECTORY * SIZE + directory, TOP * SIZE + top, HOST * SIZE + host)
        return _bytes(features), _bytes(place)

    def _read_text(self, kind: int, text: str, language: str) -> bytes:
        return _bytes(self._features(kind, words.tokenize(text), language))

    def _features(self, kind: int, found: Sequence[str], language: str) -> list[int]:
        """The features of words of a kind."""
        start, known, parts = kind * SIZE, _word_hashes(language), self._parts_in(language)
        features = {start + known[word] for word in found}
        if parts is not None:
            features.update(start + part for word in found for part in parts[word])
        return list(features)

    def links(self, links: Sequence[Link]) -> Links:
        """The features of links, which are on one page."""
        language = links[0].language if links else ""
        url_features, text_features = self._url_features, self._text_features
        urls_read = [url_features(link.url, language) for link in links]
        known: dict[tuple[int, str, str | None], tuple[bytes, bytes]] = {}
        paths = [_path(link, known) for link in links]
        parts = [
            *[features for features, _ in urls_read],
            *[text_features(ANCHOR, link.anchor, language) for link in links],
            *[text_features(HEADING, link.subheading or link.main_heading, language) for link in links],
            *self._contexts(links, language),
            *[feature for feature, _ in paths],
        ]
        sizes = np.array(list(map(len, parts)), dtype=np.int64).reshape(5, len(links)) // 4
        return Links(
            # kind after kind here, link after link there
            np.frombuffer(
                b"".join([part for place in range(len(links)) for part in parts[place :: len(links)]]), np.int32
            ),
            np.concatenate([[0], np.cumsum(sizes.sum(axis=0))]),
            np.frombuffer(b"".join([path for _, path in paths]), np.int32),
            np.frombuffer(b"".join([place for _, place in urls_read]), np.int32).reshape(len(links), 4),
        )

    def _contexts(self, links: Sequence[Link], language: str) -> list[bytes]:
        """The features of the words around each link."""
        page = links[0].page if links else None
        if page is not None and self._parts_in(language) is None and language not in UNSPACED:
            text = words.spaced(page.raw_text)
            if len(text) == len(page.raw_text) and all(link.page is page for link in links):
                return _contexts_in(text, links, _word_hashes(language))
        return [_bytes(self._features(CONTEXT, link.before() + link.after(), language)) for link in links]


_STEPS = np.arange(CONTEXT_WORDS)


def _contexts_in(text: str, links: Sequence[Link], known: _WordHashes) -> list[bytes]:
    """As `Link.before` and `Link.after` find them, for all links at once: neighbours share their words."""
    plain = text.isascii()
    codes = np.frombuffer(text.encode("ascii" if plain else "utf-32-le"), np.uint8 if plain else np.uint32)
    is_word = np.zeros(len(codes) + 2, dtype=bool)
    np.not_equal(codes, ord(" "), out=is_word[1:-1])
    edges = np.flatnonzero(is_word[1:] != is_word[:-1])
    starts, ends = edges[::2], edges[1::2]
    begins, stops = np.array([link.place for link in links]).T
    chars = context_chars(CONTEXT_WORDS)
    last = ends.searchsorted(begins, "right")
    least = starts.searchsorted(np.where(begins <= chars, -1, begins - chars), "right")
    follows = starts.searchsorted(stops)
    most = ends.searchsorted(np.where(stops + chars > len(text), len(text) + 1, stops + chars))
    around = np.empty((len(links), 2 * CONTEXT_WORDS), dtype=np.int64)
    before, after = around[:, :CONTEXT_WORDS], around[:, CONTEXT_WORDS:]
    np.subtract(last[:, None] - 1, _STEPS, out=before)
    np.add(follows[:, None], _STEPS, out=after)
    before[before < least[:, None]] = -1  # the last place stands for no word
    after[after >= most[:, None]] = -1
    hashed = np.full(len(starts) + 1, -1, dtype=np.int32)
    if len(starts) <= around.size // 2:
        hashed[:-1] = [known[word] for word in text.split()]
    else:
        used = np.zeros(len(hashed), dtype=bool)
        used[around] = True
        used[-1] = False
        places = zip(starts[used[:-1]].tolist(), ends[used[:-1]].tolist(), strict=True)
        hashed[used] = [known[text[start:end]] for start, end in places]
    found = hashed[around]
    found.sort(axis=1)
    new = found >= 0
    new[:, 1:] &= found[:, 1:] != found[:, :-1]
    features = (found[new] + np.int32(CONTEXT * SIZE)).tobytes()
    bounds = np.concatenate([[0], 4 * np.cumsum(new.sum(axis=1))]).tolist()
    return [features[start:end] for start, end in pairwise(bounds)]


def _bytes(numbers: Sequence[int]) -> bytes:
    return array("i", numbers).tobytes()


def _path(link: Link, known: dict[tuple[int, str, str | None], tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """The tag path of a link, as a feature and as a place. *known*: those on its page, by the last elements."""
    elements = link.elements
    tag, attributes = elements[-1] if elements else ("", {})
    key = id(elements[-2]) if len(elements) > 1 else 0, tag, attributes.get("class")
    found = known.get(key)
    if found is None:
        found = known[key] = _path_of(tuple([(tag, attributes.get("class", "")[:50]) for tag, attributes in elements]))
    return found


@lru_cache(maxsize=20_000)
def _path_of(elements: Sequence[tuple[str, str]]) -> tuple[bytes, bytes]:
    path = _place_hashes[">".join([step_of(tag, {"class": classes}) for tag, classes in elements])]
    return _bytes([PATH * SIZE + path]), _bytes([path])
