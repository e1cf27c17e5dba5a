"""Pace: the speed of a crawl by time of day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from focuscrawl.errors import FocusError

_DAY = 24 * 60
_SPAN = re.compile(r"\A\s*+(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*")


class Pace:
    """Shares of the full speed by local time of day: `{"08:00-18:00": 0.25, "22:00-06:00": 0}`.

    0 is a pause. Where spans overlap, the slowest applies; outside of them the crawl runs at full speed.
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
            raise FocusError(
                "setting FOCUS_PACE: the crawl would pause all day; give a share above 0 for some of the day"
            )
        #: Whether the crawl always runs at full speed.
        self.steady = min(self._by_minute) == 1.0

    def share(self, moment: datetime) -> float:
        """The share of the full speed at this time."""
        return self._by_minute[moment.hour * 60 + moment.minute]

    def rest(self, moment: datetime) -> float:
        """Seconds until the crawl may continue; 0 if it need not pause."""
        now = moment.hour * 60 + moment.minute
        for minutes in range(_DAY):
            if self._by_minute[(now + minutes) % _DAY]:
                return minutes * 60.0 - moment.second - moment.microsecond / 1e6 if minutes else 0.0
        raise AssertionError("unreachable: __init__ refuses an all-day pause")


def _minutes(span: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(str(span))
    if found:
        hours, minutes, to_hours, to_minutes = map(int, found.groups())
        if max(minutes, to_minutes) < 60 and hours < 24 and (to_hours < 24 or (to_hours, to_minutes) == (24, 0)):
            return hours * 60 + minutes, (to_hours * 60 + to_minutes) % _DAY
    raise FocusError(f'setting FOCUS_PACE: {span!r} is not a time span; write it like "08:00-18:00"')


def _share(span: str, share: object) -> float:
    try:
        value = float(share)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = -1.0
    if not 0 <= value <= 1:
        raise FocusError(
            f"setting FOCUS_PACE: {share!r} for {span} is not a share of the full speed; give 0 (pause) to 1 (full),"
            " and set the full speed with DOWNLOAD_DELAY and CONCURRENT_REQUESTS"
        )
    return value
