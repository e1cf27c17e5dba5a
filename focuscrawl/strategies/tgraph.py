"""The T-Graph: the surroundings of links that lead to targets, and how many downloads away the targets are.

A node is a paragraph or list with links on a known page: ISH, the nearest sub-heading; SH, the heading above it; MH,
the main heading; DC, the text around the links; DIC, the destinations, each with the least number of downloads to a
target. A node points to the nodes on its destinations, on any lower level.

A link is compared with all nodes: sim_X is the cosine of stemmed term frequencies for X in ISH, SH, MH and DC; OSM is
their mean. Nodes with an OSM of at least `MATCH` match, and the link's priority is 1 / (least distance among them), or
1 / (levels + 1) if none does. From: "A focused crawler combinatory link and content model based on T-Graph principles".
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from focuscrawl import urls, words
from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.html import read_page
from focuscrawl.page import Link, Page
from focuscrawl.store.store import Store
from focuscrawl.strategies.graph import LinkGraph

#: Minimum OSM of a matching node.
MATCH = 0.05
#: Maximum number of nodes, in total and per page.
SIZE, PER_PAGE = 1000, 5
#: Maximum distance of a node from a target, in downloads.
LEVELS = 4

_FIELDS = ("ish", "sh", "mh", "dc")
#: Maximum number of words in DC: a list can be as long as its page.
_WORDS = 200


@dataclass
class Node:
    """A paragraph or list with links."""

    #: The page it is on.
    page: str
    ish: str
    sh: str
    mh: str
    dc: str
    #: By the URL of a destination: the least number of downloads from this node to a target.
    dic: dict[str, int] = field(default_factory=dict)
    #: How many links it has matched, and how many pages the crawl had when the node was created.
    matched: int = 0
    born: int = 0

    @property
    def distance(self) -> int:
        """The least number of downloads to a target."""
        return min(self.dic.values())


class Match(NamedTuple):
    """The result of comparing a link with the T-Graph."""

    priority: float
    #: The similarity of the most similar node at the least distance; 0 if none matches.
    osm: float
    node: int = -1


def node_of(links: Sequence[Link], page: str, born: int = 0) -> Node:
    """The node of the paragraph or list that contains these links."""
    first = links[0]
    text = " ".join(first.block.split()[:_WORDS]) or first.anchor
    return Node(page, first.subheading, first.heading, first.main_heading, text, born=born)


class TGraph:
    """A T-Graph and its comparison with links."""

    def __init__(self, topic: str, nodes: Iterable[Node] = ()) -> None:
        self.topic = topic
        self.nodes = [node for node in nodes if node.dic]
        #: The nodes as columns of a matrix, built at the first comparison; for each field the row of each word.
        self._matrix: Any = None
        self._columns: list[dict[str, int]] = []
        self._width = 0
        self._distances: Any = None

    @property
    def levels(self) -> int:
        """How many downloads away the farthest node is."""
        return max((node.distance for node in self.nodes), default=0)

    def by_level(self) -> dict[int, list[Node]]:
        """The nodes by distance, the nearest first."""
        levels: dict[int, list[Node]] = {}
        for node in sorted(self.nodes, key=lambda node: node.distance):
            levels.setdefault(node.distance, []).append(node)
        return levels

    # ---- growing

    def extend(self, nodes: Iterable[Node], size: int = SIZE) -> int:
        """Add nodes, the nearest first, and merge the destinations of known ones; return the number of new nodes."""
        known = {(node.page, node.ish, node.dc): node for node in self.nodes}
        before = len(self.nodes)
        for node in sorted((node for node in nodes if node.dic), key=lambda node: node.distance):
            same = known.get((node.page, node.ish, node.dc))
            if same is not None:
                for destination, downloads in node.dic.items():
                    same.dic[destination] = min(downloads, same.dic.get(destination, downloads))
            elif len(self.nodes) < size:
                known[node.page, node.ish, node.dc] = node
                self.nodes.append(node)
        self._matrix = None
        return len(self.nodes) - before

    def measure_again(self, targets: Iterable[str]) -> None:
        """Recompute the distances: the least number of downloads to a target, via any node."""
        on_page: dict[int, list[Node]] = {}
        for node in self.nodes:
            on_page.setdefault(urls.key(node.page), []).append(node)
        leads_to: dict[int, list[tuple[Node, str]]] = {}
        for node in self.nodes:
            for destination in node.dic:
                leads_to.setdefault(urls.key(destination), []).append((node, destination))
        distance = dict.fromkeys(map(urls.key, targets), 0)
        queue = deque(distance)
        while queue:
            page = queue.popleft()
            for node, destination in leads_to.get(page, ()):
                node.dic[destination] = min(node.dic[destination], distance[page] + 1)
                source = urls.key(node.page)
                if source not in distance:
                    distance[source] = distance[page] + 1
                    queue.append(source)
        self._matrix = None

    def prune(self, gone: set[int], pages: int, patience: int) -> int:
        """Drop dead nodes: all destinations are gone (URL keys), or no match within *patience* pages."""
        before = len(self.nodes)
        for node in self.nodes:
            node.dic = {url: downloads for url, downloads in node.dic.items() if urls.key(url) not in gone}
        self.nodes = [node for node in self.nodes if node.dic and (node.matched or pages - node.born < patience)]
        self._matrix = None
        return before - len(self.nodes)

    # ---- comparing

    def osm(self, links: Sequence[Link]) -> Any:
        """The overall similarity of each link (row) with each node (column)."""
        if self._matrix is None:
            self._compile()
        texts = [(link.subheading, link.heading, link.main_heading, link.block or link.anchor) for link in links]
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        similarity = (self._rows(distinct) @ self._matrix).toarray()
        return similarity if len(distinct) == len(texts) else similarity[[distinct[text] for text in texts]]

    def match(self, links: Sequence[Link], threshold: float = MATCH) -> list[Match]:
        """The priority of each link."""
        if not links:
            return []
        if not self.nodes:
            return [Match(1.0, 0.0)] * len(links)
        similarity = self.osm(links)
        distances = np.where(similarity >= threshold, self._distances, np.float32(np.inf))
        least = distances.min(axis=1)
        # the most similar of the nearest matching nodes
        best = np.where(distances == least[:, None], similarity, np.float32(-1)).argmax(axis=1)
        none = Match(1 / (float(self._distances.max()) + 1), 0.0)
        result = []
        for row, (distance, node) in enumerate(zip(least.tolist(), best.tolist(), strict=True)):
            if distance == np.inf:
                result.append(none)
            else:
                self.nodes[node].matched += 1
                result.append(Match(1 / distance, float(similarity[row, node]), node))
        return result

    def _compile(self) -> None:
        self._columns = [{} for _ in _FIELDS]
        texts = [tuple(getattr(node, name) for name in _FIELDS) for node in self.nodes]
        column = 0
        for fields in texts:
            for columns, text in zip(self._columns, fields, strict=True):
                for stem in words.stems_of(text):
                    if stem not in columns:
                        columns[stem] = column
                        column += 1
        self._width = column
        self._matrix = self._rows(texts).T.tocsr() / np.float32(len(_FIELDS))
        self._distances = np.array([node.distance for node in self.nodes], dtype=np.float32)

    def _rows(self, texts: Iterable[Sequence[str]]) -> Any:
        """Term frequencies, one row per link or node: the four fields side by side, each normalised to length 1.

        Words that no node has in that field only count towards the length.
        """
        from scipy.sparse import csr_matrix

        known: dict[tuple[int, str], tuple[list[int], float]] = {}
        starts, columns = [0], list[int]()
        counts, weights = list[int](), list[float]()
        for fields in texts:
            for place, text in enumerate(fields):
                found = known.get((place, text))
                if found is None:
                    stems = words.stems_of(text)
                    length = sum([count * count for count in Counter(stems).values()]) ** 0.5 or 1.0
                    column_of = self._columns[place].get
                    found = [column for stem in stems if (column := column_of(stem)) is not None], 1 / length
                    known[place, text] = found
                columns += found[0]  # repeated words are repeated here; the matrix adds them up
                counts.append(len(found[0]))
                weights.append(found[1])
            starts.append(len(columns))
        return csr_matrix(
            (np.repeat(np.array(weights, dtype=np.float32), counts), columns, starts),
            shape=(len(starts) - 1, self._width),
        )

    # ---- as data

    def save(self, path: Path) -> None:
        """Write the T-Graph as JSON, atomically."""
        write_whole(path, json.dumps(self.to_json(), indent=1, ensure_ascii=False))

    def to_json(self) -> dict[str, Any]:
        """The T-Graph as JSON."""
        return {"topic": self.topic, "nodes": [asdict(node) for node in self.nodes]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TGraph:
        """The T-Graph that `to_json` wrote."""
        nodes = [Node(**node) for node in data["nodes"]]
        for node in nodes:
            texts = [node.page, node.ish, node.sh, node.mh, node.dc, *node.dic]
            numbers = [node.matched, node.born, *node.dic.values()]
            if not all(isinstance(text, str) for text in texts) or not all(type(number) is int for number in numbers):
                raise TypeError("a node is malformed")
        return cls(str(data["topic"]), nodes)

    @classmethod
    def load(cls, path: Path) -> TGraph:
        """The T-Graph in a file."""
        try:
            if path.exists() and not path.is_file():
                raise FocusError(f"T-Graph {path} cannot be read: it is not a file")
            return cls.from_json(json.loads(path.read_text("utf-8")))
        except OSError as error:
            raise FocusError(f"T-Graph {path} cannot be read: {error.strerror}") from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise FocusError(f"{path} is not a T-Graph; build one with `scrapy tgraph build`") from None


def top_down(topic: str, pages: Sequence[Page], targets: Iterable[str]) -> TGraph:
    """The T-Graph of interlinked pages: first a node per paragraph or list with links, then the distances.

    Only links to these pages or to targets are destinations; the distances of other links are unknown.
    """
    wanted = list(targets)
    known = {urls.key(url) for url in (*wanted, *(page.url for page in pages))}
    graph = TGraph(topic)
    for page in pages:
        for links in _paragraphs(page):
            node = node_of(links, page.url)
            node.dic = {link.url: LEVELS + 1 for link in links if urls.key(link.url) in known and link.url != page.url}
            if node.dic:
                graph.nodes.append(node)
    graph.measure_again(wanted)
    graph.nodes = [node for node in graph.nodes if node.distance <= LEVELS]
    return graph


def _paragraphs(page: Page) -> list[list[Link]]:
    """The links of a page, grouped by the paragraph or list they are in."""
    found: dict[tuple[str, str], list[Link]] = {}
    for link in page.links:
        found.setdefault((link.subheading, link.block), []).append(link)
    return list(found.values())


def bottom_up(
    topic: str, store: Store, targets: Iterable[str] = (), *, levels: int = LEVELS, size: int = SIZE
) -> TGraph:
    """The T-Graph of an earlier crawl, back along its links from the targets (default: its relevant pages)."""
    graph = LinkGraph(store)
    graph.read()
    distances = back_distances(store, graph, targets, levels)
    key_distance = {
        urls.key(page.url): distances[page.url_id] for page in store.pages.each() if page.url_id in distances
    }
    # take pages from all levels in turn, the most relevant of each level first
    result = TGraph(topic)
    queues: dict[int, list[str]] = {}
    found = [page for page in store.pages.each() if page.problem is None and page.url_id in distances]
    for page in sorted(found, key=lambda page: inf if page.relevance is None else -page.relevance):
        queues.setdefault(distances[page.url_id], []).append(page.url)
    while any(queues.values()) and len(result.nodes) < size:
        for level in sorted(queues):
            if queues[level] and len(result.nodes) < size:
                url = queues[level].pop(0)
                result.extend(_nodes_of(url, store.pages.body(url) or b"", key_distance, levels), size)
    return result


def _nodes_of(url: str, body: bytes, key_distance: Mapping[int, int], levels: int) -> list[Node]:
    """The nodes of a page that are nearest to a target."""
    page = read_page(Page(url), body)
    nodes = []
    for links in _paragraphs(page):
        node = node_of(links, url)
        for link in links:
            distance = key_distance.get(urls.key(link.url))
            if distance is not None and distance < levels and link.url != url:
                node.dic[link.url] = distance + 1
        if node.dic:
            nodes.append(node)
    return sorted(nodes, key=lambda node: node.distance)[:PER_PAGE]


def back_distances(store: Store, graph: LinkGraph, targets: Iterable[str] = (), levels: int = LEVELS) -> dict[int, int]:
    """The number of downloads from the pages of a crawl to a target, by URL id, up to *levels*."""
    wanted = {urls.key(url) for url in targets}
    distances = {
        page.url_id: 0
        for page in store.pages.each()
        if page.problem is None and (urls.key(page.url) in wanted if wanted else page.relevant)
    }
    level = list(distances)
    for distance in range(1, levels + 1):
        level = [node for node in graph.sources_of(level) if node not in distances]
        distances.update(dict.fromkeys(level, distance))
    return distances
