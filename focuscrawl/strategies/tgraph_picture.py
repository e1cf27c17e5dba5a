"""A T-Graph as a picture and as text."""

from __future__ import annotations

from focuscrawl import urls
from focuscrawl.reports import svg
from focuscrawl.strategies.tgraph import Node, TGraph

_WIDTH, _ROW, _MARGIN = 1200, 150, 60
#: Maximum number of nodes drawn per level: more would be indistinguishable.
_DRAWN = 60
_STYLE = (
    "svg{width:100%;height:auto}.level{font:14px sans-serif;fill:#444}"
    ".node{fill:#2f6f9f}.target{fill:#c0392b}.link{stroke:#8aa;stroke-opacity:.35}"
)


def as_text(graph: TGraph, shown: int = 5) -> list[str]:
    """The levels of a T-Graph, with the headings of some nodes of each."""
    lines = [f"T-Graph of '{graph.topic}': {len(graph.nodes)} nodes on {graph.levels} levels"]
    for level, nodes in graph.by_level().items():
        lines += ["", f"level {level}: {len(nodes)} nodes, {level} download{'s' if level > 1 else ''} from a target"]
        for node in sorted(nodes, key=lambda node: -node.matched)[:shown]:
            where = " / ".join(part for part in dict.fromkeys((node.mh, node.sh, node.ish)) if part) or node.page
            matched = f", matched {node.matched} links" if node.matched else ""
            lines.append(f"  {where[:100]}: {len(node.dic)} destinations{matched}")
            lines.append(f"      {node.dc[:100]}")
        if len(nodes) > shown:
            lines.append(f"  … and {len(nodes) - shown} more")
    return lines


def as_svg(graph: TGraph) -> str:
    """The levels as rows, the targets at the bottom, and the links between nodes."""
    levels: dict[int, list[Node]] = {}
    led_to: set[int] = set()
    for level, nodes in sorted(graph.by_level().items(), reverse=True):
        # if there are too many, prefer nodes that a node drawn above leads to
        levels[level] = sorted(nodes, key=lambda node: urls.key(node.page) not in led_to)[:_DRAWN]
        led_to |= {urls.key(url) for node in levels[level] for url in node.dic}
    height = _MARGIN * 2 + _ROW * max(1, len(levels))
    place: dict[int, tuple[float, float]] = {}
    parts: list[str] = [svg.title(f"T-Graph of {graph.topic}"), svg.element("style", _STYLE)]
    labels: list[str] = []
    for row, level in enumerate(sorted(levels, reverse=True)):
        y: float = _MARGIN + _ROW * row
        nodes = levels[level]
        labels.append(svg.text(8, y - 24, f"level {level}: {len(graph.by_level()[level])} nodes", class_="level"))
        for index, node in enumerate(nodes):
            place[id(node)] = (_MARGIN + (index + 0.5) * (_WIDTH - 2 * _MARGIN) / len(nodes), y)
    target = (_WIDTH / 2, height - _MARGIN)
    drawn = [node for nodes in levels.values() for node in nodes]
    parts += [*_edges(drawn, place, target), *labels]  # links first, so that nodes are drawn above them
    parts.append(svg.element("circle", cx=target[0], cy=target[1], r=12, class_="target"))
    parts.append(svg.text(target[0] + 20, target[1] + 5, "targets", class_="level"))
    for node in drawn:
        x, y = place[id(node)]
        heading = " / ".join(part for part in (node.mh, node.sh, node.ish) if part) or node.page
        hint = svg.title(f"{heading}: {node.dc[:200]}")
        parts.append(svg.element("circle", hint, cx=x, cy=y, r=5, class_="node"))
    return svg.drawing(_WIDTH, height, f"T-Graph of {graph.topic}", *parts, standalone=True) + "\n"


def _edges(nodes: list[Node], place: dict[int, tuple[float, float]], target: tuple[float, float]) -> list[str]:
    """Lines from each node to the nodes of its destinations, or to the targets."""
    on_page: dict[int, list[Node]] = {}
    for node in nodes:
        on_page.setdefault(urls.key(node.page), []).append(node)
    edges: list[str] = []
    for node in nodes:
        x, y = place[id(node)]
        ends = {
            place[id(below)]
            for destination in node.dic
            for below in on_page.get(urls.key(destination), ())
            if below.distance < node.distance
        }
        if 1 in node.dic.values():
            ends.add(target)
        edges += [svg.element("line", class_="link", x1=x, y1=y, x2=to_x, y2=to_y) for to_x, to_y in sorted(ends)]
    return edges
