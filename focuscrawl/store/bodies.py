"""How the bytes of a page are stored: the body and the text around its links, compressed together.

The text is what was read from the body, and nearly all of it stands there, so that it adds little; the links of the
page know their place in it. After decompression come the body, the text in UTF-8, and the length of the text in four
bytes, little-endian. Files of format 5 and older have the body alone, compressed with zlib. Bodies in WARC files
(`body_files.py`) are a response record, and a conversion record with the text.
"""

from __future__ import annotations

import zlib

try:
    from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # Python 3.14
except ImportError:
    from backports import zstd

#: Bytes that anything stored may inflate to; larger ones are limited by a compression ratio. This stops decompression
#: bombs.
MAX_BODY = 32 * 1024 * 1024
MAX_RATIO = 50

#: Higher levels take twice as long and save a fiftieth.
_LEVEL = 3
_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b"
_LENGTH = 4
#: What ends the head of a WARC record, that of the response in it, and the record.
_END = b"\r\n\r\n"

#: What a damaged body raises.
DAMAGED: tuple[type[Exception], ...] = (zlib.error, zstd.ZstdError)


def pack(body: bytes, text: str = "") -> bytes:
    """The stored form of a body and of the text around its links."""
    said = text.encode("utf-8", "surrogatepass")
    packed: bytes = zstd.compress(b"".join((body, said, len(said).to_bytes(_LENGTH, "little"))), _LEVEL)
    return packed


def is_packed(stored: bytes) -> bool:
    """Whether something was stored by `pack`."""
    return stored[:4] == _ZSTD


def body_of(stored: bytes) -> bytes:
    """The body; raises zlib.error or ZstdError if it is damaged, but never MemoryError."""
    if stored[:2] == _GZIP:
        return _block(_member(stored)[0]).partition(_END)[2]
    if not is_packed(stored):
        return _inflate(stored)
    plain = _decompress(stored)
    return plain[: len(plain) - _LENGTH - _text_length(plain)]


def text_of(stored: bytes) -> str:
    """The text around the links of a page; empty in files of older formats."""
    if stored[:2] == _GZIP:
        rest = _member(stored)[1]
        return _block(_member(rest)[0]).decode("utf-8", "surrogatepass") if rest else ""
    if not is_packed(stored):
        return ""
    plain = _decompress(stored)
    end = len(plain) - _LENGTH
    return plain[end - _text_length(plain) : end].decode("utf-8", "surrogatepass")


def _text_length(plain: bytes) -> int:
    length = int.from_bytes(plain[-_LENGTH:], "little")
    if length + _LENGTH > len(plain):
        raise zlib.error("a body is truncated")
    return length


def _member(stored: bytes) -> tuple[bytes, bytes]:
    """The first gzip member, inflated, and what follows it."""
    most = max(MAX_BODY, MAX_RATIO * len(stored))
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    plain = inflater.decompress(stored, most)
    _check(inflater.eof, len(plain), most)
    return plain, inflater.unused_data


def _block(record: bytes) -> bytes:
    """The block of a WARC record."""
    _, found, block = record.partition(_END)
    if not found or not block.endswith(_END):
        raise zlib.error("a body is no WARC record")
    return block[: -len(_END)]


def _decompress(stored: bytes) -> bytes:
    most = max(MAX_BODY, MAX_RATIO * len(stored))
    decompressor = zstd.ZstdDecompressor()
    plain: bytes = decompressor.decompress(stored, most)
    _check(decompressor.eof, len(plain), most)
    return plain


def _inflate(stored: bytes) -> bytes:
    most = max(MAX_BODY, MAX_RATIO * len(stored))
    inflater = zlib.decompressobj()
    body = inflater.decompress(stored, most)
    _check(inflater.eof, len(body), most)
    return body


def _check(complete: bool, length: int, most: int) -> None:
    if not complete:
        raise zlib.error("a body is truncated" if length < most else f"a body has more than {most:,} bytes")
