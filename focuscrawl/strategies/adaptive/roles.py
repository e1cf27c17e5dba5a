"""Where on a page a word stands: what tells kinds of pages apart, as a homepage from a course or a product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from focuscrawl import urls, words
from focuscrawl.page import Page
from focuscrawl.strategies.adaptive.hashing import BITS

#: A word counts as a feature of its own among the first words (title, then main text), in the title and in the URL;
#: so does the shape of the URL.
BEGINNING, TITLE, ADDRESS, SHAPE = range(4)
ROLES = ("at the beginning", "in the title", "in the URL", "shape of the URL")
#: The number of first words, and as how many occurrences such a feature counts.
FIRST = 50
COUNTS = 3
#: Odd factors that spread the hashes, one for each role.
_FACTORS = (2_654_435_761, 2_246_822_519, 3_266_489_917, 668_265_263)


def in_role(role: int, number: int) -> int:
    """The hash of a stem or a shape in a role, from its own hash."""
    return (number * _FACTORS[role] & 0xFFFF_FFFF) >> (32 - BITS)


def words_in_roles(page: Page) -> Iterator[tuple[int, str]]:
    """The words of a page that stand at one of these places."""
    for word in page.words[:FIRST]:
        yield BEGINNING, word
    for word in words.tokenize(page.title):
        yield TITLE, word
    for word in urls.words(page.url):
        yield ADDRESS, word


def roles_of(page: Page, hashed: Mapping[str, int], shape: int) -> list[int]:
    """The features of a page by where its words stand; *hashed*: the hashes of words, *shape*: that of its URL."""
    return [*[in_role(role, hashed[word]) for role, word in words_in_roles(page)], in_role(SHAPE, shape)]
