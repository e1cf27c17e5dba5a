"""A record: what an export says of a page, under the same names in every format.

Where Common Crawl's index has a column that means the same, ours has its name and its form.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from focuscrawl import urls
from focuscrawl.export.texts import Reading
from focuscrawl.store.exports import ExportedPage
from focuscrawl.store.sqlite_file import from_json

_TO_JSON = json.JSONEncoder(ensure_ascii=False).encode
_SURROGATE = re.compile("[\ud800-\udfff]")


class Column(NamedTuple):
    """A column of the records: its name, the kind of its values, and what it says."""

    name: str
    #: string, strings, float, integer, boolean or time.
    kind: str
    told: str


COLUMNS = [
    Column("id", "integer", "number of the page in the crawl, in fetch order"),
    Column("url", "string", "URL of the page, after redirects"),
    Column("url_host_name", "string", "host name"),
    Column("url_protocol", "string", "`http` or `https`"),
    Column("url_path", "string", "path of the URL"),
    Column("url_query", "string", "query of the URL, null if it has none"),
    Column("fetch_time", "time", "when the stored version was fetched, UTC"),
    Column("fetch_status", "integer", "HTTP status"),
    Column("content_digest", "string", "SHA-1 of the body in base 32; null for a near-duplicate: its body is not kept"),
    Column("content_mime_type", "string", "media type from the Content-Type header"),
    Column("content_charset", "string", "charset from the Content-Type header, null if it names none"),
    Column("content_languages", "string", "language of the text as ISO 639-3 code, null if unknown"),
    Column("title", "string", "title"),
    Column("text", "string", "text, as `--text` says; null with `--text none`"),
    Column("language", "string", "language of the text as ISO 639-1 code, null if unknown"),
    Column("language_confidence", "float", "how sure the language is, 0 to 1"),
    Column("relevance", "float", "relevance to the topic of the crawl, 0 to 1"),
    Column("relevant", "boolean", "whether the page was judged relevant"),
    Column("matched", "boolean", "whether its URL is in URLs.txt"),
    Column("mark", "string", "what a person said of the page: yes, no or unsure"),
    Column("score", "float", "the score with which the page was fetched"),
    Column("depth", "integer", "links from a seed"),
    Column("parent", "string", "URL of the page whose link led here; null for a seed"),
    Column("topics", "strings", "topics of the page"),
    Column("authors", "strings", "authors, as the page names them"),
    Column("published", "string", "date of publication, as the page says"),
    Column("modified", "string", "date of the last change, as the page says"),
    Column("site_name", "string", "name of the site"),
    Column("description", "string", "the page's own description"),
    Column("licences", "strings", "URLs or names of licences that the page states"),
    Column("rights", "string", "JSON: what the page, its headers and its host say about its use"),
    Column("duplicate_group", "integer", "`id` of the first page of its near-duplicates; its own if there are none"),
    Column("problem", "string", "why the page could not be read; null if it could"),
]
NAMES = [column.name for column in COLUMNS]

#: ISO 639-3 codes of the languages that the crawl tells apart, by their ISO 639-1 codes.
_THREE: dict[str, str] = dict(
    re.findall(
        r"(\w\w):(\w{3})",
        """
    af:afr am:amh an:arg ar:ara as:asm az:aze be:bel bg:bul bn:ben br:bre bs:bos ca:cat cs:ces cy:cym da:dan
    de:deu dz:dzo el:ell en:eng eo:epo es:spa et:est eu:eus fa:fas fi:fin fo:fao fr:fra ga:gle gl:glg gu:guj
    he:heb hi:hin hr:hrv ht:hat hu:hun hy:hye id:ind is:isl it:ita ja:jpn jv:jav ka:kat kk:kaz km:khm kn:kan
    ko:kor ku:kur ky:kir la:lat lb:ltz lo:lao lt:lit lv:lav mg:mlg mk:mkd ml:mal mn:mon mr:mar ms:msa mt:mlt
    my:mya ne:nep nl:nld no:nor oc:oci or:ori pa:pan pl:pol ps:pus pt:por qu:que ro:ron ru:rus rw:kin se:sme
    si:sin sk:slk sl:slv sq:sqi sr:srp st:sot sv:swe sw:swa ta:tam te:tel th:tha tl:tgl tr:tur ug:uig uk:ukr
    ur:urd uz:uzb vi:vie vo:vol wa:wln xh:xho yi:yid zh:zho zu:zul
    """,
    )
)


def record_of(page: ExportedPage, reading: Reading) -> dict[str, Any]:
    """The record of a page, with what was read from its body."""
    parts = split(page.url)
    mime, charset = media_type(page.content_type)
    values = (
        *(page.number, page.url, urls.host(page.url), *parts, page.fetched_at, page.status),
        reading.digest if page.duplicate_of is None else None,
        *(mime or None, charset or None, _THREE.get(page.language), page.title, reading.text),
        *(page.language or None, page.language_confidence, page.relevance),
        None if page.relevant is None else bool(page.relevant),
        *(bool(page.matched), page.mark, page.score, page.depth, page.parent),
        *(_strings(page.topics), _strings(page.authors), page.published, page.modified),
        *(page.site_name, page.description, _strings(page.licences)),
        _TO_JSON(rights_of(page)),
        page.number if page.duplicate_of is None else page.duplicate_of,
        page.problem,
    )
    return {name: clean(value) if isinstance(value, str) else value for name, value in zip(NAMES, values, strict=True)}


def rights_of(page: ExportedPage) -> dict[str, Any]:
    """What is known of the rights of a page; only what something was said about."""
    said = {
        "robots_txt": page.robots_txt,
        "x_robots_tag": page.x_robots_tag,
        "noai": bool(page.noai) or None,
        "noimageai": bool(page.noimageai) or None,
        "tdm_reservation": page.tdm_reservation,
        "tdm_policy": page.tdm_policy,
        "tdm_source": page.tdm_source,
        "licences": _strings(page.licences),
        "signals": from_json(page.signals, list),
    }
    return {name: value for name, value in said.items() if value not in (None, "", [])}


def split(url: str) -> tuple[str, str, str | None]:
    """Protocol, path and query of a URL; the query is None if there is none."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an invalid IPv6 address
        return url.partition(":")[0], "", None
    return parts.scheme, parts.path, parts.query or None


@lru_cache(maxsize=1024)  # few differ
def media_type(content_type: str) -> tuple[str, str]:
    """Media type and charset of a Content-Type header, in lower case; empty if it does not name them."""
    mime, _, rest = content_type.partition(";")
    charset = ""
    for parameter in rest.split(";")[:10]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip("\"'").lower()
            break
    return mime.strip().lower(), charset


def clean(text: str) -> str:
    """A text that can be written as UTF-8: JSON may contain halves of characters."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def _strings(stored: str | None) -> list[str]:
    if stored is None or stored == "[]":
        return []
    return [clean(str(value)) for value in from_json(stored, list)]
