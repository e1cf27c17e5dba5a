"""A T-Graph as a picture and as text."""

from __future__ import annotations

from html import escape

from focuscrawl import urls
from focuscrawl.strategies.tgraph import Node, TGraph

_WIDTH, _ROW, _MARGIN = 1200, 150, 60
#: Nodes of a level that are drawn: more cannot be told apart.
_DRAWN = 60


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
        # of too many those that what is drawn above leads to
        levels[level] = sorted(nodes, key=lambda node: urls.key(node.page) not in led_to)[:_DRAWN]
        led_to |= {urls.key(url) for node in levels[level] for url in node.dic}
    height = _MARGIN * 2 + _ROW * max(1, len(levels))
    place: dict[int, tuple[float, float]] = {}
    parts: list[str] = []
    for row, level in enumerate(sorted(levels, reverse=True)):
        y = float(_MARGIN + _ROW * row)
        nodes = levels[level]
        parts.append(
            f'<text x="8" y="{y - 24}" class="level">level {level}: {len(graph.by_level()[level])} nodes</text>'
        )
        for index, node in enumerate(nodes):
            place[id(node)] = (_MARGIN + (index + 0.5) * (_WIDTH - 2 * _MARGIN) / len(nodes), y)
    bottom = float(height - _MARGIN)
    target = (_WIDTH / 2, bottom)
    parts.append(f'<circle cx="{target[0]}" cy="{bottom}" r="12" class="target"/>')
    parts.append(f'<text x="{target[0] + 20}" y="{bottom + 5}" class="level">targets</text>')
    drawn = [node for nodes in levels.values() for node in nodes]
    edges = _edges(drawn, place, target)
    for node in drawn:
        x, y = place[id(node)]
        title = escape(" / ".join(part for part in (node.mh, node.sh, node.ish) if part) or node.page)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y}" r="5" class="node"><title>{title}: {escape(node.dc[:200])}</title></circle>'
        )
    style = (
        ".node{fill:#2f6f9f}.target{fill:#c0392b}.link{stroke:#8aa;stroke-opacity:.35;fill:none}"
        ".level{font:14px sans-serif;fill:#444}svg{background:#fff}"
    )
    heading = f"<title>T-Graph of {escape(graph.topic)}</title>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}">{heading}<style>{style}</style>'
        + "".join(edges)
        + "".join(parts)
        + "</svg>\n"
    )


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
        edges += [f'<path class="link" d="M{x:.1f} {y}L{to_x:.1f} {to_y}"/>' for to_x, to_y in sorted(ends)]
    return edges
