"""The charset of a page, found as browsers do: byte order mark, HTTP header, declaration in the page, guess.

A declaration in the page was read as ASCII, so it cannot name a charset that is incompatible with ASCII.
"""

from __future__ import annotations

import re
from functools import lru_cache

from w3lib.encoding import read_bom, resolve_encoding, to_unicode

#: A page may declare its charset within this many bytes. Browsers look at 1,024, and decode again for a later tag.
HEAD = 1 << 16

#: Codecs that Python has but no server means; punycode takes quadratic time.
_NO_CHARSETS = ("punycode", "unicode-escape", "raw-unicode-escape", "idna", "utf-7")
_MARKUP = b"<!DOCTYPE html><meta charset=\"utf-8\" name='0123456789'>; &amp; abcdefghijklmnopqrstuvwxyz"

#: Names of the Encoding Standard that Python lacks, besides those that start with `x-`.
_NAMES = {
    **dict.fromkeys(("unicode", "ucs-2", "iso-10646-ucs-2", "csunicode", "unicodefeff", "unicodefffe"), "utf-16"),
    **dict.fromkeys(("unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8"), "utf-8"),
    **dict.fromkeys(("iso-8859-6-e", "iso-8859-6-i"), "iso-8859-6"),
    **dict.fromkeys(("iso-8859-8-e", "iso-8859-8-i", "visual", "logical"), "iso-8859-8"),
    **{f"iso8859{part}": f"iso-8859-{part}" for part in range(1, 17)},
    **dict.fromkeys(("koi", "koi8"), "koi8-r"),
    **dict.fromkeys(("ks_c_5601-1989", "ksc_5601", "windows-949", "cseuckr"), "euc-kr"),
    "cn-big5": "big5",
    "dos-874": "windows-874",
    "gb_2312": "gb2312",
    "koi8-ru": "koi8-u",
    "mac": "macintosh",
    "mac-ukrainian": "mac-cyrillic",
    "user-defined": "windows-1252",
}

_HEADER = re.compile(r";\s*charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)
# these patterns expect lower-case bytes
_OPENING = re.compile(rb"<(!--|meta(?=[\s/])|\?xml(?=\s)|(?:script|style|title|textarea)(?=[\s/>]))")
_TAG = re.compile(rb"(?:[^>=]|=\s*(?:\"[^\"]*\"|'[^']*')?)*+")
_ATTRIBUTE = re.compile(rb"([^\s=\"'/]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']\S*)))?")
_IN_CONTENT = re.compile(rb"charset\s*=\s*[\"']?\s*([^\s\"';,]+)")


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """The text of a response, and the name of Python's codec for its charset. Never fails."""
    codec, mark = read_bom(body)
    if codec is None or mark is None:
        mark = b""
        codec = _of_header(content_type, body) or _declared(body[:HEAD].lower()) or _guess(body)
    return to_unicode(body[len(mark) :], "gb18030" if codec == "gbk" else codec), codec


def _of_header(content_type: str, body: bytes) -> str | None:
    match = _HEADER.search(content_type)
    codec = _codec(match[1].lower()) if match else None
    if codec is None or not codec.startswith("utf-16"):
        return codec
    first, second = (body[start : HEAD // 32 : 2].count(0) for start in (0, 1))
    if not first and not second:  # a page in UTF-16 has tags or at least line breaks, and therefore NULs
        return None
    return "utf-16-be" if first > second else "utf-16-le"


def _declared(head: bytes) -> str | None:
    """The first charset that the head of a page, in lower case, names by a meta tag or an XML declaration."""
    if b"charset" not in head and b"encoding" not in head:
        return None
    position = 0
    last_comment = head.rfind(b"-->")
    while opening := _OPENING.search(head, position):
        kind = opening[1]
        position = opening.end()
        if kind == b"!--":
            if position - 2 <= last_comment:  # an unclosed comment hides nothing
                position = head.find(b"-->", position - 2)  # <!--> is a whole comment
        elif kind in (b"meta", b"?xml"):
            tag = _TAG.match(head, position)
            assert tag is not None
            position = tag.end()
            for label in _labels(tag[0], "encoding" if kind == b"?xml" else "charset"):
                codec = _codec(label)
                if codec is not None:
                    return "utf-8" if codec.startswith("utf-16") else codec
        else:
            position = head.find(b"</" + kind, position)
        if position < 0:
            break
    return None


def _labels(tag: bytes, attribute: str) -> list[str]:
    """The charsets named by the attributes of a tag, in order of precedence."""
    attributes: dict[str, bytes] = {}
    for name, *values in _ATTRIBUTE.findall(tag):
        attributes.setdefault(name.decode("latin-1"), b"".join(values).strip())
    labels = [attributes.get(attribute, b"").partition(b";")[0]]
    # some pages spell it http_equiv or httpequiv
    pragma = next((value for name, value in attributes.items() if re.sub(r"\W|_", "", name) == "httpequiv"), b"")
    if re.search(rb"content[-_ ]?type", pragma) and (match := _IN_CONTENT.search(attributes.get("content", b""))):
        labels.append(match[1])
    return [label.decode("latin-1") for label in labels if label]


@lru_cache(maxsize=256)
def _codec(label: str) -> str | None:
    """Python's name for a charset; `utf-16…` for UTF-16, None if a page with tags cannot have that charset."""
    label = label.strip()[:100]
    plain = label.removeprefix("x-").removeprefix("x-")
    try:
        codec = resolve_encoding(_NAMES.get(plain, label)) or resolve_encoding(plain)
        if codec == "gb18030" and plain != codec:  # read as gb18030, but not written as such
            return "gbk"
        if codec is None or codec.startswith("utf-16"):
            return codec
        return codec if codec not in _NO_CHARSETS and _MARKUP.decode(codec) == _MARKUP.decode("ascii") else None
    except (LookupError, ValueError):  # unknown, or not a text encoding, such as base64
        return None


def _guess(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # a character truncated at the end of the download does not invalidate the rest
        return "utf-8" if error.start > len(body) - 4 else "cp1252"
    return "utf-8"
