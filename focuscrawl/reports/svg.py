"""SVG drawings: escaped elements, axes with round numbers, curves and legends."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Attribute = str | float | None

#: Colours that most people can distinguish, on white and on black.
COLOURS = (
    *("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2"),
    *("#db2777", "#65a30d", "#92400e", "#4f46e5", "#0f766e", "#c026d3"),
)
WIDTH = 640
#: The width of a legend next to a chart, or of names next to bars.
LEGEND = 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 28, 44
_FONT: dict[str, Attribute] = {"font_family": "system-ui, sans-serif", "font_size": 13}
_GRID: dict[str, Attribute] = {"stroke": "#888", "stroke_opacity": 0.27}
#: Maximum number of points per curve: more are not visible at this width.
_POINTS = 300
_LEGEND_ROW = 19
#: Error bars per curve, and the distance between those of different curves.
_BARS = 8
_BESIDE = 4


def element(tag: str, *content: str, **attributes: Attribute) -> str:
    """An element with markup inside; attributes are escaped, `stroke_width` is stroke-width, and None is left out."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def _value(value: str | float) -> str:
    return html.escape(value) if isinstance(value, str) else f"{round(value, 2):g}"


def text(x: float, y: float, words: str, **attributes: Attribute) -> str:
    """Plain text at a position."""
    return element("text", html.escape(words), x=x, y=y, **attributes)


def title(words: str) -> str:
    """The tooltip of the enclosing element."""
    return element("title", html.escape(words))


def grid_line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A thin line behind the data."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **_GRID)


def drawing(width: float, height: float, label: str, *parts: str, standalone: bool) -> str:
    """A complete drawing: *standalone* as a file, otherwise with the width and font of the HTML page around it."""
    own: dict[str, Attribute] = {}
    if standalone:
        own = {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height, **_FONT}
        parts = (element("rect", width="100%", height="100%", fill="#fff"), *parts)
    return element("svg", *parts, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label, **own)


class Style(NamedTuple):
    """The line style of a curve."""

    colour: str
    dashes: str = ""
    width: float = 2.0


def style(place: int) -> Style:
    """The style of the curve with this index; dashed lines double the number of styles."""
    return Style(COLOURS[place % len(COLOURS)], "10 3" if place // len(COLOURS) % 2 else "")


def swatch(look: Style, x: float, y: float) -> str:
    """A short line in the style of a curve, for legends."""
    dashes = look.dashes or None
    return element("line", x1=x, y1=y, x2=x + 26, y2=y, stroke=look.colour, stroke_width=3, stroke_dasharray=dashes)


def ticks(top: float, *, whole: bool = False) -> list[float]:
    """At most six round numbers from 0 to *top*; *whole* excludes fractions."""
    steps = (base * 10**power for power in range(0 if whole else -2, 12) for base in (1, 2, 5))
    step = next(step for step in steps if top / step <= 5)
    return [step * number for number in range(int(top / step) + 1)]


@dataclass(frozen=True)
class Axes:
    """The area of a chart, with x from 0 to *x_end* and y from 0 to *y_end*."""

    height: float
    x_end: float
    y_end: float

    def x(self, value: float) -> float:
        """The horizontal position of a value."""
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * value / self.x_end

    def y(self, value: float) -> float:
        """The vertical position of a value."""
        return _TOP + (self.height - _BOTTOM - _TOP) * (1 - value / self.y_end)

    def draw(self, x_label: str, y_label: str, *, whole: bool, whole_x: bool = True) -> list[str]:
        """The grid, numbers and labels; *whole* and *whole_x*: y and x have whole numbers only."""
        parts = [text(4, 14, y_label)]
        for value in ticks(self.y_end, whole=whole):
            parts.append(grid_line(_LEFT, self.y(value), WIDTH - _RIGHT, self.y(value)))
            parts.append(text(_LEFT - 7, self.y(value) + 4, f"{value:,g}", text_anchor="end"))
        for value in ticks(self.x_end, whole=whole_x)[1:]:
            anchor = "end" if value > 0.95 * self.x_end else "middle"  # keep the number inside the drawing
            parts.append(text(self.x(value), self.height - 24, f"{value:,g}", text_anchor=anchor))
        parts.append(text(self.x(self.x_end / 2), self.height - 5, x_label, text_anchor="middle"))
        return parts

    def error_bar(self, x: float, beside: float, low: float, high: float, look: Style) -> str:
        """A vertical bar at *x*, drawn a little *beside* it, with short lines at both ends."""
        middle, top, bottom = self.x(x) + beside, self.y(high), self.y(low)
        ends = "".join(f"M{middle - 3:.1f},{y:.1f}h6" for y in (top, bottom))
        path = f"M{middle:.1f},{top:.1f}V{bottom:.1f}{ends}"
        return element("path", d=path, fill="none", stroke=look.colour, stroke_width=1)

    def curve(self, name: str, points: Sequence[float], look: Style, step: float = 1) -> str:
        """A curve through points at x = *step*, 2 *step*, 3 *step* and so on."""
        every = max(1, len(points) // _POINTS)
        chosen = sorted({*range(0, len(points), every), *([len(points) - 1] if points else [])})
        return element(
            "polyline",
            title(name),
            points=" ".join(f"{self.x(step * (place + 1)):.1f},{self.y(points[place]):.1f}" for place in chosen),
            fill="none",
            stroke=look.colour,
            stroke_width=look.width,
            stroke_dasharray=look.dashes or None,
        )


def _bars(points: Sequence[float], errors: Sequence[float | None]) -> list[tuple[int, float, float]]:
    """A few error bars of a curve: number of the point, lower end and upper end."""
    numbers = [max(1, len(points) * part // _BARS) for part in range(1, _BARS + 1)] if errors else []
    return [
        (number, max(0.0, points[number - 1] - error), points[number - 1] + error)
        for number in dict.fromkeys(numbers)
        if (error := errors[number - 1])
    ]


def curve_chart(
    series: Mapping[str, Sequence[float]],
    looks: Mapping[str, Style],
    *,
    x_label: str,
    y_label: str,
    x_end: float | None = None,
    height: float = 400,
    legend: Literal["inside", "beside"] | None = None,
    standalone: bool = False,
    errors: Mapping[str, Sequence[float | None]] | None = None,
) -> str:
    """Curves by name, with a legend inside (upper left), beside (right) or none; "" if all curves are empty or 0.

    The points of a curve are at x = 1, 2, 3 and so on, or evenly spaced up to *x_end*. *errors* are the half lengths of
    the error bars of each curve, point by point.
    """
    longest = max((len(points) for points in series.values()), default=0)
    y_end = max((max(points) for points in series.values() if points), default=0)
    if not longest or not y_end:
        return ""
    bars = {name: _bars(points, (errors or {}).get(name, ())) for name, points in series.items()}
    y_end = max([y_end, *(high for those in bars.values() for _, _, high in those)])
    axes = Axes(height, x_end or longest, y_end)
    whole = all(isinstance(point, int) for points in series.values() for point in points)
    parts = axes.draw(x_label, y_label, whole=whole, whole_x=x_end is None)
    parts += [axes.curve(name, points, looks[name], axes.x_end / longest) for name, points in series.items()]
    for place, (name, those) in enumerate(bars.items()):
        beside = (place - (len(bars) - 1) / 2) * _BESIDE  # bars of different curves do not cover each other
        parts += [
            axes.error_bar(number * axes.x_end / longest, beside, low, high, looks[name]) for number, low, high in those
        ]
    width = WIDTH
    if legend == "inside":
        parts += _legend(list(series), looks, _LEFT + 10)
    elif legend == "beside":
        parts += _legend(list(series), looks, WIDTH + 4)
        width, height = WIDTH + LEGEND, max(height, _TOP + _LEGEND_ROW * len(series) + 8)
    return drawing(width, height, f"{y_label} over {x_label}", *parts, standalone=standalone)


def _legend(names: Sequence[str], looks: Mapping[str, Style], left: float) -> list[str]:
    parts = []
    for place, name in enumerate(names):
        middle = _TOP + 8 + _LEGEND_ROW * place
        parts += [swatch(looks[name], left, middle), text(left + 32, middle + 4, name)]
    return parts
