from __future__ import annotations

import json

import pytest

from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.reading.feeds import MAX_ENTRIES, is_feed

URL = "http://a.example/blog/feed"

RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:media="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>Sorting news</title><link>http://a.example/</link><description>All about &lt;b&gt;sorting&lt;/b&gt;</description>
<language>en-gb</language><atom:link href="http://a.example/feed" rel="self"/><lastBuildDate>Mon, 02 Feb 2026 10:00:00 +0100</lastBuildDate>
<item><title>Merge &amp; sort</title><link>/merge</link><pubDate>Sun, 01 Feb 2026 10:00:00 GMT</pubDate>
<description><![CDATA[<p>Merging <a href="x">two</a> lists</p>]]></description><media:title>a picture</media:title></item>
<item><title>Heap</title><guid>http://a.example/heap</guid><content:encoded>&lt;p&gt;A heap&lt;/p&gt;&lt;script&gt;no()&lt;/script&gt;</content:encoded>
<dc:creator>Ada</dc:creator></item>
<item><title>No link</title><guid isPermaLink="false">77</guid></item>
</channel></rss>"""

ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de">
<title type="text">Sortieren</title><subtitle>Neues</subtitle><updated>2026-02-02T10:00:00Z</updated>
<author><name>Ada Example</name></author><link rel="self" href="http://a.example/feed"/>
<entry><title type="html">Haufen &amp;amp; mehr</title><link rel="alternate" href="haufen"/><link rel="enclosure" href="x.mp3"/>
<summary>Ein Haufen</summary><source><title>Andere</title><link href="http://other.example/"/></source></entry>
<entry><title>Mischen</title><link href="http://b.example/mischen"/>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Wir <b>mischen</b></p><p>Listen</p></div></content></entry>
</feed>"""

RDF = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="http://a.example/"><title>Old sorting news</title><link>http://a.example/</link><description>Old</description></channel>
<item rdf:about="http://a.example/bubble"><title>Bubbles</title><link>http://a.example/bubble</link><description>They rise</description></item>
<item rdf:about="http://a.example/about-only"><title>Only about</title></item>
</rdf:RDF>"""

JSON_FEED = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Sorting in JSON",
        "language": "en",
        "authors": [{"name": "Ada"}],
        "items": [
            {"id": "1", "url": "/json", "title": "Sort JSON", "content_html": "<p>Keys are <i>sorted</i></p>"},
            {"id": "http://b.example/2", "content_text": "No title, but words"},
            {"id": 3},
            "nonsense",
        ],
    }
)


def read(text: str | bytes, content_type: str = "application/rss+xml") -> Page:
    return read_page(Page(URL), text.encode() if isinstance(text, str) else text, content_type)


def test_entries_of_rss_are_links_with_their_texts():
    page = read(RSS)
    assert page.problem is None
    assert (page.title, page.declared_language, page.description) == ("Sorting news", "en-gb", "All about sorting")
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.example/merge", "Merge & sort"),
        ("http://a.example/heap", "Heap"),
    ]
    assert page.links[0].after(3) == ("merging", "two", "lists")
    assert "Merging two lists" in page.links[0].block
    assert "no()" not in page.text
    assert "a picture" not in page.text
    assert "No link" in page.text
    assert page.modified == "2026-02-02T09:00:00+00:00"


def test_entries_of_atom_are_links_with_their_texts():
    page = read(ATOM, "application/atom+xml")
    assert (page.title, page.declared_language, page.authors) == ("Sortieren", "de", ["Ada Example"])
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.example/blog/haufen", "Haufen & mehr"),
        ("http://b.example/mischen", "Mischen"),
    ]
    assert "Wir mischen Listen" in page.links[1].block
    assert "Andere" not in page.text


def test_entries_of_rdf_are_links_with_their_texts():
    page = read(RDF, "application/rdf+xml")
    assert page.title == "Old sorting news"
    assert [link.url for link in page.links] == ["http://a.example/bubble", "http://a.example/about-only"]


@pytest.mark.parametrize("content_type", ["application/feed+json", "application/json", "text/plain"])
def test_entries_of_a_json_feed_are_links_with_their_texts(content_type):
    page = read(JSON_FEED, content_type)
    assert (page.title, page.declared_language, page.authors) == ("Sorting in JSON", "en", ["Ada"])
    assert [link.url for link in page.links] == ["http://a.example/json", "http://b.example/2"]
    assert "Keys are sorted" in page.links[0].block


@pytest.mark.parametrize(
    "content_type", ["text/html", "text/xml", "application/xml", "text/plain", "", "application/rss+xml"]
)
def test_a_feed_is_recognised_whatever_it_is_declared_as(content_type):
    assert len(read(RSS, content_type).links) == 2


def test_a_feed_is_a_listing_and_never_matches(crawl):
    from tests.conftest import at, small_web

    web = small_web({"a": ["a/feed"], "a/merge": []}, {"a": "sort", "a/merge": "sort"})
    web.add(at("a/feed"), RSS, content_type="application/rss+xml")
    crawled = crawl("keyword", web, seeds=at("a"), keywords="sort")
    assert at("a/merge") in crawled.matched
    assert at("a/feed") not in crawled.matched
    assert crawled.sql("SELECT withheld, relevance > 0, relevant FROM page WHERE url = ?", at("a/feed")) == [
        ("listing", 1, 0)
    ]


@pytest.mark.parametrize("xml", [RSS, ATOM, RDF])
def test_a_feed_in_another_charset(xml):
    text = xml.replace("utf-8", "iso-8859-1").replace("Sort", "Größe Sort")
    if "iso-8859-1" not in text:
        text = text.replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="iso-8859-1"?>')
    page = read(text.encode("iso-8859-1"), "application/xml")
    assert "größe" in page.words or "sortieren" in page.words or page.title == "Old sorting news"


@pytest.mark.parametrize("cut", range(200, len(RSS), 97))
def test_a_feed_that_is_cut_off_is_read_as_far_as_it_goes(cut):
    page = read(RSS[:cut])
    assert {link.url for link in page.links} <= {"http://a.example/merge", "http://a.example/heap"}


def test_entities_are_not_expanded():
    bomb = '<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "sort sort sort">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    page = read(f"{bomb}]><rss><channel><title>x</title><item><title>&i;</title><link>http://b.example/</link></item>")
    assert len(page.text) < 1_000


def test_files_of_the_machine_are_not_read():
    text = '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>&x;</title></channel></rss>'
    assert "root:" not in read(text).raw_text + read(text).title


def test_a_feed_without_end_is_bounded():
    page = read(
        "<rss><channel><title>x</title>" + "<item><title>y</title><link>http://b.example/1</link></item>" * 9_000
    )
    assert len(page.links) <= MAX_ENTRIES


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"<rss>", True),
        (b"\xef\xbb\xbf <?xml version='1.0'?><!-- a --><feed xmlns='x'>", True),
        (b"<!DOCTYPE html><p>about <rss> feeds", False),
        (b"<html><rss>", False),
        (b"<rdf:RDF xmlns:rdf='x'>", False),
        (b"<feedback>", False),
        (b"{}", False),
        (b'{"version": 1}', False),
        (b"", False),
    ],
)
def test_what_a_feed_begins_with(body, found):
    assert is_feed(body) is found


@pytest.mark.parametrize(
    "text",
    ["{", '{"version": "https://jsonfeed.org/version/1"', '{"version":"https://jsonfeed.org/version/1","items":7}'],
)
def test_a_json_feed_that_cannot_be_read_says_so(text):
    assert "unreadable feed" in (read(text, "application/feed+json").problem or "")


def test_feeds_that_are_off_are_not_read():
    page = read_page(Page(URL), RSS.encode(), "application/rss+xml", documents={"pdf"})
    assert page.problem == "not read: a feed and FOCUS_DOCUMENTS has no feed"
