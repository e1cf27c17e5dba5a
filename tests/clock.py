"""The scrapy command on a machine whose clock jumps: a day ahead on SIGUSR1, a day behind on SIGUSR2.

`python -m tests.clock crawl …` is `scrapy crawl …`. The wall clock jumps, `time.time` and `datetime.now`, as if somebody
had set it; monotonic time does not.
"""

from __future__ import annotations

import datetime
import signal
import time
from typing import TypeAlias

DAY = 86_400.0

_time = time.time
_datetime: TypeAlias = datetime.datetime
_ahead = 0.0


def _jump(signum: int, _: object) -> None:
    global _ahead
    _ahead = DAY if signum == signal.SIGUSR1 else -DAY


class _AnyDatetime(type(_datetime)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:  # what C code makes is a datetime, too
        return isinstance(instance, _datetime)


class _Datetime(_datetime, metaclass=_AnyDatetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _Datetime:
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls) -> _Datetime:
        return cls.now(datetime.UTC).replace(tzinfo=None)


def _set_up() -> None:
    """Before anything is imported that keeps a reference to a clock."""
    time.time = lambda: _time() + _ahead
    time.time_ns = lambda: int(time.time() * 1e9)
    datetime.datetime = _Datetime  # type: ignore[misc]
    signal.signal(signal.SIGUSR1, _jump)
    signal.signal(signal.SIGUSR2, _jump)


if __name__ == "__main__":
    _set_up()
    from scrapy.cmdline import execute

    execute()
