"""The stored pages of a crawl as a WARC file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import BinaryIO

from focuscrawl.errors import printable
from focuscrawl.export.warc_records import (
    FIELDS,
    HTTP_RESPONSE,
    digest,
    fields,
    http_head,
    info,
    record,
    record_id,
    warc_date,
)
from focuscrawl.store.exports import ExportedPage
from focuscrawl.store.sqlite_file import from_json
from focuscrawl.store.store import Store

#: Profiles of revisit records. The last is our own: the page repeats another nearly, and its bytes are not kept.
SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
NEARLY_SAME = "urn:focuscrawl:revisit:near-duplicate"

STORED = (
    "Written afterwards from the pages that the crawl stored: bodies are as stored, without content or transfer"
    " encoding; of the headers, Content-Type, ETag and Last-Modified are kept; redirects are written as 301, whatever"
    " their status was. Near-duplicates, whose bodies are not stored, are revisit records with the profile"
    f" {NEARLY_SAME}. There are no request records."
)
FETCHED = (
    "Written during the crawl: requests and responses as they were sent and received, redirects, failures, robots.txt"
    " and sitemaps included. Transfer encoding is removed; header names are capitalised alike, and reason phrases are"
    " the usual ones."
)


def write_stored(store: Store, pages: Iterable[ExportedPage], file: BinaryIO) -> None:
    """Write stored pages as a WARC file."""
    topic, spider = str(store.meta("topic") or ""), str(store.meta("spider") or "")
    _, last = store.exports.dates()
    file.write(info(warc_date(last), STORED, topic, spider))
    for page in pages:
        file.write(b"".join(_stored(store, page)))
    for url, visited_at, status in store.exports.unchanged():
        profile = NOT_MODIFIED if status == 304 else NEARLY_SAME
        date, head = warc_date(visited_at), http_head(status or 200, ())
        file.write(
            record(
                *("revisit", record_id(url, date, "revisit"), date, HTTP_RESPONSE, head),
                *(("WARC-Target-URI", url), ("WARC-Profile", profile), ("WARC-Refers-To-Target-URI", url)),
            )
        )


def _stored(store: Store, page: ExportedPage) -> Iterator[bytes]:
    date, url = warc_date(page.fetched_at), page.url
    yield from _redirects(page, date)
    ident = record_id(url, date, "response")
    if page.duplicate_of is not None:
        original = store.exports.original(page.duplicate_of)
        if original is None:
            return
        yield record(
            *("revisit", ident, date, HTTP_RESPONSE, http_head(page.status, _headers(page))),
            *(("WARC-Target-URI", url), ("WARC-Profile", NEARLY_SAME), ("WARC-Refers-To-Target-URI", original[0])),
            ("WARC-Refers-To-Date", warc_date(original[1])),
        )
    else:
        body = page.body()
        head = http_head(page.status, [*_headers(page), (b"Content-Length", str(len(body)).encode())])
        yield record(
            *("response", ident, date, HTTP_RESPONSE, head + body, ("WARC-Target-URI", url)),
            ("WARC-Payload-Digest", digest(body)),
        )
    yield record(
        *("metadata", record_id(url, date, "metadata"), date, FIELDS, _about(page)),
        *(("WARC-Target-URI", url), ("WARC-Refers-To", ident)),
    )


def _redirects(page: ExportedPage, date: str) -> Iterator[bytes]:
    passed = [str(url) for url in from_json(page.redirects, list)]
    for source, target in pairwise([*passed, page.url]):
        location = printable(target).encode("utf-8", "replace")
        block = http_head(301, [(b"Location", location), (b"Content-Length", b"0")])
        yield record(
            *("response", record_id(source, date, "redirect"), date, HTTP_RESPONSE, block),
            *(("WARC-Target-URI", source), ("WARC-Payload-Digest", digest(b""))),
        )


def _headers(page: ExportedPage) -> list[tuple[bytes, bytes]]:
    stored = (("Content-Type", page.content_type), ("ETag", page.etag), ("Last-Modified", page.last_modified))
    return [(name.encode(), value.encode("utf-8", "replace")) for name, value in stored if value]


def _about(page: ExportedPage) -> bytes:
    """What the crawl knows of a page; `via` and `hopsFromSeed` are names of the standard."""
    return fields(
        (
            ("via", page.parent),
            ("hopsFromSeed", page.depth),
            ("title", page.title or None),
            ("language", page.language or None),
            ("relevance", page.relevance),
            ("matched", "yes" if page.matched else "no"),
            ("score", page.score),
            ("problem", page.problem),
        )
    )
