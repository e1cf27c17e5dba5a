"""The encoders of the Encoding Standard, which browsers use for query strings.

Python's codecs are used as far as they agree. They differ in a few characters, in what they can encode beyond the
standard, and in the states of ISO-2022-JP.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from functools import cache

#: Encodings that browsers read in a safe way and never write: they write UTF-8.
READ_ONLY = ("hz", "iso2022_kr")
#: Has characters that are not ASCII for ASCII bytes, so that it needs the whole text.
ISO_2022_JP = "iso2022_jp"

_YEN, _OVERLINE, _MINUS, _WIDE_MINUS = "\u00a5", "\u203e", "\u2212", "\uff0d"
_HALF_WIDTH = range(0xFF61, 0xFFA0)
#: The full-width forms of the half-width katakana.
_FULL_WIDTH = dict(
    zip(
        map(chr, _HALF_WIDTH),
        "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜",
        strict=True,
    )
)
_TO_ASCII, _TO_ROMAN, _TO_KANJI = b"\x1b(B", b"\x1b(J", b"\x1b$B"


def encode(text: str, codec: str, missing: Callable[[str], bytes]) -> bytes:
    """A text in a charset, given by Python's name for it; *missing* writes a character that it lacks."""
    if codec == ISO_2022_JP:
        return _iso_2022_jp(text, missing)
    encoder = _ENCODERS.get(codec)
    if encoder is None:
        encoder = _single_byte(codec)
    found = ((char, char.encode() if char.isascii() else encoder(char)) for char in text)
    return b"".join([missing(char) if octets is None else octets for char, octets in found])


def _encoded(char: str, codec: str) -> bytes | None:
    try:
        return char.encode(codec)
    except UnicodeEncodeError:
        return None


@cache
def _single_byte(codec: str) -> Callable[[str], bytes | None]:
    """The encoder of a charset of single bytes. Those of Windows have control characters for unused bytes."""
    is_windows = codecs.lookup(codec).name.startswith(("cp125", "cp874"))

    def encode_one(char: str) -> bytes | None:
        octets = _encoded(char, codec)
        if octets is None and is_windows and "\x80" <= char <= "\x9f":
            octet = bytes([ord(char)])
            return octet if octet.decode(codec, "replace") == "\ufffd" else None
        return octets

    return encode_one


def _shift_jis(char: str) -> bytes | None:
    if char in (_YEN, _OVERLINE):
        return b"\\" if char == _YEN else b"~"
    octets = _encoded(char, "cp932")
    if octets is None or "\ue000" <= char <= "\uf8ff":  # private characters are read, but not written
        return None
    return octets if len(octets) == 2 or octets == b"\x80" or ord(char) in _HALF_WIDTH else None


@cache
def _kanji() -> dict[str, bytes]:
    """The characters of JIS X 0208 with the vendors' additions, as two bytes of seven bits."""
    found: dict[str, bytes] = {}
    for row in range(94):
        for cell in range(94):
            lead, trail = divmod(row * 94 + cell, 188)
            octets = bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))
            char = octets.decode("cp932", "replace")
            if len(char) == 1 and char != "\ufffd" and not "\ue000" <= char <= "\uf8ff":
                found.setdefault(char, bytes((row + 0x21, cell + 0x21)))
    found[_MINUS] = found[_WIDE_MINUS]
    return found


def _euc_jp(char: str) -> bytes | None:
    if char in (_YEN, _OVERLINE):
        return b"\\" if char == _YEN else b"~"
    if ord(char) in _HALF_WIDTH:
        return bytes((0x8E, ord(char) - 0xFF61 + 0xA1))
    octets = _kanji().get(char)
    return None if octets is None else bytes(octet | 0x80 for octet in octets)


def _gb18030(char: str) -> bytes | None:
    return None if char == "\ue5e5" else _encoded(char, "gb18030")


def _gbk(char: str) -> bytes | None:
    if char == "€":
        return b"\x80"
    octets = _gb18030(char)
    return None if octets is None or len(octets) > 2 else octets


def _big5(char: str) -> bytes | None:
    octets = _encoded(char, "big5hkscs")
    return None if octets is None or octets[0] < 0xA1 else octets  # Hong Kong's additions are read, but not written


_ENCODERS: dict[str, Callable[[str], bytes | None]] = {
    "cp932": _shift_jis,
    "euc_jp": _euc_jp,
    "gb18030": _gb18030,
    "gbk": _gbk,
    "big5hkscs": _big5,
}


def _iso_2022_jp(text: str, missing: Callable[[str], bytes]) -> bytes:
    written = bytearray()
    state = _TO_ASCII

    def switch(wanted: bytes) -> None:
        nonlocal state
        if state != wanted:
            written.extend(wanted)
            state = wanted

    for char in text:
        if char in "\x0e\x0f\x1b":  # they would switch the state
            written += missing("\ufffd")
        elif char.isascii():
            if state != _TO_ROMAN or char in "\\~":
                switch(_TO_ASCII)
            written += char.encode()
        elif char in (_YEN, _OVERLINE):
            switch(_TO_ROMAN)
            written += b"\\" if char == _YEN else b"~"
        elif (octets := _kanji().get(_FULL_WIDTH.get(char, char))) is not None:
            switch(_TO_KANJI)
            written += octets
        else:
            if state == _TO_KANJI:
                switch(_TO_ASCII)
            written += missing(char)
    switch(_TO_ASCII)
    return bytes(written)
