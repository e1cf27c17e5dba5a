"""The T-Graph: the surroundings of links that lead to targets, and how many downloads away the targets are.

A node is a paragraph or list with links on a known page: ISH, the heading of its section; SH, the heading of the
section around that; MH, the main heading of the page; DC, the text around the links; DIC, the destinations, each with
the least number of downloads to a target. A node points to the nodes on its destinations, on any lower level.

A link is compared with all nodes: sim_X is the cosine of stemmed term frequencies for X in ISH, SH, MH and DC; OSM is
their mean. The headings of all sections around the link's own are compared with SH, and the most similar one counts.
The main heading is not a section's: it would count twice.

By the rule of the paper, nodes with an OSM of at least `MATCH` match, and the link's priority is 1 / (least distance
among them), or 1 / (levels + 1) if none does. Almost every link matches some node that is one download away, so almost
all get priority 1. By the rule `neighbours`, the most similar nodes decide: the priority is the mean of 1 / distance
over them, weighted by the square of their OSM. From: "A focused crawler combinatory link and content model based on
T-Graph principles".
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from focuscrawl import urls, words
from focuscrawl.console.program import program
from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.page import Link, Page
from focuscrawl.reading.documents import read_page
from focuscrawl.store.store import Store
from focuscrawl.strategies.graph import LinkGraph

#: Minimum OSM of a matching node.
MATCH = 0.05
#: Maximum number of nodes, in total and per page.
SIZE, PER_PAGE = 1000, 5
#: Maximum distance of a node from a target, in downloads.
LEVELS = 4
#: How a link's priority follows from its similarity to the nodes.
RULES = NEIGHBOURS, PAPER = "neighbours", "paper"
#: By the rule `neighbours`, so many nodes decide, and one that is as similar as this and leads nowhere.
COUNT, DOUBT = 10, 0.2

#: The language of a node in a file that does not say.
ENGLISH = "en"
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
    #: The language of its page.
    language: str = ENGLISH

    @property
    def distance(self) -> int:
        """The least number of downloads to a target."""
        return min(self.dic.values())

    @cached_property
    def stems(self) -> tuple[tuple[str, ...], ...]:
        """The stems of ISH, SH, MH and DC, which never change."""
        return tuple(words.stems_of(text, self.language) for text in (self.ish, self.sh, self.mh, self.dc))


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
    return Node(page, first.subheading, first.heading, first.main_heading, text, born=born, language=first.language)


class _Surroundings(NamedTuple):
    """What is compared of a link: the headings around it, the main heading, and the text around it; all as stems."""

    headings: tuple[tuple[str, ...], ...]
    main: tuple[str, ...]
    text: tuple[str, ...]


def _surroundings(links: Sequence[Link]) -> tuple[list[_Surroundings], list[int]]:
    """The different surroundings of links, and which of them each link has: links of a paragraph have the same."""
    row_of: dict[tuple[Any, ...], int] = {}
    found: list[_Surroundings] = []
    rows = []
    for link in links:
        page, boundary, headings, language = link.page, link.boundary, tuple(link.headings), link.language
        key = id(page), headings, boundary or link.anchor, language
        if key not in row_of:
            row_of[key] = len(found)
            if page is None or not boundary:
                text = words.stems_of(link.anchor, language)
            else:
                begin, end = page.block_offsets[boundary.start], page.block_offsets[boundary.stop]
                text = tuple(words.stems(page.all_words[begin:end], language))
            around = tuple(words.stems_of(heading, language) for heading in headings)
            found.append(_Surroundings(around, words.stems_of(link.main_heading, language), text))
        rows.append(row_of[key])
    return found, rows


class _Field:
    """One of the four texts of all nodes, as vectors of term frequencies of length 1."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._column_of: dict[str, int] = {}
        for stems in texts:
            for stem in stems:
                self._column_of.setdefault(stem, len(self._column_of))
        self._nodes = self._rows(texts).T.tocsr()

    def similarity(self, texts: Sequence[Sequence[str]]) -> Any:
        """The cosine of each text (row) with each node (column)."""
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        cosines = (self._rows(list(distinct)) @ self._nodes).toarray()
        return cosines[[distinct[text] for text in texts]]

    def best(self, texts: Sequence[Sequence[Sequence[str]]]) -> Any:
        """The cosine of the most similar of several texts (row) with each node (column); 0 if there are none."""
        flat = [text for several in texts for text in several]
        result = np.zeros((len(texts), self._nodes.shape[1]), dtype=np.float32)
        if flat:
            cosines = self.similarity(flat)
            start = 0
            for row, several in enumerate(texts):
                if several:
                    result[row] = cosines[start : start + len(several)].max(axis=0)
                    start += len(several)
        return result

    def _rows(self, texts: Sequence[Sequence[str]]) -> Any:
        """Term frequencies, one row per text. Words that no node has only count towards the length."""
        from scipy.sparse import csr_matrix

        column_of = self._column_of.get
        starts, columns, lengths = [0], list[int](), list[float]()
        for stems in texts:
            lengths.append(sum([count * count for count in Counter(stems).values()]) ** 0.5 or 1.0)
            # repeated words are repeated here; the matrix adds them up
            columns += [column for stem in stems if (column := column_of(stem)) is not None]
            starts.append(len(columns))
        weights = np.repeat(1 / np.array(lengths, dtype=np.float32), np.diff(starts))
        shape = len(starts) - 1, len(self._column_of)
        return csr_matrix((weights, np.array(columns, dtype=np.int32), starts), shape=shape)


class TGraph:
    """A T-Graph and its comparison with links."""

    def __init__(self, topic: str, nodes: Iterable[Node] = ()) -> None:
        self.topic = topic
        self.nodes = [node for node in nodes if node.dic]
        #: ISH, SH, MH and DC of all nodes, built at the first comparison.
        self._fields: Any = None
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
        return self._changed(before)

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
        self._distances = None

    def prune(self, gone: set[int], pages: int, patience: int) -> int:
        """Drop dead nodes: all destinations are gone (URL keys), or no match within *patience* pages."""
        before = len(self.nodes)
        for node in self.nodes:
            node.dic = {url: downloads for url, downloads in node.dic.items() if urls.key(url) not in gone}
        self.nodes = [node for node in self.nodes if node.dic and (node.matched or pages - node.born < patience)]
        return -self._changed(before)

    def _changed(self, before: int) -> int:
        """How many nodes there are more than *before*; what was computed from the nodes no longer holds."""
        self._distances = None
        if len(self.nodes) != before:
            self._fields = None
        return len(self.nodes) - before

    # ---- comparing

    def osm(self, links: Sequence[Link]) -> Any:
        """The overall similarity of each link (row) with each node (column)."""
        surroundings, rows = _surroundings(links)
        return self._osm(surroundings)[rows]

    def _osm(self, surroundings: Sequence[_Surroundings]) -> Any:
        if self._fields is None:
            self._fields = [_Field(texts) for texts in zip(*[node.stems for node in self.nodes], strict=True)]
        ish, sh, mh, dc = self._fields
        total = ish.similarity([one.headings[0] if one.headings else () for one in surroundings])
        total += sh.best([one.headings[1:] for one in surroundings])
        total += mh.similarity([one.main for one in surroundings])
        total += dc.similarity([one.text for one in surroundings])
        return total / np.float32(4)

    def match(self, links: Sequence[Link], threshold: float = MATCH, rule: str = NEIGHBOURS) -> list[Match]:
        """The priority of each link, by one of `RULES`."""
        if not links:
            return []
        if not self.nodes:
            return [Match(1.0, 0.0)] * len(links)
        if self._distances is None:
            self._distances = np.array([node.distance for node in self.nodes], dtype=np.float32)
        surroundings, rows = _surroundings(links)
        similarity = self._osm(surroundings)
        nearest = similarity.argmax(axis=1)
        if rule == PAPER:
            distances = np.where(similarity >= threshold, self._distances, np.float32(np.inf))
            least = distances.min(axis=1)
            nearest = np.where(distances == least[:, None], similarity, np.float32(-1)).argmax(axis=1)
            priorities = 1 / np.where(least < np.inf, least, self._distances.max() + 1).astype(float)
        else:
            priorities = self._by_neighbours(similarity)
        found = []
        for row, (priority, node) in enumerate(zip(priorities.tolist(), nearest.tolist(), strict=True)):
            osm = float(similarity[row, node])
            found.append(Match(priority, osm, node) if osm >= threshold else Match(priority, 0.0))
        result = [found[row] for row in rows]
        for match in result:
            if match.node >= 0:
                self.nodes[match.node].matched += 1
        return result

    def _by_neighbours(self, similarity: Any) -> Any:
        """For each link the mean of 1 / distance over the most similar nodes, weighted by similarity squared."""
        count = min(COUNT, len(self.nodes))
        neighbours = np.argpartition(-similarity, count - 1, axis=1)[:, :count]
        weights = np.take_along_axis(similarity, neighbours, axis=1) ** 2
        closeness = (weights / self._distances[neighbours]).sum(axis=1)
        unknown = DOUBT**2
        return (closeness + unknown / (self._distances.max() + 1)) / (weights.sum(axis=1) + unknown)

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
            texts = [node.page, node.ish, node.sh, node.mh, node.dc, node.language, *node.dic]
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
            raise FocusError(f"{path} is not a T-Graph; build one with `{program()} tgraph build`") from None


def top_down(topic: str, pages: Sequence[Page], targets: Iterable[str], levels: int = LEVELS) -> TGraph:
    """The T-Graph of interlinked pages: first a node per paragraph or list with links, then the distances.

    Only links to these pages or to targets are destinations; the distances of other links are unknown.
    """
    wanted = list(targets)
    known = {urls.key(url) for url in (*wanted, *(page.url for page in pages))}
    graph = TGraph(topic)
    for page in pages:
        for links in _paragraphs(page):
            node = node_of(links, page.url)
            node.dic = {link.url: levels + 1 for link in links if urls.key(link.url) in known and link.url != page.url}
            if node.dic:
                graph.nodes.append(node)
    graph.measure_again(wanted)
    graph.nodes = [node for node in graph.nodes if node.distance <= levels]
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
                body = store.pages.body(url) or b""
                result.extend(_nodes_of(read_page(Page(url), body), key_distance, levels), size)
    return result


class Ascent:
    """Builds a T-Graph bottom-up, level by level, from the pages that link to the targets, and those that link to them.

    `wanted` says which pages to read next, `add` takes them.
    """

    def __init__(self, topic: str, targets: Sequence[str], levels: int = LEVELS, size: int = SIZE) -> None:
        self.graph = TGraph(topic)
        self.levels = levels
        self.size = size
        self._distances = {urls.key(url): 0 for url in targets}
        #: The URLs of the last level, and those found for the next.
        self._level, self._next = list(targets), list[str]()
        #: The level whose pages are being added.
        self._height = 0
        #: The URLs that were wanted before.
        self._wanted = set(self._distances)

    def wanted(self, parents_of: Callable[[str], list[str]]) -> list[str]:
        """The pages of the next level; none if there are enough levels or nodes."""
        if self._height:
            self._level, self._next = self._next, []
        self._height += 1
        if self._height > self.levels or self.is_full:
            return []
        new: dict[int, str] = {}
        for url in self._level:
            if len(new) + len(self.graph.nodes) >= self.size:  # enough for all nodes, if each page has one
                break
            for parent in parents_of(url):
                if (key := urls.key(parent)) not in self._wanted:
                    new[key] = parent
        self._wanted |= new.keys()
        return list(new.values())

    @property
    def is_full(self) -> bool:
        """Whether there are as many nodes as there may be."""
        return len(self.graph.nodes) >= self.size

    def add(self, page: Page) -> None:
        """Add the nodes of a page, if it really links to a page that is known."""
        nodes = _nodes_of(page, self._distances, self.levels)
        if nodes:
            self.graph.extend(nodes, self.size)
            self._distances.setdefault(urls.key(page.url), nodes[0].distance)
            self._next.append(page.url)


def _nodes_of(page: Page, key_distance: Mapping[int, int], levels: int) -> list[Node]:
    """The nodes of a page that are nearest to a target."""
    nodes = []
    for links in _paragraphs(page):
        node = node_of(links, page.url)
        for link in links:
            distance = key_distance.get(urls.key(link.url))
            if distance is not None and distance < levels and link.url != page.url:
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
