"""Charts of a comparison: SVG drawn here, for the report and as files, and PNG by matplotlib where it is installed."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from focuscrawl.lab.plan import CHANCE, FLOOR, LIMIT
from focuscrawl.lab.tables import Summary

#: Told apart by eyes of most kinds, on white and on black.
COLOURS = (
    *("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2"),
    *("#db2777", "#65a30d", "#92400e", "#4f46e5", "#0f766e", "#c026d3"),
)
_GREY = "#888888"
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 640, 400, 52, 28, 44, 14
_LEGEND = 190
_FONT = "font-family='system-ui, sans-serif' font-size='13'"


class Style(NamedTuple):
    """How a spider's line is drawn."""

    colour: str
    dashes: str = ""
    width: float = 2.0


def styles(spiders: Sequence[str]) -> dict[str, Style]:
    """A style for each spider, the same in all charts; the limit and the floor are grey."""
    fixed = {LIMIT: Style(_GREY, "7 4"), CHANCE: Style(_GREY, "2 3"), FLOOR: Style(_GREY)}
    others = [name for name in sorted(spiders) if name not in fixed]
    drawn = {
        name: Style(COLOURS[place % len(COLOURS)], "" if place < len(COLOURS) else "10 3")
        for place, name in enumerate(others)
    }
    return {name: fixed.get(name) or drawn[name] for name in spiders}


def _ticks(top: float) -> list[float]:
    """Round numbers from 0 up to *top*, four or five of them."""
    step = next(base * 10**power for power in range(-2, 9) for base in (1, 2, 5) if top / (base * 10**power) <= 5)
    return [step * number for number in range(int(top / step) + 1)]


def curves(series: Mapping[str, Sequence[float]], look: Mapping[str, Style], *, alone: bool = False) -> str:
    """Mean relevant pages over pages fetched, as SVG; *alone* has a legend and stands in a file of its own."""
    pages = max((len(points) for points in series.values()), default=0)
    top = max((points[-1] for points in series.values() if points), default=0)
    if not pages or not top:
        return "<p>No relevant pages.</p>" if not alone else ""
    width = _WIDTH + (_LEGEND if alone else 0)

    def x(page: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * page / pages

    def y(count: float) -> float:
        return _TOP + (_HEIGHT - _BOTTOM - _TOP) * (1 - count / top)

    height = max(_HEIGHT, _TOP + 19 * len(series) + 8) if alone else _HEIGHT
    parts = [_open(width, height, "relevant pages over pages fetched", alone=alone)]
    parts.append('<text x="4" y="14">relevant pages</text>')
    for count in _ticks(top):
        parts.append(
            f'<line x1="{_LEFT}" y1="{y(count):.1f}" x2="{_WIDTH - _RIGHT}" y2="{y(count):.1f}" stroke="#8884"/>'
        )
        parts.append(f'<text x="{_LEFT - 7}" y="{y(count) + 4:.1f}" text-anchor="end">{count:,g}</text>')
    for page in _ticks(pages)[1:]:
        anchor = "end" if page > 0.95 * pages else "middle"
        parts += [f'<text x="{x(page):.1f}" y="{_HEIGHT - 24}" text-anchor="{anchor}">{page:,g}</text>']
    parts.append(f'<text x="{x(pages / 2):.1f}" y="{_HEIGHT - 5}" text-anchor="middle">pages fetched</text>')
    for name, points in series.items():
        style = look[name]
        step = max(1, len(points) // 250)
        chosen = sorted({*range(0, len(points), step), len(points) - 1}) if points else []
        line = " ".join(f"{x(place + 1):.1f},{y(points[place]):.1f}" for place in chosen)
        dashes = f' stroke-dasharray="{style.dashes}"' if style.dashes else ""
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{style.colour}" stroke-width="{style.width}"{dashes}>'
            f"<title>{html.escape(name)}</title></polyline>"
        )
    if alone:
        for place, name in enumerate(series):
            middle = _TOP + 8 + 19 * place
            parts.append(_swatch(look[name], _WIDTH + 4, middle))
            parts.append(f'<text x="{_WIDTH + 36}" y="{middle + 4}">{html.escape(name)}</text>')
    return "".join([*parts, "</svg>"])


def bars(summaries: Sequence[Summary], look: Mapping[str, Style]) -> str:
    """Scores with their intervals, as an SVG file."""
    height = 34 + 24 * len(summaries)
    left, right = _LEGEND, _WIDTH - 60

    def x(score: float) -> float:
        return left + (right - left) * min(score, 1.1)

    parts = [_open(_WIDTH, height, "scores", alone=True)]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<line x1="{x(tick):.1f}" y1="8" x2="{x(tick):.1f}" y2="{height - 22}" stroke="#8884"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{height - 6}" text-anchor="middle">{tick:g}</text>')
    for place, one in enumerate(summaries):
        middle = 20 + 24 * place
        colour = look[one.spider].colour
        parts.append(f'<text x="{left - 8}" y="{middle + 4}" text-anchor="end">{html.escape(one.spider)}</text>')
        parts.append(
            f'<rect x="{left}" y="{middle - 7}" width="{x(one.score) - left:.1f}" height="14" fill="{colour}"'
            ' fill-opacity="0.75"/>'
        )
        if one.interval:
            low, high = x(one.interval[0]), x(one.interval[1])
            parts.append(f'<path d="M{low:.1f} {middle}H{high:.1f}" stroke="currentColor" stroke-width="1.5"/>')
        end = x(max(one.score, one.interval[1] if one.interval else 0.0))
        parts.append(f'<text x="{end + 6:.1f}" y="{middle + 4}">{one.score:.2f}</text>')
    return "".join([*parts, "</svg>"])


def _open(width: int, height: int, what: str, *, alone: bool) -> str:
    own = f' xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {_FONT}' if alone else ""
    ground = '<rect width="100%" height="100%" fill="#fff"/>' if alone else ""
    return f'<svg viewBox="0 0 {width} {height}"{own} role="img" aria-label="{what}">{ground}'


def _swatch(style: Style, x: float, y: float) -> str:
    dashes = f' stroke-dasharray="{style.dashes}"' if style.dashes else ""
    return f'<line x1="{x}" y1="{y}" x2="{x + 26}" y2="{y}" stroke="{style.colour}" stroke-width="3"{dashes}/>'


def legend(names: Sequence[str], look: Mapping[str, Style]) -> str:
    """What the lines mean, as HTML that wraps where it must."""
    items = "".join(
        f'<span><svg viewBox="0 0 26 10">{_swatch(look[name], 0, 5)}</svg>{html.escape(name)}</span>' for name in names
    )
    return f"<div class=legend>{items}</div>"


def write_charts(folder: Path, summaries: Sequence[Summary], look: Mapping[str, Style]) -> bool:
    """Write curves-WAY and scores-WAY as SVG and PNG; returns whether there was a matplotlib for the PNG.

    Spiders that could not crawl every topic are not drawn: means over some are no match for means over all.
    """
    drawn = {
        way: [one for one in summaries if one.seeds == way and one.whole] for way in {one.seeds for one in summaries}
    }
    for way, those in drawn.items():
        series = {one.spider: one.curve for one in those}
        (folder / f"curves-{way}.svg").write_text(curves(series, look, alone=True), "utf-8")
        (folder / f"scores-{way}.svg").write_text(bars(those, look), "utf-8")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    for way, those in drawn.items():
        figure = Figure(figsize=(9, 5), dpi=150, layout="constrained")
        axes = figure.subplots()
        for one in those:
            style = look[one.spider]
            (line,) = axes.plot(range(1, len(one.curve) + 1), one.curve, color=style.colour, label=one.spider)
            if style.dashes:
                line.set_dashes([float(part) / 2 for part in style.dashes.split()])
        axes.set(xlabel="pages fetched", ylabel="relevant pages", xlim=(0, None), ylim=(0, None))
        axes.grid(alpha=0.3)
        figure.legend(loc="outside right upper", frameon=False)
        figure.savefig(folder / f"curves-{way}.png")
        figure = Figure(figsize=(8, 0.6 + 0.3 * len(those)), dpi=150, layout="constrained")
        axes = figure.subplots()
        for place, one in enumerate(reversed(those)):
            low, high = one.interval or (one.score, one.score)
            errors = [[max(0.0, one.score - low)], [max(0.0, high - one.score)]]
            axes.barh(
                place, one.score, color=look[one.spider].colour, alpha=0.75, xerr=errors if one.interval else None
            )
        axes.set_yticks(range(len(those)), [one.spider for one in reversed(those)])
        axes.set(xlabel="score: area under the curve over that of the best possible order", xlim=(0, None))
        figure.savefig(folder / f"scores-{way}.png")
    return True
