"""Charts of a comparison: SVG for the report and as files, and PNG if matplotlib is installed."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from focuscrawl.crawl.files import write_whole
from focuscrawl.lab.plan import CHANCE, FLOOR, LIMIT
from focuscrawl.lab.tables import Summary
from focuscrawl.reports import svg
from focuscrawl.reports.svg import Style

_GREY = "#888888"


def styles(spiders: Sequence[str]) -> dict[str, Style]:
    """A style for each spider, the same in all charts; the limit and the floor are grey."""
    fixed = {LIMIT: Style(_GREY, "7 4"), CHANCE: Style(_GREY, "2 3"), FLOOR: Style(_GREY)}
    others = [name for name in sorted(spiders) if name not in fixed]
    drawn = {name: svg.style(place) for place, name in enumerate(others)}
    return {name: fixed.get(name) or drawn[name] for name in spiders}


def curves(series: Mapping[str, Sequence[float]], look: Mapping[str, Style], *, alone: bool = False) -> str:
    """Mean relevant pages over pages fetched, as SVG; *alone*: with a legend, for a file of its own."""
    beside: Literal["beside"] | None = "beside" if alone else None
    drawn = svg.curve_chart(
        series, look, x_label="pages fetched", y_label="relevant pages", legend=beside, standalone=alone
    )
    return drawn or ("" if alone else "<p>No relevant pages.</p>")


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

    Spiders that could not crawl every topic are left out: means over different topics cannot be compared.
    """
    drawn = {
        way: [one for one in summaries if one.seeds == way and one.whole] for way in {one.seeds for one in summaries}
    }
    for way, those in drawn.items():
        series = {one.spider: one.curve for one in those}
        write_whole(folder / f"curves-{way}.svg", curves(series, look, alone=True))
        write_whole(folder / f"scores-{way}.svg", bars(those, look))
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    for way, those in drawn.items():
        _plot_curves(folder / f"curves-{way}.png", those, look)
        _plot_scores(folder / f"scores-{way}.png", those, look)
    return True


def _plot_curves(path: Path, summaries: Sequence[Summary], look: Mapping[str, Style]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), dpi=150, layout="constrained")
    axes = figure.subplots()
    for one in summaries:
        style = look[one.spider]
        (line,) = axes.plot(range(1, len(one.curve) + 1), one.curve, color=style.colour, label=one.spider)
        if style.dashes:
            line.set_dashes([float(part) / 2 for part in style.dashes.split()])
    axes.set(xlabel="pages fetched", ylabel="relevant pages", xlim=(0, None), ylim=(0, None))
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
