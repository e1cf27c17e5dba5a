"""What was learned, as bytes for the crawl's file: named arrays of numbers, compressed.

The file may come from somebody else. So these are plain numbers, never objects, and whoever reads them checks them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

#: Goes up with every change of what is kept: what an older version has kept is learned again from the pages.
VERSION = 7
#: The kinds of numbers.
_KINDS = ("float64", "float32", "int64", "int32", "uint8", "bool")
#: The most that bytes may grow to, whatever they say.
_MOST, _MOST_RATIO = 256 << 20, 50
#: No number is larger.
_LARGEST = 1e12
#: A long row of numbers with fewer others than this share is kept without its zeros.
_SPARSE, _LONG = 0.25, 4096


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as bytes."""
    names: list[list[Any]] = []
    parts: list[bytes] = []
    for name, array in arrays.items():
        places = np.flatnonzero(array) if array.ndim == 1 and len(array) > _LONG else None
        sparse = places is not None and len(places) < _SPARSE * len(array)
        names.append([name, str(array.dtype), list(array.shape), len(places) if sparse and places is not None else -1])
        if sparse and places is not None:
            parts += [places.astype(np.int64).tobytes(), array[places].tobytes()]
        else:
            parts.append(np.ascontiguousarray(array).tobytes())
    head = json.dumps({"version": VERSION, "arrays": names}).encode()
    return zlib.compress(len(head).to_bytes(8, "little") + head + b"".join(parts), 6)


def unpack(data: bytes, scores: Collection[str] = ()) -> Arrays:
    """The arrays that bytes stand for; raises ValueError if they are not what `pack` writes.

    All numbers can be reckoned with; *scores* are from 0 to 1, or unknown (NaN).
    """
    most = max(_MOST, _MOST_RATIO * len(data))
    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(data, most)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not inflater.eof:
        raise ValueError("it is cut off or too large")
    start = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:start])
    if not isinstance(head, dict) or head.get("version") != VERSION:
        raise ValueError("it is of another version")
    found: Arrays = {}
    room = most
    for name, kind, shape, number in head["arrays"]:
        if kind not in _KINDS or not all(isinstance(size, int) and size >= 0 for size in (*shape, number + 1)):
            raise ValueError(f"{name} is not an array")
        size = int(np.prod(shape, dtype=object))
        room -= size * np.dtype(kind).itemsize
        if room < 0:
            raise ValueError("it is too large")
        places = None
        if number >= 0:
            places = np.frombuffer(raw, np.int64, number, start)
            start += places.nbytes
            if number and not 0 <= places.min() <= places.max() < size:
                raise ValueError(f"{name} has a value outside")
        values = np.frombuffer(raw, kind, size if places is None else number, start)
        start += values.nbytes
        if places is None:
            found[name] = values.reshape(shape).copy()
        else:
            found[name] = np.zeros(shape, dtype=kind)
            found[name][places] = values
    _check_numbers(found, scores)
    return found


def _check_numbers(arrays: Mapping[str, NDArray[Any]], scores: Collection[str]) -> None:
    for name, array in arrays.items():
        if name in scores:
            fine = np.isnan(array) | ((array >= 0) & (array <= 1))
        elif array.dtype.kind == "f":
            fine = np.abs(array) <= _LARGEST  # false for NaN
        else:
            continue
        if not fine.all():
            raise ValueError(f"{name} has an impossible number")


def joined(name: str, parts: Sequence[NDArray[Any]], kind: Any) -> Arrays:
    """Arrays of various lengths as one, and where each begins."""
    first = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return {name: np.concatenate([*parts, np.zeros(0)]).astype(kind), f"{name} first": first}


def parted(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """The arrays that were joined."""
    whole, first = arrays[name], arrays[f"{name} first"]
    check_steps(name, first, len(whole))
    return [whole[begin:end] for begin, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True)]


def check_steps(name: str, first: NDArray[Any], end: int) -> None:
    """Raise ValueError unless *first* goes up from 0 to *end*."""
    if not len(first) or first[0] != 0 or first[-1] != end or np.any(np.diff(first) < 0):
        raise ValueError(f"{name} does not add up")


def check_range(name: str, values: NDArray[Any], end: int) -> None:
    """Raise ValueError unless values are from 0 to below *end*."""
    if values.size and not 0 <= values.min() <= values.max() < end:
        raise ValueError(f"{name} has a value outside")


def check_sizes(arrays: Mapping[str, NDArray[Any]], names: Iterable[str]) -> None:
    """Raise ValueError unless arrays are equally long."""
    if len({len(arrays[name]) for name in names}) > 1:
        raise ValueError("columns differ in length")
