"""`pages.warc.gz`: a WARC file that a crawl writes as it goes, and that survives being killed.

Records that belong together are appended in one write. A crawl that resumes cuts off what is not whole, and goes on.
Nothing is lost that way but what was in flight, which is fetched again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import urlsplit

from focuscrawl.errors import FocusError
from focuscrawl.export.cdxj import head_of
from focuscrawl.export.warc import FETCHED, NOT_MODIFIED, SAME_PAYLOAD
from focuscrawl.export.warc_records import (
    FIELDS,
    HTTP_REQUEST,
    HTTP_RESPONSE,
    digest,
    fields,
    http_head,
    info,
    is_intact,
    members,
    record,
    record_id,
)
from focuscrawl.store.store import Store

Headers = Sequence[tuple[bytes, bytes]]

#: Payloads that are remembered: a response that repeats one becomes a revisit record.
_REMEMBERED = 100_000
#: Bodies below this size are as short as a revisit record.
_LEAST = 200
#: Request headers that are secrets, or lead to them.
_SECRET = (b"authorization", b"proxy-authorization", b"cookie")


class Exchange(NamedTuple):
    """A request and its response, as they were sent and received."""

    url: str
    date: str
    method: str
    request_headers: Headers
    request_body: bytes
    status: int
    protocol: str
    headers: Headers
    body: bytes
    address: str | None = None
    #: Whether the connection was closed before the end.
    cut_off: bool = False
    #: What the crawl knows of the request: named values; empty for robots.txt and the like.
    about: Sequence[tuple[str, object]] = ()


class WarcFile:
    """The file. Opening it mends it, and begins it if there is none."""

    def __init__(self, path: Path, began: str, topic: str, spider: str) -> None:
        self.path = path
        self._seen: OrderedDict[str, tuple[str, str]] = OrderedDict()
        end = _mend(path) if path.exists() else 0
        self._file = path.open("ab", buffering=0)
        self._end = end
        self._write(info(began, FETCHED, topic, spider, filename=path.name))

    def add(self, exchange: Exchange) -> None:
        """Append the records of a request and its response."""
        url, date = exchange.url, exchange.date
        about = record_id(url, date, self._end)  # differs even if the clock stands still
        target, concurrent = ("WARC-Target-URI", url), ("WARC-Concurrent-To", about)
        block = http_head(exchange.status, exchange.headers, exchange.protocol)
        common = (target, ("WARC-IP-Address", exchange.address))
        again = self._revisit(exchange)
        if again is not None:
            parts = [record("revisit", about, date, HTTP_RESPONSE, block, *common, *again)]
        else:
            cut_off = ("WARC-Truncated", "disconnect" if exchange.cut_off else None)
            payload = ("WARC-Payload-Digest", digest(exchange.body))
            parts = [record("response", about, date, HTTP_RESPONSE, block + exchange.body, *common, payload, cut_off)]
        ident = record_id(about, "request")
        parts.append(record("request", ident, date, HTTP_REQUEST, _request(exchange), target, concurrent))
        if exchange.about:
            ident, block = record_id(about, "metadata"), fields(exchange.about)
            parts.append(record("metadata", ident, date, FIELDS, block, target, concurrent))
        self._write(b"".join(parts))

    def add_failure(self, url: str, date: str, reason: str) -> None:
        """Append that a request got no response, and why."""
        block = fields((("outcome", "no response"), ("reason", reason)))
        ident = record_id(url, date, self._end, "failure")
        self._write(record("metadata", ident, date, FIELDS, block, ("WARC-Target-URI", url)))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _revisit(self, exchange: Exchange) -> tuple[tuple[str, str | None], ...] | None:
        """The headers of a revisit record; None if the response is new."""
        if exchange.status == 304:
            return (("WARC-Profile", NOT_MODIFIED), ("WARC-Refers-To-Target-URI", exchange.url))
        if len(exchange.body) < _LEAST or exchange.cut_off:
            return None
        payload = digest(exchange.body)
        known = self._seen.get(payload)
        if known is None:
            self._seen[payload] = exchange.url, exchange.date
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
            return None
        self._seen.move_to_end(payload)
        return (
            ("WARC-Profile", SAME_PAYLOAD),
            ("WARC-Payload-Digest", payload),
            ("WARC-Refers-To-Target-URI", known[0]),
            ("WARC-Refers-To-Date", known[1]),
        )

    def _write(self, data: bytes) -> None:
        """Append whole records, or nothing: a full disk must not leave half of one before the next."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError:
            self._file.truncate(self._end)
            raise
        self._end += len(data)


def write_fetched(store: Store, archive: Path, file: BinaryIO) -> None:
    """Copy `pages.warc.gz`, without the records of pages that are withheld or not selected.

    What is no page stays: robots.txt, redirects, failures.
    """
    with archive.open("rb") as source:
        for place in members(source, archive.stat().st_size):
            url = head_of(source, place).warc.get("warc-target-uri")
            if url is None or store.exports.may_go(url):
                source.seek(place.offset)
                file.write(source.read(place.length))


def _request(exchange: Exchange) -> bytes:
    """The request as it was sent, but for secrets."""
    parts = urlsplit(exchange.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{exchange.method} {path} HTTP/1.1".encode("utf-8", "replace")]
    if not any(name.lower() == b"host" for name, _ in exchange.request_headers):
        lines.append(b"Host: " + parts.netloc.rpartition("@")[2].encode("utf-8", "replace"))
    lines += [name + b": " + value for name, value in exchange.request_headers if name.lower() not in _SECRET]
    return b"\r\n".join(lines) + b"\r\n\r\n" + exchange.request_body


def _mend(path: Path) -> int:
    """Cut off what is not whole at the end of a file; returns its size."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        before = last = None
        for place in members(file, size):
            before, last = last, place
        if last is not None and not is_intact(file, last):  # a power cut may leave anything behind
            last = before
        end = last.offset + last.length if last is not None else 0
        if not end and size and not file.seek(0) and file.read(2) not in (b"\x1f\x8b", b"\x1f", b""):
            raise FocusError(f"{path} is not a WARC file of a crawl; move it away")
        if not end and size > 1 << 20:
            raise FocusError(f"{path} was not written by this crawl; move it away")
        file.truncate(end)
    return end
