"""Usage preferences: what a site or a response says its content may be used for.

- AIPREF: `Content-Usage: train-ai=n, search=y` in robots.txt, there after an optional path, and as a header
  (draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08).
- Content Signals: `Content-Signal: search=yes, ai-input=no, ai-train=no` in the same places.
- RSL 1.0: `License: URL` in robots.txt, and links with `rel=license` and the type of RSL in pages and Link headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from focuscrawl.manners.paths import PathRules, normal_path

CONTENT_USAGE, CONTENT_SIGNAL, RSL = "Content-Usage", "Content-Signal", "RSL"
#: The media type of RSL licences.
RSL_TYPE = "application/rsl+xml"

#: The purposes that pages are collected for, which a signal may refuse.
SEARCH, AI_INPUT, AI_TRAIN, TDM = "search", "ai-input", "ai-train", "tdm"
#: The labels of both vocabularies that mean one of them. Other labels are recorded as they are written.
_PURPOSES = {
    CONTENT_USAGE: {"search": SEARCH, "train-ai": AI_TRAIN},
    CONTENT_SIGNAL: {"search": SEARCH, "ai-input": AI_INPUT, "ai-train": AI_TRAIN},
}

#: Maximum number of statements read from a robots.txt, and number and length in characters of those kept for a page.
MAX_STATEMENTS = 1_000
MAX_TOGETHER = 5
MAX_SAID = 300

# A dictionary of structured fields (RFC 9651): its keys and values; values other than tokens are skipped.
_KEY = r"[a-z*][a-z0-9_.*-]*+"
_STRING = r'"(?:[^"\\]|\\["\\])*+"'
_ITEM = rf"(?:[A-Za-z*][^\s\",;=()]*+|{_STRING}|%{_STRING}|:[A-Za-z0-9+/=]*+:|\?[01]|@?-?\d[\d.]*+)"
_PARAMETERS = rf"(?:;[ ]*+{_KEY}(?:={_ITEM})?)*+"
_INNER_LIST = rf"\([ ]*+(?:{_ITEM}{_PARAMETERS}[ ]*+)*+\)"
_MEMBER = re.compile(rf"(?P<key>{_KEY})(?:=(?:(?P<value>{_ITEM})|{_INNER_LIST}))?+{_PARAMETERS}[ \t]*+")
_COMMA = re.compile(r",[ \t]*+(?=[a-z*])")
_SIGNAL = re.compile(r"(?<![a-z0-9_-])([a-z0-9_-]++)[ \t]*+=[ \t]*+([a-z]++)")
_LINK = re.compile(r'<([^<>]*)>((?:[^,<>"]|"[^"]*")*+)')
_PARAMETER = re.compile(r';\s*+([a-z*]++)\s*+=\s*+(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)


class Statement(NamedTuple):
    """A preference as it was written, and the purposes that it refuses."""

    signal: str
    said: str
    refuses: tuple[str, ...] = ()


def parse_usage(text: str) -> Statement:
    """A Content-Usage preference; one that is no dictionary refuses nothing, as the draft demands."""
    preferences = _dictionary(text)
    return _statement(CONTENT_USAGE, text, {label for label, value in preferences.items() if value == "n"})


def parse_signal(text: str) -> Statement:
    """A Content-Signal; there is no strict grammar, so that stray text around the signals is skipped."""
    signals = _SIGNAL.findall(text.lower())
    return _statement(CONTENT_SIGNAL, text, {label for label, value in signals if value == "no"})


def _statement(signal: str, text: str, refused: Iterable[str]) -> Statement:
    known = _PURPOSES[signal]
    return Statement(signal, text[:MAX_SAID], tuple(sorted({known[label] for label in refused if label in known})))


def _dictionary(text: str) -> dict[str, str]:
    """The members of a dictionary of structured fields, whose last value counts; empty if it is malformed."""
    found: dict[str, str] = {}
    text = text.strip(" ")
    position = 0
    while position < len(text):
        member = _MEMBER.match(text, position)
        if member is None:
            return {}
        found[member["key"]] = member["value"] or ""
        position = member.end()
        if position < len(text):
            comma = _COMMA.match(text, position)
            if comma is None:
                return {}
            position = comma.end()
    return found


def of_headers(usage: list[str], signals: list[str]) -> Iterator[Statement]:
    """The preferences in the headers of a response; several lines of one header are one list."""
    if usage:
        yield parse_usage(", ".join(usage))
    if signals:
        yield parse_signal(", ".join(signals))


def licence_links(header: str) -> Iterator[tuple[str, bool]]:
    """The licences in a Link header: their URLs as written, and whether they are RSL."""
    for target, text in _LINK.findall(header):
        parameters = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(text)}
        if "license" in parameters.get("rel", "").lower().split():
            yield target, is_rsl(parameters.get("type", ""))


def is_rsl(media_type: str) -> bool:
    """Whether a media type is that of RSL licences."""
    return media_type.partition(";")[0].strip().lower() == RSL_TYPE


class SiteUsage:
    """The preferences in a robots.txt for one crawler, by path, and the RSL licences of the site."""

    def __init__(self, lines: Iterable[tuple[str, bytes]], licences: Iterable[bytes] = ()) -> None:
        """*lines* are the Content-Usage and Content-Signal lines for the crawler, as signal and value."""
        by_path: dict[str, dict[bytes, list[Statement]]] = {CONTENT_USAGE: {}, CONTENT_SIGNAL: {}}
        for signal, value in lines:
            path, said = _path_of(value)
            statement = (parse_usage if signal == CONTENT_USAGE else parse_signal)(said.decode("utf-8", "replace"))
            by_path[signal].setdefault(path, []).append(statement)
        # of statements for the same path each applies; of patterns of the same length the one that refuses more
        rules = [
            sorted(
                ((path, sorted(said, key=_refused, reverse=True)[:MAX_TOGETHER]) for path, said in paths.items()),
                key=lambda rule: _refused(rule[1][0]),
                reverse=True,
            )
            for paths in by_path.values()
        ]
        self._rules = [PathRules(some, precedence="longest") for some in rules if some]
        written = dict.fromkeys(licence.decode("utf-8", "replace")[:MAX_SAID] for licence in licences)
        self._licences = [Statement(RSL, licence) for licence in written][:MAX_TOGETHER]
        #: Approximate size in bytes.
        self.size = sum(one.size for one in self._rules) + sum(
            200 + len(statement.said) for some in rules for _, said in some for statement in said
        )

    def of_path(self, path: str) -> list[Statement]:
        """What applies to a path with its query."""
        normal = normal_path(path)
        return [statement for rules in self._rules for statement in rules.find(normal) or ()] + self._licences


def _refused(statement: Statement) -> int:
    return len(statement.refuses)


def _path_of(value: bytes) -> tuple[bytes, bytes]:
    """The path pattern of a line, which may be missing, and the rest."""
    if not value.startswith(b"/"):
        return b"", value
    path, *rest = value.split(maxsplit=1)
    return path, rest[0] if rest else b""
