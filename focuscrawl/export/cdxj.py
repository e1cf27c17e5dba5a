"""CDXJ: the index of a WARC file, by which replay tools find records. Sorted on disk, so of any size."""

from __future__ import annotations

import heapq
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote, urlsplit

from focuscrawl.export.warc_records import Member, members

#: Lines that are sorted in memory at a time, and most bytes of a record that are looked at.
_RUN = 100_000
_PEEK = 64 * 1024

#: How often a URL may be escaped.
_UNESCAPED = 5
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WWW = re.compile(r"\Awww\d*\.")
_STATUS = re.compile(rb"\AHTTP/[\d.]+ (\d{3})")


class Head(NamedTuple):
    """The beginning of a record: its own headers, and those of the response in it, by lower-case names."""

    warc: dict[str, str]
    status: str
    http: dict[str, str]


def surt(url: str) -> str:
    """A URL as index key: the parts of the host in reverse order, all in lower case, the query sorted."""
    try:
        parts = urlsplit(url.lower())
        port = parts.port
    except ValueError:
        return url.lower()
    host = _WWW.sub("", parts.hostname or "")
    key = ",".join(reversed(host.split(".")))
    if port and port != _DEFAULT_PORTS.get(parts.scheme):
        key += f":{port}"
    path = _escape(parts.path).rstrip("/") or "/"
    query = "&".join(sorted(_escape(parts.query).split("&"))) if parts.query else ""
    return f"{key}){path}{'?' if query else ''}{query}"


def _escape(text: str) -> str:
    """A path or query with as few escapes as there can be, in lower case."""
    for _ in range(_UNESCAPED):
        before, text = text, unquote(text, errors="surrogateescape")
        if text == before:
            break
    data = text.encode("utf-8", "surrogateescape").lower()
    return "".join(f"%{byte:02x}" if byte <= 0x20 or byte >= 0x7F or byte in b"#%" else chr(byte) for byte in data)


def head_of(file: BinaryIO, place: Member) -> Head:
    """The beginning of the record at a place."""
    file.seek(place.offset)
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    data = inflater.decompress(file.read(min(place.length, _PEEK)), _PEEK)
    warc, _, block = data.partition(b"\r\n\r\n")
    head, _, _ = block.partition(b"\r\n\r\n")
    status = _STATUS.match(head)
    return Head(_headers(warc), status[1].decode() if status else "", _headers(head))


def _headers(head: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in head.split(b"\r\n")[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            found.setdefault(name.decode("utf-8", "replace").strip().lower(), value.decode("utf-8", "replace").strip())
    return found


def index(file: BinaryIO, size: int, filename: str) -> Iterator[str]:
    """The index lines of the responses and revisits in a WARC file that we wrote, in the order of the file."""
    for place in members(file, size):
        head = head_of(file, place)
        kind, url = head.warc.get("warc-type"), head.warc.get("warc-target-uri", "")
        if kind not in ("response", "revisit") or not url:
            continue
        mime = head.http.get("content-type", "").partition(";")[0].strip().lower()
        entry = {
            "url": url,
            "mime": "warc/revisit" if kind == "revisit" else mime,
            "status": head.status,
            "digest": head.warc.get("warc-payload-digest", ""),
            "length": str(place.length),
            "offset": str(place.offset),
            "filename": filename,
        }
        digits = "".join(char for char in head.warc.get("warc-date", "") if char.isdigit())[:14]
        key = surt(url).replace(" ", "%20")
        yield f"{key} {digits} {json.dumps({name: value for name, value in entry.items() if value})}\n"


def write_sorted(lines: Iterable[str], file: BinaryIO) -> None:
    """Write lines in the order of their bytes; runs of them wait in temporary files beside no memory to speak of."""
    with ExitStack() as stack:
        runs: list[Iterator[bytes]] = []
        held: list[bytes] = []
        for line in lines:
            held.append(line.encode("utf-8", "replace"))
            if len(held) == _RUN:
                run = stack.enter_context(TemporaryFile())
                run.writelines(sorted(held))
                run.seek(0)
                runs.append(iter(run))
                held = []
        file.writelines(heapq.merge(*runs, iter(sorted(held))))


def write_index(warc: Path, filename: str, file: BinaryIO) -> None:
    """Write the sorted index of a WARC file."""
    with warc.open("rb") as archive:
        write_sorted(index(archive, warc.stat().st_size, filename), file)
