"""Near-duplicates: pages whose text is nearly the same.

A page is represented by the MinHash signature of its word triples: the share of places in which two signatures agree
estimates how far the pages overlap. Bands of a signature select the few pages worth comparing. Titles must be equal
too: pages of one site may share nearly all of their text (navigation) and still be about different things. Most titles
occur once, so a signature is computed only when a second page has the title of the first.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from hashlib import blake2b

from rensa import RMinHash

from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.store.store import Store

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
    return array("I", hashes.digest()).tobytes() + _title(page.title)


def _title(title: str) -> bytes:
    """The bytes that stand for a title."""
    return blake2b(" ".join(title.casefold().split()).encode("utf-8", "replace"), digest_size=_TITLE).digest()


def signature_of(store: Store, number: int) -> bytes | None:
    """The signature of a stored page: the stored one, or that of its stored text. None if it is gone or unreadable."""
    stored = store.pages.get(number)
    if stored is None or stored.problem is not None or stored.listing:
        return None
    known = store.pages.signature(number)
    if known is None:
        content = store.pages.content(number)
        known = signature(read_page(Page(content.url), content.body, content.content_type))
    return known


def similarity(one: bytes, other: bytes) -> float:
    """Estimates the share of text that two pages have in common."""
    left, right = array("I", one[: 4 * PLACES]), array("I", other[: 4 * PLACES])
    return sum(map(int.__eq__, left, right)) / PLACES


class Duplicates:
    """Finds the stored page that a page nearly duplicates.

    *threshold* is the similarity from which it does; *lookup* returns the signature of a page by its number; *known*
    are the pages of earlier runs: number, title, and the signature if it was stored.
    """

    def __init__(
        self,
        threshold: float,
        lookup: Callable[[int], bytes | None],
        known: Iterable[tuple[int, str, bytes | None]] = (),
    ) -> None:
        self.threshold = threshold
        #: Signatures of stored pages that were computed late: they are still to be stored.
        self.late: list[tuple[bytes, int]] = []
        self._lookup = lookup
        self._bands: list[dict[int, int]] = [{} for _ in range(BANDS)]
        #: By title: the only page that has it, or 0 if the pages that have it are in the bands.
        self._titles: dict[bytes, int] = {}
        for number, title, known_signature in known:
            self._add(number, _title(title), known_signature)

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
        """Set which stored page a page repeats, and the signature of a page whose title is not new."""
        if page.problem is not None or page.listing or len(page.words) < MIN_WORDS:
            return
        itself = page.visit.page if page.visit is not None else None
        title = _title(page.title)
        if self._titles.get(title) in (None, itself) and is_quick_to_read(page.content_type):
            return
        self._compare(title, but=itself)
        page.signature = signature(page)
        page.duplicate_of = self.find(page.signature, itself) if page.signature else None

    def add(self, page: Page) -> None:
        """Remember a stored page, unless it repeats another."""
        if page.problem is None and not page.listing and page.duplicate_of is None and len(page.words) >= MIN_WORDS:
            self._add(page.visit.page if page.visit is not None else page.number, _title(page.title), page.signature)

    def _add(self, number: int, title: bytes, known: bytes | None) -> None:
        if known is None and self._titles.get(title) in (None, number):
            self._titles[title] = number
            return
        self._compare(title, but=number)
        self._enter(number, known)

    def _compare(self, title: bytes, but: int | None) -> None:
        """Compare all pages of a title from now on: the one that had it alone, *but* for this one, too."""
        first = self._titles.get(title)
        self._titles[title] = 0
        if first and first != but:
            self._enter(first, None)

    def _enter(self, number: int, known: bytes | None) -> None:
        if known is None and (known := self._lookup(number)) is not None:
            self.late.append((known, number))
        if known is not None:
            for band, key in zip(self._bands, _keys(known), strict=True):
                band.setdefault(key, number)


def is_quick_to_read(content_type: str) -> bool:
    """Whether a page can be read again from the stored bytes: with a PDF that takes too long."""
    return not content_type.startswith("application/") or "html" in content_type


def _keys(of: bytes) -> list[int]:
    width = 4 * BAND_PLACES
    return [hash(of[start : start + width] + of[-_TITLE:]) for start in range(0, BANDS * width, width)]
