"""WACZ 1.1.1: a WARC file with its index and a list of pages in one zip file, as replay tools open it.

It is written here and not by the package `wacz`, which reads each WARC again, keeps the index in memory, and brings
thirty packages along. The tests let that package validate what is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from focuscrawl import __version__
from focuscrawl.export import cdxj, warc
from focuscrawl.export.lines import json_line
from focuscrawl.export.records import clean
from focuscrawl.export.warc_file import write_fetched
from focuscrawl.export.warc_records import warc_date
from focuscrawl.store.exports import ExportedPage
from focuscrawl.store.store import Store

_PAGES_HEAD = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": False}
#: Entries have the time at which the zip format begins: the same pages give the same bytes.
_BEGIN = (1980, 1, 1, 0, 0, 0)


def write_wacz(store: Store, pages: Iterable[ExportedPage], place: Path, *, fetched: Path | None = None) -> None:
    """Write selected pages as a WACZ file: from what is stored, or with the WARC file that was *fetched*."""
    topic = str(store.meta("topic") or "")
    first, last = store.exports.dates()
    with TemporaryDirectory(dir=place.parent, prefix=f"{place.name}.") as name:
        folder = Path(name)
        archive = folder / "data.warc.gz"
        with (folder / "pages.jsonl").open("wb") as listed:
            listed.write(json_line(_PAGES_HEAD))
            with archive.open("wb") as file:
                if fetched is None:
                    warc.write_stored(store, _listing(pages, listed), file)
                else:
                    write_fetched(store, fetched, file)
                    for _ in _listing(pages, listed):
                        pass
        with (folder / "index.cdxj").open("wb") as file:
            cdxj.write_index(archive, "data.warc.gz", file)
        with ZipFile(place, "w", allowZip64=True) as zipped:
            resources = [
                _add(zipped, archive, "archive/data.warc.gz", ZIP_STORED),
                _add(zipped, folder / "index.cdxj", "indexes/index.cdxj", ZIP_DEFLATED),
                _add(zipped, folder / "pages.jsonl", "pages/pages.jsonl", ZIP_DEFLATED),
            ]
            package = _package(topic, first, last, resources)
            text = json.dumps(package, indent=2).encode()
            _add_bytes(zipped, "datapackage.json", text)
            signed = {"path": "datapackage.json", "hash": f"sha256:{sha256(text).hexdigest()}"}
            _add_bytes(zipped, "datapackage-digest.json", json.dumps(signed, indent=2).encode())


def _listing(pages: Iterable[ExportedPage], listed: Any) -> Iterator[ExportedPage]:
    """The pages; each that could be read is also written to the list of pages."""
    for page in pages:
        if page.problem is None:
            entry = {"id": str(page.number), "url": page.url, "ts": warc_date(page.fetched_at)}
            if page.title:
                entry["title"] = clean(page.title)
            listed.write(json_line(entry))
        yield page


def _package(topic: str, first: str | None, last: str | None, resources: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "title": topic,
        "software": f"focuscrawl/{__version__}",
        "created": warc_date(last),
        "modified": warc_date(last),
        "description": f"Pages of a focused crawl, fetched from {first or '?'} to {last or '?'}",
        "resources": resources,
    }


def _add(zipped: ZipFile, source: Path, path: str, compression: int) -> dict[str, Any]:
    """Add a file; returns what the package says of it."""
    entry = ZipInfo(path, _BEGIN)
    entry.compress_type = compression
    hashed = sha256()
    size = 0
    with source.open("rb") as file, zipped.open(entry, "w", force_zip64=True) as out:
        while data := file.read(1 << 20):
            hashed.update(data)
            size += len(data)
            out.write(data)
    return {"name": Path(path).name, "path": path, "hash": f"sha256:{hashed.hexdigest()}", "bytes": size}


def _add_bytes(zipped: ZipFile, path: str, content: bytes) -> None:
    zipped.writestr(ZipInfo(path, _BEGIN), content)
