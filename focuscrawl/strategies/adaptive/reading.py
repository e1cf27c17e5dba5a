"""From a page to numbers: the words of the page, and the features of each of its links.

A word is represented by a hash of its stem, so that nothing depends on the order in which words were met.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, repeat
from string import digits
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from focuscrawl import urls, words
from focuscrawl.judge import KeywordJudge
from focuscrawl.language.frequencies import ENGLISH
from focuscrawl.learning.texts import tells
from focuscrawl.page import Link, Page
from focuscrawl.reading.markup import step_of
from focuscrawl.strategies.adaptive.contexts import contexts_in
from focuscrawl.strategies.adaptive.hashing import BITS, SIZE, Hashes, Ints, hashes, place_hashes, stem_hashes
from focuscrawl.strategies.adaptive.roles import COUNTS, roles_of
from focuscrawl.strategies.adaptive.shapes import folded, shape_of_name

Floats = NDArray[np.float64]

#: The kinds of sparse features. A feature is `kind * SIZE + hash`.
ANCHOR, URL_WORD, CONTEXT, HEADING, PATH, SHAPE, DIRECTORY, TOP, HOST = range(9)
KINDS = (*["word"] * 4, "tag path", "url shape", "directory", "directory", "host")
#: The kinds of words, which come first; a word counts the same in all of them, and is learned as one of the first kind.
WORDS = HEADING + 1
#: Where the features of places begin, and the number of all features.
PLACES = WORDS * SIZE
FEATURES = len(KINDS) * SIZE
#: Languages without spaces between words.
UNSPACED = ("ja", "km", "ko", "lo", "my", "th", "zh")
#: How often a word of the title counts.
TITLE = 3
#: Names of pages that are what a directory shows.
FRONTS = ("", "index", "default", "home", "welcome")
_FRONT = "front page"
#: Directories that a page is in, from the host on, that count.
_DEEPEST = 8
_NINES = str.maketrans(dict.fromkeys(digits, "9"))


def names_of(features: Collection[int]) -> dict[int, str]:
    """The stems and places that features stand for, as far as they are remembered."""
    found: dict[int, str] = {}
    for known, kinds in ((stem_hashes, range(PATH)), (place_hashes, range(PATH, HOST + 1))):
        wanted = {feature & (SIZE - 1) for feature in features if feature >> BITS in kinds}
        names = {
            number: words.bare(name) if known is stem_hashes else name
            for name, number in known.items()
            if number in wanted
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
        number = stem_hashes[words.stem(word, self._language)]
        if len(word) <= words.LONGEST:
            if len(self) >= Hashes.LIMIT:
                self.clear()
            self[word] = number
        return number


@lru_cache(maxsize=words.LANGUAGES)
def _word_hashes(language: str) -> _WordHashes:
    return _WordHashes(language)


class _WordsHere(dict[str, int]):
    """The hashes of the words of a page: a small table, in which words are found sooner than among all."""

    def __init__(self, hashed: Iterable[tuple[str, int]], known: _WordHashes) -> None:
        super().__init__(hashed)
        self._known = known

    def __missing__(self, word: str) -> int:
        number = self[word] = self._known[word]
        return number


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
    directory, name, query = _split(url)
    above = _above(directory)
    shape = place_hashes[f"{above.shape}/{shape_of_name(name, query)}"]
    return Place(shape, above.directory, above.top, above.host)


def directories_of(url: str) -> Ints:
    """The hashes of the directories that a URL is in, from the topmost one of its host to its own, each once."""
    host, slash, rest = _split(url)[0].partition("://")[2].partition("/")
    parts = rest.split("/") if slash else []
    paths = [f"{host}/{''.join([f'{part}/' for part in parts[:end]])}" for end in range(min(len(parts), _DEEPEST) + 1)]
    return np.array(sorted({place_hashes[path] for path in paths}), dtype=np.int32)


def _is_front(name: str, query: str) -> bool:
    """Whether the last part of a URL stands for its directory."""
    return not query and name.partition(".")[0].lower() in FRONTS


def _split(url: str) -> tuple[str, str, str]:
    """An absolute URL up to its last directory, name and query."""
    path, _, query = url.partition("#")[0].partition("?")
    directory, _, name = path.rpartition("/")
    return directory, name, query


class _Above(NamedTuple):
    """What URLs in a directory have in common: the shape of its path; hashes of it, of the topmost one and the host."""

    shape: str
    directory: int
    top: int
    host: int


def _above(url: str) -> _Above:
    host, slash, rest = url.partition("://")[2].partition("/")
    directory = slash + rest
    top = rest.partition("/")[0]
    hashed = place_hashes
    return _Above(folded(directory), hashed[f"{host}{directory}/"], hashed[f"{host}/{top}"], hashed[host])


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


def vector_of(found: Sequence[int], counts: Sequence[int]) -> Vector:
    """The vector of a text, from the hashes of its words and how often each occurs."""
    if not found:
        return Vector(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32))
    places, numbers = np.array(found, dtype=np.int32), np.array(counts, dtype=np.float64)
    order = places.argsort()
    places = places[order]
    new = np.ones(len(places), dtype=bool)
    np.not_equal(places[1:], places[:-1], out=new[1:])
    first = new.nonzero()[0]
    totals = np.add.reduceat(numbers[order], first)
    return Vector(places[first], (1 + np.log(totals)).astype(np.float32))


class Links(NamedTuple):
    """The links of a page as columns; `first` says where the features of each begin."""

    features: Ints
    first: NDArray[np.int64]
    paths: Ints
    places: Ints
    #: Whether each leads to the front page of its directory.
    fronts: NDArray[np.bool_]


class Reading(NamedTuple):
    """What the strategy sees of a page."""

    vector: Vector
    links: Links
    #: Where the page itself is, and the directories above it.
    place: Place
    directories: Ints
    #: The words of the page, and their hashes.
    words: Collection[str]
    hashes: Sequence[int]
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
            if len(self) >= Hashes.LIMIT:
                self.clear()
            self[word] = found
        return found


_T = TypeVar("_T")


class _Remembered(dict[str, _T]):
    """A cache of what was made of texts."""

    LIMIT = 20_000

    def __init__(self, make: Callable[[str], _T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> _T:
        made = self._make(text)
        if len(self) >= self.LIMIT:
            self.clear()
        self[text] = made
        return made


class _Directory(NamedTuple):
    """What URLs in a directory have in common: the features of words, of keywords in words, and of where they lead."""

    words: list[int]
    parts: list[int]
    shape: str
    places: bytes


def _without_number(url: str) -> str:
    """A URL with nines in place of the digits of its name: many differ by a number only, which says nothing."""
    if "%" in url:  # an escaped character
        return url
    path, mark, query = url.partition("?")
    directory, slash, name = path.rpartition("/")
    stem, dot, extension = name.partition(".")
    return f"{directory}{slash}{stem.translate(_NINES)}{dot}{extension}{mark}{query}"


class _Read:
    """The features of the URLs, anchors and headings of a language's pages.

    Many pages link to the same URL, with the same anchor, under the same heading.
    """

    #: URLs after which those of the latest pages are remembered anew.
    LATEST = 2_000

    def __init__(self, language: str, parts: _Parts | None) -> None:
        self._words, self._parts = _word_hashes(language), parts
        self._urls, self._above = _Remembered(self._read_url), _Remembered(self._read_above)
        self._latest: dict[str, bytes] = {}
        self.anchors = _Remembered(partial(self._read_text, ANCHOR))
        self.headings = _Remembered(partial(self._read_text, HEADING))

    def urls(self, links: Sequence[Link]) -> list[bytes]:
        """The features of the URLs of links; many are in the menu of the site, and so were on the pages before."""
        latest, found = self._latest, []
        if len(latest) > self.LATEST:
            latest.clear()
        for link in links:
            features = latest.get(link.url)
            if features is None:
                features = latest[link.url] = self._urls[_without_number(link.url)]
            found.append(features)
        return found

    def _read_url(self, url: str) -> bytes:
        directory, name, query = _split(url)
        above, found = self._above[directory], urls.words_in(f"{name}?{query}" if query else name)
        start, known = URL_WORD * SIZE, self._words
        features = {*above.words, *[start + known[word] for word in found]}
        features.update(above.parts, self._parts_of(URL_WORD, found))
        if _is_front(name, query):
            features.add(SHAPE * SIZE + place_hashes[_FRONT])
        shape = place_hashes[f"{above.shape}/{shape_of_name(name, query)}"]
        return _bytes([*features, SHAPE * SIZE + shape]) + above.places

    def _read_above(self, url: str) -> _Directory:
        shape, directory, top, host = _above(url)
        start, known, found = URL_WORD * SIZE, self._words, urls.words(f"{url}/")
        return _Directory(
            [start + known[word] for word in found],
            self._parts_of(URL_WORD, found),
            shape,
            _bytes([DIRECTORY * SIZE + directory, TOP * SIZE + top, HOST * SIZE + host]),
        )

    def _read_text(self, kind: int, text: str) -> bytes:
        return self.of_words(kind, words.tokenize(text))

    def of_words(self, kind: int, found: Sequence[str]) -> bytes:
        """The features of words of a kind."""
        start, known = kind * SIZE, self._words
        features = {start + known[word] for word in found}
        features.update(self._parts_of(kind, found))
        return _bytes(list(features))

    def _parts_of(self, kind: int, found: Sequence[str]) -> list[int]:
        """The features of the keywords that are parts of words."""
        parts = self._parts
        return [kind * SIZE + part for word in found for part in parts[word]] if parts is not None else []


class Reader:
    """Reads pages for a topic: *keywords* are its own, *embed* makes a vector of the numbers of a page's words.

    *roles*: some words count as features of their own, by where they stand. That takes counterexamples to learn from.
    """

    def __init__(
        self,
        keywords: KeywordJudge | None = None,
        embed: Callable[[Mapping[str, float]], Embedding] | None = None,
        *,
        roles: bool = False,
    ) -> None:
        self._keywords, self._embed, self._roles = keywords, embed, roles
        self._met: set[str] = set()
        self._parts: dict[str, _Parts | None] = {}
        self._read: dict[str, _Read] = {}

    def read(self, page: Page) -> Reading:
        """What the strategy sees of a page."""
        language, counts = page.language, page.word_counts
        if language not in (ENGLISH, ""):
            counts = {word: count for word, count in counts.items() if tells(words.stem(word, language))}
        known = _word_hashes(language)
        hashed = [known[word] for word in counts]
        here, place = _WordsHere(zip(counts, hashed, strict=True), known), place_of(page.url)
        in_roles = roles_of(page, here, place.shape) if self._roles else []
        vector = self._vector(page, counts, hashed, in_roles)
        links, above = self._links(page.links, here), directories_of(page.url)
        return Reading(vector, links, place, above, counts, hashed, self._new_words(page))

    def _new_words(self, page: Page) -> dict[int, str]:
        """The words of a page, those of its links included, that were not met before; the shortest of a hash."""
        if self._embed is None or page.language not in (ENGLISH, ""):
            return {}
        new = set(words.spaced(page.raw_text).split()) - self._met
        if len(self._met) + len(new) > Hashes.LIMIT:
            self._met.clear()
        self._met |= new
        known = _word_hashes(page.language)
        return {
            known[word]: word for word in sorted(new, key=lambda word: (-len(word), word)) if len(word) <= words.LONGEST
        }

    def _vector(self, page: Page, counts: Mapping[str, int], hashed: Sequence[int], in_roles: Sequence[int]) -> Vector:
        """The words of a page, whose numbers and hashes are given; those of its title count three times."""
        language, numbers = page.language, list(counts.values())
        known = _word_hashes(language)
        titles = words.tokenize(page.title)
        if language not in (ENGLISH, ""):
            titles = [word for word in titles if tells(words.stem(word, language))]
        found = [*hashed, *[known[word] for word in titles], *in_roles]
        numbers += [TITLE - 1] * len(titles) + [COUNTS] * len(in_roles)
        if (parts := self._parts_in(language)) is not None:
            for word, count in (*counts.items(), *zip(titles, repeat(TITLE - 1))):
                found += parts[word]
                numbers += [count] * len(parts[word])
        coverage, embedding = 0.0, NO_EMBEDDING
        if self._keywords is not None:
            coverage = self._keywords.coverage(page, 0.0).relevance
        if self._embed is not None and language in (ENGLISH, ""):  # the vectors know little of other languages
            embedding = self._embed(page.word_counts)
        return Vector(*vector_of(found, numbers)[:2], embedding, coverage, language)

    def _parts_in(self, language: str) -> _Parts | None:
        """The keywords in the words of a language; None if words there do not contain others."""
        if language not in self._parts:
            if len(self._parts) >= words.LANGUAGES:
                del self._parts[next(iter(self._parts))]
            keywords = self._keywords
            has_parts = keywords is not None and keywords.has_parts(language)
            self._parts[language] = _Parts(keywords, language) if keywords is not None and has_parts else None
        return self._parts[language]

    def _read_in(self, language: str) -> _Read:
        """What was read on pages in a language."""
        if language not in self._read:
            if len(self._read) >= words.LANGUAGES:
                del self._read[next(iter(self._read))]
            self._read[language] = _Read(language, self._parts_in(language))
        return self._read[language]

    def _links(self, links: Sequence[Link], here: _WordsHere) -> Links:
        """The features of links, which are on one page."""
        language = links[0].language if links else ""
        read = self._read_in(language)
        by_anchor = read.anchors
        sections = {link.section: link for link in links}
        under = {section: read.headings[link.subheading or link.main_heading] for section, link in sections.items()}
        from_urls = read.urls(links)
        anchors = [by_anchor[link.anchor] for link in links]
        headings = [under[link.section] for link in links]
        contexts = self._contexts(links, read, here)
        paths = _paths(links)
        # kind after kind there, link after link here
        parts = zip(from_urls, anchors, headings, contexts, paths, strict=True)
        features = np.frombuffer(b"".join(chain.from_iterable(parts)), np.int32)
        # each link has one host, with the other places of its URL before it, and ends with its tag path
        kind, hashes = features >> BITS, features & (SIZE - 1)
        last, hosts = (kind == PATH).nonzero()[0], (kind == HOST).nonzero()[0]
        first = np.zeros(len(links) + 1, dtype=np.int64)
        np.add(last, 1, out=first[1:])
        fronts = np.zeros(len(links), dtype=bool)
        fronts[last.searchsorted((features == SHAPE * SIZE + place_hashes[_FRONT]).nonzero()[0])] = True
        return Links(features, first, hashes[last], hashes[hosts[:, None] + _PLACES], fronts)

    def _contexts(self, links: Sequence[Link], read: _Read, here: _WordsHere) -> list[bytes]:
        """The features of the words around each link."""
        page = links[0].page if links else None
        if page is not None and self._parts_in(page.language) is None and page.language not in UNSPACED:
            text, even = page.spaced
            text = text if even else words.spaced(text)
            if len(text) == len(page.raw_text):
                return contexts_in(text, links, here, CONTEXT * SIZE)
        return [read.of_words(CONTEXT, link.before() + link.after()) for link in links]


#: The features of a URL that tell where it leads stand side by side.
_PLACES = np.arange(-3, 1)


def _bytes(numbers: Sequence[int]) -> bytes:
    return array("i", numbers).tobytes()


def _paths(links: Sequence[Link]) -> list[bytes]:
    """The tag paths of links, as features: neighbours have their last elements, others many of them in common."""
    known: dict[tuple[int, str, str | None], bytes] = {}
    steps: dict[int, str] = {}
    found = []
    for link in links:
        elements = link.elements
        tag, attributes = elements[-1] if elements else ("", {})
        key = id(elements[-2]) if len(elements) > 1 else 0, tag, attributes.get("class")
        path = known.get(key)
        if path is None:
            for element in elements:
                if id(element) not in steps:
                    steps[id(element)] = step_of(*element)
            place = place_hashes[">".join([steps[id(element)] for element in elements])]
            path = known[key] = _bytes([PATH * SIZE + place])
        found.append(path)
    return found
