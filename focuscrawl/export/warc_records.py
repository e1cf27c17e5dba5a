"""WARC 1.1 (ISO 28500:2017): records, each a gzip member of its own.

A member's gzip header has its length, in the field `sl` that archives have used for it since ARC files: so a file is
walked from member to member without inflating it, and one that was cut off is mended in no time. No library writes that
field, and raw headers go into a record as they are; what is written is read by any WARC library.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha1
from http import HTTPStatus
from typing import BinaryIO, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from focuscrawl import __version__
from focuscrawl.errors import printable

#: gzip: magic, deflate, FEXTRA, no time, no level, unknown system, 12 bytes of extra field, `sl` of 8 bytes.
_GZIP = b"\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x0c\x00sl\x08\x00"
_HEAD = len(_GZIP) + 8
_TAIL = 8
#: The shortest member there can be.
_LEAST = _HEAD + 2 + _TAIL
_PACK = struct.Struct("<LL")

HTTP_RESPONSE = "application/http; msgtype=response"
HTTP_REQUEST = "application/http; msgtype=request"
FIELDS = "application/warc-fields"


def member(data: bytes) -> bytes:
    """Some bytes as a gzip member that has its own length in its header."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(data) + packer.flush()
    length = _HEAD + len(packed) + _TAIL
    head = _GZIP + _PACK.pack(length, len(data) & 0xFFFFFFFF)
    return head + packed + _PACK.pack(zlib.crc32(data), len(data) & 0xFFFFFFFF)


class Member(NamedTuple):
    """Where a member is in its file."""

    offset: int
    length: int


def members(file: BinaryIO, size: int) -> Iterator[Member]:
    """The members of a file that we wrote, in order; ends where it is cut off or another kind of data begins."""
    offset = 0
    while size - offset >= _LEAST:
        file.seek(offset)
        head = file.read(_HEAD)
        if not head.startswith(_GZIP):
            return
        length, _ = _PACK.unpack(head[-8:])
        if length < _LEAST or offset + length > size:
            return
        yield Member(offset, length)
        offset += length


def is_intact(file: BinaryIO, place: Member) -> bool:
    """Whether a member inflates to what its checksum says."""
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    file.seek(place.offset)
    left = place.length
    try:
        while left:
            data = file.read(min(left, 1 << 16))
            if not data:
                return False
            left -= len(data)
            while data:
                inflater.decompress(data, 1 << 20)
                data = inflater.unconsumed_tail
    except zlib.error:
        return False
    return inflater.eof and not inflater.unused_data


def digest(data: bytes) -> str:
    """A digest as WARC files have it."""
    return f"sha1:{b32encode(sha1(data, usedforsecurity=False).digest()).decode()}"


def warc_date(when: str | None) -> str:
    """A time of the crawl as WARC files have it; the crawl's file may say anything."""
    try:
        moment = datetime.fromisoformat(when or "")
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def record_id(*parts: object) -> str:
    """The id of a record: the same for the same parts."""
    return f"<urn:uuid:{uuid5(NAMESPACE_URL, ' '.join(map(str, parts)))}>"


def record(kind: str, ident: str, date: str, content_type: str, block: bytes, *more: tuple[str, str | None]) -> bytes:
    """A record, compressed. *more* are further headers; those with the value None are left out."""
    headers = [
        ("WARC-Type", kind),
        ("WARC-Record-ID", ident),
        ("WARC-Date", date),
        *more,
        ("WARC-Block-Digest", digest(block)),
        ("Content-Type", content_type if block else None),
        ("Content-Length", str(len(block))),
    ]
    head = "".join(f"{name}: {printable(value)}\r\n" for name, value in headers if value is not None)
    return member(b"WARC/1.1\r\n" + head.encode("utf-8", "replace") + b"\r\n" + block + b"\r\n\r\n")


def fields(values: Iterable[tuple[str, object]]) -> bytes:
    """A block of named values; those that are None are left out."""
    found = (f"{name}: {printable(str(value))}\r\n" for name, value in values if value is not None)
    return "".join(found).encode("utf-8", "replace")


def info(date: str, described: str, topic: str, spider: str, *, filename: str = "") -> bytes:
    """The record at the beginning of a file: who wrote it, and how."""
    block = fields(
        (
            ("software", f"focuscrawl/{__version__}"),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
            ("isPartOf", f"{spider}: {topic}"),
            ("description", described),
        )
    )
    ident = record_id("warcinfo", date, described, topic, spider)
    return record("warcinfo", ident, date, FIELDS, block, ("WARC-Filename", filename or None))


def http_head(status: int, headers: Sequence[tuple[bytes, bytes]], version: str = "HTTP/1.1") -> bytes:
    """The head of a response. Line breaks in headers, which would begin another one, are spaces."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    lines = [f"{version} {status} {reason}".rstrip().encode("ascii", "replace")]
    lines += [name + b": " + value.replace(b"\r", b" ").replace(b"\n", b" ") for name, value in headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"
