"""URLs: which ones can be followed, and when two of them are the same page.

ada joins and parses URLs as browsers do.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import ada_url

from focuscrawl.reading import types
from focuscrawl.web import encoders

#: Maximum length of any URL, in characters; URLLENGTH_LIMIT is the limit of a crawl.
MAX_LENGTH = 16_384

#: Parameter names that hold a session id, and names that often do: patterns, to be matched case-insensitively.
SESSION_IDS = r"jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|oscsid|zenid"
LIKELY_SESSION_IDS = r"session_?id|sess(?:id)?"

#: Query parameters that identify a visitor or a referrer, not the content.
TRACKING = re.compile(
    r"utm_\w+|gclid|dclid|gbraid|wbraid|fbclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|ref_src"
    rf"|(?i:{SESSION_IDS})"
)
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/?;]*", re.IGNORECASE)

_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})?")
# Characters that some parsers escape and others do not: both forms are the same URL.
_ODD = re.compile(r"""[\[\]|{}^`\\"<>' ]""")
_ESCAPED = str.maketrans({char: f"%{ord(char):02X}" for char in "[]|{}^`\\\"<>' "})
_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_URL_WORD = re.compile(r"[^\W\d_]{2,}")
_COMMON_URL_WORDS = frozenset(
    (
        "www",
        "com",
        "org",
        "net",
        "edu",
        "gov",
        "html",
        "htm",
        "php",
        "asp",
        "aspx",
        "jsp",
        "cgi",
        "index",
        "default",
        "home",
    )
)
_USER_INFO = re.compile(r"^(https?://)[^/?#]*@")
_HOST = re.compile(r"https?://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/:?#]*)")
#: Input that was probably meant as a URL: a host name, with or without a port and a path.
_LIKE_A_HOST = re.compile(r"\A(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)


# References that need no parsing: lower case up to the path, no port, escape, dot segment or odd character. Most links
# are like that, and concatenation costs a fraction of parsing.
_SEGMENTS = r"(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)?(?:\?[A-Za-z0-9_.~=&+-]*)?"
_CLEAN = re.compile(rf"(https?://(?!xn--)(?:[a-z][a-z0-9-]*\.(?!xn--))+[a-z]+/)({_SEGMENTS})")
_RELATIVE = re.compile(_SEGMENTS)


#: The ASCII part of the URL standard's query percent-encode set for http.
_IN_QUERY = frozenset((*range(0x21), *b"\"#'<>", 0x7F))
#: What the URL standard removes from a reference before it is parsed: at its ends, and anywhere.
_AROUND = "".join(map(chr, range(0x21)))
_ANYWHERE = str.maketrans("", "", "\t\n\r")


def _missing(char: str) -> bytes:
    """A character that the charset of a page lacks, as browsers write it in forms: `&#9731;`, percent-encoded."""
    return f"%26%23{ord(char)}%3B".encode()


def _encode_query(href: str, codec: str) -> str:
    """Percent-encode the query of a reference in a charset; the rest of a URL is always in UTF-8."""
    href = href.strip(_AROUND).translate(_ANYWHERE)
    rest, number_sign, fragment = href.partition("#")
    path, mark, query = rest.partition("?")
    octets = encoders.encode(query, codec, _missing)
    query = "".join([f"%{byte:02X}" if byte > 0x7E or byte in _IN_QUERY else chr(byte) for byte in octets])
    return path + mark + query + number_sign + fragment


class Base:
    """A base URL, and Python's name for the charset of the page with the references."""

    def __init__(self, url: str, codec: str = "utf-8") -> None:
        self.url = url
        self.codec = codec
        match = _CLEAN.fullmatch(url.partition("?")[0])
        self.root = match[1] if match else ""
        self.folder = url.partition("?")[0].rpartition("/")[0] + "/" if match else ""

    def join(self, href: str) -> str | None:
        """The same as `join(self.url, href, self.codec)`."""
        if len(href) > MAX_LENGTH:
            return None
        if _CLEAN.fullmatch(href):
            return href
        if self.root and href[:1] == "/" and _RELATIVE.fullmatch(href, 1):
            return self.root + href[1:]
        if self.root and href[:1] not in ("", "?") and _RELATIVE.fullmatch(href):
            return self.folder + href
        return join(self.url, href, self.codec)

    def plain(self, href: str) -> str:
        """The URL that a reference leads to if that needs no parsing: to be compared with URLs that were joined."""
        if href[:4] == "http":
            return href
        if href[:1] == "/":
            return self.root + href[1:]
        return self.folder + href if href[:1] != "?" else ""


def join(base: str, href: str, codec: str = "utf-8") -> str | None:
    """The absolute http(s) URL that *href* on page *base* points to; None if it is not one.

    It is normalised: no fragment, no user name or password, no dot segments. As in browsers, the query is encoded in
    the charset of the page (its output encoding: UTF-8 for UTF-16).
    """
    if len(href) > MAX_LENGTH:
        return None
    special = not href.isascii() or codec == encoders.ISO_2022_JP
    if special and not codec.startswith("utf") and codec not in encoders.READ_ONLY:
        href = _encode_query(href, codec)
    try:
        url: str = ada_url.join_url(base, href)
    except ValueError:
        return None
    if not url.startswith(("http://", "https://")):
        return None
    return _bounded(url)


def _bounded(url: str) -> str | None:
    """A parsed URL without fragment and user info; None if it is too long."""
    url = url.partition("#")[0]
    if "@" in url:
        url = _USER_INFO.sub(r"\1", url)
    return url if len(url) <= MAX_LENGTH else None


def check(url: str) -> str:
    """Check a URL typed by a user and return it with scheme and host in lower case (the path keeps its case).

    Raises ValueError with a message for the user.
    """
    url = url.strip()
    if not url:
        raise ValueError("an empty URL")
    if "://" not in url:
        guess = f" (did you mean 'http://{url}'?)" if _LIKE_A_HOST.match(url) else ""
        raise ValueError(f"'{url}' is not a URL{guess}")
    scheme = url.partition("://")[0].lower()
    if scheme not in ("http", "https"):
        raise ValueError(f"'{url}' is not an http or https URL")
    try:
        checked = _bounded(ada_url.normalize_url(url))
    except ValueError:
        raise ValueError(f"'{url}' is not a valid URL") from None
    if checked is None:
        raise ValueError(f"'{url[:80]}…' is longer than {MAX_LENGTH:,} characters")
    return checked


def is_binary(url: str) -> bool:
    """Whether the path of *url* ends in a file extension that is never an HTML page."""
    return types.of_url(url) is not None


def host(url: str) -> str:
    """The host name of an absolute URL, without port."""
    match = _HOST.match(url)
    return match.group(1).lower().strip("[]") if match else ""


def site(url: str) -> str:
    """Scheme, host and port of an absolute URL: the scope of a robots.txt."""
    return "/".join(url.split("/", 3)[:3])


def is_local(url: str) -> bool:
    """Whether a URL points to the user's own machine."""
    name = host(url)
    return name == "localhost" or name.endswith(".localhost") or name == "::1" or name.startswith("127.")


def _normal_escape(match: re.Match[str]) -> str:
    if match.group(1) is None:  # a lone %, which must not form an escape with unescaped characters after it
        return "%25"
    char = chr(int(match.group(1), 16))
    return char if char in _UNRESERVED else match.group().upper()


def unescape(text: str) -> str:
    """A path or query without unnecessary escapes; the remaining ones are in upper case."""
    return _ESCAPE.sub(_normal_escape, text) if "%" in text else text


def canonical(url: str, *, any_scheme: bool = True) -> str:
    """The form in which URLs are compared; it is never requested.

    Drops the scheme (unless *any_scheme* is false), `www.`, the fragment, tracking parameters, session ids and
    unnecessary escapes, and sorts the query. *url* is absolute, as `join` and `check` return it.
    """
    url = url.partition("#")[0]
    scheme, _, rest = url.partition("://")
    while rest.startswith("www."):
        rest = rest[4:]
    path, mark, query = rest.partition("?")
    if _ODD.search(rest):
        path, query = path.translate(_ESCAPED), query.translate(_ESCAPED)
    path = unescape(path)
    if ";" in path:
        path = _SESSION_IN_PATH.sub("", path)
    if mark:
        query = unescape(query)
        parts = [part for part in query.split("&") if part and not TRACKING.fullmatch(part.partition("=")[0])]
        if parts:
            parts.sort()
            path = f"{path}?{'&'.join(parts)}"
    return path if any_scheme else f"{scheme}://{path}"


def key(url: str, *, any_scheme: bool = True) -> int:
    """A 64-bit hash of the canonical URL, signed like SQLite's integers."""
    digest = blake2b(canonical(url, any_scheme=any_scheme).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def words(url: str) -> list[str]:
    """The words in the host name, path and query of a URL, in lower case, without those that most URLs have."""
    text = url.partition("#")[0].partition("://")[2]
    if "@" in text:  # without the name of a user
        parts = urlsplit(url)
        text = f"{parts.hostname or ''} {parts.path} {parts.query}"
    return words_in(text)


def words_in(text: str) -> list[str]:
    """The words in a part of a URL, such as a name with a query."""
    text = (unquote(text) if "%" in text else text).lower()
    return [word for word in _URL_WORD.findall(text) if word not in _COMMON_URL_WORDS]


def of_file(path: Path) -> str:
    """A URL for a page in a file: its relative links point to neighbouring files."""
    return f"http://file.invalid{quote(path.resolve().as_posix())}"
