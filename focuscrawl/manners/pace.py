"""Pace: how fast a crawl may go at which time of the day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from focuscrawl.errors import FocusError

_DAY = 24 * 60
_SPAN = re.compile(r"\A\s*+(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*")


class Pace:
    """Shares of the full speed by time of day, local time: `{"08:00-18:00": 0.25, "22:00-06:00": 0}`.

    0 is a rest. Where spans overlap the slowest counts; outside of them the speed is full.
    """

    def __init__(self, spans: Mapping[str, object]) -> None:
        self._by_minute = [1.0] * _DAY
        for span, share in spans.items():
            begin, end = _minutes(span)
            value = _share(span, share)
            length = (end - begin) % _DAY or _DAY
            for minute in range(begin, begin + length):
                self._by_minute[minute % _DAY] = min(value, self._by_minute[minute % _DAY])
        if not any(self._by_minute):
            raise FocusError("setting FOCUS_PACE: the crawl would rest all day")
        #: Whether the speed is always full.
        self.steady = min(self._by_minute) == 1.0

    def share(self, moment: datetime) -> float:
        """The share of the full speed at that moment."""
        return self._by_minute[moment.hour * 60 + moment.minute]

    def rest(self, moment: datetime) -> float:
        """The seconds until the crawl may go on, 0 if it may now."""
        now = moment.hour * 60 + moment.minute
        for minutes in range(_DAY):
            if self._by_minute[(now + minutes) % _DAY]:
                return minutes * 60.0 - moment.second - moment.microsecond / 1e6 if minutes else 0.0
        raise AssertionError("there is a minute at which the crawl may go on")


def local_time() -> datetime:
    """The time of day where the crawl runs."""
    return datetime.now()


def _minutes(span: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(str(span))
    if found:
        hours, minutes, to_hours, to_minutes = map(int, found.groups())
        if max(minutes, to_minutes) < 60 and hours < 24 and (to_hours < 24 or (to_hours, to_minutes) == (24, 0)):
            return hours * 60 + minutes, (to_hours * 60 + to_minutes) % _DAY
    raise FocusError(f'setting FOCUS_PACE: {span!r} is no span of the day; write it like "08:00-18:00"')


def _share(span: str, share: object) -> float:
    try:
        value = float(share)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = -1.0
    if not 0 <= value <= 1:
        raise FocusError(
            f"setting FOCUS_PACE: {share!r} for {span} is no share of the full speed; give 0 (rest) to 1 (full), and"
            " the full speed itself with DOWNLOAD_DELAY and CONCURRENT_REQUESTS"
        )
    return value
