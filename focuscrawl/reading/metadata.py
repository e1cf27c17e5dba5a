"""Metadata: who wrote a page, when, on which site, and how the page describes itself.

Pages say so in many ways, which often contradict each other. For each field the most trusted source that says something
valid wins:

1. JSON-LD (schema.org) says which object it describes, so that it is not taken for a neighbour's.
2. `citation_*` has one name per tag, and scholarly search engines check it.
3. Open Graph (`article:*`) is seen by everybody who shares the page, so mistakes get noticed; but its authors are often
   profile URLs, which are no names.
4. Microdata and RDFa are tied to visible text, but teasers of other pages have them, too.
5. Dublin Core often describes the original of the text, such as a printed article, or the entry in a database.
6. `<meta name=author>` and the like are often a default of the site that nobody looks at.
7. Links with `rel=author`, bylines and class names are conventions, not statements.
8. `<time>` may be the time of anything.

Marks in the text (4, 7, 8) count only if they agree: a list of articles has many dates, and none is its own. The header
Last-Modified is not used: it is when the server wrote the response or its file, often the current time.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.reading import schema_org
from focuscrawl.reading.dates import iso_date

if TYPE_CHECKING:
    from focuscrawl.page import Page

#: Longest name and description that are kept, in characters, and most authors.
MAX_NAME, MAX_DESCRIPTION, MAX_AUTHORS = 200, 1_000, 50
#: Most statements about a page that are looked at, and elements of interest that are open at the same time.
_MAX_FOUND, _MAX_OPEN = 500, 20
#: Pieces of text in an element of interest; a name or a date has few.
_MAX_PIECES = 50
#: The longest language tag that BCP 47 wants to be supported.
_MAX_TAG = 35
#: Characters of an attribute with a list of names that are looked at.
_MAX_ATTRIBUTE = 500

#: Sources, the most trusted first.
JSON_LD, CITATION, OPEN_GRAPH, MICRODATA, DUBLIN_CORE, META, BYLINE, TIME = range(1, 9)
#: Those that are marked in the text, which may be about several pages.
_IN_TEXT = MICRODATA, BYLINE, TIME

#: Field and trust of the meta tags, by name or property in lower case.
_META = {
    "citation_author": ("author", CITATION),
    "citation_authors": ("author", CITATION),
    "citation_publication_date": ("published", CITATION),
    "citation_online_date": ("published", CITATION),
    "citation_date": ("published", CITATION),
    "citation_year": ("published", DUBLIN_CORE),  # less precise than the others
    "article:author": ("author", OPEN_GRAPH),
    "book:author": ("author", OPEN_GRAPH),
    "article:published_time": ("published", OPEN_GRAPH),
    "article:published": ("published", OPEN_GRAPH),
    "og:article:published_time": ("published", OPEN_GRAPH),
    "book:release_date": ("published", OPEN_GRAPH),
    "article:modified_time": ("modified", OPEN_GRAPH),
    "article:modified": ("modified", OPEN_GRAPH),
    "og:article:modified_time": ("modified", OPEN_GRAPH),
    "og:updated_time": ("modified", OPEN_GRAPH),
    "og:type": ("kind", OPEN_GRAPH),
    **{
        f"{prefix}{name}": (field, DUBLIN_CORE)
        for prefix in ("dc.", "dcterms.", "dc:", "dcterms:")
        for name, field in {
            "creator": "author",
            "contributor.author": "author",
            "date": "published",
            "issued": "published",
            "date.issued": "published",
            "created": "published",
            "date.created": "published",
            "available": "published",
            "modified": "modified",
            "date.modified": "modified",
            "description": "description",
            "abstract": "description",
            "publisher": "site_name",
        }.items()
    },
    **{
        f"schema:{name}": (field, MICRODATA)
        for name, field in {"datepublished": "published", "datemodified": "modified"}.items()
    },
    "author": ("author", META),
    "authors": ("author", META),
    "byl": ("author", META),
    "parsely-author": ("author", META),
    "sailthru.author": ("author", META),
    **dict.fromkeys(
        ("date", "pubdate", "publishdate", "publish-date", "publish_date", "published_time", "publication_date"),
        ("published", META),
    ),
    **dict.fromkeys(("parsely-pub-date", "sailthru.date", "ptime", "date.published"), ("published", META)),
    **dict.fromkeys(("last-modified", "lastmod", "revised", "date.modified", "utime"), ("modified", META)),
    # the name that a site gives itself; then that of its website, of its program, of its publisher
    "og:site_name": ("site_name", 1),
    "al:ios:app_name": ("site_name", META),
    "application-name": ("site_name", OPEN_GRAPH),
    # the description for search engines is the reader's own field (`Page.description`): these are used without it
    "og:description": ("description", OPEN_GRAPH),
    "twitter:description": ("description", META),
}
_WEBSITE, _PUBLISHER = 2, 4

_PROPERTIES = {
    "author": "author",
    "creator": "author",
    "datepublished": "published",
    "datecreated": "published",
    "datemodified": "modified",
}
_CLASSES = {
    **dict.fromkeys(("byline", "author", "p-author", "byline-name", "author-name", "entry-author"), "author"),
    **dict.fromkeys(("post-author", "article-author", "byline__name", "article__author", "post__author"), "author"),
    **dict.fromkeys(("updated", "dt-updated", "modified", "date-modified"), "modified"),
    **dict.fromkeys(("published", "dt-published", "entry-date", "post-date", "pubdate", "date-published"), "published"),
    **dict.fromkeys(("article-date", "publish-date", "article__date", "post__date"), "published"),
}
#: Parts of a page that describe something else.
_ELSEWHERE = {"comment", "review", "hasPart", "isPartOf", "itemListElement", "mentions", "citation", "video", "image"}
_WORK_TYPE = re.compile(r"(?:Article|Posting)\s*$")

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_BY = re.compile(r"(?:written |posted |story |words )?by:?\s|(?:aut[eh]?[ou]re?)s?\s?:\s?", re.IGNORECASE)
#: The same word in other languages; as part of a name it would be in the middle.
_BY_ELSEWHERE = re.compile(r"(?:von|par|por|di|door|av|af|от|автор):?\s", re.IGNORECASE)
_BRACKETS = str.maketrans("()<>", "    ")
_BETWEEN = re.compile(r"\s?[;|]\s?|,? (?:and|und|et|y|e|en|och|og|и) | & ")
_NOBODY = frozenset(
    (
        *("admin", "administrator", "author", "editor", "guest", "root", "user", "webmaster", "unknown", "anonymous"),
        *("none", "null", "undefined", "nobody", "n/a", "default", "super user", "superuser"),
    )
)


class Reader(Protocol):
    """The reader of a page, as far as it is watched: the text so far, what is open, the number of open templates."""

    parts: list[str]
    open: list[tuple[str, Mapping[str, str]]]
    templates: int

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...
    def end(self, tag: str) -> None: ...
    def data(self, text: str) -> None: ...
    def close(self) -> None: ...


class Clues:
    """What a page says of itself, gathered while it is read."""

    __slots__ = ("articles", "blocks", "characters", "found", "targets", "watched")

    def __init__(self) -> None:
        #: Field, trust and text of each statement; `authors` is a text that may name several.
        self.found: list[tuple[str, int, str]] = []
        #: Parsed blocks of JSON-LD, and the length of all blocks.
        self.blocks: list[object] = []
        self.characters = 0
        #: How many articles are on the page: with more than one, names and dates in the text may belong to any.
        self.articles = 0
        #: Languages of targets, by reference.
        self.targets: dict[str, str] = {}
        #: Whether a watch looks at all elements.
        self.watched = False

    def meta(self, attributes: Mapping[str, str]) -> None:
        """Note a meta tag."""
        name = attributes.get("property") or attributes.get("name")
        if name and (known := _META.get(name.strip().lower())) and "content" in attributes:
            self.add(*known, attributes["content"])

    def time(self, attributes: Mapping[str, str]) -> None:
        """Note a `<time>` on a page that nobody watches."""
        if not self.watched and "datetime" in attributes:
            field, _ = _of_classes(attributes.get("class", "")[:_MAX_ATTRIBUTE])
            self.add(*_of_time(attributes, field), attributes["datetime"])

    def json_ld(self, text: str) -> object:
        """Note a block of JSON-LD, and return its data; None if there is none."""
        self.characters += len(text)
        data = schema_org.parse(text) if self.characters <= schema_org.MAX_JSON else None
        if data is not None and len(self.blocks) < _MAX_FOUND:
            self.blocks.append(data)
        return data

    def add(self, field: str, trust: int, text: str) -> None:
        """Note a statement."""
        if len(self.found) < _MAX_FOUND:
            self.found.append((field, trust, text[: 2 * MAX_DESCRIPTION]))

    def target(self, href: str, language: str) -> None:
        """Note the language that a reference's target is said to be in (`hreflang`)."""
        if len(self.targets) < _MAX_FOUND and (tag := language.strip().lower()) != "x-default":
            self.targets.setdefault(href, tag[:_MAX_TAG])

    def settle(self, page: Page, language: str, join: Callable[[str], str | None]) -> None:
        """Set the metadata of a page that was read to its end, and hints about its links.

        *language* is the one that the page declares; *join* makes a reference an absolute URL.
        """
        if self.targets:
            languages = {join(href): tag for href, tag in reversed(self.targets.items())}
            for link in page.links:
                link.hreflang = languages.get(link.url, "")
        if self.blocks:
            self._add_facts(page)
        page.description = clean(page.description, MAX_DESCRIPTION)
        if not self.found:
            return
        self.found.sort(key=lambda statement: statement[1])  # stable: the first of equals wins
        page.authors = self._authors()
        page.published = self._date("published", language)
        page.modified = self._date("modified", language)
        if page.published and page.modified and page.modified[:10] < page.published[:10]:
            page.modified = None  # a page is not changed before it is there
        page.site_name = self._text("site_name", MAX_NAME)
        page.description = page.description or self._text("description", MAX_DESCRIPTION)
        page.kind = self._text("kind", MAX_NAME)

    def _add_facts(self, page: Page) -> None:
        own = {urls.canonical(url) for url in (page.url, page.canonical) if url}

        def is_page(reference: str) -> bool:
            url = urls.join(page.url, reference)
            return url is not None and urls.canonical(url) in own

        facts = schema_org.facts(self.blocks, is_page)
        room = self.found  # the most trusted statements always find room
        room += [("author" if whole else "authors", JSON_LD, name[: 2 * MAX_NAME]) for name, whole in facts.authors]
        room += [("published", JSON_LD, text[:100]) for text in facts.published]
        room += [("modified", JSON_LD, text[:100]) for text in facts.modified]
        texts = ("description", META - 1, facts.description), ("kind", JSON_LD, facts.kind)
        names = ("site_name", _WEBSITE, facts.site), ("site_name", _PUBLISHER, facts.publisher)
        room += [(field, trust, text[: 2 * MAX_DESCRIPTION]) for field, trust, text in (*texts, *names) if text]

    def _text(self, field: str, length: int) -> str:
        texts = (clean(text, length) for name, _, text in self.found if name == field)
        return next(filter(None, texts), "")

    def _authors(self) -> list[str]:
        """The names by the most trusted source that has one."""
        best, names = 0, dict[str, None]()
        for field, trust, text in self.found:
            if best and trust > best:
                break
            if field not in ("author", "authors") or (trust in _IN_TEXT and self.articles > 1):
                continue
            whole = trust == CITATION or (trust in (JSON_LD, MICRODATA) and field == "author")
            for name in author_names(text, whole=whole, byline=trust == BYLINE):
                best = trust
                names.setdefault(name)
        return list(names)[:MAX_AUTHORS]

    def _date(self, field: str, language: str) -> str | None:
        last_year = clock.utc().year + 1
        for trust, group in groupby(self.found, itemgetter(1)):
            texts = [clean(text, 100) for name, _, text in group if name == field]
            dates = [date for text in texts if (date := iso_date(text, language, last_year=last_year))]
            if dates and trust in _IN_TEXT:
                dates.sort(key=len)
                day = dates[0][: len("2021-03-04")]
                if all(date.startswith(day) for date in dates):
                    return dates[-1] if all(dates[-1].startswith(date) for date in dates) else day
            elif dates:
                return dates[0]
        return None


def clean(text: str, length: int) -> str:
    """Text from outside: one line without control characters, cut to a length. Entities escaped twice are resolved."""
    text = text[: 2 * length]
    if "&" in text:
        text = html.unescape(text)
    return " ".join(_CONTROL.sub(" ", text).split())[:length].strip()


def author_names(text: str, *, whole: bool = False, byline: bool = False) -> list[str]:
    """The names in a statement about the author. URLs, mail addresses, account names and placeholders are no names.

    *whole*: the statement is one name. *byline*: it is text of the page, so it may begin with a word such as "von".
    """
    text = clean(text, MAX_NAME)
    if "@" in text:  # jane@news.example (Jane Doe)
        text = " ".join(word for word in text.translate(_BRACKETS).split() if "@" not in word)
    for prefix in (_BY, _BY_ELSEWHERE) if byline else (_BY,):
        if match := prefix.match(text):
            text = text[match.end() :]
    names = [text] if whole else _apart(text)
    return [name for part in names if _is_name(name := part.strip(" ,;:·|-–—"))]


def _apart(text: str) -> list[str]:
    """Separate the names of a list; what may be one name, such as `Doe, Jane`, stays whole."""
    for parts in (_BETWEEN.split(text), text.split(",")):
        if len(parts) > 1 and all(2 <= len(part.split()) <= 5 for part in parts):
            return [name for part in parts for name in _apart(part)] if ";" in text or "," in text else parts
    return text.split(";") if ";" in text else [text]


def _is_name(text: str) -> bool:
    return (
        len(text) > 1
        and "://" not in text
        and not text.lower().startswith("www.")
        and text.lower() not in _NOBODY
        and any(map(str.isalpha, text))
    )


@lru_cache(maxsize=4096)
def _of_classes(classes: str) -> tuple[str, bool]:
    """What the classes of an element say that it holds, if anything, and whether it is an entry of a blog."""
    names = classes.lower().split()
    fields = {_CLASSES[name] for name in names if name in _CLASSES}
    # a date that is both is that of the first version
    field = next((field for field in ("published", "modified", "author") if field in fields), "")
    return field, "hentry" in names or "h-entry" in names


def _of_time(attributes: Mapping[str, str], field: str) -> tuple[str, int]:
    """What a `<time>` is the time of, and how much that is trusted; *field* is what its class says."""
    marked = field == "modified" or field == "published" or "pubdate" in attributes
    return "modified" if field == "modified" else "published", BYLINE if marked else TIME


class _Open:
    """An element of interest whose text is being read."""

    __slots__ = ("begin", "depth", "field", "text", "trust")

    def __init__(self, field: str, trust: int, depth: int, begin: int) -> None:
        self.field, self.trust, self.depth, self.begin = field, trust, depth, begin
        #: The name inside of it, if it is an item with properties.
        self.text = ""


class Watch:
    """Stands between the parser and the reader of a page that has names or dates in its markup, and looks on."""

    def __init__(self, clues: Clues, reader: Reader) -> None:
        self.clues, self.reader = clues, reader
        self.data, self.close = reader.data, reader.close
        self._open: list[_Open] = []
        #: The depth of a part of the page that describes something else; 0 outside.
        self._elsewhere = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if (attributes or tag in ("time", "article")) and not self._elsewhere and not self.reader.templates:
            self._look(tag, attributes)
        self.reader.start(tag, attributes)

    def end(self, tag: str) -> None:
        depth = len(self.reader.open)
        while self._open and self._open[-1].depth >= depth:
            self._close()
        if depth <= self._elsewhere:
            self._elsewhere = 0
        self.reader.end(tag)

    def _look(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note what an element says. Most elements say nothing: that is found out first."""
        get: Callable[..., Any] = attributes.get
        field, is_entry = _of_classes(get("class", "")[:_MAX_ATTRIBUTE])
        named: str = get("itemprop") or (get("property") if tag != "meta" else "") or ""
        if not field and not named and not is_entry and tag not in ("a", "link", "time", "article"):
            return
        if tag == "article" or is_entry or ("itemtype" in attributes and _WORK_TYPE.search(get("itemtype")[-50:])):
            self.clues.articles += 1
        properties = named[:_MAX_ATTRIBUTE].split()
        if "itemscope" in attributes and not _ELSEWHERE.isdisjoint(properties):
            self._elsewhere = len(self.reader.open) + 1
            return
        field, trust = self._property(properties) or self._markup(tag, attributes, field)
        if not field:
            return
        given = get("content") or get("datetime") or (get("title") if tag == "abbr" else None)
        if given:
            self._note(field, trust, given)
        elif tag not in ("meta", "link", "img") and len(self._open) < _MAX_OPEN:
            self._open.append(_Open(field, trust, len(self.reader.open) + 1, len(self.reader.parts)))

    def _property(self, properties: list[str]) -> tuple[str, int] | None:
        """What an element of microdata or RDFa says."""
        for name in properties:
            plain = name.rpartition(":")[2].lower()
            if plain in _PROPERTIES:
                return _PROPERTIES[plain], MICRODATA
            if plain == "name" and self._open and self._open[-1].field == "author":
                return "name", MICRODATA
        return None

    def _markup(self, tag: str, attributes: Mapping[str, str], field: str) -> tuple[str, int]:
        """What an element says by convention; *field* is what its class says."""
        if tag in ("a", "link") and "author" in attributes.get("rel", "")[:_MAX_ATTRIBUTE].lower().split():
            return "author", BYLINE
        return _of_time(attributes, field) if tag == "time" else (field, BYLINE)

    def _note(self, field: str, trust: int, text: str) -> None:
        if field == "name":
            self._open[-1].text = self._open[-1].text or text
        else:
            self.clues.add(field, trust, text)

    def _close(self) -> None:
        found = self._open.pop()
        inside = " ".join("".join(self.reader.parts[found.begin : found.begin + _MAX_PIECES])[: 2 * MAX_NAME].split())
        text = found.text or (inside if len(inside) <= MAX_NAME // 2 else "")
        if text and (found.field != "name" or self._open):
            self._note(found.field, found.trust, text)


def watched(clues: Clues, reader: Reader, text: str) -> Reader | Watch:
    """What the parser of a page's text reports to: the reader, or a watch over it if there is something to see."""
    if "itemprop" in text or _in_a_tag("author", text) or _in_a_tag("byline", text):
        clues.watched = True
        return Watch(clues, reader)
    return reader


def _in_a_tag(word: str, text: str) -> bool:
    """Whether a word is a class, relation or property of a tag, as far as a look at the first occurrences tells."""
    place = -1
    for _ in range(_MAX_OPEN):
        place = text.find(word, place + 1)
        if place < 0:
            return False
        tag = text[max(0, place - _MAX_ATTRIBUTE) : place].rpartition("<")[2]
        marks = ("class=", "rel=") if tag.startswith("meta") else ("class=", "rel=", "property=")
        if ">" not in tag and any(mark in tag for mark in marks):
            return True
    return True
