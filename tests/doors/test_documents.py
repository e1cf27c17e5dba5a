"""Documents: any bytes, declared as anything, become a page or a reason."""

from __future__ import annotations

from time import process_time

from hypothesis import example, given, settings
from hypothesis import strategies as st

from focuscrawl.page import Page
from focuscrawl.reading import types
from focuscrawl.reading.documents import read_page
from focuscrawl.reading.links import MAX_LINKS
from tests import pdfs
from tests.reading.test_feeds import ATOM, JSON_FEED, RDF, RSS
from tests.reading.test_markdown import TEXT
from tests.reading.test_word import docx, odt

#: CPU seconds that any document may take in this process, and those for each KB of it.
START, PER_KB = 0.5, 0.02

WHOLE = [
    *(text.encode() for text in (RSS, ATOM, RDF, JSON_FEED, TEXT)),
    docx(),
    odt("<text:h>Heaps</text:h><text:p>words</text:p>"),
    *(pdfs.paper(links=pdfs.LINKS), pdfs.book(), pdfs.with_xref_stream(b"words"), pdfs.in_any_language("整列")),
]
NASTY = [
    b"",
    b"\x00",
    b"<",
    b"&x;",
    b"]]>",
    b"<item>",
    b"</item>",
    b"PK\x03\x04",
    b"%PDF-",
    b"endstream",
    b"obj",
    b"[",
    b"](",
    b"`",
]
TYPES = [
    *("text/html", "text/plain", "text/markdown", "application/pdf", "application/rss+xml", "application/json", ""),
    *("application/octet-stream", "application/zip", "text/plain; charset=utf-16", "\xff\xfe", "image/png"),
]
NAMES = ["", "x.md", "x.pdf", "x.docx", "feed.xml"]


@st.composite
def documents(draw):
    """A document with some bytes cut out, put in or changed."""
    body = bytearray(draw(st.sampled_from(WHOLE)))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(body)))
        length = draw(st.sampled_from([0, 1, 10, 200]))
        body[place : place + length] = draw(st.one_of(st.sampled_from(NASTY), st.binary(max_size=20)))
    return bytes(body)


def outcome(body: bytes, content_type: str, name: str) -> tuple[object, ...]:
    page = read_page(Page(f"http://a.example/{name}"), body, content_type)
    assert len(page.links) <= MAX_LINKS
    assert all(link.url.startswith(("http://", "https://")) for link in page.links)
    assert all(0 <= block.start <= block.end <= len(page.raw_text) for block in page.blocks)
    assert (page.body, page.content_type) == (body, content_type)
    return page.problem, page.title, page.raw_text, [(link.url, link.anchor) for link in page.links], page.unread


@settings(max_examples=60)
@given(st.one_of(documents(), st.binary(max_size=500)), st.sampled_from(TYPES), st.sampled_from(NAMES))
@example(b"%PDF-1.7", "application/pdf", "")
@example(b"PK\x03\x04word/", "application/zip", "")
def test_any_document_is_read_in_bounded_time_and_twice_the_same(body, content_type, name):
    began = process_time()
    first = outcome(body, content_type, name)
    assert process_time() - began < START + PER_KB * len(body) / 1_000
    assert outcome(body, content_type, name) == first


@given(st.sampled_from(WHOLE), st.sampled_from(TYPES), st.sets(st.sampled_from(types.KINDS)))
def test_what_is_off_is_never_read(body, content_type, kinds):
    page = read_page(Page("http://a.example/"), body, content_type, documents=kinds)
    if page.problem and page.problem.startswith("not read"):
        assert not page.links
        assert not page.raw_text
    if page.listing:
        assert "feed" in kinds
