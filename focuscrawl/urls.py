"""URLs: what may be followed, and when two of them are the same page.

Joining and parsing are done by ada, which reads URLs as browsers do.
"""

from __future__ import annotations

import codecs
import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import ada_url

#: Longest URL in characters, wherever it comes from; URLLENGTH_LIMIT is what a crawl asks for.
MAX_LENGTH = 16_384

#: Names of parameters that hold a session id, and names that often do, but not always: patterns for any letter case.
SESSION_IDS = r"jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|oscsid|zenid"
LIKELY_SESSION_IDS = r"session_?id|sess(?:id)?"

#: Query parameters that identify a visitor or where they came from, not what is shown.
TRACKING = re.compile(
    r"utm_\w+|gclid|dclid|gbraid|wbraid|fbclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|ref_src"
    rf"|(?i:{SESSION_IDS})"
)
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/?;]*", re.IGNORECASE)

#: Endings that are never HTML. Links to them are dropped before they cost a request.
BINARY = re.compile(
    r"\.(?:7z|aac|ai|apk|arw|asc|avi|avif|bin|bmp|bz2|class|css|csv|dat|dcr|deb|djvu|dll|dmg|dmp|doc[mx]?|dot|dvi|eot|eps"
    r"|epub|exe|f4v|flac|flv|gif|gz|hqx|ico|iso|jar|jpe?g|js|json|lzh|m4[av]|mid|midi|mkv|mobi|mov|mp[234]|mpe?g|msi|o|od[fpst]"
    r"|og[agmv]|otf|pdf|pgp|pkg|png|pp[st]x?|ps|psd|ra|ram|rar|rm|rpm|rtf|sea|sig|sit|so|svgz?|swf|tar|tbz2?|tex|tgz|tiff?|torrent"
    r"|ttf|wav|webm|webp|wma|wmv|woff2?|wrl|xls[mx]?|xpm|xz|z|zip|zst)$",
    re.IGNORECASE,
)

_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})?")
# Characters that some parsers escape and others leave: they make no difference.
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
#: What somebody may have meant for a URL: a host name, with or without a port and a path.
_LIKE_A_HOST = re.compile(r"\A(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)


# References that need no parsing: lower case up to the path, no port, escape, dot segment or odd character. Most links
# are like that, and putting them together costs a fraction of what a parser does.
_SEGMENTS = r"(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)?(?:\?[A-Za-z0-9_.~=&+-]*)?"
_CLEAN = re.compile(rf"(https?://(?!xn--)(?:[a-z][a-z0-9-]*\.(?!xn--))+[a-z]+/)({_SEGMENTS})")
_RELATIVE = re.compile(_SEGMENTS)


def _escape_unencodable(error: UnicodeError) -> tuple[str, int]:
    """What a charset cannot encode, as a form on such a page would send it: `&#9731;`, escaped."""
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(char)}%3B" for char in missing), error.end


codecs.register_error("focuscrawl_query", _escape_unencodable)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
#: The URL standard's percent-encode set of queries, besides what is not ASCII.
_IN_QUERY = frozenset((*range(0x21), *b"\"#'<>", 0x7F))


def _encode_query(href: str, codec: str) -> str:
    """A reference with its query in a charset; the rest of a URL is always in UTF-8."""
    query = href.find("?")
    fragment = href.find("#")
    end = fragment if fragment >= 0 else len(href)
    if not 0 <= query < end:
        return href

    def encode(match: re.Match[str]) -> str:
        octets = match[0].encode(codec, "focuscrawl_query")
        return "".join([f"%{byte:02X}" if byte > 0x7F or byte in _IN_QUERY else chr(byte) for byte in octets])

    return href[:query] + _NOT_ASCII.sub(encode, href[query:end]) + href[end:]


class Base:
    """A URL that others are relative to, and Python's name of the charset of the page they stand on."""

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


def join(base: str, href: str, codec: str = "utf-8") -> str | None:
    """The absolute http(s) URL that *href* on page *base* leads to; None if it leads nowhere.

    It is normalised: no fragment, no user name or password, no dot segments. As in browsers, the query is in the
    charset of the page, except on pages in UTF-16.
    """
    if len(href) > MAX_LENGTH:
        return None
    if not href.isascii() and not codec.startswith("utf"):
        href = _encode_query(href, codec)
    try:
        url: str = ada_url.join_url(base, href)
    except ValueError:
        return None
    if not url.startswith(("http://", "https://")):
        return None
    return _bounded(url)


def _bounded(url: str) -> str | None:
    """A URL that was parsed, without fragment and user info; None if it is too long."""
    url = url.partition("#")[0]
    if "@" in url:
        url = _USER_INFO.sub(r"\1", url)
    return url if len(url) <= MAX_LENGTH else None


def check(url: str) -> str:
    """Check a URL given by a person and return it with scheme and host in lower case (the path keeps its case).

    Raises ValueError that says what is wrong.
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
    """Whether the path of *url* ends like something that is no page."""
    path = url.partition("?")[0]
    # the host must not be taken for a file name: http://example.zip
    slash = path.rfind("/")
    return slash > 7 and BINARY.search(path, slash) is not None


def host(url: str) -> str:
    """The host name of an absolute URL, without port."""
    match = _HOST.match(url)
    return match.group(1).lower().strip("[]") if match else ""


def site(url: str) -> str:
    """Scheme, host and port of an absolute URL: what robots.txt and the like speak for."""
    return "/".join(url.split("/", 3)[:3])


def is_local(url: str) -> bool:
    """Whether a URL leads to the user's own machine."""
    name = host(url)
    return name == "localhost" or name.endswith(".localhost") or name == "::1" or name.startswith("127.")


def _normal_escape(match: re.Match[str]) -> str:
    if match.group(1) is None:  # a lone %; it must not make an escape together with what is unescaped behind it
        return "%25"
    char = chr(int(match.group(1), 16))
    return char if char in _UNRESERVED else match.group().upper()


def unescape(text: str) -> str:
    """A path or query without the escapes of characters that need none; those that stay are in capitals."""
    return _ESCAPE.sub(_normal_escape, text) if "%" in text else text


def canonical(url: str, *, any_scheme: bool = True) -> str:
    """The form under which two URLs are compared, never the one that is requested.

    Drops the scheme (unless *any_scheme* is false), `www.`, the fragment, tracking parameters, session ids and the
    escapes of characters that need none, and sorts the query. *url* is absolute, as `join` and `check` return it.
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
    """64 bits that stand for the canonical URL: signed, as SQLite keeps integers."""
    digest = blake2b(canonical(url, any_scheme=any_scheme).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def words(url: str) -> list[str]:
    """The words in path and query (and host name) of a URL, in lower case, without the parts every URL has."""
    parts = urlsplit(url)
    text = unquote(f"{parts.hostname or ''} {parts.path} {parts.query}").lower()
    return [word for word in _URL_WORD.findall(text) if word not in _COMMON_URL_WORDS]


def of_file(path: Path) -> str:
    """A URL for a page in a file: its relative links lead to the files beside it."""
    return f"http://file.invalid{quote(path.resolve().as_posix())}"
