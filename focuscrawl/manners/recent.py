"""Recent: a least-recently-used cache, bounded in bytes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Keeps the most recently used values, up to *capacity* bytes in total. The newest is always kept."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """The value of a key, marked as just used; None if it is not in the cache."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Store a value of about *size* bytes."""
        self.pop(key)
        self._values[key] = value, size
        self.size += size
        while self.size > self.capacity and len(self._values) > 1:
            self.size -= self._values.popitem(last=False)[1][1]

    def pop(self, key: Key) -> None:
        """Remove a key."""
        found = self._values.pop(key, None)
        if found is not None:
            self.size -= found[1]
