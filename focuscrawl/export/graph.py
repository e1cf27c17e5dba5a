"""The graph of links, by page or by host: as a list of edges, as GraphML, or as two Parquet files.

Several links from one page to another are one edge; `links` says how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape, quoteattr

from focuscrawl.export.parquet import Table
from focuscrawl.export.records import Column, clean
from focuscrawl.store.exports import ExportedLink, Exports

#: What XML cannot contain.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACE = re.compile(r"[\t\r\n]")

_PAGE_NODES = [
    Column("id", "string", "URL"),
    Column("label", "string", "title"),
    Column("relevance", "float", "relevance"),
    Column("matched", "boolean", "whether it matches"),
    Column("depth", "integer", "links from a seed"),
    Column("language", "string", "language"),
    Column("fetched", "boolean", "whether it is one of the exported pages"),
]
_HOST_NODES = [
    Column("id", "string", "host"),
    Column("label", "string", "host"),
    Column("pages", "integer", "exported pages"),
    Column("matched", "integer", "how many of them match"),
    Column("relevance", "float", "mean relevance of them"),
]
_PAGE_EDGES = [
    Column("source", "string", "URL of the page"),
    Column("target", "string", "URL of the linked page"),
    Column("links", "integer", "links from one to the other"),
    Column("score", "float", "the best score of these links"),
    Column("nofollow", "boolean", "whether all of them are nofollow"),
    Column("anchor", "string", "text of the first link that has any"),
]
_HOST_EDGES = [
    Column("source", "string", "host of the pages"),
    Column("target", "string", "host of the linked pages"),
    Column("links", "integer", "links from one to the other"),
    Column("relevance", "float", "mean relevance of the linked pages"),
]


class Graph:
    """The graph of the selected pages, or of their hosts; with *unfetched*, also of what was not fetched."""

    def __init__(self, exports: Exports, by: str = "page", *, unfetched: bool = False) -> None:
        self._exports = exports
        self._by_host = by == "host"
        self._unfetched = unfetched
        self.node_columns = _HOST_NODES if self._by_host else _PAGE_NODES
        self.edge_columns = _HOST_EDGES if self._by_host else _PAGE_EDGES

    def nodes(self) -> Iterator[dict[str, Any]]:
        """The nodes; each once."""
        rows = self._host_nodes() if self._by_host else self._page_nodes()
        names = [column.name for column in self.node_columns]
        return (dict(zip(names, map(_clean, row), strict=True)) for row in rows)

    def edges(self) -> Iterator[dict[str, Any]]:
        """The edges; each pair of nodes once."""
        rows = self._host_edges() if self._by_host else self._page_edges()
        names = [column.name for column in self.edge_columns]
        return (dict(zip(names, map(_clean, row), strict=True)) for row in rows)

    def _page_nodes(self) -> Iterator[tuple[object, ...]]:
        for node in self._exports.nodes():
            yield node.url, node.title, node.relevance, bool(node.matched), node.depth, node.language or None, True
        if self._unfetched:
            for url in self._exports.unfetched():
                yield url, "", None, False, None, None, False

    def _page_edges(self) -> Iterator[tuple[object, ...]]:
        for _, links in groupby(self._exports.links(unfetched=self._unfetched), key=lambda link: link.source):
            yield from _merged(links)

    def _host_nodes(self) -> Iterator[tuple[object, ...]]:
        known = set()
        for node in self._exports.host_nodes():
            known.add(node.host)
            yield node.host, node.host, node.pages, node.matched, node.relevance
        if self._unfetched:
            for edge in self._exports.host_links(unfetched=True):
                if edge.target not in known:
                    known.add(edge.target)
                    yield edge.target, edge.target, 0, 0, None

    def _host_edges(self) -> Iterator[tuple[object, ...]]:
        return iter(self._exports.host_links(unfetched=self._unfetched))


def _merged(links: Iterable[ExportedLink]) -> Iterator[tuple[object, ...]]:
    """The edges of one page: its links by target, in the order of the first."""
    found: dict[str, list[Any]] = {}
    source = ""
    for link in links:
        source = link.source_url
        edge = found.setdefault(link.target_url, [0, None, True, ""])
        edge[0] += 1
        if link.score is not None:
            edge[1] = link.score if edge[1] is None else max(edge[1], link.score)
        edge[2] = edge[2] and bool(link.nofollow)
        edge[3] = edge[3] or link.anchor
    return ((source, target, *edge) for target, edge in found.items())


def _clean(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


def write_edges(graph: Graph, file: BinaryIO) -> None:
    """Write the edges as a table with tabs, with a header that Gephi knows; `links` is the weight."""
    names = ["Weight" if column.name == "links" else column.name.capitalize() for column in graph.edge_columns]
    file.write(("\t".join(names) + "\n").encode())
    for edge in graph.edges():
        cells = (_SPACE.sub(" ", "" if value is None else str(value)) for value in edge.values())
        file.write(("\t".join(cells) + "\n").encode("utf-8", "replace"))


def write_graphml(graph: Graph, file: BinaryIO) -> None:
    """Write nodes and edges as GraphML."""
    out = _Xml(file)
    out('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    types = {"string": "string", "float": "double", "integer": "long", "boolean": "boolean"}
    for whose, columns, first in (("node", graph.node_columns, 1), ("edge", graph.edge_columns, 2)):
        for column in columns[first:]:
            name = "weight" if column.name == "links" else column.name
            out(
                f'<key id="{whose}-{column.name}" for="{whose}" attr.name="{name}" attr.type="{types[column.kind]}"/>\n'
            )
    out('<graph edgedefault="directed">\n')
    for node in graph.nodes():
        out(f"<node id={quoteattr(_xml(node.pop('id')))}>{_data('node', node)}</node>\n")
    for edge in graph.edges():
        ends = f"source={quoteattr(_xml(edge.pop('source')))} target={quoteattr(_xml(edge.pop('target')))}"
        out(f"<edge {ends}>{_data('edge', edge)}</edge>\n")
    out("</graph>\n</graphml>\n")


class _Xml:
    """Writes text as UTF-8."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __call__(self, text: str) -> None:
        self._file.write(text.encode("utf-8", "replace"))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _data(whose: str, values: Mapping[str, object]) -> str:
    return "".join(
        f'<data key="{whose}-{name}">{_value(value)}</data>' for name, value in values.items() if value is not None
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(_xml(str(value)))


def write_graph_parquet(graph: Graph, folder: Path) -> None:
    """Write `nodes.parquet` and `edges.parquet` into a folder."""
    for name, columns, rows in (
        ("nodes", graph.node_columns, graph.nodes()),
        ("edges", graph.edge_columns, graph.edges()),
    ):
        table = Table(folder / f"{name}.parquet", columns)
        try:
            for row in rows:
                table.add(row)
        finally:
            table.close()
