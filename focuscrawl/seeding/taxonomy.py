"""A topic from a node of a web directory: its pages are examples, and those of its siblings are counterexamples.

Paper: S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and
Accelerated Focused Crawlers", IJCA 117(8), 2015, which takes its topics from the DMOZ directory. A directory is a dump
in DMOZ's RDF, a table with a line per page, or a folder of folders with example pages. Dumps are read as a stream and
may be larger than memory.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BufferedIOBase
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import NamedTuple

from lxml import etree

from focuscrawl import urls
from focuscrawl.errors import FocusError, suggest

#: Pages kept of a node and of each of its siblings; from more, this many are drawn at random.
MOST = 5_000
#: Siblings whose pages are kept.
MOST_SIBLINGS = 1_000
#: Bytes in a line of a table, and characters of a title or description.
MAX_LINE = 1 << 20
_MAX_TEXT = 10_000
#: A longer URL is not requested in a crawl.
_MAX_URL = 2083
#: Pages whose texts describe a node that has no description of its own, and the length of that description.
_DESCRIBING = 20
_DESCRIPTION = 1_000
#: The file with the description of a node, in a folder of folders.
DESCRIPTION_FILE = "description.txt"
_PAGES = (".html", ".htm", ".xhtml", ".txt")
_TABLES = (".tsv", ".tab")
_RDF = (".rdf", ".u8", ".xml")
_PIECE = 1 << 18
_TAG = re.compile(r"<[^<>]*>")


class Entry(NamedTuple):
    """A page of a category and what the editors say about it; without a page, the description of the category."""

    category: str
    #: URL, or path of a file.
    page: str
    text: str = ""


@dataclass
class Node:
    """A node of a taxonomy: its description, the pages below it, and pages of its siblings. The order is random."""

    description: str
    pages: list[str]
    #: Of each sibling in turn, so that the first ones are of all siblings.
    others: list[str]
    #: Entries below the node and its siblings that have no usable URL.
    skipped: int


def node_name(node: str) -> str:
    """The name of a node: the last step of its path."""
    return node.strip("/").rpartition("/")[2].replace("_", " ").strip()


def read_node(source: Path, node: str) -> Node:
    """Read a node of a taxonomy, with its siblings; the same pages are drawn every time."""
    steps = node.strip("/").split("/")
    if not all(step.strip() for step in steps) or {".", ".."} & set(steps):
        raise FocusError(f"--node '{node}': expected the path of a node, such as Top/Recreation/Food_Service")
    path = "/".join(steps)
    found = _Found(path)
    for entry in _entries(source, steps[:-1]):
        found.add(entry)
    if not found.pages.kept:
        hint = suggest(path, found.siblings, "'{}'") or (
            f"nodes beside it: {', '.join(sorted(found.siblings)[:5])}" if found.siblings else "write its whole path"
        )
        raise FocusError(f"taxonomy {source}: node '{path}' has no pages; {hint}")
    if not found.siblings:
        raise FocusError(
            f"taxonomy {source}: node '{path}' has no siblings with pages, which serve as counterexamples; choose"
            " another node"
        )
    return found.node()


# ---- the node among its entries


@dataclass
class _Sample:
    """At most MOST pages, each with the same chance: reservoir sampling."""

    chance: Random
    seen: int = 0
    kept: list[Entry] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        self.seen += 1
        if len(self.kept) < MOST:
            self.kept.append(entry)
        elif (place := self.chance.randrange(self.seen)) < MOST:
            self.kept[place] = entry

    def drawn(self) -> list[Entry]:
        """The pages, in random order."""
        return self.chance.sample(self.kept, len(self.kept))


class _Found:
    """Gathers the pages of a node and of its siblings."""

    def __init__(self, path: str) -> None:
        self.path = path
        parent, _, self.last = path.rpartition("/")
        #: What the paths of its siblings begin with.
        self.beside = f"{parent}/" if parent else ""
        self.description = ""
        self.pages = _Sample(Random(path))  # noqa: S311
        self.siblings: dict[str, _Sample] = {}
        self.skipped = 0

    def add(self, entry: Entry) -> None:
        category = entry.category
        if not category.startswith(self.beside):
            return
        step = category[len(self.beside) :].partition("/")[0]
        if not entry.page:
            if category == self.path:
                self.description = self.description or entry.text
        elif not _usable(entry.page):
            self.skipped += bool(step)
        elif step == self.last:
            self.pages.add(entry)
        elif step:
            sibling = self.beside + step
            if sibling not in self.siblings and len(self.siblings) < MOST_SIBLINGS:
                self.siblings[sibling] = _Sample(Random(sibling))  # noqa: S311
            if sibling in self.siblings:
                self.siblings[sibling].add(entry)

    def node(self) -> Node:
        drawn = self.pages.drawn()
        pages = _unique(entry.page for entry in drawn)
        turns = zip_longest(*(self.siblings[name].drawn() for name in sorted(self.siblings)))
        others = _unique(entry.page for entry in chain.from_iterable(turns) if entry is not None)
        described = self.description or " ".join(entry.text for entry in drawn[:_DESCRIBING])
        return Node(
            " ".join(_TAG.sub(" ", described).split())[:_DESCRIPTION],
            list(pages.values()),
            [page for key, page in others.items() if key not in pages],
            self.skipped,
        )


def _usable(page: str) -> bool:
    if "://" not in page:
        return True
    try:
        return len(page) <= _MAX_URL and not urls.is_binary(urls.check(page))
    except ValueError:
        return False


def _unique(pages: Iterator[str]) -> dict[object, str]:
    """Pages by their duplicate key, without duplicates."""
    found: dict[object, str] = {}
    for page in pages:
        found.setdefault(urls.key(page) if "://" in page else page, page)
    return found


# ---- the three kinds of taxonomy


def _entries(source: Path, parent: list[str]) -> Iterator[Entry]:
    """The entries of a taxonomy; of a folder, only those below the *parent* of the node."""
    try:
        yield from _folder(source, parent) if source.is_dir() else _file(source)
    except FileNotFoundError:
        raise FocusError(f"taxonomy {source}: no such file or folder") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:  # also of gzip
        raise FocusError(f"taxonomy {source}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _file(source: Path) -> Iterator[Entry]:
    suffixes = [suffix.lower() for suffix in source.suffixes]
    packed = suffixes[-1:] == [".gz"]
    kind = (suffixes[:-1] if packed else suffixes)[-1:]
    if not kind or kind[0] not in (*_TABLES, *_RDF):
        raise FocusError(
            f"taxonomy {source}: expected a folder, or a file that ends in {', '.join((*_TABLES, *_RDF))}, or one of"
            " these and .gz"
        )
    with gzip.open(source, "rb") if packed else source.open("rb") as file:
        yield from (_table if kind[0] in _TABLES else _rdf)(source, file)


def _folder(root: Path, parent: list[str]) -> Iterator[Entry]:
    for folder, below, files in os.walk(root.joinpath(*parent)):
        below.sort()
        category = "/".join(Path(folder).relative_to(root).parts)
        for name in sorted(files):
            path = Path(folder, name)
            if name == DESCRIPTION_FILE:
                yield Entry(category, "", path.read_text("utf-8", "replace")[:_MAX_TEXT])
            elif path.suffix.lower() in _PAGES and not name.startswith("."):
                yield Entry(category, str(path))


def _table(source: Path, file: BufferedIOBase) -> Iterator[Entry]:
    """A line per page: category, URL and, if there are any, title and description, separated by tabs."""
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
        if len(line) > MAX_LINE:
            raise FocusError(f"taxonomy {source}, line {number}: longer than {MAX_LINE:,} bytes")
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        category, tab, rest = text.partition("\t")
        if not tab:
            raise FocusError(
                f"taxonomy {source}, line {number}: no tab in it; expected category, URL, title and description,"
                " separated by tabs"
            )
        page, *texts = rest.split("\t")
        if "://" in page:  # otherwise it is the head of the table
            yield Entry(category.strip().strip("/"), page.strip(), " ".join(texts)[:_MAX_TEXT])


def _rdf(source: Path, file: BufferedIOBase) -> Iterator[Entry]:
    """DMOZ's RDF: `<ExternalPage about=URL>` with its `<topic>`; `<Topic r:id=…>` may have a description."""
    target = _Rdf(source)
    parser = etree.XMLParser(
        target=target,  # type: ignore[arg-type]
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
    )
    try:
        while piece := file.read(_PIECE):
            parser.feed(piece)
            yield from target.take()
        parser.close()
    except etree.LxmlError as error:
        raise FocusError(f"taxonomy {source}: not valid XML: {error}") from None
    yield from target.take()
    if not target.seen:
        raise FocusError(f"taxonomy {source}: no <ExternalPage> in it; is it a content.rdf of DMOZ?")


class _Rdf:
    """Receives the parser's events. No tree is built, so memory does not grow with the file."""

    _TEXTS = ("title", "description", "topic")

    def __init__(self, source: Path) -> None:
        self.source = source
        self.seen = False
        self._ready: list[Entry] = []
        #: The page or topic that is being read, its texts, and the text that is being read.
        self._kind = self._about = ""
        self._texts: dict[str, str] = {}
        self._name = ""
        self._parts: list[str] = []
        self._length = 0

    def take(self) -> list[Entry]:
        """The entries that are complete."""
        ready, self._ready = self._ready, []
        return ready

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        # a dump has none; without one, there are no entities to expand or to fetch
        raise FocusError(f"taxonomy {self.source}: has a document type declaration; a dump of DMOZ has none")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = _local(tag)
        if name in ("externalpage", "topic") and (about := _about(attributes)):
            self._kind, self._about, self._texts = name, about, {}
        elif self._kind and name in self._TEXTS:
            self._name, self._parts, self._length = name, [], 0

    def data(self, text: str) -> None:
        if self._name and self._length < _MAX_TEXT:
            self._parts.append(text[: _MAX_TEXT - self._length])
            self._length += len(text)

    def end(self, tag: str) -> None:
        name = _local(tag)
        if self._name == name:
            self._texts[name] = " ".join("".join(self._parts).split())
            self._name = ""
        elif self._kind == name:
            texts = self._texts
            if name == "topic":
                self._ready.append(Entry(self._about.strip("/"), "", texts.get("description", "")))
            else:
                self.seen = True
                text = " ".join(texts[key] for key in ("title", "description") if key in texts)
                self._ready.append(Entry(texts.get("topic", "").strip("/"), self._about.strip(), text))
            self._kind = ""

    def close(self) -> None:
        pass


def _local(tag: str) -> str:
    """The name of a tag or attribute in lower case, without its namespace."""
    return tag.rpartition("}")[2].rpartition(":")[2].lower()


def _about(attributes: Mapping[str, str]) -> str:
    return next((value for name, value in attributes.items() if _local(name) in ("about", "id")), "")
