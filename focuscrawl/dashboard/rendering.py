"""From values to HTML: templates, and how numbers, times and URLs are written. Text from pages never becomes markup."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from focuscrawl.errors import printable
from focuscrawl.reports.status import soon, span

#: Parts of a score that are shown, the largest first.
PARTS = 8


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _size(value: float | None) -> str:
    if value is None:
        return "–"
    for unit in ("bytes", "KB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def _when(value: object) -> str:
    """A time as it is stored, to the second."""
    return str(value or "–")[:19].replace("T", " ")


def _text(value: object) -> str:
    """Text from a page, on one line and without characters that could disguise it."""
    return "" if value is None else printable(str(value))


def web_address(url: object) -> str:
    """A URL that may become a link: http and https only; empty for any other."""
    text = str(url)
    return text if text.lower().startswith(("http://", "https://")) and printable(text) == text else ""


def short(url: object, most: int = 90) -> str:
    """A URL without its scheme, shortened in the middle."""
    text = _text(url)
    text = text.partition("://")[2] or text
    return text if len(text) <= most else f"{text[: most * 2 // 3]}…{text[-most // 3 :]}"


def parts_of(why: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The largest parts of a score."""
    numbers = [(str(name), float(value)) for name, value in why.items() if isinstance(value, int | float)]
    return sorted(numbers, key=lambda part: -abs(part[1]))[:PARTS]


def query(values: Mapping[str, object], **changed: object) -> str:
    """A query string of the values that are set, with some of them changed."""
    merged = {name: value for name, value in {**values, **changed}.items() if value not in ("", None)}
    return f"?{urlencode(merged)}" if merged else ""


def plural(count: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


@cache
def environment() -> Environment:
    """The templates."""
    found = Environment(
        loader=PackageLoader("focuscrawl.dashboard"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "num": _number,
        "score": _score,
        "pct": _percent,
        "size": _size,
        "when": _when,
        "soon": soon,
        "span": span,
        "text": _text,
        "short": short,
        "web": web_address,
        "parts": parts_of,
        "path": lambda name: quote(str(name)),
    }
    found.globals |= {"query": query, "plural": plural, "Markup": Markup}
    return found
