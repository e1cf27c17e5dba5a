"""A release: a folder with a collection that others can use, cite, check and repeat."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from focuscrawl import __version__
from focuscrawl.crawl import clock
from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.export import parquet, texts, where
from focuscrawl.export.card import card, facts_of, quoted
from focuscrawl.export.datasheet import as_markdown, command, datasheet, hash_of, write_seeds, write_topic
from focuscrawl.export.export import Export, Progress
from focuscrawl.export.output import check_place, whole
from focuscrawl.export.records import COLUMNS
from focuscrawl.export.warc_file import write_fetched
from focuscrawl.store.places import read_crawl
from focuscrawl.store.store import Store

SUMS = "SHA256SUMS"
#: Columns that quote a page: not in a release of URLs only.
_TEXTS = ("title", "text", "description", "authors", "site_name")
_SUM = re.compile(r"([0-9a-f]{64})  (\S.{0,1000})")
_MAX_SUMS = 10_000_000


@dataclass
class Release:
    """What to release, and how."""

    where: list[str] = field(default_factory=list)
    dedupe: bool = False
    text: str = "fast"
    urls_only: bool = False
    question: str = ""
    authors: list[str] = field(default_factory=list)
    force: bool = False

    def check(self) -> None:
        """Refuse what cannot be done, before anything is read."""
        if self.text not in texts.KINDS:
            raise FocusError(f"--text {self.text}: expected {', '.join(texts.KINDS)}")
        parquet.check_pyarrow()
        if not self.urls_only:
            texts.check_kind(self.text)
        where.parse(self.where)

    def run(self, folder: Path, place: Path, progress: Progress[Any]) -> int:
        """Write the release of a crawl; returns the number of pages."""
        self.check()
        check_place(place, folder=True, force=self.force)
        with read_crawl(folder, check=False) as store:
            pages = store.exports.select(where.parse(self.where), dedupe=self.dedupe)
            if not pages:
                raise FocusError(f"no page of {folder} is selected; see --where")
            with whole(place, folder=True, force=self.force) as new:
                self._write(store, new, pages, progress)
                write_sums(new)
        return pages

    def _write(self, store: Store, folder: Path, pages: int, progress: Progress[Any]) -> None:
        kind = "none" if self.urls_only else self.text
        facts = facts_of(store, pages, self.where, self.dedupe, kind)
        (folder / "data").mkdir()
        records = Export("parquet", text=kind).records(store, pages, progress)
        columns = [column for column in COLUMNS if not self.urls_only or column.name not in _TEXTS]
        with (folder / "urls.txt").open("w", encoding="utf-8", newline="\n") as file:
            parquet.write_shards(_listed(records, file), folder / "data", columns=columns)
        sheet = datasheet(store, facts, self.question, urls_only=self.urls_only)
        repeat = command(store)
        write_whole(folder / "README.md", card(facts, "data/*.parquet", columns))
        write_whole(folder / "DATASHEET.md", as_markdown(sheet, repeat))
        write_whole(folder / "datasheet.json", json.dumps(sheet, ensure_ascii=False, indent=1) + "\n")
        write_whole(folder / "CITATION.cff", citation(sheet, self.authors))
        write_whole(folder / "repeat.sh", f"#!/bin/sh\n# Repeats the crawl with focuscrawl {__version__}.\n{repeat}\n")
        write_topic(store, folder / "topic.toml")
        write_seeds(store, folder / "seeds.txt")
        archive = store.path.parent / "pages.warc.gz"
        if archive.is_file() and not self.urls_only:
            (folder / "archive").mkdir()
            with (folder / "archive" / "pages.warc.gz").open("wb") as out:
                write_fetched(store, archive, out)


def _listed(records: Iterator[dict[str, Any]], file: Any) -> Iterator[dict[str, Any]]:
    for record in records:
        file.write(f"{record['url']}\n")
        yield record


def citation(sheet: dict[str, Any], authors: list[str]) -> str:
    """The file by which others cite the release (CFF 1.2.0)."""
    names = authors or ["The authors of this collection"]
    lines = [
        "cff-version: 1.2.0",
        'message: "If you use this collection, please cite it as below."',
        "type: dataset",
        f"title: {quoted('Web pages about ' + (sheet['topic']['name'] or 'a topic'))}",
        "authors:",
        *(f"- name: {quoted(name)}" for name in names),
        f"date-released: {quoted(clock.now()[:10])}",
        f"abstract: {quoted(_abstract(sheet))}",
    ]
    return "\n".join(lines) + "\n"


def _abstract(sheet: dict[str, Any]) -> str:
    return (
        f"{sheet['pages']:,} web pages on {len(sheet['hosts']):,} hosts, collected by the strategy {sheet['spider']} of"
        f" the focused crawler focuscrawl {__version__}."
    )


# ---- checksums


def files_of(folder: Path) -> list[Path]:
    """The files of a release, except for the checksums, in order."""
    return sorted(path for path in folder.rglob("*") if path.name != SUMS and (path.is_file() or path.is_symlink()))


def write_sums(folder: Path) -> None:
    """Write the checksums of all files, as `sha256sum -c` reads them."""
    lines = (f"{hash_of(path)}  {path.relative_to(folder).as_posix()}\n" for path in files_of(folder))
    write_whole(folder / SUMS, "".join(lines))


def check_release(folder: Path) -> list[str]:
    """What is wrong with a release; nothing if it is as it was written."""
    sums = folder / SUMS
    if not sums.is_file():
        raise FocusError(f"{folder} has no {SUMS}; is it a release?")
    if sums.stat().st_size > _MAX_SUMS:
        raise FocusError(f"{sums} is larger than any release needs")
    known: dict[str, str] = {}
    for line in sums.read_text("utf-8", "replace").splitlines():
        found = _SUM.fullmatch(line)
        if found is None or found[2].startswith("/") or ".." in Path(found[2]).parts:
            raise FocusError(f"{sums}: '{line[:100]}' is not a checksum and a path in the folder")
        known[found[2]] = found[1]
    problems: list[str] = []
    there = {path.relative_to(folder).as_posix(): path for path in files_of(folder)}
    for name, digest in known.items():
        path = there.pop(name, None)
        if path is None:
            problems.append(f"{name} is missing")
        elif path.is_symlink():
            problems.append(f"{name} is a link")
        elif hash_of(path) != digest:
            problems.append(f"{name} has changed")
    problems += [f"{name} is not listed in {SUMS}" for name in there]
    return problems or _check_counts(folder)


def _check_counts(folder: Path) -> list[str]:
    """Whether the datasheet, the list of URLs and the data tell the same number of pages."""
    try:
        told = json.loads((folder / "datasheet.json").read_bytes())["pages"]
        with (folder / "urls.txt").open("rb") as file:
            listed = sum(1 for _ in file)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        return [f"datasheet.json or urls.txt cannot be read: {error}"]
    problems = [] if listed == told else [f"urls.txt has {listed:,} URLs, but datasheet.json tells {told} pages"]
    try:
        rows = parquet.count_rows(folder / "data")
    except FocusError as error:
        return [*problems, str(error)]
    if rows is not None and rows != told:
        problems.append(f"data has {rows:,} rows, but datasheet.json tells {told} pages")
    return problems
