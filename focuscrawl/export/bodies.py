"""The body of an archived response, without its transfer and content encodings, within a limit."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence

from focuscrawl.store.bodies import MAX_BODY as MAX_BODY

#: Encodings that one body may have on top of each other.
_MOST = 3
_SIZE = re.compile(rb"([0-9a-fA-F]{1,8}+)[^\r\n]{0,50}+\r?\n")


def decoded(body: bytes, headers: Sequence[tuple[str, str]]) -> bytes | None:
    """The body of a response; None if it cannot be decoded or is too large. Names of headers are in lower case."""
    transfer = [value.lower() for name, value in headers if name == "transfer-encoding"]
    if any("chunked" in value for value in transfer):
        body = without_chunks(body)
    encodings = [
        part.strip().lower() for name, value in headers if name == "content-encoding" for part in value.split(",")
    ]
    encodings = [name for name in encodings if name not in ("", "identity", "none")]
    if len(encodings) > _MOST:
        return None
    plain: bytes | None = body
    for name in reversed(encodings):
        decode = _DECODERS.get(name)
        plain = decode(plain) if decode is not None and plain is not None else None
    return plain if plain is not None and len(plain) <= MAX_BODY else None


def without_chunks(body: bytes) -> bytes:
    """A chunked body as one piece; archives often keep the header after they have removed the chunks."""
    parts: list[bytes] = []
    place = 0
    while True:
        size = _SIZE.match(body, place)
        if size is None:
            return body
        length = int(size[1], 16)
        if not length:
            return b"".join(parts)
        end = size.end() + length
        if end > len(body):
            return body
        parts.append(body[size.end() : end])
        place = end + (2 if body[end : end + 2] == b"\r\n" else 1)


def _inflate(body: bytes, bits: int) -> bytes | None:
    inflater = zlib.decompressobj(bits)
    try:
        plain = inflater.decompress(body, MAX_BODY + 1)
    except zlib.error:
        return None
    return plain if len(plain) <= MAX_BODY else None


def _gzip(body: bytes) -> bytes | None:
    # servers and archives both forget to remove the header, or the encoding
    return _inflate(body, 16 + zlib.MAX_WBITS) if body[:2] == b"\x1f\x8b" else body


def _deflate(body: bytes) -> bytes | None:
    plain = _inflate(body, zlib.MAX_WBITS)
    return plain if plain is not None else _inflate(body, -zlib.MAX_WBITS)


def _brotli(body: bytes) -> bytes | None:
    import brotli  # Scrapy needs it, too

    try:
        plain: bytes = brotli.Decompressor().process(body, output_buffer_limit=MAX_BODY + 1)
    except (brotli.error, TypeError):  # before 1.2, nothing limits it
        return None
    return plain


def _zstd(body: bytes) -> bytes | None:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            from backports import zstd  # type: ignore[no-redef,unused-ignore]
        except ImportError:
            return None
    try:
        plain: bytes = zstd.ZstdDecompressor().decompress(body, MAX_BODY + 1)
    except zstd.ZstdError:
        return None
    return plain


_DECODERS: dict[str, Callable[[bytes], bytes | None]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
