"""Scope: which URLs a crawl may ask for.

A rule is one of

- `example.com`: the host and those below it,
- `example.com/docs/`: what begins so on that host or those below it,
- `/private/`: a path that begins so, on any host,
- `re:EXPRESSION`: a regular expression that is found in the URL.

What a deny rule matches is out of scope; so is, if there are allow rules, what none of them matches.
"""

from __future__ import annotations

import logging
import re
from bisect import insort
from collections.abc import Callable, Iterable
from pathlib import Path
from string import punctuation
from time import monotonic
from urllib.parse import quote

from focuscrawl import urls
from focuscrawl.errors import FocusError

logger = logging.getLogger(__name__)

#: Seconds between two looks at the file of rules.
RELOAD = 1.0

_PORT = re.compile(r"(?:^[^:]*|\]):\d*$")
_DOMAIN = re.compile(r"\A(?=[^/]*[\w\]])[\w.:\[\]-]+", re.UNICODE)
_URL = re.compile(r"https?://(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/:?#]*)(?::\d+)?([^#]*)")


def _spelled(path: str) -> str:
    """A path with the escapes that it needs and no others: rules hold however a page spells its links."""
    return urls.unescape(quote(path, safe=punctuation + " "))


class _Prefixes:
    """Beginnings of paths, found in a time that grows with their lengths, not with their number."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._lengths: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, prefix: str) -> None:
        self._known.add(prefix)
        if len(prefix) not in self._lengths:
            insort(self._lengths, len(prefix))

    def match(self, path: str) -> str | None:
        """The shortest that a path begins with."""
        return next((path[:length] for length in self._lengths if path[:length] in self._known), None)


class _Rules:
    """Rules of one kind, sorted by what they look at."""

    def __init__(self) -> None:
        #: Path prefixes by domain; an empty prefix is the whole host.
        self.domains: dict[str, _Prefixes] = {}
        self.paths = _Prefixes()
        self.patterns: list[re.Pattern[str]] = []

    def __bool__(self) -> bool:
        return bool(self.domains or self.paths or self.patterns)

    def add(self, rule: str) -> None:
        """Add a rule; raises ValueError that says what is wrong with it."""
        rule = rule.strip()
        if rule.startswith("re:"):
            try:
                self.patterns.append(re.compile(rule[3:]))
            except re.error as error:
                raise ValueError(f"'{rule}' is no regular expression: {error}") from None
            return
        if rule.startswith("/"):
            self.paths.add(_spelled(rule))
            return
        host, slash, path = re.sub(r"^https?://", "", rule).partition("/")
        host = host.lower().removeprefix("*.").removeprefix("www.").strip(".")
        if _PORT.search(host):
            raise ValueError(
                f"'{rule}' names a port, and rules hold for all of a host; re:EXPRESSION can tell ports apart"
            )
        host = f"[{host}]" if host.count(":") > 1 and "[" not in host else host
        if not _DOMAIN.fullmatch(host.strip("[]")) or (name := urls.join(f"http://{host}/", "")) is None:
            raise ValueError(f"'{rule}' is no domain, domain/path, /path or re:EXPRESSION")
        self.domains.setdefault(urls.host(name), _Prefixes()).add(_spelled(slash + path))

    def match(self, url: str) -> str | None:
        """The first rule that a URL meets."""
        found = _URL.match(url)
        path = _spelled((found[1] if found else "") or "/")
        if self.domains:
            name = urls.host(url).rstrip(".")
            while name:
                prefixes = self.domains.get(name)
                if prefixes is not None and (prefix := prefixes.match(path)) is not None:
                    return name + prefix
                name = name.partition(".")[2]
        if (prefix := self.paths.match(path)) is not None:
            return prefix
        for pattern in self.patterns:
            if pattern.search(url):
                return f"re:{pattern.pattern}"
        return None


class Scope:
    """What may be asked for, by rules given once and by a file that is read again when it changes.

    A line of the file is `allow RULE` or `deny RULE`; empty lines and those that begin with # say nothing.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        file: Path | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.given = {"allow": list(allow), "deny": list(deny)}
        self.file = file
        self._clock = clock
        self._looked_at = clock()
        self._stamp = self._file_stamp()
        try:
            lines = self._read()
            self.rules = self._compile(lines)
        except OSError as error:
            raise FocusError(f"FOCUS_SCOPE={file}: {error.strerror}") from None
        except ValueError as error:
            raise FocusError(str(error)) from None

    def __bool__(self) -> bool:
        """Whether there is anything to look at."""
        return self.file is not None or any(self.rules.values())

    def refuses(self, url: str) -> str | None:
        """Why a URL is out of scope; None if it is within."""
        self._reload()
        denied = self.rules["deny"].match(url)
        if denied is not None:
            return f"denied by '{denied}'"
        if self.rules["allow"] and self.rules["allow"].match(url) is None:
            return "not among what is allowed"
        return None

    def _file_stamp(self) -> tuple[int, int] | None:
        try:
            found = self.file.stat() if self.file is not None else None
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size) if found else None

    def _read(self) -> list[str]:
        return self.file.read_text("utf-8-sig", "replace").splitlines() if self.file is not None else []

    def _compile(self, lines: list[str]) -> dict[str, _Rules]:
        rules = {"allow": _Rules(), "deny": _Rules()}
        for kind, given in self.given.items():
            for rule in given:
                try:
                    rules[kind].add(rule)
                except ValueError as error:
                    raise ValueError(f"FOCUS_{kind.upper()}: {error}") from None
        for number, line in enumerate(lines, 1):
            words = line.split(maxsplit=1)
            if not words or line.lstrip().startswith("#"):
                continue
            if words[0].lower() not in rules or len(words) != 2:
                raise ValueError(f"{self.file}, line {number}: '{line.strip()}': write `allow RULE` or `deny RULE`")
            try:
                rules[words[0].lower()].add(words[1].strip())
            except ValueError as error:
                raise ValueError(f"{self.file}, line {number}: {error}") from None
        return rules

    def _reload(self) -> None:
        """Look at the file again; rules that cannot be read leave the old ones in force."""
        if self.file is None or self._clock() < self._looked_at + RELOAD:
            return
        self._looked_at = self._clock()
        stamp = self._file_stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self.rules = self._compile(self._read())
            logger.info("%s has changed and was read again", self.file)
        except (OSError, ValueError) as error:
            logger.error("the rules of %s stay as they were: %s", self.file, error)
