"""The language of `--where`: conditions on pages, all of which must hold.

`matched, relevance>=0.5, language=de|fr, !marked`: conditions are separated by commas; `|` separates alternatives; `!`
negates a flag. A value with a comma, a bar or a quote in it is quoted: `licence="CC BY, 4.0"`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from math import isfinite
from typing import NamedTuple

from focuscrawl.errors import FocusError, suggest
from focuscrawl.language.languages import code_of
from focuscrawl.manners.rights import RESERVATIONS
from focuscrawl.store.marks import VERDICTS

#: Longest text of conditions, in characters, and most values in it.
_MAX_TEXT = 10_000
_MAX_VALUES = 200

_NAME = re.compile(r"\s{0,20}+(!?)\s{0,20}+([A-Za-z_]{1,40}+)\s{0,20}+")
_OPERATOR = re.compile(r"(!=|>=|<=|=|>|<)\s{0,20}+")
_QUOTED = re.compile(r'"([^"]*+)"\s{0,20}+')
_BARE = re.compile(r"[^,|\"]*+")
_DAY = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")

_EQUAL = ("=", "!=")
_ORDER = (*_EQUAL, ">=", "<=", ">", "<")


class Condition(NamedTuple):
    """A condition on pages: a field is compared with one of the values. Dates are pairs: first day, day after."""

    field: str
    operator: str
    values: tuple[object, ...]


class Field(NamedTuple):
    """What a field may be compared with; `read` parses a value, or raises ValueError."""

    operators: tuple[str, ...]
    read: Callable[[str], object]
    expects: str
    #: Whether the name alone is a condition.
    flag: bool = False


def _yes_or_no(text: str) -> bool:
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[text.lower()]


def _number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError
    return value


def _language(text: str) -> str:
    code = code_of(text)
    if not code:
        raise ValueError
    return code


def _host(text: str) -> str:
    if not text or "/" in text or len(text) > 255:
        raise ValueError
    return text.lower().strip(".")


def _text(text: str) -> str:
    if not text:
        raise ValueError
    return text


def _one_of(*names: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        if text.lower() not in names:
            raise ValueError
        return text.lower()

    return read


def days(text: str) -> tuple[str, str]:
    """The first day of a year, a month or a day, and the day after its last; raises ValueError."""
    if not _DAY.fullmatch(text):
        raise ValueError
    year, *rest = map(int, text.split("-"))
    try:
        if len(rest) == 2:
            first = date(year, *rest)
            after = first + timedelta(days=1)
        elif rest:
            first = date(year, rest[0], 1)
            after = date(year + rest[0] // 12, rest[0] % 12 + 1, 1)
        else:
            first, after = date(year, 1, 1), date(year + 1, 1, 1)
    except OverflowError:
        raise ValueError from None
    return first.isoformat(), after.isoformat()


_FLAG = Field(_EQUAL, _yes_or_no, "yes or no", flag=True)
_SHARE = Field(_ORDER, _number, "a number, such as 0.5")
_COUNT = Field(_ORDER, int, "a whole number")
_DATE = Field(_ORDER, days, "a day, month or year: 2026-11-16, 2026-11, 2026")

#: The fields that conditions may name.
FIELDS: dict[str, Field] = {
    "matched": _FLAG,
    "relevant": _FLAG,
    "relevance": _SHARE,
    "score": _SHARE,
    "depth": _COUNT,
    "status": _COUNT,
    "language": Field(_EQUAL, _language, "a language code, such as de"),
    "host": Field(_EQUAL, _host, "a host name, such as example.org; its subdomains are included"),
    "url": Field(_EQUAL, _text, "a part of the URL"),
    "title": Field(_EQUAL, _text, "a part of the title"),
    "type": Field(_EQUAL, str.lower, "a media type, such as text/html"),
    "topic": Field(_EQUAL, _text, "the name of a topic"),
    "date": _DATE,
    "published": _DATE,
    "licence": Field(_EQUAL, _text, "a part of the licence's name or URL, or any", flag=True),
    "rights": Field(_EQUAL, _one_of(*RESERVATIONS), f"a reservation: {', '.join(RESERVATIONS)}"),
    "marked": Field(_EQUAL, _one_of(*VERDICTS[:-1], "any"), f"{', '.join(VERDICTS[:-1])} or any", flag=True),
    "problem": Field(_EQUAL, _text, "a part of the reason why a page could not be read, or any", flag=True),
}
_ALIASES = {"license": "licence", "lang": "language", "mark": "marked", "fetched": "date", "mime": "type"}


def parse(texts: Iterable[str]) -> list[Condition]:
    """The conditions in some texts, as the user wrote them; raises FocusError."""
    return [condition for text in texts for condition in _conditions(text)]


def _conditions(text: str) -> list[Condition]:
    if len(text) > _MAX_TEXT:
        raise FocusError(f"--where has {len(text):,} characters; at most {_MAX_TEXT:,} are read")
    found: list[Condition] = []
    place, values = 0, 0
    while True:
        condition, place = _condition(text, place)
        found.append(condition)
        values += len(condition.values)
        if values > _MAX_VALUES:
            raise FocusError(f"--where has more than {_MAX_VALUES} values")
        if place == len(text):
            return found
        place += 1  # the comma


def _condition(text: str, place: int) -> tuple[Condition, int]:
    begun = _NAME.match(text, place)
    if begun is None:
        rest = text[place:].strip()
        raise FocusError(f"--where '{text}': expected a condition such as relevance>=0.5, not '{rest[:40]}'")
    negated, name = bool(begun[1]), begun[2].lower()
    name = _ALIASES.get(name, name)
    field = FIELDS.get(name)
    if field is None:
        hint = suggest(name, FIELDS) or f"known fields: {', '.join(FIELDS)}"
        raise FocusError(f"--where: unknown field '{begun[2]}'; {hint}")
    place = begun.end()
    operator = _OPERATOR.match(text, place)
    if operator is None:
        if place < len(text) and text[place] != ",":
            raise FocusError(f"--where: after '{name}' expected one of {' '.join(field.operators)}, or a comma")
        if not field.flag:
            raise FocusError(f"--where: '{name}' needs a value: {name}={field.expects.rpartition(' ')[2]}")
        value: object = True if field is _FLAG else "any"
        return Condition(name, "!=" if negated else "=", (value,)), place
    if negated:
        raise FocusError(f"--where: write {name}!=… instead of !{name}{operator[1]}…")
    if operator[1] not in field.operators:
        raise FocusError(f"--where: {name} is compared with {' or '.join(field.operators)}, not with {operator[1]}")
    values, place = _values(text, operator.end(), name)
    if len(values) > 1 and operator[1] not in _EQUAL:
        raise FocusError(f"--where: {name}{operator[1]} takes one value, not {len(values)}")
    read: list[object] = []
    for value in values:
        try:
            read.append(field.read(value))
        except (KeyError, ValueError, OverflowError):
            raise FocusError(f"--where: {name}{operator[1]}{value}: expected {field.expects}") from None
    return Condition(name, operator[1], tuple(read)), place


def _values(text: str, place: int, name: str) -> tuple[list[str], int]:
    """The alternatives from a place on, and the place of the comma after them, or of the end."""
    values: list[str] = []
    while True:
        quoted = _QUOTED.match(text, place)
        if quoted is not None:
            values.append(quoted[1])
            place = quoted.end()
        else:
            bare = _BARE.match(text, place)
            assert bare is not None  # it may be empty
            values.append(bare[0].strip())
            place = bare.end()
        if place == len(text) or text[place] == ",":
            return values, place
        if text[place] != "|":
            raise FocusError(
                f'--where: a quote in the value of {name} is not closed, or stands inside it; write {name}="…"'
            )
        place += 1
