"""Where the bytes of pages are: in the rows of `page`, or in WARC files of which the rows name file, offset and length.

With FOCUS_BODIES=warc:PATH, a page is a response record and, if it has links, a conversion record with the text that
they stand in. Both are on disk before the row that names them is committed, as `warc:FILE:OFFSET:LENGTH`. Every process
begins files of its own and never changes those of others: what a killed process was writing stays at the end of its
last file, and no row names it.

Rows may come from somebody else. The name of a file has no directory in it and is not followed if it is a link; the
folder must have the number that the crawl gave it; what is read is bounded and checked like any stored body.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import stat
import zlib
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuscrawl.crawl import clock
from focuscrawl.errors import FocusError, printable
from focuscrawl.export.warc_records import HTTP_RESPONSE, digest, http_head, info, record, record_id, warc_date
from focuscrawl.store.bodies import MAX_BODY, MAX_RATIO, pack
from focuscrawl.store.errors import DisconnectedError, UnavailableError
from focuscrawl.store.part import Part

if TYPE_CHECKING:
    from focuscrawl.page import Page

#: The file by which a folder is known to belong to a crawl, and the key under which the crawl knows the folder.
MARK, _KEY = "focuscrawl-bodies.json", "bodies"
#: Bytes after which a process begins another file.
LARGEST = 1 << 30

_DESCRIPTION = (
    "Written during the crawl: bodies as they are stored, without content or transfer encoding; of the headers,"
    " Content-Type, ETag and Last-Modified are kept. Conversion records have the text that links stand in."
)
_NAMED = re.compile(rb"warc:([A-Za-z0-9_][A-Za-z0-9._-]{0,199}\.warc\.gz):(\d{1,18}):(\d{1,10})")


def parse_bodies(value: str) -> Path | None:
    """The setting FOCUS_BODIES: the folder of WARC files; None if bodies are stored with the pages."""
    if value in ("", "store"):
        return None
    kind, _, path = value.partition(":")
    if kind != "warc" or not path:
        raise FocusError(f"setting FOCUS_BODIES={printable(value)}: expected store, or warc:PATH with a folder")
    return Path(path).expanduser().absolute()


class BodyFiles(Part):
    """Stores and loads the bytes of pages."""

    _writer: _Writer | None = None

    def write_to(self, folder: Path | None) -> None:
        """Write the bodies of new pages to WARC files in *folder*, which is the same for all workers of a crawl."""
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.store.meta(_KEY) is None and not (folder / MARK).exists():
                _mark(folder)
        except OSError as error:
            raise FocusError(f"FOCUS_BODIES: cannot write to {folder}: {error.strerror}") from None
        number = str((self.store.meta(_KEY) or {}).get("id") or _id_of(folder))
        _check(folder, number)
        with self.store.batch():
            self.store.set_meta(_KEY, {"id": number, "path": str(folder)})
        self.__dict__.pop("folder", None)
        facts = str(self.store.meta("topic") or ""), str(self.store.meta("spider") or "")
        self._writer = _Writer(folder, *facts)

    def keep(self, page: Page) -> bytes:
        """What a row says of the bytes of a page, and of the text around its links; they are safe when this returns."""
        text = page.raw_text if page.links else ""
        if self._writer is None:
            return pack(page.body, text)
        try:
            return self._writer.add(page, text)
        except OSError as error:
            failure = DisconnectedError if self.store.shared else UnavailableError  # workers try again
            raise failure(f"cannot write to {self.folder}: {error.strerror}") from None

    def load(self, stored: bytes | None) -> bytes | None:
        """The bytes of a page as `focuscrawl.store.bodies` reads them; raises zlib.error if they are not there."""
        if stored is None or not stored.startswith(b"warc:"):
            return stored
        named = _NAMED.fullmatch(stored)
        if named is None:
            raise zlib.error("a body has no valid place in a WARC file")
        name, offset, length = named[1].decode(), int(named[2]), int(named[3])
        if length > MAX_BODY * MAX_RATIO:
            raise zlib.error("a body in a WARC file is too large")
        try:
            file = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise zlib.error(f"a body cannot be read: {self.folder / name}: {error.strerror}") from None
        try:
            size = os.fstat(file)
            if not stat.S_ISREG(size.st_mode) or offset + length > size.st_size:
                raise zlib.error(f"a body is not in {self.folder / name}")
            return os.pread(file, length, offset)
        finally:
            os.close(file)

    def load_packed(self, stored: bytes | None) -> bytes | None:
        """The same in the form that a row can hold: for a copy that has no such files."""
        from focuscrawl.store.bodies import body_of, text_of

        loaded = self.load(stored)
        return loaded if loaded is None or loaded is stored else pack(body_of(loaded), text_of(loaded))

    @cached_property
    def folder(self) -> Path:
        """The folder of the crawl's WARC files; if a crawl was moved together with it, the one beside the crawl."""
        known: Any = self.store.meta(_KEY)
        if not isinstance(known, dict) or not all(isinstance(known.get(name), str) for name in ("id", "path")):
            raise FocusError(f"{self.store.path}: its bodies are in WARC files, but it names no folder of them")
        folder = Path(known["path"])
        if not (folder / MARK).exists() and (self.store.path.parent / folder.name / MARK).exists():
            folder = self.store.path.parent / folder.name
        _check(folder, known["id"])
        return folder

    def close(self) -> None:
        """Close the file that is written."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class _Writer:
    """The WARC files of one process."""

    def __init__(self, folder: Path, topic: str, spider: str) -> None:
        self._folder, self._about = folder, (topic, spider)
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:60] or "host"
        self._name = f"{clock.now()[:19].replace(':', '')}-{host}-{os.getpid()}-{secrets.token_hex(2)}"
        self._files = self._end = 0
        self._file = -1

    def add(self, page: Page, text: str) -> bytes:
        """Append the records of a page, make sure that they are on disk, and return where they are."""
        date = warc_date(page.fetched_at)
        stored = (("Content-Type", page.content_type), ("ETag", page.etag), ("Last-Modified", page.last_modified))
        headers = [(name.encode(), value.encode("utf-8", "replace")) for name, value in stored if value]
        head = http_head(page.status, [*headers, (b"Content-Length", str(len(page.body)).encode())])
        if self._file < 0 or self._end >= LARGEST:
            self._begin(date)
        ident, target = record_id(page.url, date, self._name, self._end), ("WARC-Target-URI", page.url)
        payload = ("WARC-Payload-Digest", digest(page.body))
        data = record("response", ident, date, HTTP_RESPONSE, head + page.body, target, payload)
        if text:
            said = text.encode("utf-8", "surrogatepass")
            about = record_id(ident, "conversion"), date, "text/plain; charset=utf-8"
            data += record("conversion", *about, said, target, ("WARC-Refers-To", ident))
        place = self._end
        self._write(data)
        return f"warc:{self._path.name}:{place}:{len(data)}".encode()

    def _begin(self, date: str) -> None:
        self.close()
        self._files += 1
        self._path = self._folder / f"{self._name}-{self._files:05}.warc.gz"
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self._end = 0
        self._write(info(date, _DESCRIPTION, *self._about, filename=self._path.name))

    def _write(self, data: bytes) -> None:
        """Append all of it, or nothing: a full disk must not leave half a record before the next."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
            os.fdatasync(self._file)
        except OSError:
            os.ftruncate(self._file, self._end)
            os.lseek(self._file, self._end, os.SEEK_SET)
            raise
        self._end += len(data)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _mark(folder: Path) -> None:
    """Give a folder a number, unless another worker does so at the same moment."""
    ready = folder / f".{secrets.token_hex(8)}"
    ready.write_text(json.dumps({"id": secrets.token_hex(16)}))
    with suppress(FileExistsError):
        os.link(ready, folder / MARK)
    ready.unlink()


def _id_of(folder: Path) -> str:
    try:
        return str(json.loads((folder / MARK).read_text())["id"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _check(folder: Path, number: str) -> None:
    """A crawl reads and writes its own folder only."""
    if _id_of(folder) != number:
        raise FocusError(
            f"{printable(str(folder))} does not have the WARC files with the bodies of this crawl; is the disk mounted?"
            " If they were moved, resume the crawl with -s FOCUS_BODIES=warc:PATH"
        )
