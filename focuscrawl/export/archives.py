"""Archives of other people: the responses in WARC and WACZ files, and in folders of pages.

An archive may be hostile. Nothing is unpacked to disk and no name in it is used as a path. Everything that is read is
bounded: lines, headers, bodies, and how much a file may inflate to. That is why no library reads them: those that there
are keep whatever a header claims to be.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import IO, NamedTuple
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from focuscrawl.errors import FocusError
from focuscrawl.export.bodies import MAX_BODY, decoded

#: Bytes of a record's headers and of those of the response in it.
_MAX_HEAD = 64 * 1024
_MAX_HTTP_HEAD = 256 * 1024
#: A file may inflate to so many bytes, or so many times its size.
_MAX_INFLATED = 1 << 30
_MAX_RATIO = 200
#: Bytes that are read at a time.
_STEP = 64 * 1024
#: WARC files in one WACZ file, and files of a folder.
_MAX_MEMBERS = 10_000
_MAX_FILES = 10_000_000

_STATUS = re.compile(rb"\AHTTP/[\d.]{1,5} (\d{3})")
_PAGES = frozenset(("", "htm", "html", "xhtml", "shtml", "md", "markdown", "txt", "text", "pdf", "docx", "odt", "xml"))
_MIMES = {
    **dict.fromkeys(("md", "markdown"), "text/markdown"),
    **dict.fromkeys(("txt", "text"), "text/plain"),
    **dict.fromkeys(("docx", "odt"), "application/octet-stream"),
    "pdf": "application/pdf",
    "xml": "application/xml",
}


#: What reading a damaged zip file may raise.
_BAD_ZIP = (
    *(BadZipFile, zlib.error, struct.error),
    *(NotImplementedError, RuntimeError, EOFError, OSError, ValueError, LookupError),
)


class DamagedError(Exception):
    """The rest of an archive cannot be read; the message says why."""


class Captured(NamedTuple):
    """A response in an archive. Headers have lower-case names; the body is decoded."""

    url: str
    fetched_at: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    #: The URL whose response it repeats; empty if it has a body of its own.
    repeats: str = ""

    def header(self, name: str) -> str:
        """The first value of a header; empty if there is none."""
        return next((value for known, value in self.headers if known == name), "")


class Skipped:
    """Counts what was left out, by reason."""

    def __init__(self) -> None:
        self.reasons: dict[str, int] = {}

    def __call__(self, reason: str) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + 1


def read_archive(path: Path, skipped: Skipped, base: str = "") -> Iterator[Captured]:
    """The responses in a file or folder; *base* is the URL of a folder. Raises FocusError for what is no archive."""
    if path.is_dir():
        yield from _read_folder(path, base or "http://file.invalid/", skipped)
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise FocusError(
            f"{path} cannot be read: {error.strerror}; give a WARC file, a WACZ file or a folder"
        ) from None
    with file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FocusError(f"{path} is not a file; give a WARC file, a WACZ file or a folder")
        start = file.read(4)
        file.seek(0)
        if start == b"PK\x03\x04":
            yield from _read_wacz(file, path, skipped)
        elif start[:2] == b"\x1f\x8b" or start == b"WARC":
            yield from _read_records(_Stream(file, str(path)), skipped)
        else:
            raise FocusError(f"{path} is neither a WARC file nor a WACZ file; give one of these or a folder of pages")


def _read_wacz(file: IO[bytes], path: Path, skipped: Skipped) -> Iterator[Captured]:
    try:
        with ZipFile(file) as zipped:
            names = [entry for entry in zipped.infolist() if entry.filename.startswith("archive/") and entry.file_size]
            names = [entry for entry in names if entry.filename.lower().endswith((".warc", ".warc.gz"))]
            if not names:
                raise FocusError(f"{path} is a zip file without archive/*.warc.gz; is it a WACZ file?")
            if len(names) > _MAX_MEMBERS:
                raise FocusError(f"{path} has {len(names):,} WARC files; at most {_MAX_MEMBERS:,} are read")
            for entry in names:
                if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                    raise FocusError(f"{path}: {entry.filename} is compressed in a way that WACZ does not know")
                if entry.file_size > max(_MAX_INFLATED, _MAX_RATIO * entry.compress_size):
                    raise FocusError(
                        f"{path}: {entry.filename} inflates to {entry.file_size:,} bytes, which is refused"
                    )
                with zipped.open(entry) as member:
                    yield from _read_records(_Stream(member, f"{path}: {entry.filename}"), skipped)
    except _BAD_ZIP as error:
        raise FocusError(f"{path} is a damaged zip file: {error}") from None


class _Stream:
    """The bytes of a WARC file, inflated if it is compressed, and how many there were."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self.name = name
        self._left = b""
        self._raw = file.read(_STEP)
        self._taken = len(self._raw)
        self._inflated = 0
        self._zipped = self._raw[:2] == b"\x1f\x8b"
        self._inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)

    def _more(self) -> bytes:
        """The next bytes; empty at the end."""
        if not self._zipped:
            data, self._raw = self._raw, self._file.read(_STEP)
            return data
        while True:
            if not self._raw:
                self._raw = self._file.read(_STEP)
                self._taken += len(self._raw)
            if not self._raw:
                return b""
            if self._inflater.eof:
                self._inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
            try:
                data = self._inflater.decompress(self._raw, _STEP)
            except zlib.error as error:
                raise DamagedError(f"it cannot be inflated: {error}") from None
            self._raw = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
            self._inflated += len(data)
            if self._inflated > max(_MAX_INFLATED, _MAX_RATIO * self._taken):
                raise FocusError(f"{self.name} inflates to more than {_MAX_RATIO} times its size, which is refused")
            if data:
                return data

    def line(self, most: int) -> bytes:
        """The next line with its end; empty at the end of the file."""
        while b"\n" not in self._left:
            if len(self._left) > most:
                raise DamagedError("a header is too long")
            data = self._more()
            if not data:
                break
            self._left += data
        line, newline, self._left = self._left.partition(b"\n")
        if len(line) > most:
            raise DamagedError("a header is too long")
        return line + newline

    def pieces(self, length: int) -> Iterator[bytes]:
        """The next *length* bytes, piece by piece. Raises DamagedError if there are fewer."""
        while length:
            data = self._left or self._more()
            if not data:
                raise DamagedError("it ends in the middle of a record")
            piece, self._left = data[:length], data[length:]
            length -= len(piece)
            yield piece


def _read_records(stream: _Stream, skipped: Skipped) -> Iterator[Captured]:
    """The responses of a WARC file; what comes after damage is left out."""
    number = 0
    try:
        while (head := _record_head(stream)) is not None:
            number += 1
            block = _block(stream, int(head["content-length"]))
            found = _captured(head, block, skipped) if head.get("warc-type") in ("response", "revisit") else None
            if found is not None:
                yield found
    except DamagedError as error:
        if not number:
            raise FocusError(f"{stream.name} is not a WARC file: {error}") from None
        skipped(f"the rest of {stream.name}, which is damaged after record {number:,}: {error}")


def _record_head(stream: _Stream) -> dict[str, str] | None:
    """The headers of the next record; None at the end of the file."""
    blank = 0
    while (line := stream.line(_MAX_HEAD)) in (b"\r\n", b"\n"):
        blank += 1
        if blank > 100:
            raise DamagedError("nothing but empty lines")
    if not line:
        return None
    if not line.startswith(b"WARC/"):
        raise DamagedError("a record does not begin with WARC/")
    head: dict[str, str] = {}
    size = 0
    while (line := stream.line(_MAX_HEAD)) not in (b"\r\n", b"\n"):
        size += len(line)
        if not line or size > _MAX_HEAD:
            raise DamagedError("the headers of a record do not end")
        name, _, value = line.decode("utf-8", "replace").partition(":")
        head.setdefault(name.strip().lower(), value.strip())
    length = head.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) <= 15):
        raise DamagedError("a record has no valid Content-Length")
    return head


def _block(stream: _Stream, length: int) -> bytes | None:
    """The block of a record; None if it is too large, and then it is passed over."""
    if length > MAX_BODY + _MAX_HTTP_HEAD:
        for _ in stream.pieces(length):
            pass
        return None
    return b"".join(stream.pieces(length))


def _captured(head: dict[str, str], block: bytes | None, skipped: Skipped) -> Captured | None:
    url = head.get("warc-target-uri", "").strip("<>")
    if block is None:
        skipped("larger than 32 MB")
        return None
    http, end, body = block.partition(b"\r\n\r\n")
    status = _STATUS.match(http)
    if status is None or len(http) > _MAX_HTTP_HEAD or not (end or not body):
        skipped("not an HTTP response")
        return None
    headers = tuple(_http_headers(http))
    date = _date(head.get("warc-date", ""))
    if head["warc-type"] == "revisit":
        return Captured(url, date, int(status[1]), headers, b"", head.get("warc-refers-to-target-uri", "").strip("<>"))
    plain = decoded(body, headers)
    if plain is None:
        skipped("a body that cannot be decoded, or is larger than 32 MB")
        return None
    return Captured(url, date, int(status[1]), headers, plain)


def _http_headers(head: bytes) -> Iterator[tuple[str, str]]:
    for line in head.split(b"\n")[1:1001]:
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _date(text: str) -> str:
    """A date of a record in the form of the crawl's file; the beginning of time if it is none."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds")


def _read_folder(folder: Path, base: str, skipped: Skipped) -> Iterator[Captured]:
    """The pages in a folder, in the order of their names; links to elsewhere are not followed."""
    for number, path in enumerate(_files(folder)):
        if number >= _MAX_FILES:
            raise FocusError(f"{folder} has more than {_MAX_FILES:,} files")
        ending = path.suffix.lower().removeprefix(".")
        if ending not in _PAGES:
            skipped("not a page")
            continue
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if not S_ISREG(status.st_mode) or status.st_size > MAX_BODY:
                    skipped("larger than 32 MB" if S_ISREG(status.st_mode) else "not a file")
                    continue
                body = file.read(MAX_BODY)
        except OSError as error:
            skipped(f"cannot be read: {error.strerror}")
            continue
        url = base.rstrip("/") + "/" + quote(path.relative_to(folder).as_posix(), errors="surrogateescape")
        date = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="milliseconds")
        mime = _MIMES.get(ending, "text/html")
        yield Captured(url, date, 200, (("content-type", mime),), body)


def _files(folder: Path) -> Iterator[Path]:
    """The files of a folder and those in it, in the order of their names; no links, no pipes."""
    waiting: list[os.DirEntry[str] | Path] = [folder]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, os.DirEntry) and not entry.is_dir(follow_symlinks=False):
            if entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
            continue
        with suppress(PermissionError), os.scandir(entry) as inside:
            waiting += sorted(inside, key=lambda found: found.name, reverse=True)
