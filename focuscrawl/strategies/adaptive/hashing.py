"""Words and places as numbers: hashes, so that nothing depends on the order in which they were met."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]

#: Number of hash values.
BITS = 18
SIZE = 1 << BITS


def hash_of(text: str) -> int:
    """The hash of a stem, or of a place."""
    return crc32(text.encode("utf-8", "replace")) & (SIZE - 1)


class Hashes(dict[str, int]):
    """A cache of hashes."""

    LIMIT = 200_000

    def __missing__(self, text: str) -> int:
        if len(self) >= self.LIMIT:
            self.clear()
        number = self[text] = hash_of(text)
        return number


#: Those of stems, and those of places: tag paths, URL shapes, directories, hosts.
stem_hashes, place_hashes = Hashes(), Hashes()


def hashes(stems: Iterable[str]) -> list[int]:
    """The hashes of stems."""
    known = stem_hashes
    return [known[stem] for stem in stems]
