"""Pages: any bytes under any Content-Type become a Page."""

from __future__ import annotations

import codecs
import re
from dataclasses import asdict
from time import process_time

from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks import fuzz
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.reading.metadata import MAX_DESCRIPTION
from focuscrawl.web.charsets import decode

URL = "http://a.example/dir/page?x=1"
#: CPU seconds that any page may take, and those for each KB of it.
START, PER_KB = 0.5, 0.02

CHARSETS = st.sampled_from(
    [
        *("utf-8", "utf-16", "utf-16le", "utf-32", "windows-1251", "shift_jis", "iso-2022-jp", "gb18030", "big5", "hz"),
        *("x-user-defined", "unicode", "punycode", "idna", "base64", "cp037", "undefined", "klingon", "", "\x00", "é"),
    ]
)
CONTENT_TYPES = st.one_of(
    st.sampled_from(fuzz.CONTENT_TYPES),
    st.builds("text/html; charset={}".format, CHARSETS),
    st.builds("{}; charset={}".format, st.text(max_size=10), st.text(max_size=10)),
)
TAGS = st.sampled_from(
    [
        *(
            "a href=x",
            "a href='?q=я#я'",
            "p",
            "div",
            "h1",
            "ul",
            "li",
            "table",
            "td",
            "br",
            "img alt=x",
            "title",
            "html lang=x",
        ),
        *(
            "base href=/b/",
            "svg",
            "math",
            "template",
            "noframes",
            "noembed",
            "iframe src=x",
            "noscript",
            "select",
            "xmp",
        ),
        *(
            "script",
            "script type=application/ld+json",
            "style",
            "textarea",
            "frameset",
            "frame src=x",
            "link rel=canonical",
        ),
        *(
            "meta name=robots content='none, x:y'",
            "meta http-equiv=refresh content='0;url=/x'",
            "plaintext",
            "span class='author updated'",
            "span itemprop='author name' itemscope",
            "b property=name",
            "i itemprop=comment itemscope",
            "time datetime=2021-03-04",
            "time pubdate",
            "meta name=author content=x",
            "meta property=article:modified_time content=1614852000",
            "a rel=author hreflang=de href=x",
            "!--",
            "![CDATA[",
        ),
    ]
)
PIECES = st.one_of(
    st.builds("<{}>".format, TAGS).map(str.encode),
    st.builds("</{}>".format, TAGS.map(lambda tag: tag.split()[0])).map(str.encode),
    st.builds("<meta charset='{}'>".format, CHARSETS).map(str.encode),
    st.builds("<meta http-equiv=content-type content='text/html; charset={}'>".format, CHARSETS).map(str.encode),
    st.sampled_from(fuzz.NASTY),
    st.sampled_from(
        [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, b"\x00", b" words "]
    ),
    st.text(max_size=10).map(lambda text: text.encode("utf-8", "replace")),
    st.binary(max_size=10),
)
REPEATED = st.builds(lambda piece, times: (piece * times)[:20_000], PIECES, st.sampled_from([1, 1, 1, 2, 50, 2_000]))
BODIES = st.lists(REPEATED, max_size=12).map(b"".join)

judge = fuzz.new_judge()
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def outcome(body: bytes, content_type: str) -> tuple[object, ...]:
    """All that a page says, with the promises it keeps checked."""
    page = read_html(Page(URL), body, content_type)
    fuzz.use(page, judge)
    links = [(link.url, link.anchor, link.nofollow, link.block[:100]) for link in page.links]
    facts = (page.problem, page.description, page.keywords, page.robots, page.language, page.canonical)
    for text in (*page.authors, page.site_name, page.description, page.kind):
        assert not CONTROL.search(text)
        assert len(text) <= MAX_DESCRIPTION
    return asdict(page), page.text, links, page.headings, asdict(page.rights), facts, page.kind


@given(BODIES, CONTENT_TYPES)
@example(b"<noframes>" * 2_000, "text/html")
@example(b"<svg><p>" * 2_000, "text/html")
@example(b"<template>" * 900 + b"</template>" * 900, "text/html")
@example(b"<meta charset='" * 2_000, "text/html")
def test_any_page_is_read_in_bounded_time_and_twice_the_same(body, content_type):
    began = process_time()
    first = outcome(body, content_type)
    assert process_time() - began < START + PER_KB * len(body) / 1_000
    assert outcome(body, content_type) == first


@given(BODIES, CONTENT_TYPES)
def test_any_bytes_are_text_in_a_charset_that_python_knows(body, content_type):
    text, codec = decode(body, content_type)
    assert codecs.lookup(codec).name
    text.encode("utf-8", "replace")


@given(CHARSETS, st.booleans())
def test_no_charset_loses_a_page_in_ascii(charset, by_header):
    meta = "" if by_header else f"<meta charset='{charset}'>"
    body = f"{meta}<title>Title</title><p>words <a href=x>link</a>".encode()
    page = read_html(Page(URL), body, f"text/html; charset={charset}" if by_header else "text/html")
    assert (page.title, page.text) == ("Title", "words link")
    assert [link.url for link in page.links] == ["http://a.example/dir/x"]


@given(st.lists(PIECES, max_size=8).map(b"".join))
def test_nothing_in_a_template_counts(content):
    inside = content.replace(b"</", b"<").replace(b"\x00", b"").decode("ascii", "ignore")
    quiet = "".join(char for char in inside if char not in "\"'!")  # no quote or comment that would run on
    page = read_html(Page(URL), f"<template>{quiet}".encode(), "text/html; charset=utf-8")
    assert (page.links, page.title, page.robots, page.canonical, page.headings) == ([], "", set(), None, [])
