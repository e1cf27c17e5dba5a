"""A page in full: its text, how it was judged, the chain of links that led to it, and what became of its links."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from focuscrawl.manners.rights import RESERVATIONS
from focuscrawl.page import RULE, Page
from focuscrawl.reading.documents import read_page
from focuscrawl.reading.shells import remedy
from focuscrawl.store.browse import LinkFate
from focuscrawl.store.metadata import Metadata
from focuscrawl.store.pages import Story
from focuscrawl.store.store import Store

#: Characters of the text that are shown, and steps of the chain.
MAX_TEXT = 60_000
MAX_STEPS = 100
#: Links that are shown.
MAX_LINKS = 200

_CHARSET = re.compile(r"charset=[\"']?([\w.:-]{2,40})", re.IGNORECASE)

WITHHELD = {
    "copy": "it nearly repeats another page",
    "noindex": "it asks not to be indexed",
    "listing": "it is a list of links",
    "language": "it is not in a wanted language",
    "reservation": "its rights are reserved",
}


class Step(NamedTuple):
    """A page on the way, and the link that was followed to it; None for a seed."""

    number: int
    story: Story
    anchor: str
    before: str
    after: str
    link_score: float | None
    link_why: dict[str, Any]


class Fate(NamedTuple):
    """A link, and what became of it in a few words."""

    link: LinkFate
    became: str
    #: A class of its look: good, poor, waits, gone.
    kind: str


def chain(store: Store, number: int) -> list[Step]:
    """The steps from a seed to a page."""
    steps: list[Step] = []
    seen: set[int] = set()
    while number not in seen and len(steps) < MAX_STEPS:
        seen.add(number)
        story = store.pages.story(number)
        if story is None:
            break
        link = store.links.get(story.via) if story.via else None
        if link is None:
            steps.append(Step(number, story, "", "", "", None, {}))
            break
        before = " ".join(link.text_before().split()[-6:])
        after = " ".join(link.text_after().split()[:6])
        steps.append(Step(number, story, link.anchor, before, after, link.score, link.why or {}))
        parent = store.links.page_of(story.via)
        if parent is None:
            break
        number = parent
    return steps[::-1]


def fates(store: Store, number: int) -> tuple[list[Fate], int]:
    """The links of a page and what became of them, the best first; and how many there are."""
    links = store.browse.links(number)
    lost = [link.url_id for link in links if link.page is None and link.waiting is None and link.score is not None]
    reasons = store.browse.failures_of(lost) if lost else {}
    told = [Fate(link, *_fate(link, reasons)) for link in links]
    told.sort(key=lambda fate: -1.0 if fate.link.score is None else fate.link.score, reverse=True)
    return told[:MAX_LINKS], len(told)


def _fate(link: LinkFate, reasons: dict[int, str]) -> tuple[str, str]:
    if link.page is not None:
        judged = "" if link.relevance is None else f", relevance {link.relevance:.2f}"
        return f"page {link.page:,}{judged}", "good" if link.matched else "poor"
    if link.waiting is not None:
        return f"waits, score {link.waiting:.2f}", "waits"
    if link.url_id in reasons:
        return f"failed: {reasons[link.url_id].partition(':')[0]}", "gone"
    if link.score is None:
        return f"refused: {refusal(link.why)}", "gone"
    return ("redirected to another page", "gone") if link.done else ("dropped from the queue", "gone")


def refusal(why: dict[str, Any]) -> str:
    """Why a link was refused."""
    rules = [rule for rule in why if rule.startswith(RULE)]
    return rules[0].removeprefix(RULE) if rules else "the strategy does not follow it"


def withheld(reason: str | None) -> str:
    """Why a page is withheld, in words."""
    kind, _, detail = (reason or "").partition(": ")
    if not kind:
        return ""
    told = WITHHELD.get(kind, kind)
    return f"{told} ({RESERVATIONS.get(detail, detail)})" if detail else told


def page_text(store: Store, number: int) -> tuple[str, str, bool]:
    """The main text of a stored page, the problem if it has none, and whether it was cut."""
    stored = store.pages.response(number)
    page_row = store.pages.get(number)
    if not stored.body or page_row is None:
        return "", "the file holds no copy of it", False
    page = read_page(Page(page_row.url), stored.body, stored.content_type)
    text = page.main_text.strip()
    if not text:
        return "", page.problem or "it has no text of its own", False
    return text[:MAX_TEXT], "", len(text) > MAX_TEXT


def copy_of(store: Store, number: int) -> tuple[bytes, str] | None:
    """The bytes of a stored page that a browser may show, and their type; None for PDFs and the like."""
    stored = store.pages.response(number)
    kind = stored.content_type.partition(";")[0].strip().lower()
    charset = _CHARSET.search(stored.content_type)
    ending = f"; charset={charset[1]}" if charset else ""
    if not stored.body:
        return None
    if kind in ("text/html", "application/xhtml+xml", "") or "html" in kind:
        return stored.body, f"text/html{ending}"
    if kind.startswith("text/"):
        return stored.body, f"text/plain{ending or '; charset=utf-8'}"
    return None


def said(metadata: Metadata) -> list[tuple[str, str]]:
    """What a page says of itself."""
    facts = [
        ("authors", ", ".join(metadata.authors)),
        ("published", metadata.published or ""),
        ("modified", metadata.modified or ""),
        ("site", metadata.site_name),
        ("kind", metadata.kind),
        ("description", metadata.description),
    ]
    return [(name, value) for name, value in facts if value]


def rights(told: dict[str, Any]) -> list[tuple[str, str]]:
    """The rights of a page, in words."""
    names = {
        "robots_txt": "robots.txt",
        "x_robots_tag": "X-Robots-Tag",
        "noai": "no use for AI",
        "noimageai": "no use of images for AI",
        "tdm_reservation": "text and data mining",
        "tdm_policy": "its policy",
        "licences": "licences",
        "left_out": "left out of exports",
    }
    facts = []
    for name, value in told.items():
        if name == "licences":
            try:
                value = ", ".join(map(str, json.loads(value)))
            except (TypeError, ValueError):
                value = str(value)
        elif name in ("noai", "noimageai"):
            value = "asked for"
        elif name == "tdm_reservation":
            value = "reserved"
        facts.append((names.get(name, name), str(value)))
    return facts


def todo(problem: str | None) -> str:
    """What would make an unread page readable."""
    return remedy(problem) or "" if problem else ""
