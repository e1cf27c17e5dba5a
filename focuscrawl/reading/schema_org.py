"""schema.org data in JSON (JSON-LD): what it says of the page that it is on.

A block may describe much besides the page: its site, its breadcrumbs, related articles, comments. So only the top level
is read, and what it declares as its main entity. Of several articles, the one with the page's URL counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

#: Characters of JSON that are parsed of one page; what describes a page takes a few thousand.
MAX_JSON = 1 << 21
#: Objects and list items that are looked at, and names in one list.
_MAX_NODES = 1_000
_MAX_NAMES = 100

#: How the types of works that a page presents end, and the type of the page itself.
_WORKS = (
    *("Article", "Posting", "Thesis", "Review", "Recipe", "Report", "Book", "Chapter", "Dataset", "HowTo", "Course"),
    *("CreativeWork", "Question", "VideoObject", "Episode", "SoftwareSourceCode", "Poem", "ShortStory", "Manuscript"),
    *("PresentationDigitalDocument", "Legislation"),
)
_PAGE = "Page"


class Facts(NamedTuple):
    """What schema.org data says of a page; empty where it says nothing."""

    #: Names, each with whether it is one name: a plain text may list several.
    authors: list[tuple[str, bool]]
    published: list[str]
    modified: list[str]
    description: str
    kind: str
    #: The name of the website, and of the publisher.
    site: str
    publisher: str


def parse(text: str) -> object:
    """The data of a block; None if it is not JSON or too long. Wrapping comments and raw line breaks are tolerated."""
    if len(text) > MAX_JSON:
        return None
    text = text.strip()
    for opening, closing in (
        ("//<![CDATA[", "//]]>"),
        ("/*<![CDATA[*/", "/*]]>*/"),
        ("<![CDATA[", "]]>"),
        ("<!--", "-->"),
    ):
        if text.startswith(opening):
            text = text.removeprefix(opening).removesuffix(closing).strip()
    try:
        return json.loads(text.removesuffix(";"), strict=False)
    except (ValueError, RecursionError):
        return None


def facts(blocks: Iterable[object], is_page: Callable[[str], bool]) -> Facts:
    """What the parsed blocks of a page say of it; *is_page* tells whether a reference is to this page."""
    nodes = _nodes(blocks)
    named = {node["@id"]: node for node in nodes if isinstance(node.get("@id"), str) and "name" in node}
    typed = [(node, kind) for node in nodes if (kind := _kind(node))]
    works = [(node, kind) for node, kind in typed if kind.endswith(_WORKS)]
    pages = [(node, kind) for node, kind in typed if kind.endswith(_PAGE)]
    about = [*_chosen(works, is_page), *_chosen(pages, is_page)]
    things = [node for node, _ in about]
    dates = [(key, node) for key in ("datePublished", "uploadDate", "dateCreated") for node in things]
    authors = (_names(node.get(key), named) for node in things for key in ("author", "creator"))
    sites = (_text(node.get("name")) for node, kind in typed if kind == "WebSite")
    publishers = (name for node in things for name, _ in _names(node.get("publisher"), named))
    return Facts(
        next(filter(None, authors), []),
        [text for key, node in dates if (text := _text(node.get(key)))],
        [text for node in things if (text := _text(node.get("dateModified")))],
        next(filter(None, (_text(node.get("description")) for node in things)), ""),
        about[0][1] if about else "",
        next(filter(None, sites), ""),
        next(filter(None, publishers), ""),
    )


def _nodes(blocks: Iterable[object]) -> list[Mapping[str, Any]]:
    """The objects that may describe the page: the top level, its graph, and what it says it is about."""
    waiting = list(blocks)
    nodes: list[Mapping[str, Any]] = []
    for value in waiting:  # grows on the way
        if isinstance(value, list):
            waiting += value[: max(0, _MAX_NODES - len(waiting))]
        elif isinstance(value, dict):
            nodes.append(value)
            inner = (value.get(key) for key in ("@graph", "mainEntity", "mainEntityOfPage"))
            waiting += [found for found in inner if isinstance(found, list | dict) and len(waiting) < _MAX_NODES]
    return nodes


def _kind(node: Mapping[str, Any]) -> str:
    """The type of an object, without its vocabulary."""
    kinds = node.get("@type")
    for kind in kinds[:10] if isinstance(kinds, list) else [kinds]:
        if isinstance(kind, str):
            name = re.split("[/#:]", kind[-200:])[-1].strip()
            if name:
                return name[:100]
    return ""


def _chosen(
    nodes: Sequence[tuple[Mapping[str, Any], str]], is_page: Callable[[str], bool]
) -> Sequence[tuple[Mapping[str, Any], str]]:
    """The object that describes the page: the only one, the one with its URL, or the first that has no URL."""
    if len(nodes) <= 1:
        return nodes
    addresses = [_addresses(node) for node, _ in nodes]
    for found, urls in zip(nodes, addresses, strict=True):
        if any(map(is_page, urls)):
            return [found]
    return [found for found, urls in zip(nodes, addresses, strict=True) if not urls][:1]


def _addresses(node: Mapping[str, Any]) -> list[str]:
    entity = node.get("mainEntityOfPage")
    values = (node.get("url"), node.get("@id"), entity.get("@id") if isinstance(entity, dict) else entity)
    return [value for value in values if isinstance(value, str)]


def _text(value: object) -> str:
    """A text, or the first of a list; empty if it is neither."""
    for _ in range(3):
        if isinstance(value, list):
            value = value[0] if value else ""
        elif isinstance(value, dict):
            value = value.get("@value")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _names(value: object, named: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, bool]]:
    """The names of persons or organisations: texts, objects, references to objects, or a list of these."""
    found: list[tuple[str, bool]] = []
    for person in value[:_MAX_NAMES] if isinstance(value, list) else [value]:
        if isinstance(person, dict):
            key = person.get("@id")
            known = person if "name" in person or not isinstance(key, str) else named.get(key, person)
            full = " ".join(filter(None, (_text(known.get("givenName")), _text(known.get("familyName")))))
            names = known.get("name")
            texts = names[:_MAX_NAMES] if isinstance(names, list) else [names]
            found += [(text, True) for name in texts if (text := _text(name) or full)]
        elif text := _text(person):
            found.append((text, False))
    return found
