"""The map: hosts as circles, placed by the links that were followed between them.

The largest hosts are placed by forces: all repel each other, and links pull. The others surround the host that led to
them most often, so that thousands of hosts remain readable.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import cos, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from focuscrawl.dashboard.ledger import RELEVANT, Ledger
from focuscrawl.reports import svg

#: Hosts placed by forces, hosts drawn at all, hosts with a name, and lines drawn.
CORE = 70
MOST = 3_000
NAMED = 28
_FIRST = 8
LINES = 260
SIZE = 1_000
_ROUNDS = 220
#: Height over width.
_SHAPE = 0.52
_GOLDEN = pi * (3 - sqrt(5))


class Place(NamedTuple):
    """A host on the map."""

    host: int
    name: str
    pages: int
    relevant: int
    x: float
    y: float
    radius: float

    @property
    def harvest(self) -> float:
        """The share of its pages that are relevant."""
        return self.relevant / self.pages if self.pages else 0.0


class Map(NamedTuple):
    """A layout of hosts: the largest first, and the links that were followed between them."""

    places: list[Place]
    lines: list[tuple[Place, Place, int]]
    #: Hosts that are not drawn.
    left_out: int


def host_figures(ledger: Ledger) -> list[tuple[int, int, int]]:
    """All hosts with pages: number, pages and relevant pages, the largest first."""
    known = ledger.known
    values = ledger.host[known]
    size = len(ledger.hosts.names)
    pages = np.bincount(values, minlength=size)
    good = np.bincount(values[(ledger.flags[known] & RELEVANT) > 0], minlength=size)
    order = np.argsort(-pages, kind="stable")
    return [(int(host), int(pages[host]), int(good[host])) for host in order if pages[host]]


def layout(ledger: Ledger) -> Map:
    """Place the hosts of a crawl."""
    figures = host_figures(ledger)
    drawn = figures[:MOST]
    if not drawn:
        return Map([], [], 0)
    shown = {host for host, _, _ in drawn}
    between: Counter[tuple[int, int]] = Counter()
    for source, target, count in ledger.steps():
        if source != target and source in shown and target in shown:
            between[min(source, target), max(source, target)] += count
    largest = drawn[0][1]
    scale = 46 if len(drawn) <= 60 else 34
    radius = {host: max(2.5 if len(drawn) > 300 else 4, scale * sqrt(pages / largest)) for host, pages, _ in drawn}
    core = [host for host, _, _ in drawn[:CORE]]
    at = _by_forces(core, between, radius)
    _surround([host for host, _, _ in drawn[CORE:]], core, between, radius, at)
    names = ledger.hosts.names
    places = {host: Place(host, names[host], pages, good, *at[host], radius[host]) for host, pages, good in drawn}
    strongest = sorted(between.items(), key=lambda item: (-item[1], item[0]))[:LINES]
    lines = [(places[one], places[other], count) for (one, other), count in strongest]
    return Map(list(places.values()), lines, len(figures) - len(drawn))


def _by_forces(
    hosts: list[int], between: Counter[tuple[int, int]], radius: dict[int, float]
) -> dict[int, tuple[float, float]]:
    """Fruchterman and Reingold's layout, with a start that is always the same, without overlaps."""
    count = len(hosts)
    index = {host: place for place, host in enumerate(hosts)}
    turn = np.arange(count) * _GOLDEN
    at = np.stack([np.cos(turn), np.sin(turn)], 1) * np.sqrt(np.arange(count) + 0.5)[:, None] * 55
    pull = np.zeros((count, count))
    for (one, other), number in between.items():
        if one in index and other in index:
            pull[index[one], index[other]] = pull[index[other], index[one]] = 1 + np.log(number)
    size = np.array([radius[host] for host in hosts])
    ideal = 0.75 * SIZE / sqrt(max(count, 4))
    apart = size[:, None] + size[None, :] + 14
    for step in range(_ROUNDS):
        away = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.sqrt((away**2).sum(2)), 0.01)
        np.fill_diagonal(distance, 1e9)
        force = ideal**2 / distance**2 - pull * distance / (4 * ideal)
        force += np.where(distance < apart, 4 * (apart - distance) / distance, 0)
        move = (away * force[:, :, None]).sum(1) - at * 0.06
        length = np.maximum(np.sqrt((move**2).sum(1)), 0.01)
        limit = 60 * (1 - step / _ROUNDS) + 1
        at += move / length[:, None] * np.minimum(length, limit)[:, None]
    at = _fit(at)
    for _ in range(60):  # what still overlaps is pushed apart
        away = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.sqrt((away**2).sum(2)), 0.01)
        np.fill_diagonal(distance, 1e9)
        push = np.where(distance < apart, (apart - distance) / (2 * distance), 0)
        if not push.any():
            break
        at += (away * push[:, :, None]).sum(1)
    return {host: (float(at[place, 0]), float(at[place, 1])) for host, place in index.items()}


def _fit(at: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Turn a layout so that it is wider than high, and stretch it to the shape of a screen."""
    at = at - at.mean(0)
    if len(at) > 2:
        _, turn = np.linalg.eigh(at.T @ at)
        at = at @ turn[:, ::-1]  # the longest direction becomes the horizontal one
    extent = np.maximum(np.abs(at).max(0), 1.0)
    stretched: np.ndarray[Any, np.dtype[Any]] = at / extent * np.array([0.5 * SIZE, 0.5 * SIZE * _SHAPE])
    return stretched


def _surround(
    hosts: list[int],
    core: list[int],
    between: Counter[tuple[int, int]],
    radius: dict[int, float],
    at: dict[int, tuple[float, float]],
) -> None:
    """Place small hosts around the large one that they have most to do with, in a spiral."""
    central = set(core)
    best: dict[int, tuple[int, int]] = {}
    for (one, other), number in between.items():
        for small, large in ((one, other), (other, one)):
            if small not in central and large in central and number > best.get(small, (0, 0))[0]:
                best[small] = number, large
    around: defaultdict[int, list[int]] = defaultdict(list)
    for host in hosts:
        around[best[host][1] if host in best else -1].append(host)
    strays = around.pop(-1, [])
    for centre, moons in around.items():
        x, y = at[centre]
        first = radius[centre] + 7
        for place, host in enumerate(moons):
            distance = sqrt(first**2 + 46 * place)
            at[host] = x + distance * cos(place * _GOLDEN), y + distance * sin(place * _GOLDEN)
    far = max((sqrt(x * x + y * y) for x, y in at.values()), default=0) + 25
    for place, host in enumerate(strays):
        turn = 2 * pi * place / len(strays)
        at[host] = far * cos(turn), far * sin(turn)


def draw(found: Map, base: str) -> str:
    """The map as SVG; each circle links to the pages of its host below *base*."""
    if not found.places:
        return ""
    left = min(place.x - place.radius for place in found.places) - 20
    right = max(place.x + place.radius for place in found.places) + 20
    top = min(place.y - place.radius for place in found.places) - 30
    bottom = max(place.y + place.radius for place in found.places) + 30
    width, height = max(right - left, 400), max(bottom - top, 250)
    most = max((count for _, _, count in found.lines), default=1)
    parts = [
        svg.element(
            "line",
            svg.title(f"{one.name} – {other.name}: {count:,} followed"),
            x1=one.x - left,
            y1=one.y - top,
            x2=other.x - left,
            y2=other.y - top,
            class_="step good" if min(one.harvest, other.harvest) >= 0.5 else "step",
            stroke_width=1 + 4 * sqrt(count / most),
        )
        for one, other, count in found.lines
    ]
    for place in found.places:
        told = f"{place.name}: {place.pages:,} pages, {place.harvest:.0%} relevant"
        circle = svg.element(
            "circle",
            svg.title(told),
            cx=place.x - left,
            cy=place.y - top,
            r=place.radius,
            class_=f"host h{min(4, int(place.harvest * 5))}",
        )
        parts.append(svg.element("a", circle, href=f"{base}{place.name}", aria_label=told, tabindex="-1"))
    parts += _labels(found.places, left, top, width)
    box = f"0 0 {width:.0f} {height:.0f}"
    label = "Hosts and the links followed between them; the table below has the same hosts"
    return svg.element("svg", *parts, viewBox=box, role="group", aria_label=label, class_="map")


def _labels(places: list[Place], left: float, top: float, width: float) -> list[str]:
    """The names of the largest hosts: around their circles where there is room, of the largest few also inside."""
    parts: list[str] = []
    size = width / 95
    circles = [_circle(place, left, top) for place in places]
    large = [circle for circle in circles if circle[2] - circle[0] > 1.2 * size]
    labels: list[tuple[float, float, float, float]] = []
    for rank, place in enumerate(places):
        if len(parts) >= NAMED:
            break
        wide = 0.64 * size * len(place.name)
        side = place.radius + wide / 2 + 0.4 * size
        y = place.y - top
        spots = [(0.0, y + place.radius + size, True), (0.0, y - place.radius - 0.4 * size, True)]
        spots += [(side, y + 0.35 * size, True), (-side, y + 0.35 * size, True)]
        spots += [(0.0, y + 0.35 * size, False)] if rank < _FIRST and place.radius > 0.3 * wide else []
        # better on none of the circles than on a small one, and better there than nowhere
        for taken, (aside, spot, beside) in product((circles, large), spots):
            x = min(max(place.x - left + aside, wide / 2 + 4), width - wide / 2 - 4)
            box = x - wide / 2, spot - size, x + wide / 2, spot + 0.25 * size
            if not any(_overlap(box, other) for other in (*labels, *(taken if beside else ()))):
                labels.append(box)
                parts.append(svg.text(x, spot, place.name, text_anchor="middle", font_size=size, class_="name"))
                break
    return parts


def _circle(place: Place, left: float, top: float) -> tuple[float, float, float, float]:
    """The box that the circle of a host takes, about."""
    x, y, r = place.x - left, place.y - top, 0.8 * place.radius
    return x - r, y - r, x + r, y + r


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
