"""Scope: which URLs a crawl may request.

A rule is one of

- `example.com`: a host and its subdomains,
- `example.com/docs/`: a path prefix on a host and its subdomains,
- `/private/`: a path prefix on any host,
- `re:EXPRESSION`: a regular expression, searched for in the URL.

A URL is out of scope if a deny rule matches it, or if there are allow rules and none of them matches it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.errors import FocusError
from focuscrawl.manners.paths import PathRules, normal_path

logger = logging.getLogger(__name__)

#: Seconds between two checks of the rules file.
RELOAD = 1.0

_PORT = re.compile(r"(?:^[^:]*|\]):\d*$")
_DOMAIN = re.compile(r"\A(?=[^/]*[\w\]])[\w.:\[\]-]+", re.UNICODE)
_URL = re.compile(r"https?://(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/:?#]*)(?::\d+)?([^#]*)")


class _Rule(NamedTuple):
    """A rule: a regular expression, or a host (empty: any) and a path prefix (empty: the whole host)."""

    host: str = ""
    path: str = ""
    expression: re.Pattern[str] | None = None

    @classmethod
    def read(cls, rule: str) -> _Rule:
        """Parse a rule; raises ValueError with the reason if it is invalid."""
        rule = rule.strip()
        if rule.startswith("re:"):
            try:
                return cls(expression=re.compile(rule[3:]))
            except re.error as error:
                raise ValueError(f"'{rule}' is not a valid regular expression: {error}") from None
        if rule.startswith("/"):
            return cls(path=rule)
        host, slash, path = re.sub(r"^https?://", "", rule).partition("/")
        host = host.lower().removeprefix("*.").removeprefix("www.").strip(".")
        if _PORT.search(host):
            raise ValueError(
                f"'{rule}' has a port, but rules apply to all ports of a host; use re:EXPRESSION to match a port"
            )
        host = f"[{host}]" if host.count(":") > 1 and "[" not in host else host
        if not _DOMAIN.fullmatch(host.strip("[]")) or (name := urls.join(f"http://{host}/", "")) is None:
            raise ValueError(f"'{rule}' is not a domain, domain/path, /path or re:EXPRESSION")
        return cls(urls.host(name), slash + path)


class _Rules:
    """Rules of one kind, allow or deny, in a form that is fast to query."""

    def __init__(self, rules: Iterable[_Rule]) -> None:
        paths: dict[str, list[tuple[str, str]]] = {}
        self.expressions: list[re.Pattern[str]] = []
        for rule in rules:
            if rule.expression is not None:
                self.expressions.append(rule.expression)
            else:
                paths.setdefault(rule.host, []).append((rule.path, rule.host + rule.path))
        # `/a` makes `/a/b` redundant, so the shortest is reported; `*` and `$` are literal, they occur in real paths
        self.paths = {
            host: PathRules(prefixes, precedence="shortest", wildcards=False) for host, prefixes in paths.items()
        }

    def __bool__(self) -> bool:
        return bool(self.paths or self.expressions)

    def match(self, url: str) -> str | None:
        """The first rule that matches a URL."""
        if self.paths:
            found = _URL.match(url)
            path = normal_path((found[1] if found else "") or "/")
            host = urls.host(url).rstrip(".")
            while True:  # the host, its parent domains, and finally the rules for any host
                rules = self.paths.get(host)
                if rules is not None and (rule := rules.find(path)) is not None:
                    return rule
                if not host:
                    break
                host = host.partition(".")[2]
        for expression in self.expressions:
            if expression.search(url):
                return f"re:{expression.pattern}"
        return None


class Scope:
    """The scope of a crawl, from fixed rules and from a file that is reloaded when it changes.

    A line of the file is `allow RULE` or `deny RULE`; empty lines and lines that start with # are ignored.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        file: Path | None = None,
    ) -> None:
        self.given = {"allow": list(allow), "deny": list(deny)}
        self.file = file
        self._looked_at = clock.monotonic()
        self._stamp = self._file_stamp()
        try:
            lines = self._read()
            self.rules = self._compile(lines)
        except OSError as error:
            raise FocusError(f"setting FOCUS_SCOPE={file}: {error.strerror}") from None
        except ValueError as error:
            raise FocusError(str(error)) from None

    def __bool__(self) -> bool:
        """Whether there are rules, or a file that may have some later."""
        return self.file is not None or any(self.rules.values())

    def refuses(self, url: str) -> str | None:
        """Why a URL is out of scope; None if it is within."""
        self._reload()
        denied = self.rules["deny"].match(url)
        if denied is not None:
            return f"denied by '{denied}'"
        if self.rules["allow"] and self.rules["allow"].match(url) is None:
            return "not matched by any allow rule"
        return None

    def denies(self, url: str) -> bool:
        """Whether a deny rule matches a URL; for what is not a page, so that no allow rule needs to match."""
        self._reload()
        return self.rules["deny"].match(url) is not None

    def _file_stamp(self) -> tuple[int, int] | None:
        try:
            found = self.file.stat() if self.file is not None else None
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size) if found else None

    def _read(self) -> list[str]:
        return self.file.read_text("utf-8-sig", "replace").splitlines() if self.file is not None else []

    def _compile(self, lines: list[str]) -> dict[str, _Rules]:
        rules: dict[str, list[_Rule]] = {"allow": [], "deny": []}
        for kind, given in self.given.items():
            for rule in given:
                try:
                    rules[kind].append(_Rule.read(rule))
                except ValueError as error:
                    raise ValueError(f"setting FOCUS_{kind.upper()}: {error}") from None
        for number, line in enumerate(lines, 1):
            words = line.split(maxsplit=1)
            if not words or line.lstrip().startswith("#"):
                continue
            if words[0].lower() not in rules or len(words) != 2:
                raise ValueError(f"{self.file}, line {number}: '{line.strip()}': write `allow RULE` or `deny RULE`")
            try:
                rules[words[0].lower()].append(_Rule.read(words[1]))
            except ValueError as error:
                raise ValueError(f"{self.file}, line {number}: {error}") from None
        return {kind: _Rules(read) for kind, read in rules.items()}

    def _reload(self) -> None:
        """Reload the file if it has changed; if it is invalid, the old rules stay in force."""
        if self.file is None or clock.monotonic() < self._looked_at + RELOAD:
            return
        self._looked_at = clock.monotonic()
        stamp = self._file_stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self.rules = self._compile(self._read())
            logger.info("%s has changed: rules reloaded", self.file)
        except (OSError, ValueError) as error:
            logger.error("%s is invalid, the old rules stay in force: %s", self.file, error)
