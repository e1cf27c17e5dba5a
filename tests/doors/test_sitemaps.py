"""Sitemaps and feeds: any bytes become a page of links, or one with a reason."""

from __future__ import annotations

import gzip
from time import process_time

from hypothesis import example, given
from hypothesis import strategies as st

from focuscrawl import urls
from focuscrawl.manners.sitemap import MAX_FILES, is_sitemap, read_sitemap
from focuscrawl.page import Page
from focuscrawl.reading.links import MAX_LINKS

URL = "http://a.example/sitemap.xml"
LIMIT = 1_000_000
#: CPU seconds that any sitemap may take, and those for each KB of it, unpacked.
START, PER_KB = 0.5, 0.02

SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc>http://a.example/one?a=1&amp;b=2</loc><lastmod>2020-01-01</lastmod><priority>0.5</priority></url>
<url><loc><![CDATA[http://a.example/two]]></loc><image:image><image:loc>http://a.example/x.png</image:loc></image:image></url>
<url><loc>/three</loc></url><!-- the end --></urlset>"""
INDEX = """<sitemapindex><sitemap><loc>http://a.example/one.xml.gz</loc><lastmod>2020-01-01T10:00:00Z</lastmod></sitemap>
<sitemap><loc>/two.xml</loc></sitemap></sitemapindex>"""
RSS = """<rss version="2.0"><channel><title>News</title><link>http://a.example/</link><item><title>One &amp; two</title>
<link>http://a.example/one</link><guid isPermaLink="true">http://a.example/1</guid>
<pubDate>Mon, 06 Sep 2010 00:01:00 +0000</pubDate></item><item><link>/two</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title type="html">One</title>
<link rel="alternate" href="http://a.example/one"/><updated>2010-01-01T10:00:00Z</updated></entry></feed>"""
LINES = "http://a.example/one\r\nhttps://b.example/two?a=1&b=2\n\n# three\nhttp://a.example/é\n"
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY % c SYSTEM "file:///etc/passwd">%c;]>'

WHOLE = [text.encode() for text in (SITEMAP, INDEX, RSS, ATOM, LINES)]
NASTY = [
    *(
        b"&",
        b"&b;",
        b"&#0;",
        b"&#x110000;",
        b"<",
        b"</",
        b">",
        b"]]>",
        b"<![CDATA[",
        b"<!--",
        b"-->",
        b"<?xml",
        b"\x00",
    ),
    *(
        b"<loc>",
        b"</loc>",
        b"<loc/>",
        b"<url>",
        b"</url>",
        b"<item>",
        b"<link href=''/>",
        b"<guid>",
        b"<title>",
        b"\xff\xfe",
    ),
    *(b"<pubDate>Mon, 99 Foo 99999 99:99:99 +9999</pubDate>", b"<pubDate>Mon, 01 Jan 0001 00:00:00 +1400</pubDate>"),
    *(
        b"</urlset>",
        b"<urlset>",
        b"<sitemap><loc>/x</loc></sitemap>",
        b"http://[\n",
        b"\xef\xbb\xbf",
        BOMB.encode(),
        b"\x1f\x8b",
    ),
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A sitemap or feed that was cut, repeated, joined with another or had something put in, perhaps packed."""
    body = draw(st.sampled_from(WHOLE))
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(body)))
        end = draw(st.integers(start, min(len(body), start + 200)))
        change = draw(st.sampled_from(["cut", "delete", "insert", "repeat", "join", "many"]))
        if change == "cut":
            body = body[:start]
        elif change == "delete":
            body = body[:start] + body[end:]
        elif change == "insert":
            body = body[:start] + draw(st.one_of(st.sampled_from(NASTY), st.binary(max_size=10))) + body[start:]
        elif change == "repeat":
            body = (body[:start] + body[start:end] * draw(st.sampled_from([2, 500])) + body[end:])[:30_000]
        elif change == "many":
            body = (body[:start] + draw(st.sampled_from(NASTY)) * 1_000 + body[start:])[:30_000]
        else:
            body += draw(st.sampled_from(WHOLE))
    return body


@st.composite
def packed(draw: st.DrawFn) -> bytes:
    """Mutated sitemaps in members of a gzip file, which may be cut, damaged or padded."""
    body = draw(mutated())
    places = sorted(draw(st.lists(st.integers(0, len(body)), max_size=3)))
    pieces = [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]
    file = b"".join(gzip.compress(piece, 1, mtime=0) for piece in pieces)
    change = draw(st.sampled_from(["whole", "cut", "damage", "pad"]))
    place = draw(st.integers(0, len(file)))
    if change == "cut":
        return file[:place]
    if change == "damage":
        return file[:place] + draw(st.binary(min_size=1, max_size=4)) + file[place + 1 :]
    return file + draw(st.one_of(st.just(bytes(50)), st.binary(max_size=20))) if change == "pad" else file


def read(body: bytes) -> tuple[Page, list[str]]:
    page = Page(URL)
    return page, read_sitemap(page, body, LIMIT)


def outcome(body: bytes) -> tuple[object, ...]:
    """All that a sitemap says, with the promises it keeps checked."""
    page, listed = read(body)
    links = [(link.url, link.anchor, link.before(), link.after()) for link in page.links]
    found = [*listed, *(link.url for link in page.links)]
    assert len(page.links) <= MAX_LINKS
    assert len(listed) <= MAX_FILES
    assert len(set(found)) == len(found)
    assert URL not in found
    assert all(url.startswith(("http://", "https://")) for url in found)
    assert not any(urls.is_binary(link.url) for link in page.links)
    assert not (page.problem and found)
    assert page.problem is None or ": " in page.problem or ", but " in page.problem
    assert "root:" not in page.raw_text
    "\n".join([*found, page.raw_text, page.problem or "", *page.words]).encode()  # or it cannot be stored
    is_sitemap(body)
    return page.problem, links, listed, page.links_left_out, page.title


@given(st.one_of(mutated(), packed(), st.binary(max_size=100)))
@example(b"<!DOCTYPE x [" * 5_000)
@example(b"<![CDATA[" * 5_000)
@example(b"<urlset>" + b"&" * 50_000)
@example(b"<urlset>" + b"<url a='1'>" * 5_000)
@example(BOMB.encode() + SITEMAP.encode())
def test_any_sitemap_is_read_in_bounded_time_and_twice_the_same(body):
    began = process_time()
    first = outcome(body)
    assert process_time() - began < START + PER_KB * max(len(body), 50_000) / 1_000
    assert outcome(body) == first


@given(st.lists(st.integers(0, len(SITEMAP)), max_size=5).map(sorted))
def test_it_does_not_matter_how_a_file_is_packed(places):
    body = SITEMAP.encode()
    pieces = [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]
    assert outcome(b"".join(map(gzip.compress, pieces))) == outcome(body)


@given(st.sampled_from(WHOLE), st.integers(0, 1_000))
def test_a_file_that_breaks_off_leads_nowhere_that_the_whole_does_not(body, end):
    whole, listed = read(body)
    part, some = read(body[:end])
    if body != LINES.encode():  # a line that is cut is another URL
        assert {link.url for link in part.links} <= {link.url for link in whole.links} | {"http://a.example/1"}
    assert set(some) <= set(listed)


PARAMETERS = st.lists(st.text("abc=é;.-", min_size=1, max_size=8), min_size=1, max_size=4)


@given(PARAMETERS)
def test_an_ampersand_in_a_url_may_be_escaped_or_not(parameters):
    url = f"http://a.example/?x&{'&'.join(parameters)}"
    plain, escaped = (
        read(f"<urlset><url><loc>{text}</loc></url></urlset>".encode())[0] for text in (url, url.replace("&", "&amp;"))
    )
    assert [link.url for link in plain.links] == [link.url for link in escaped.links] == [urls.join(URL, url)]
