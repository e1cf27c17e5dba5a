"""Near-duplicates: pages whose text is nearly the same.

A page is represented by the MinHash signature of its word triples: the share of places in which two signatures agree
estimates how far the pages overlap. Bands of a signature select the few pages worth comparing. Titles must be equal
too: pages of one site may share nearly all of their text (navigation) and still be about different things.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from hashlib import blake2b

from rensa import RMinHash

from focuscrawl.page import Page

PLACES = 128
#: Two pages are compared if all places of one band agree: that finds 98 % of the pairs with a similarity of 0.9.
BANDS = 5
BAND_PLACES = 6

_SEED = 1
#: Bytes that stand for the title.
_TITLE = 8
#: Pages with fewer words are never duplicates; further words are ignored.
MIN_WORDS, MAX_WORDS = 10, 20_000


def signature(page: Page) -> bytes | None:
    """The signature of a page's text; None if there is too little of it."""
    words = page.words[:MAX_WORDS]
    if len(words) < MIN_WORDS:
        return None
    hashes = RMinHash(num_perm=PLACES, seed=_SEED)
    hashes.update(list(map(" ".join, zip(words, words[1:], words[2:], strict=False))))
    title = " ".join(page.title.casefold().split()).encode("utf-8", "replace")
    return array("I", hashes.digest()).tobytes() + blake2b(title, digest_size=_TITLE).digest()


def similarity(one: bytes, other: bytes) -> float:
    """Estimates the share of text that two pages have in common."""
    left, right = array("I", one[: 4 * PLACES]), array("I", other[: 4 * PLACES])
    return sum(map(int.__eq__, left, right)) / PLACES


class Duplicates:
    """Finds the stored page that a page nearly duplicates.

    *threshold* is the similarity from which it does; *lookup* returns the signature of a page by its number; *known*
    are the pages of earlier runs.
    """

    def __init__(
        self, threshold: float, lookup: Callable[[int], bytes | None], known: Iterable[tuple[int, bytes]] = ()
    ) -> None:
        self.threshold = threshold
        self._lookup = lookup
        self._bands: list[dict[int, int]] = [{} for _ in range(BANDS)]
        for number, known_signature in known:
            self.add(number, known_signature)

    def find(self, wanted: bytes, but: int | None = None) -> int | None:
        """The page whose text is nearly the same; None if there is none, *but* the one of that number."""
        compared = set() if but is None else {but}
        for band, key in zip(self._bands, _keys(wanted), strict=True):
            number = band.get(key)
            if number is None or number in compared:
                continue
            compared.add(number)
            other = self._lookup(number)
            if other is not None and self.alike(wanted, other):
                return number
        return None

    def alike(self, one: bytes, other: bytes) -> bool:
        """Whether two signatures are of nearly the same text, under the same title."""
        return one[-_TITLE:] == other[-_TITLE:] and similarity(one, other) >= self.threshold

    def mark(self, page: Page) -> None:
        """Set the signature of a page, and which stored page it repeats."""
        if page.problem is not None or page.listing:
            return
        page.signature = signature(page)
        itself = page.visit.page if page.visit is not None else None
        page.duplicate_of = self.find(page.signature, itself) if page.signature else None

    def add(self, number: int, known: bytes) -> None:
        """Remember a page that repeats none."""
        for band, key in zip(self._bands, _keys(known), strict=True):
            band.setdefault(key, number)


def _keys(of: bytes) -> list[int]:
    width = 4 * BAND_PLACES
    return [hash(of[start : start + width] + of[-_TITLE:]) for start in range(0, BANDS * width, width)]
