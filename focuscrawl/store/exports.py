"""Reading a crawl as a whole, for exports: a selection of its pages, then the pages, links and hosts of it in steps.

The selection is a temporary table of page numbers: it is made once, so that an export sees the same pages from
beginning to end while the crawl goes on, and everything else is read in bounded steps by number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from focuscrawl.store.bodies import body_of
from focuscrawl.store.part import Part

if TYPE_CHECKING:
    from focuscrawl.export.where import Condition

#: Rows that are read in one step.
STEP = 500

_SELECTED = "CREATE TEMP TABLE selected (page INTEGER PRIMARY KEY, copies INTEGER)"
_DROP_COPIES = "DELETE FROM selected WHERE page NOT IN (SELECT min(page) FROM selected GROUP BY copies)"
#: Larger than any link's id is small.
_BEFORE_ALL = -(1 << 62)


class ExportedPage(NamedTuple):
    """A stored page with all that exports say of it. JSON and the body are as stored."""

    number: int
    url: str
    status: int
    depth: int
    parent: str | None
    score: float | None
    relevance: float | None
    relevant: int | None
    matched: int
    title: str
    topics: str | None
    fetched_at: str
    problem: str | None
    redirects: str | None
    language: str
    content_type: str
    etag: str | None
    last_modified: str | None
    duplicate_of: int | None
    language_confidence: float | None
    authors: str | None
    published: str | None
    modified: str | None
    site_name: str | None
    description: str | None
    kind: str | None
    robots_txt: str | None
    x_robots_tag: str | None
    noai: int | None
    noimageai: int | None
    tdm_reservation: int | None
    tdm_policy: str | None
    tdm_source: str | None
    licences: str | None
    signals: str | None
    mark: str | None
    #: Compressed; None for a near-duplicate, unless the text of the page it repeats was asked for.
    packed: bytes | None

    def body(self) -> bytes:
        """The bytes of the page."""
        return body_of(self.packed) if self.packed else b""


_COLUMNS = {
    "number": "page.id",
    **{name: f"page.{name}" for name in ExportedPage._fields[1:20]},
    **{name: f"metadata.{name}" for name in ("authors", "published", "modified", "site_name", "description", "kind")},
    **{name: f"rights.{name}" for name in ("robots_txt", "x_robots_tag", "noai", "noimageai", "tdm_reservation")},
    **{name: f"rights.{name}" for name in ("tdm_policy", "tdm_source", "licences", "signals")},
}
_MARK = (
    "(SELECT nullif(verdict, 'none') FROM mark JOIN url ON url.key = mark.key WHERE url.id = page.url_id"
    " ORDER BY mark.id DESC LIMIT 1)"
)
_BESIDE = " LEFT JOIN metadata ON metadata.page = page.id LEFT JOIN rights ON rights.page = page.id"


class ExportedLink(NamedTuple):
    """A link: the pages or URLs at its ends. `target` is None if it was not fetched, or is not selected."""

    id: int
    source: int
    source_url: str
    target: int | None
    #: The URL of the target's page, or the one that the link names.
    target_url: str
    score: float | None
    nofollow: int
    anchor: str


class Node(NamedTuple):
    """A page of a graph."""

    number: int
    url: str
    title: str
    relevance: float | None
    matched: int
    depth: int
    language: str


class HostNode(NamedTuple):
    """A host of a graph, with the number of selected pages and their mean relevance (None if none was judged)."""

    host: str
    pages: int
    matched: int
    relevance: float | None


class HostLink(NamedTuple):
    """All links from one host to another."""

    source: str
    target: str
    links: int
    #: The mean relevance of the linked pages that were selected; None if none was judged.
    relevance: float | None


class Exports(Part):
    """The selected pages of a crawl."""

    def select(self, conditions: Sequence[Condition] = (), *, unreadable: bool = False, dedupe: bool = False) -> int:
        """Select the pages that fulfil all conditions; returns how many there are.

        Pages that are withheld are left out, except for copies: those *dedupe* leaves out. So are pages that could not
        be read, unless they are asked for: *unreadable*, or by a condition on their status or problem.
        """
        store = self.store
        wanted = [f"({store.withheld} IS NULL OR {store.withheld} = 'copy')"]
        if not unreadable and not any(condition.field in ("status", "problem") for condition in conditions):
            wanted.append("page.problem IS NULL")
        values: list[object] = []
        for condition in conditions:
            sql, given = compile_condition(condition)
            wanted.append(sql if store.version >= 5 else sql.replace("rights.signals", "NULL"))
            values += given
        store.small_cache()  # everything is read once, in order: a large cache is wasted
        store.execute("DROP TABLE IF EXISTS temp.selected")
        store.execute(_SELECTED)
        chosen = f"page.id, coalesce(page.duplicate_of, page.id) FROM page{_BESIDE} WHERE {' AND '.join(wanted)}"
        query = f"INSERT INTO selected SELECT {chosen}"  # of constants: what was given is in *values*
        store.execute(query, values)
        if dedupe:
            store.execute(_DROP_COPIES)
        number: int = store.execute("SELECT count(*) FROM selected").fetchone()[0]
        return number

    def pages(self, *, bodies: str = "none") -> Iterator[ExportedPage]:
        """The selected pages, by number. *bodies*: none, own, or shared: a copy has that of the page it repeats.

        A copy does not get the text of a page that is withheld itself.
        """
        query = f"SELECT {self._columns(bodies)} FROM selected JOIN page ON page.id = selected.page{_BESIDE}"
        if bodies == "shared":
            query += " LEFT JOIN page AS first ON first.id = page.duplicate_of"
        query += " WHERE selected.page > ? ORDER BY selected.page LIMIT ?"
        last = 0
        while True:
            found = 0
            for row in self.store.execute(query, (last, STEP)):
                page = ExportedPage._make((*row[:-1], self.store.body_files.load(row[-1])))
                last, found = page.number, found + 1
                yield page
            if found < STEP:
                return

    def _columns(self, bodies: str) -> str:
        columns = dict(_COLUMNS)
        if self.store.version < 4:
            columns["language_confidence"] = "NULL"
        if self.store.version < 5:
            columns["signals"] = "NULL"
        withheld = self.store.withheld.replace("page.", "first.")
        columns["mark"] = _MARK
        columns["packed"] = {
            "none": "NULL",
            "own": "page.body",
            "shared": f"coalesce(page.body, CASE WHEN {withheld} IS NULL THEN first.body END)",
        }[bodies]
        return ", ".join(columns[name] for name in ExportedPage._fields)

    def original(self, number: int) -> tuple[str, str] | None:
        """URL and time of a page that is selected; None if it is not."""
        row: tuple[str, str] | None = self.store.execute(
            "SELECT url, fetched_at FROM selected JOIN page ON page.id = selected.page WHERE selected.page = ?",
            (number,),
        ).fetchone()
        return row

    def unchanged(self) -> Iterator[tuple[str, str, int | None]]:
        """The later visits to selected pages that found them unchanged: URL, time, status."""
        query = (
            "SELECT visit.id, page.url, visited_at, visit.status FROM visit JOIN selected ON selected.page = visit.page"
            " JOIN page ON page.id = visit.page WHERE visit.id > ? AND outcome = 'unchanged' ORDER BY visit.id LIMIT ?"
        )
        return ((url, visited_at, status) for _, url, visited_at, status in self._steps(query, 0))

    # ---- the graph of links

    def nodes(self) -> Iterator[Node]:
        """The selected pages, without their text."""
        query = (
            "SELECT id, url, title, relevance, matched, depth, language FROM selected"
            " JOIN page ON page.id = selected.page WHERE selected.page > ? ORDER BY selected.page LIMIT ?"
        )
        return map(Node._make, self._steps(query, 0))

    def links(self, *, unfetched: bool = False) -> Iterator[ExportedLink]:
        """The links from selected pages to selected pages, page by page; with *unfetched* also to all other URLs."""
        query = (
            "SELECT link.id, link.page, source.url, chosen.page, coalesce(target.url, url.url), link.score,"
            " link.nofollow, link.anchor FROM link JOIN selected ON selected.page = link.page"
            " JOIN page AS source ON source.id = link.page JOIN url ON url.id = link.url_id"
            " LEFT JOIN page AS target ON target.url_id = link.url_id"
            " LEFT JOIN selected AS chosen ON chosen.page = target.id"
            " WHERE link.id > ? AND (? OR chosen.page IS NOT NULL) ORDER BY link.id LIMIT ?"
        )
        return map(ExportedLink._make, self._steps(query, _BEFORE_ALL, unfetched))

    def unfetched(self) -> Iterator[str]:
        """The URLs that selected pages link to and that have no selected page."""
        query = (
            "SELECT url.id, coalesce(page.url, url.url) FROM url LEFT JOIN page ON page.url_id = url.id"
            " LEFT JOIN selected ON selected.page = page.id WHERE url.id > ? AND selected.page IS NULL AND url.id IN"
            " (SELECT url_id FROM link JOIN selected ON selected.page = link.page) ORDER BY url.id LIMIT ?"
        )
        return (url for _, url in self._steps(query, 0))

    def _steps(self, query: str, last: int, *given: object) -> Iterator[Any]:
        """The rows of a query in bounded steps; the first column is the key. Its parameters: key, *given*, limit."""
        step = 10 * STEP
        while True:
            rows = self.store.execute(query, (last, *given, step)).fetchall()
            yield from rows
            if len(rows) < step:
                return
            last = rows[-1][0]

    def host_nodes(self) -> Iterator[HostNode]:
        """The hosts of the selected pages, in alphabetical order."""
        rows = self.store.execute(
            "SELECT host.name, count(*), total(page.matched), avg(page.relevance) FROM selected"
            " JOIN page ON page.id = selected.page JOIN url ON url.id = page.url_id JOIN host ON host.id = url.host"
            " GROUP BY host.id ORDER BY host.name"
        )
        return (HostNode(name, pages, int(matched), relevance) for name, pages, matched, relevance in rows)

    def host_links(self, *, unfetched: bool = False) -> Iterator[HostLink]:
        """The links between hosts, counted; not those within a host."""
        rows = self.store.execute(
            "SELECT one.name, other.name, count(*), avg(target.relevance) FROM link"
            " JOIN selected ON selected.page = link.page JOIN page AS source ON source.id = link.page"
            " JOIN url AS source_url ON source_url.id = source.url_id JOIN host AS one ON one.id = source_url.host"
            " JOIN url ON url.id = link.url_id JOIN host AS other ON other.id = url.host"
            " LEFT JOIN page AS target ON target.url_id = link.url_id"
            " LEFT JOIN selected AS chosen ON chosen.page = target.id"
            " WHERE one.id != other.id AND (? OR chosen.page IS NOT NULL)"
            " GROUP BY one.id, other.id ORDER BY one.name, other.name",
            (unfetched,),
        )
        return map(HostLink._make, rows)

    # ---- what a selection is made of

    def languages(self) -> list[tuple[str, int]]:
        """The languages of the selected pages, most frequent first."""
        return self.store.execute(
            "SELECT language, count(*) FROM selected JOIN page ON page.id = selected.page"
            " GROUP BY language ORDER BY 2 DESC, 1"
        ).fetchall()

    def hosts(self) -> list[tuple[str, int]]:
        """The hosts of the selected pages, most frequent first."""
        return self.store.execute(
            "SELECT host.name, count(*) FROM selected JOIN page ON page.id = selected.page"
            " JOIN url ON url.id = page.url_id JOIN host ON host.id = url.host GROUP BY host.id ORDER BY 2 DESC, 1"
        ).fetchall()

    def dates(self) -> tuple[str | None, str | None]:
        """When the first and the last of the selected pages were fetched."""
        first, last = self.store.execute(
            "SELECT min(fetched_at), max(fetched_at) FROM selected JOIN page ON page.id = selected.page"
        ).fetchone()
        return first, last

    def left_out(self) -> list[tuple[str, int]]:
        """Why pages that were fetched may not be exported, with their numbers."""
        why = self.store.withheld  # a constant
        query = f"SELECT {why}, count(*) FROM page WHERE {why} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1"
        return self.store.execute(query).fetchall()

    def rights(self) -> dict[str, int]:
        """How many of the selected pages say what about their rights."""
        row = self.store.execute(
            "SELECT total(noai), total(noimageai), total(tdm_reservation), total(NOT tdm_reservation),"
            " count(licences), count(nullif(x_robots_tag, '')) FROM selected JOIN rights ON rights.page = selected.page"
        ).fetchone()
        names = ("noai", "noimageai", "tdm reserved", "tdm not reserved", "licence stated", "X-Robots-Tag sent")
        return {name: int(count) for name, count in zip(names, row, strict=True)}

    def signals(self, limit: int) -> list[tuple[str, str, str, int]]:
        """The most frequent signals about the use of the selected pages: name, what it says, where; and pages."""
        if self.store.version < 5:
            return []
        rows = self.store.execute(
            "SELECT json_extract(value, '$.signal'), json_extract(value, '$.said'), json_extract(value, '$.where'),"
            " count(DISTINCT selected.page) FROM selected JOIN rights ON rights.page = selected.page"
            " CROSS JOIN json_each(CASE WHEN json_valid(signals) THEN signals ELSE '[]' END) WHERE type = 'object'"
            " GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT ?",
            (limit,),
        )
        return [(str(name or ""), str(said or ""), str(where or ""), pages) for name, said, where, pages in rows]

    def may_go(self, url: str) -> bool:
        """Whether what was fetched at a URL may be exported: its page is selected, or it has none."""
        row = self.store.execute(
            "SELECT count(*), count(selected.page) FROM page LEFT JOIN selected ON selected.page = page.id"
            " WHERE page.url = ?",
            (url,),
        ).fetchone()
        return not row[0] or bool(row[1])

    def licences(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent licences of the selected pages."""
        return self.store.execute(
            "SELECT json_each.value, count(*) FROM selected JOIN rights ON rights.page = selected.page"
            " CROSS JOIN json_each(CASE WHEN json_valid(licences) THEN licences ELSE '[]' END)"
            " WHERE type = 'text' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?",
            (limit,),
        ).fetchall()


# ---- conditions in SQL: each gives the value, or one of the values, of a field

_NUMBERS = {name: f"page.{name}" for name in ("relevance", "score", "depth", "status")}
_DATES = {"date": "page.fetched_at", "published": "metadata.published"}
_RESERVED = {
    "noai": "rights.noai",
    "noimageai": "rights.noimageai",
    "tdm": "rights.tdm_reservation",
    "unlicensed": "rights.licences IS NULL",
}
#: A signal that refuses a purpose, or is named so.
_REFUSED = (
    "EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(rights.signals) THEN rights.signals ELSE '[]' END)"
    " WHERE type = 'object' AND (lower(json_extract(value, '$.signal')) = ?"
    " OR instr(', ' || coalesce(json_extract(value, '$.refuses'), '') || ',', ', ' || ? || ',') > 0))"
)
_HOST = "(SELECT host.name FROM url JOIN host ON host.id = url.host WHERE url.id = page.url_id)"
_TOPIC = (
    "EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(page.topics) THEN page.topics ELSE '[]' END)"
    " WHERE lower(json_each.value) = lower(?))"
)
_MIME = "lower(trim(substr(page.content_type, 1, instr(page.content_type || ';', ';') - 1)))"


def compile_condition(condition: Condition) -> tuple[str, list[object]]:
    """A condition in SQL, and its parameters."""
    name, operator, values = condition
    parts, given = [], []
    for value in values:
        sql, parameters = _compare(name, operator if operator != "!=" else "=", value)
        parts.append(f"coalesce({sql}, FALSE)")
        given += parameters
    either = f"({' OR '.join(parts)})"
    return (f"NOT {either}" if operator == "!=" else either), given


def _compare(name: str, operator: str, value: object) -> tuple[str, list[object]]:
    if name in ("matched", "relevant"):
        return f"coalesce(page.{name}, FALSE) = ?", [bool(value)]
    if name in _NUMBERS:
        return f"{_NUMBERS[name]} {operator} ?", [value]
    if name in _DATES:
        assert isinstance(value, tuple)
        return _in_days(_DATES[name], operator, *value)
    if name == "rights":
        return f"({_RESERVED.get(str(value), 'FALSE')} OR {_REFUSED})", [value, value]
    if name == "marked":
        return (f"{_MARK} IS NOT NULL", []) if value == "any" else (f"{_MARK} = ?", [value])
    if name == "host":
        return f"({_HOST} = ? OR instr({_HOST} || '|', ?) > 0)", [value, f".{value}|"]
    return _in_text(name, value)


def _in_text(name: str, value: object) -> tuple[str, list[object]]:
    if name == "topic":
        return _TOPIC, [value]
    if name == "language":
        return "page.language = ?", [value]
    if name == "type":
        return f"{_MIME} = ?", [value]
    column = {"licence": "rights.licences", "problem": "page.problem", "url": "page.url", "title": "page.title"}[name]
    if value == "any" and name in ("licence", "problem"):
        return f"{column} IS NOT NULL", []
    return f"instr(lower({column}), lower(?)) > 0", [value]


def _in_days(column: str, operator: str, first: str, after: str) -> tuple[str, list[object]]:
    """A time compared with the days from *first* to before *after*: times and days sort as texts."""
    if operator == "=":
        return f"({column} >= ? AND {column} < ?)", [first, after]
    return f"{column} {'>=' if operator in ('>=', '>') else '<'} ?", [first if operator in (">=", "<") else after]
