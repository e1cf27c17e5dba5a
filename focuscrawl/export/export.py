"""An export: a selection of a crawl's pages, written in one format. `scrapy export` is a thin command around it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from focuscrawl.errors import FocusError, suggest
from focuscrawl.export import chunks, graph, lines, parquet, texts, wacz, warc, where
from focuscrawl.export.card import card, facts_of
from focuscrawl.export.output import check_place, whole
from focuscrawl.export.records import record_of
from focuscrawl.export.warc_file import write_fetched
from focuscrawl.store.exports import ExportedPage
from focuscrawl.store.places import read_crawl
from focuscrawl.store.store import Store

T = TypeVar("T")

#: The formats, and the ending of a file of each; a folder has none.
FORMATS = {
    "jsonl": ".jsonl",
    "csv": ".csv",
    "text": ".txt",
    "parquet": "",
    "chunks": ".chunks.jsonl",
    "edges": ".edges.tsv",
    "graphml": ".graphml",
    "graph": "",
    "warc": ".warc.gz",
    "wacz": ".wacz",
}
#: Those that are folders.
FOLDERS = {"parquet": "export-parquet", "graph": "export-graph"}
_GRAPHS = ("edges", "graphml", "graph")
_ARCHIVES = ("warc", "wacz")
#: Those that cannot be written to standard output.
_NEED_A_FILE = ("parquet", "graph", "wacz")

#: Called with the number of pages to come, and then with 1 for each; for a bar.
Progress = Callable[[Iterable[T], int], Iterable[T]]


@dataclass
class Export:
    """What to export, and how."""

    format: str
    where: list[str] = field(default_factory=list)
    dedupe: bool = False
    text: str = "fast"
    #: Graphs: by page or by host, and whether links to what was not fetched are in them.
    by: str = "page"
    unfetched: bool = False
    #: Parquet: rows of a file. Chunks: characters of one.
    rows: int = parquet.SHARD
    chunk: int = chunks.SIZE
    force: bool = False
    workers: int | None = None
    #: WARC and WACZ: from pages.warc.gz, what the crawl has sent and received.
    fetched: bool = False

    def check(self) -> None:
        """Refuse what cannot be done, before anything is read."""
        if self.format not in FORMATS:
            hint = suggest(self.format, FORMATS) or f"known formats: {', '.join(FORMATS)}"
            raise FocusError(f"--to {self.format}: unknown format; {hint}")
        if self.text not in texts.KINDS:
            hint = suggest(self.text, texts.KINDS) or f"expected {', '.join(texts.KINDS)}"
            raise FocusError(f"--text {self.text}: unknown; {hint}")
        if self.by not in ("page", "host"):
            raise FocusError(f"--by {self.by}: expected page or host")
        if self.rows < 1:
            raise FocusError(f"--rows {self.rows}: expected a whole number, at least 1")
        if not chunks.LEAST <= self.chunk <= chunks.MOST:
            raise FocusError(f"--chunk {self.chunk}: expected a number from {chunks.LEAST} to {chunks.MOST:,}")
        if self.text == "none" and self.format in ("text", "chunks"):
            raise FocusError(f"--to {self.format} is nothing without texts; give --text best, fast or all")
        if self.format in ("parquet", "graph"):
            parquet.check_pyarrow()
        if self.format not in (*_GRAPHS, *_ARCHIVES):
            texts.check_kind(self.text)
        if self.fetched and self.format not in _ARCHIVES:
            raise FocusError(f"--fetched is for --to {' and '.join(_ARCHIVES)}")
        self.conditions = where.parse(self.where)

    def default_place(self, folder: Path) -> Path:
        """Where the output goes unless it is told: beside the crawl."""
        return folder / FOLDERS.get(self.format, f"export{FORMATS[self.format]}")

    def run(self, folder: Path, place: Path | None, progress: Progress[Any]) -> int:
        """Export a crawl to a *place*, or standard output if it is None; returns the number of pages."""
        self.check()
        if place is None and self.format in _NEED_A_FILE:
            raise FocusError(f"--to {self.format} cannot be written to standard output; name a file or folder")
        if place is not None:  # before anything is read
            check_place(place, folder=self.format in FOLDERS, force=self.force)
        with read_crawl(folder, check=False) as store:
            pages = store.exports.select(self.conditions, unreadable=self.format in _ARCHIVES, dedupe=self.dedupe)
            self._write(store, place, pages, progress)
        return pages

    def _write(self, store: Store, place: Path | None, pages: int, progress: Progress[Any]) -> None:
        if self.format in FOLDERS:
            assert place is not None
            with whole(place, folder=True, force=self.force) as new:
                if self.format == "graph":
                    graph.write_graph_parquet(self._graph(store), new)
                else:
                    self.write_parquet(store, new, pages, progress)
        elif self.format == "wacz":
            assert place is not None
            with whole(place, force=self.force) as new:
                wacz.write_wacz(store, self._own(store, pages, progress), new, fetched=self._archive(store))
        else:
            with _stream(place, force=self.force) as file:
                self._write_stream(store, file, pages, progress)

    def _write_stream(self, store: Store, file: BinaryIO, pages: int, progress: Progress[Any]) -> None:
        if self.format == "warc":
            if (archive := self._archive(store)) is not None:
                write_fetched(store, archive, file)
            else:
                warc.write_stored(store, self._own(store, pages, progress), file)
        elif self.format == "edges":
            graph.write_edges(self._graph(store), file)
        elif self.format == "graphml":
            graph.write_graphml(self._graph(store), file)
        elif self.format == "chunks":
            lines.write_jsonl(chunks.chunks_of(self.records(store, pages, progress), self.chunk), file)
        else:
            write = {"jsonl": lines.write_jsonl, "csv": lines.write_csv, "text": lines.write_text}[self.format]
            write(self.records(store, pages, progress), file)

    def write_parquet(self, store: Store, folder: Path, pages: int, progress: Progress[Any]) -> None:
        """Write the selected pages as Parquet with a card into a folder."""
        (folder / "data").mkdir()
        facts = facts_of(store, pages, self.where, self.dedupe, self.text)
        parquet.write_shards(self.records(store, pages, progress), folder / "data", rows=self.rows)
        (folder / "README.md").write_text(card(facts, "data/*.parquet"), encoding="utf-8")

    def records(self, store: Store, pages: int, progress: Progress[Any]) -> Iterator[dict[str, Any]]:
        """The records of the selected pages."""
        stored = store.exports.pages(bodies="none" if self.text == "none" else "shared")
        read = texts.read_texts(stored, self.text, workers=self.workers)
        return (record_of(page, reading) for page, reading in progress(read, pages))

    def _own(self, store: Store, pages: int, progress: Progress[Any]) -> Iterable[ExportedPage]:
        return progress(store.exports.pages(bodies="none" if self.fetched else "own"), pages)

    def _archive(self, store: Store) -> Path | None:
        """The archive that the crawl has written, if it is to be used."""
        path = store.path.parent / "pages.warc.gz"
        if self.fetched and not path.is_file():
            raise FocusError(f"{path}: no such file; crawl with -s FOCUS_WARC=yes, or leave out --fetched")
        return path if self.fetched else None

    def _graph(self, store: Store) -> graph.Graph:
        return graph.Graph(store.exports, self.by, unfetched=self.unfetched)


@contextmanager
def _stream(place: Path | None, *, force: bool) -> Iterator[BinaryIO]:
    if place is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with whole(place, force=force) as new, new.open("wb") as file:
            yield file
