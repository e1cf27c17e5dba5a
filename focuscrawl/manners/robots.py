"""robots.txt (RFC 9309): which URLs a crawler may fetch, with which delay, and what for (`usage`)."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from focuscrawl.manners.paths import PathRules, normal_path
from focuscrawl.manners.usage import CONTENT_SIGNAL, CONTENT_USAGE, MAX_STATEMENTS, SiteUsage
from focuscrawl.urls import MAX_LENGTH

if TYPE_CHECKING:
    from typing import Self

#: RFC 9309, 2.5: crawlers must parse at least 500 KiB; the rest is ignored.
SIZE_LIMIT = 500 * 1024
#: Maximum number of sitemaps kept per robots.txt.
MAX_SITEMAPS = 1_000

# The supported records, including common misspellings, and with a space instead of the colon.
_RECORD = re.compile(
    rb"(?:(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<disallow>dis+al+ow|diasllow|disallaw)"
    rb"|(?P<delay>crawl[- ]delay|request[- ]rate)|(?P<sitemap>site-?maps?))(?:[ \t]*:|[ \t]+(?=\S+\Z))"
    rb"|(?:(?P<usage>content-usage)|(?P<signal>content-signals?)|(?P<licence>license))[ \t]*:",
    re.IGNORECASE,
)
_SIGNALS = {"usage": CONTENT_USAGE, "signal": CONTENT_SIGNAL}
# A Crawl-delay in seconds, or a Request-rate such as 1/10, 5/1m or 1/10s 0600-0845.
_DELAY = re.compile(rb"(?:(\d{1,9})/)?(\d{1,9}(?:\.\d*)?|\.\d+)([smhd]?)(?!\S)", re.IGNORECASE)
_SECONDS = {b"": 1, b"s": 1, b"m": 60, b"h": 3600, b"d": 86400}
#: In place of a crawler: all of them. No product token is empty.
_ALL = ""
_TOKEN = re.compile(r"[^/\s*,;<>]+|\*")
_ORIGIN = re.compile(r"\A[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)


class Rules:
    """The rules of a robots.txt for one crawler, stored compactly; rules for other crawlers are dropped."""

    def __init__(
        self,
        rules: Iterable[tuple[bytes, bool]] = (),
        sitemaps: Iterable[str] = (),
        usage: SiteUsage | None = None,
    ) -> None:
        #: One line per rule: + or -, then the path.
        self._lines = b"\n".join(sorted({(b"+" if allow else b"-") + path for path, allow in rules}))
        #: The listed sitemaps, as they are written.
        self.sitemaps = list(sitemaps)
        #: What the site says its pages may be used for; None if it does not say.
        self.usage = usage

    @classmethod
    def read(cls, body: bytes, agent: str) -> Self:
        """Read the rules for a crawler, given by User-Agent or product token; other lines are skipped."""
        ours = product_token(agent)
        #: The rules for us and for `*`, if the file has groups for them.
        found: dict[str, list[tuple[bytes, bool]]] = {}
        addressed: set[str] = set()
        has_rules = has_group = False
        sitemaps: list[str] = []
        #: Lines about usage by crawler; those above the first group are for all.
        usage: dict[str, list[tuple[str, bytes]]] = {}
        licences: list[bytes] = []
        for kind, value in _records(body):
            if kind == "agent":
                if has_rules:
                    addressed, has_rules = set(), False
                has_group = True
                for token in agent_tokens(value):
                    if token in (ours, "*"):
                        found.setdefault(token, [])
                        addressed.add(token)
            elif kind in ("allow", "disallow"):
                has_rules = True
                if value:
                    for token in addressed:
                        found[token].append((value, kind == "allow"))
            elif kind == "sitemap" and len(sitemaps) < MAX_SITEMAPS and len(value) <= MAX_LENGTH:
                sitemaps.append(value.decode("utf-8", "replace"))
            elif kind in _SIGNALS:
                has_rules = has_group
                for token in addressed if has_group else (_ALL,):
                    lines = usage.setdefault(token, [])
                    if len(lines) < MAX_STATEMENTS and len(value) <= MAX_LENGTH:
                        lines.append((_SIGNALS[kind], value))
            elif kind == "licence" and value and len(licences) < MAX_STATEMENTS:
                licences.append(value)
        group = ours if ours in found else "*"
        lines = usage.get(_ALL, []) + usage.get(group, [])
        return cls(found.get(group, ()), sitemaps, SiteUsage(lines, licences) if lines or licences else None)

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        return len(self._lines) + sum(map(len, self.sitemaps)) + 200 + (self.usage.size if self.usage else 0)

    def matcher(self) -> Matcher:
        """The rules in a form that is fast to query."""
        return Matcher(self._lines.split(b"\n") if self._lines else [])

    def allows(self, url: str) -> bool:
        """Whether the crawler may fetch *url*; for many URLs, use a `matcher`."""
        return self.matcher().allows(url)


class Matcher:
    """Rules in a form that is fast to query."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        # `Rules` sorts Allow before Disallow, so Allow wins if both are equally long
        self._rules = PathRules(((line[1:], line[:1] == b"+") for line in lines), precedence="longest")
        #: Approximate size of the matcher in bytes.
        self.size = self._rules.size

    def allows(self, url: str) -> bool:
        """Whether *url* may be fetched."""
        path = _ORIGIN.sub("", url.partition("#")[0], count=1)
        path = normal_path(path if path.startswith("/") else f"/{path}")
        return path == "/robots.txt" or self._rules.find(path) is not False


def wished_delay(body: bytes, agent: str) -> float:
    """Seconds between requests by Crawl-delay or Request-rate, which are not part of the RFC.

    They apply to the User-agent lines directly above them, even where the RFC does not start a new group.
    """
    ours = product_token(agent)
    delays: dict[str, float] = {}
    named: set[str] = set()
    previous = ""
    for kind, value in _records(body):
        if kind == "agent":
            if previous != "agent":
                named = set()
            for token in agent_tokens(value):
                if token in (ours, "*"):
                    named.add(token)
                    delays.setdefault(token, 0.0)
        elif kind == "delay" and (match := _DELAY.match(value)):
            delay = float(match[2]) * _SECONDS[match[3].lower()] / (int(match[1] or 1) or 1)
            delays.update({token: max(delay, delays[token]) for token in named})
        if kind not in ("sitemap", "licence"):
            previous = kind
    return delays.get(ours, delays.get("*", 0.0))


def product_token(agent: str) -> str:
    """The name of a crawler in a robots.txt, in lower case: the part of its User-Agent before the version."""
    match = _TOKEN.match(agent.strip())
    return match[0].lower() if match else ""


def agent_tokens(value: bytes) -> list[str]:
    """The crawlers named in a User-agent line: one by the RFC, but lists and stray markup occur."""
    names = (product_token(name) for name in re.split(r"[,;]", value.decode("latin-1")))
    return [name for name in names if name]


def _records(body: bytes) -> Iterator[tuple[str, bytes]]:
    """The supported records of a robots.txt as (kind, value)."""
    if len(body) > SIZE_LIMIT:  # cut at the end of a line: a truncated line could mean something else
        last_end = max(body.rfind(end, 0, SIZE_LIMIT + 1) for end in (b"\n", b"\r"))
        body = body[: max(last_end, 0)]
    for line in re.split(rb"[\r\n]+", body.removeprefix(BOM_UTF8)):
        text = line.partition(b"#")[0].strip(b" \t")
        record = _RECORD.match(text)
        if record is not None and record.lastgroup is not None:
            yield record.lastgroup, text[record.end() :].strip(b" \t")
