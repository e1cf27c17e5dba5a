"""Charts of a comparison: SVG for the report and as files, and PNG if matplotlib is installed."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from focuscrawl.crawl.files import write_whole
from focuscrawl.lab.plan import CHANCE, FLOOR, LIMIT
from focuscrawl.lab.tables import Summary
from focuscrawl.reports import svg
from focuscrawl.reports.svg import Style

_GREY = "#888888"
#: The units of a clock, and the number of moments that are drawn.
_UNITS = (("hours", 3600), ("minutes", 60), ("seconds", 1))
_MOMENTS = 300


def styles(spiders: Sequence[str]) -> dict[str, Style]:
    """A style for each spider, the same in all charts; the limit and the floor are grey."""
    fixed = {LIMIT: Style(_GREY, "7 4"), CHANCE: Style(_GREY, "2 3"), FLOOR: Style(_GREY)}
    others = [name for name in sorted(spiders) if name not in fixed]
    drawn = {name: svg.style(place) for place, name in enumerate(others)}
    return {name: fixed.get(name) or drawn[name] for name in spiders}


class Axis(NamedTuple):
    """What relevant pages are drawn over: pages fetched, or the crawl's clock."""

    label: str = "pages fetched"
    #: Where the curves end; None if they have a point per page.
    end: float | None = None


PAGES = Axis()
#: The mean number of relevant pages by spider.
Series = Mapping[str, Sequence[float]]


def over_pages(summaries: Sequence[Summary]) -> Series:
    """The curves over pages fetched.

    Spiders that could not crawl every topic are left out: means over different topics cannot be compared.
    """
    return {one.spider: one.curve for one in summaries if one.whole}


def over_time(summaries: Sequence[Summary]) -> tuple[Series, Axis] | None:
    """The curves over the crawl's clock, until the slowest spider has ended; None for crawls without politeness.

    A curve stays flat after its crawl has ended. As in `over_pages`, some spiders are left out.
    """
    timed = [one for one in summaries if one.whole and one.arrivals is not None]
    spiders = [one for one in timed if one.spider not in (LIMIT, FLOOR, CHANCE)] or timed
    end = max((one.ended or 0.0 for one in spiders), default=0.0)
    if not end:
        return None
    unit, length = next((unit, length) for unit, length in _UNITS if end >= 2 * length or length == 1)
    moments = [end * number / _MOMENTS for number in range(1, _MOMENTS + 1)]
    return {one.spider: [one.by(moment) for moment in moments] for one in timed}, Axis(unit, end / length)


def curves(series: Series, look: Mapping[str, Style], axis: Axis = PAGES, *, alone: bool = False) -> str:
    """Mean relevant pages, as SVG; *alone*: with a legend, for a file of its own."""
    drawn = svg.curve_chart(
        series,
        look,
        x_label=axis.label,
        y_label="relevant pages",
        x_end=axis.end,
        legend="beside" if alone else None,
        standalone=alone,
    )
    return drawn or ("" if alone else "<p>No relevant pages.</p>")


def reliability_chart(points: Sequence[tuple[float, float, float]]) -> str:
    """What came over what was expected, by the spider's judge and by the labels, beside the diagonal; as SVG."""
    axes = svg.Axes(320, 1.0, 1.0)
    parts = axes.draw("score", "what came", whole=False, whole_x=False)
    parts.append(svg.grid_line(axes.x(0), axes.y(0), axes.x(1), axes.y(1)))
    for place in (1, 2):
        colour = svg.COLOURS[place - 1]
        line = " ".join(f"{axes.x(point[0]):.1f},{axes.y(point[place]):.1f}" for point in points)
        parts.append(svg.element("polyline", points=line, fill="none", stroke=colour, stroke_width=2))
    return svg.drawing(svg.WIDTH, axes.height, "what came over the score", *parts, standalone=False)


def bars(summaries: Sequence[Summary], look: Mapping[str, Style]) -> str:
    """Scores with their intervals, as an SVG file."""
    height = 34 + 24 * len(summaries)
    left, right = svg.LEGEND, svg.WIDTH - 60

    def x(score: float) -> float:
        return left + (right - left) * min(score, 1.1)

    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(svg.grid_line(x(tick), 8, x(tick), height - 22))
        parts.append(svg.text(x(tick), height - 6, f"{tick:g}", text_anchor="middle"))
    for place, one in enumerate(summaries):
        middle = 20 + 24 * place
        box = {"x": left, "y": middle - 7, "width": x(one.score) - left, "height": 14}
        parts.append(svg.text(left - 8, middle + 4, one.spider, text_anchor="end"))
        parts.append(svg.element("rect", fill=look[one.spider].colour, fill_opacity=0.75, **box))
        if one.interval:
            low, high = x(one.interval[0]), x(one.interval[1])
            ends = {"x1": low, "y1": middle, "x2": high, "y2": middle}
            parts.append(svg.element("line", stroke="currentColor", stroke_width=1.5, **ends))
        end = x(max(one.score, one.interval[1] if one.interval else 0.0))
        parts.append(svg.text(end + 6, middle + 4, f"{one.score:.2f}"))
    return svg.drawing(svg.WIDTH, height, "scores", *parts, standalone=True)


def legend(names: Sequence[str], look: Mapping[str, Style]) -> str:
    """The legend of the lines, as HTML."""
    items = "".join(
        f'<span><svg viewBox="0 0 26 10">{svg.swatch(look[name], 0, 5)}</svg>{html.escape(name)}</span>'
        for name in names
    )
    return f"<div class=legend>{items}</div>"


def write_charts(folder: Path, summaries: Sequence[Summary], look: Mapping[str, Style]) -> bool:
    """Write curves-WAY and scores-WAY as SVG and PNG; returns whether matplotlib was installed for the PNG.

    For polite crawls, hours-WAY has the curves over the clock. Spiders that could not crawl every topic are left out.
    """
    bars_of: dict[str, list[Summary]] = {}
    curves_of: dict[str, tuple[Series, Axis]] = {}
    for way in dict.fromkeys(one.seeds for one in summaries):
        those = bars_of[way] = [one for one in summaries if one.seeds == way and one.whole]
        curves_of[f"curves-{way}"] = over_pages(those), PAGES
        if timed := over_time(those):
            curves_of[f"hours-{way}"] = timed
    for way, those in bars_of.items():
        write_whole(folder / f"scores-{way}.svg", bars(those, look))
    for name, (series, axis) in curves_of.items():
        write_whole(folder / f"{name}.svg", curves(series, look, axis, alone=True))
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    for way, those in bars_of.items():
        _plot_scores(folder / f"scores-{way}.png", those, look)
    for name, (series, axis) in curves_of.items():
        _plot_curves(folder / f"{name}.png", series, look, axis)
    return True


def _plot_curves(path: Path, series: Series, look: Mapping[str, Style], axis: Axis) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), dpi=150, layout="constrained")
    axes = figure.subplots()
    for name, points in series.items():
        style, step = look[name], 1 if axis.end is None else axis.end / len(points)
        places = [step * (place + 1) for place in range(len(points))]
        (line,) = axes.plot(places, points, color=style.colour, label=name)
        if style.dashes:
            line.set_dashes([float(part) / 2 for part in style.dashes.split()])
    axes.set(xlabel=axis.label, ylabel="relevant pages", xlim=(0, None), ylim=(0, None))
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(path)


def _plot_scores(path: Path, summaries: Sequence[Summary], look: Mapping[str, Style]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.6 + 0.3 * len(summaries)), dpi=150, layout="constrained")
    axes = figure.subplots()
    for place, one in enumerate(reversed(summaries)):
        low, high = one.interval or (one.score, one.score)
        errors = [[max(0.0, one.score - low)], [max(0.0, high - one.score)]]
        axes.barh(place, one.score, color=look[one.spider].colour, alpha=0.75, xerr=errors if one.interval else None)
    axes.set_yticks(range(len(summaries)), [one.spider for one in reversed(summaries)])
    axes.set(xlabel="score: area under the curve, relative to the best possible order", xlim=(0, None))
    figure.savefig(path)
