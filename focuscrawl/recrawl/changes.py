"""Changes in a crawl since a date: new, changed, gone and returned pages, as text, JSON and an Atom feed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5
from xml.etree import ElementTree

from focuscrawl import __version__
from focuscrawl.errors import printable
from focuscrawl.recrawl.revisit import BACK, CHANGED, GONE
from focuscrawl.store.store import Store

#: Readers for the old values of a page in the details of a visit.
_READ: dict[str, Callable[[Any], Any]] = {
    "title": lambda value: str(value or ""),
    "relevance": lambda value: None if value is None else float(value),
    "matched": bool,
}
NEW = "new"
KINDS = (NEW, CHANGED, BACK, GONE)

#: Maximum number of pages per kind in the text report.
_SHOWN = 20
_ATOM = "http://www.w3.org/2005/Atom"
#: Characters that XML cannot represent, even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Change:
    """A page that has changed, or is new, gone or back."""

    kind: str
    url: str
    when: str
    title: str
    relevance: float | None
    matched: bool
    #: Old values of title, relevance and match, where they differ; the share of new words; why the page is gone.
    before: dict[str, Any] = field(default_factory=dict)
    new_words: float | None = None
    reason: str = ""


@dataclass
class Changes:
    """The changes in a crawl since a time, and the outcomes of the visits since then."""

    topic: str
    since: str
    pages: list[Change]
    visits: dict[str, int]
    #: The id of the feed, which stays the same if the crawl is moved.
    id: UUID

    def of_kind(self, kind: str) -> list[Change]:
        """The pages of a kind, the most relevant first."""
        return [page for page in self.pages if page.kind == kind]


def changes_since(store: Store, since: str) -> Changes:
    """The changes in a crawl since a time."""
    with store.reading():
        return _changes(store, since)


def _changes(store: Store, since: str) -> Changes:
    events: dict[int, list[tuple[str, str, dict[str, Any]]]] = {}
    gone: set[int] = set()
    gone_before: set[int] = set()
    visits: Counter[str] = Counter()
    for visit in store.visits.each():
        number, when, outcome = visit.page, visit.visited_at, visit.outcome
        visits[outcome] += when >= since
        if outcome not in (CHANGED, BACK, GONE) or (outcome == GONE and number in gone):
            continue
        (gone.add if outcome == GONE else gone.discard)(number)
        if when >= since:
            events.setdefault(number, []).append((when, outcome, visit.details))
        else:
            (gone_before.add if outcome == GONE else gone_before.discard)(number)
    pages = []
    for page in sorted(store.pages.first_seen(), key=lambda page: -(page.relevance or 0)):
        seen = events.get(page.number, [])
        began_at = page.first_fetched if page.first_fetched >= since else ""
        kind, when = _kind(seen, page.number in gone_before, page.problem, began_at)
        if kind:
            if not all(isinstance(text, str) for text in (page.url, when, page.title)):
                raise TypeError(f"page {page.number} has a URL, time or title that is not a string")
            relevance = None if page.relevance is None else float(page.relevance)
            change = Change(kind, page.url, when, page.title, relevance, page.matched)
            for event in seen if kind != NEW else []:
                _take_in(change, event[2])
            pages.append(change)
    began = store.runs()[0].get("began")
    identity = uuid5(NAMESPACE_URL, f"focuscrawl {store.meta('spider')} {store.meta('topic')} {began}")
    return Changes(store.meta("topic") or "A crawl", since, pages, dict(+visits), identity)


def _kind(
    events: list[tuple[str, str, dict[str, Any]]], gone_before: bool, problem: str | None, first: str
) -> tuple[str, str]:
    """The overall change of a page, and when; *first* is when it was first fetched, if that is in the period."""
    if not events:
        return (NEW, first) if first and problem is None else ("", "")
    when, outcome, _ = events[-1]
    if outcome == GONE:
        return ("", "") if gone_before else (GONE, when)
    if first:
        return NEW, first
    return (BACK if gone_before or outcome == BACK else CHANGED), when


def _take_in(change: Change, details: dict[str, Any]) -> None:
    for name in ("title", "relevance", "matched"):
        if name in details:
            change.before.setdefault(name, _READ[name](details[name][0]))
            if change.before[name] == getattr(change, name):  # changed, and changed back
                del change.before[name]
    if "new_words" in details:
        change.new_words = float(details["new_words"])
    if change.kind == GONE:
        change.reason = str(details.get("reason", change.reason))


# ---- as text


def as_text(changes: Changes) -> Iterator[str]:
    """The report, line by line."""
    asked = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(changes.visits.items()))
    total = sum(changes.visits.values())
    yield (
        f"{printable(changes.topic)} since {changes.since[:19].replace('T', ' ')} UTC: "
        + (f"{total:,} visits ({asked}), " if total else "no visits, ")
        + f"{len(changes.of_kind(NEW)):,} new pages"
    )
    for kind in KINDS:
        pages = changes.of_kind(kind)
        if not pages:
            continue
        yield ""
        yield f"{kind.capitalize()} ({len(pages):,}; * is in URLs.txt)" if kind != GONE else f"Gone ({len(pages):,})"
        for change in pages[:_SHOWN]:
            mark = "*" if change.matched else " "
            yield printable(f"{mark} {change.relevance or 0:.3f}  {change.url}")
            if what := describe(change):
                yield printable(f"         {what}")
        if len(pages) > _SHOWN:
            yield f"  … and {len(pages) - _SHOWN:,} more; --json shows all"


def describe(change: Change) -> str:
    """The change of a page, in one line."""
    parts = []
    if "title" in change.before:
        parts.append(f"“{change.before['title']}” is now “{change.title}”")
    elif change.title:
        parts.append(f"“{change.title}”")
    if change.kind == GONE:
        parts.append(change.reason)
        return ", ".join(filter(None, parts))
    if change.new_words is not None:
        parts.append(f"{change.new_words:.0%} new words")
    if "relevance" in change.before:
        parts.append(f"relevance {change.before['relevance'] or 0:.3f} → {change.relevance or 0:.3f}")
    if "matched" in change.before:
        parts.append("matches now" if change.matched else "no longer matches")
    return ", ".join(parts)


# ---- as JSON


def as_json(changes: Changes) -> str:
    """The report as JSON, with a list of pages for each kind."""
    report: dict[str, Any] = {"topic": changes.topic, "since": changes.since, "visits": changes.visits}
    for kind in KINDS:
        report[kind] = [asdict(page) for page in changes.of_kind(kind)]
    return json.dumps(report, ensure_ascii=False, indent=1)


# ---- as a feed


def as_atom(changes: Changes) -> bytes:
    """The report as an Atom 1.0 feed (RFC 4287), the latest change first.

    An entry's id is made of page, kind and time of the change, so a reader shows it only once.
    """
    feed = ElementTree.Element("feed", xmlns=_ATOM)
    pages = sorted(changes.pages, key=lambda change: change.when, reverse=True)
    _add(feed, "title", f"{changes.topic}: changes")
    _add(feed, "id", changes.id.urn)
    _add(feed, "updated", pages[0].when if pages else changes.since)
    _add(_add(feed, "author"), "name", "focuscrawl")
    _add(feed, "generator", "focuscrawl", version=__version__)
    for change in pages:
        entry = _add(feed, "entry")
        _add(entry, "title", f"{change.kind.capitalize()}: {change.title or change.url}")
        _add(entry, "id", uuid5(changes.id, f"{change.kind} {change.when} {change.url}").urn)
        _add(entry, "updated", change.when)
        _add(entry, "link", rel="alternate", href=_xml(change.url))
        _add(entry, "category", term=change.kind)
        _add(entry, "summary", describe(change) or change.url)
    ElementTree.indent(feed, " ")
    text: bytes = ElementTree.tostring(feed, "utf-8", xml_declaration=True)
    return text + b"\n"


def _add(parent: ElementTree.Element, name: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, name, attributes)
    element.text = _xml(text) if text is not None else None
    return element


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
