"""Dates as pages write them, in ISO 8601.

A date keeps the precision that the page gives: `2021`, `2021-03`, `2021-03-04`, or `2021-03-04T10:30:00+01:00`. A time
of day without a time zone is dropped, because it could be any of 26 hours. A date that can be read in two ways is
dropped, unless the language of the page decides.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

#: Years before this one are mistakes: there was no web to publish on.
FIRST_YEAR = 1990

#: Longer texts are not dates.
_MAX_LENGTH = 80

_MONTH_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari января янв",  # codespell:ignore
    "february feb februar février févr fév febrero febbraio fevereiro fev februari февраля фев",  # codespell:ignore
    "march mar märz mrz mars marzo março maart mrt marts марта мар",
    "april apr avril avr abril abr aprile апреля апр",
    "may mai mayo maggio mag maio mei maj мая май",
    "june jun juni juin junio giugno giu junho июня июн",  # codespell:ignore
    "july jul juli juillet juil julio luglio lug julho июля июл",  # codespell:ignore
    "august aug août agosto ago augustus augusti августа авг",
    "september sep sept septembre septiembre settembre set setembro сентября сен сент",
    "october oct oktober okt octobre octubre ottobre ott outubro out октября окт",  # codespell:ignore
    "november nov novembre noviembre novembro ноября ноя нояб",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro desember декабря дек",  # codespell:ignore
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}

#: Time zones by name, in hours: those of RFC 5322, and the European ones. Other names are used for several zones.
_ZONES = {"z": 0, "gmt": 0, "utc": 0, "ut": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
          "pst": -8, "pdt": -7, "cet": 1, "cest": 2}  # fmt: skip

_TIME = (
    r"(?:(?:T|\s-\s|\s)\s?(\d{1,2}):?(\d\d)(?::?(\d\d)(?:[.,:]\d{1,9})?)?\s?([ap]m\b)?"
    r"\s?(Z\b|[A-Za-z]{2,4}\b|[+-]\d\d(?::?\d\d)?\b)?)?"
)
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}", re.IGNORECASE | re.ASCII)
_COMPACT = re.compile(
    r"(\d{4})(\d\d)(\d\d)(?:T(\d\d):?(\d\d):?(\d\d)?()(Z|[+-]\d\d:?(?:\d\d)?)?)?", re.IGNORECASE | re.ASCII
)
_YEAR_MONTH = re.compile(r"(\d{4})[-/.](\d{1,2})", re.ASCII)
_YEAR = re.compile(r"\d{4}", re.ASCII)
_EAST_ASIAN = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日일])?", re.ASCII)
_NUMBERS = re.compile(rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2(\d{{4}})(?:,?{_TIME})", re.IGNORECASE | re.ASCII)
_ORDINAL = r"(?:st|[nr]d|th)?"
_DAY_FIRST = re.compile(
    rf"(\d{{1,2}})(?:{_ORDINAL}|er|º|\.)[\s-](?:de\s|of\s)?([^\W\d_]{{3,10}})\.?,?[\s-](?:de\s|del\s)?(\d{{4}})"
    rf"(?:,?{_TIME})",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"([^\W\d_]{{3,10}})\.?\s(\d{{1,2}}){_ORDINAL},?\s(\d{{4}})(?:(?:,|\sat)?{_TIME})", re.IGNORECASE
)
#: As programs in C and Java print it: Tue Jan 28 15:28:56 CET 2020.
_PRINTED = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (?:([A-Z]{2,4}) )?(\d{4})", re.ASCII
)
_MONTH_YEAR = re.compile(r"([^\W\d_]{3,10})\.?,?\s(?:de\s)?(\d{4})", re.IGNORECASE)
_EPOCH = re.compile(r"(\d{10})(?:\d{3})?", re.ASCII)
#: What stands before a date: a weekday, or what the date is of.
_BEFORE = re.compile(
    r"(?:(?:first\s)?(?:published|posted|updated|modified|veröffentlicht|publié|publicado|date|on|am|le|den|el)\b:?\s)*(?:[^\W\d_]{2,12}\.?,\s?)?"
    r"(?:(?:on|am|le|den|el)\s)?",
    re.IGNORECASE,
)


def iso_date(text: str, language: str = "", *, last_year: int) -> str | None:
    """A date in ISO 8601; None if it is not one, is ambiguous, or its year is not in 1990…*last_year*.

    *language* is the one that the page declares, such as `en-GB`: it decides what 03/04/2021 is.
    """
    text = " ".join(text[: 2 * _MAX_LENGTH].split()).partition("[")[0]  # …+01:00[Europe/Berlin]
    if not text or len(text) > _MAX_LENGTH:
        return None
    try:
        found = _read(text, language.strip().lower().replace("_", "-"))
    except (ValueError, OverflowError):  # the 31st of February, or 25 o'clock
        return None
    return found if found is not None and FIRST_YEAR <= int(found[:4]) <= last_year else None


def _read(text: str, language: str) -> str | None:
    before = _BEFORE.match(text)
    text = text[before.end() :] if before else text
    if match := _YEAR_FIRST.fullmatch(text):
        return _iso(match[1], match[3], match[4], match.groups()[4:])
    if match := _COMPACT.fullmatch(text):
        return _iso(match[1], match[2], match[3], match.groups()[3:])
    if match := _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(match[1]), UTC).isoformat()
    if match := _YEAR_MONTH.fullmatch(text):
        return date(int(match[1]), int(match[2]), 1).isoformat()[:7]
    if _YEAR.fullmatch(text):
        return text
    if match := _EAST_ASIAN.match(text):
        found = date(int(match[1]), int(match[2]), int(match[3] or 1)).isoformat()
        return found if match[3] else found[:7]
    if match := _NUMBERS.fullmatch(text):
        day, month = _day_and_month(int(match[1]), int(match[3]), match[2], language)
        return _iso(match[4], month, day, match.groups()[4:]) if day else None
    if (match := _DAY_FIRST.fullmatch(text)) and match[2].lower() in _MONTHS:
        return _iso(match[3], _MONTHS[match[2].lower()], match[1], match.groups()[3:])
    if (match := _MONTH_FIRST.fullmatch(text)) and match[1].lower() in _MONTHS:
        return _iso(match[3], _MONTHS[match[1].lower()], match[2], match.groups()[3:])
    if (match := _PRINTED.fullmatch(text)) and match[1].lower() in _MONTHS:
        return _iso(match[7], _MONTHS[match[1].lower()], match[2], (match[3], match[4], match[5], None, match[6]))
    if (match := _MONTH_YEAR.fullmatch(text)) and match[1].lower() in _MONTHS:
        return f"{match[2]}-{_MONTHS[match[1].lower()]:02}"
    return None


def _day_and_month(first: int, second: int, mark: str, language: str) -> tuple[int, int]:
    """Day and month of a date in numbers that ends with the year; zeros if either could be either."""
    if second > 12 or language in ("en-us", "en-ph"):
        return second, first
    # with full stops, the day comes first everywhere
    if first > 12 or first == second or mark == "." or (language and language.partition("-")[0] not in _UNSETTLED):
        return first, second
    return (first, second) if language.startswith("en-") and language != "en-ca" else (0, 0)


#: Languages whose numeric dates vary by country, or that write the year first.
_UNSETTLED = frozenset(("en", "und", "mul", "zh", "ja", "ko", "hu", "lt", "mn", "fa", "sw", "fil", "tl"))


def _iso(year: object, month: object, day: object, clock: tuple[str | None, ...]) -> str:
    """The date, with the time of day if its zone is known."""
    found = date(int(str(year)), int(str(month)), int(str(day)))
    hour, minute, second, half, zone = clock
    offset = _offset(zone) if hour is not None and zone else None
    if offset is None or hour is None:
        return found.isoformat()
    hours = int(hour) % 12 + (12 if half.lower() == "pm" else 0) if half else int(hour)
    time = datetime(found.year, found.month, found.day, hours, int(minute or 0), int(second or 0))
    return f"{time.isoformat()}{offset}"


def _offset(zone: str) -> str | None:
    """The offset of a time zone from UTC, as `+01:00`; None if it is unknown or impossible."""
    hours = _ZONES.get(zone.lower())
    if hours is not None:
        return f"{hours:+03}:00"
    digits = zone[1:].replace(":", "").ljust(4, "0")
    if zone[0] not in "+-" or int(digits[:2]) > 14 or int(digits[2:]) > 59:
        return None
    return f"{zone[0]}{digits[:2]}:{digits[2:]}"
