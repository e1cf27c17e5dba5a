"""The URLs that a crawl has seen: from the key of a URL to its id, in a few bytes per URL.

New URLs are in a dictionary. When it grows long, its entries move to two sorted arrays, which take 12 bytes per URL
where a dictionary takes 150. Longer arrays are merged less often, so that a URL is copied about ten times in all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from focuscrawl import urls

#: URLs in the dictionary before they move to the arrays; a larger share of a large crawl.
RECENT = 400_000
SHARE = 16
#: URLs whose keys are remembered, and the longest of them: long ones could fill the memory.
REMEMBERED, LONGEST = 50_000, 300

_Array = np.ndarray[Any, np.dtype[Any]]


class Keys:
    """The keys of URLs (`urls.key`), remembered because pages link to the same URLs again and again."""

    def __init__(self, *, any_scheme: bool) -> None:
        self._any_scheme = any_scheme
        self._known: dict[str, int] = {}

    def of(self, found: Sequence[str]) -> list[int]:
        """The keys of several URLs."""
        known = self._known
        keys = [known.get(url) for url in found]
        if None not in keys:
            return cast("list[int]", keys)
        if len(known) > REMEMBERED:
            known.clear()
        for index, key in enumerate(keys):
            if key is None:
                url = found[index]
                keys[index] = key = urls.key(url, any_scheme=self._any_scheme)
                if len(url) <= LONGEST:
                    known[url] = key
        return cast("list[int]", keys)


class Seen:
    """Ids of URLs by their 64-bit keys. A key is added once."""

    def __init__(self, *, recent: int = RECENT) -> None:
        self._recent: dict[int, int] = {}
        self._limit = recent
        self._keys: _Array = np.empty(0, np.int64)
        self._ids: _Array = np.empty(0, np.uint32)

    def __len__(self) -> int:
        return len(self._recent) + len(self._keys)

    @property
    def size(self) -> int:
        """Bytes of the arrays."""
        return int(self._keys.nbytes + self._ids.nbytes)

    def load(self, rows: Iterable[tuple[_Array, _Array]]) -> None:
        """Add the URLs of a crawl, many at a time: keys, ids. The first of two equal keys counts."""
        found = [(keys, ids.astype(np.uint32)) for keys, ids in rows]
        if not found:
            return
        keys, ids = (np.concatenate([part[place] for part in found]) for place in (0, 1))
        found.clear()
        if len(keys) <= self._limit:
            self._recent = dict(zip(keys[::-1].tolist(), ids[::-1].tolist(), strict=True))
            return
        order = np.argsort(keys, kind="stable")
        self._keys, self._ids = keys[order], ids[order]
        twice = self._keys[1:] == self._keys[:-1]
        if twice.any():
            first = np.concatenate(([True], ~twice))
            self._keys, self._ids = self._keys[first], self._ids[first]

    def add(self, new: Mapping[int, int]) -> None:
        """Add URLs: their ids by their keys."""
        self._recent.update(new)
        if len(self._recent) > max(self._limit, len(self._keys) // SHARE):
            self._settle()

    def get(self, key: int) -> int | None:
        """The id of a URL, None if it was never seen."""
        found = self._recent.get(key)
        if found is None and len(self._keys):
            place = int(np.searchsorted(self._keys, key))
            if place < len(self._keys) and self._keys[place] == key:
                return int(self._ids[place])
        return found

    def get_all(self, keys: Sequence[int]) -> list[int | None]:
        """The ids of several URLs: one search for those that are not recent."""
        recent = self._recent
        found = [recent.get(key) for key in keys]
        if not len(self._keys):
            return found
        missing = [index for index, url_id in enumerate(found) if url_id is None]
        if missing:
            wanted = np.array([keys[index] for index in missing], np.int64)
            places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
            known = self._keys[places] == wanted
            for index, here, url_id in zip(missing, known.tolist(), self._ids[places].tolist(), strict=True):
                if here:
                    found[index] = url_id
        return found

    def _settle(self) -> None:
        """Move the recent URLs to the arrays."""
        count = len(self._recent)
        keys = np.fromiter(self._recent.keys(), np.int64, count)
        ids = np.fromiter(self._recent.values(), np.uint32, count)
        self._recent.clear()
        order = np.argsort(keys)
        keys, ids = keys[order], ids[order]
        if len(self._keys):
            places = np.searchsorted(self._keys, keys)
            new = self._keys[np.minimum(places, len(self._keys) - 1)] != keys
            self._ids = np.insert(self._ids, places[new], ids[new])
            self._keys = np.insert(self._keys, places[new], keys[new])
        else:
            self._keys, self._ids = keys, ids
