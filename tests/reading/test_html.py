from __future__ import annotations

import json
import sqlite3
import zlib
from time import process_time

import pytest

from focuscrawl.page import Page
from focuscrawl.reading import links
from focuscrawl.reading.html import read_html
from focuscrawl.words import tokenize
from tests.conftest import SHARED_WEBS

URL = "http://www.example.com/dir/page.html"


def read(body: str | bytes, content_type: str = "text/html; charset=utf-8") -> Page:
    return read_html(Page(URL), body.encode() if isinstance(body, str) else body, content_type)


PAGE = """<!DOCTYPE html><html lang="en-GB"><head>
<title> Sorting
 algorithms </title>
<meta name="Description" content="about sorting"><meta name=keywords content="sort, heap">
<meta name=robots content="NOINDEX"><link rel="canonical" href="/dir/canonical.html">
<style>p { color: red }</style></head>
<body><h1>Main heading</h1><p>Intro with <b>bo</b>ld and <a href="first.html">the first link</a> in it.</p>
<h2>Section</h2><p>One.</p><h3>Sub section</h3>
<ul><li>Milk and <a href="/milk" rel="nofollow">cream</a></li><li>Bread, <a href="/bread">brown <i>or</i> white</a></li></ul>
<h2>Other section</h2><p>Text before <a href="http://other.example/"><img src=x.png alt="a picture"></a> and after</p>
<script>var hidden = "secret <a href='no.html'>";</script></body></html>"""


def test_the_head_of_a_page():
    page = read(PAGE)
    assert page.title == "Sorting algorithms"
    assert (page.description, page.keywords, page.robots) == ("about sorting", "sort, heap", {"noindex"})
    assert page.declared_language == "en-GB"
    assert page.canonical == "http://www.example.com/dir/canonical.html"
    assert page.problem is None


def test_visible_text_is_what_a_reader_sees():
    page = read(PAGE)
    assert "Intro with bold and the first link in it." in page.text
    assert "secret" not in page.text
    assert "color" not in page.text
    assert page.text.splitlines()[0] == "Main heading"
    assert "a picture" in page.text
    assert page.words[:4] == ["sorting", "algorithms", "main", "heading"]
    assert page.stems[:2] == ["sort", "algorithm"]
    assert page.counts["link"] == 1


def test_headings_know_what_they_stand_under():
    page = read(PAGE)
    assert [(heading.level, heading.text) for heading in page.headings] == [
        (1, "Main heading"), (2, "Section"), (3, "Sub section"), (2, "Other section"),
    ]  # fmt: skip
    assert [heading.parent for heading in page.headings] == [-1, 0, 1, 0]
    assert page.main_heading == "Main heading"


@pytest.mark.parametrize(
    "text", ["Ein Satz. Über Öl!", "İstanbul'da İZMİR", "日本語のテキスト and English", "ﬁn—☃ x\u0301", ""]
)
def test_blocks_know_their_words(text):
    """The words of a block are a stretch of the page's words, whatever the script."""
    html = f"<title>{text} a</title><h1>{text}</h1><p>{text} b<ul><li>{text}<li><a href=/x>c {text}</a></ul>"
    page = read_html(Page("http://a.example/"), html.encode(), "text/html; charset=utf-8")
    offsets = page.block_offsets
    assert len(offsets) == len(page.blocks) + 1
    assert offsets[-1] == len(page.words) == len(page.stems)
    for block, begin, end in zip(page.blocks, offsets, offsets[1:], strict=False):
        assert page.words[begin:end] == tokenize(page.cut(block))
    (link,) = page.links
    begin, end = offsets[link.boundary.start], offsets[link.boundary.stop]
    assert page.words[begin:end] == tokenize(link.block)


def test_links_with_their_surroundings():
    first, cream, bread, picture = read(PAGE).links
    assert first.url == "http://www.example.com/dir/first.html"
    assert first.anchor == "the first link"
    assert first.block == "Intro with bold and the first link in it."
    assert (first.before(3), first.after()) == (
        ("with", "bold", "and"),
        ("in", "it", "section", "one", "sub", "section", "milk", "and", "cream", "bread"),
    )
    assert (first.subheading, first.heading, first.main_heading) == ("", "", "Main heading")
    assert cream.nofollow
    assert not bread.nofollow
    assert cream.block == bread.block == "Milk and cream Bread, brown or white"
    assert (bread.subheading, bread.heading, bread.main_heading) == ("Sub section", "Section", "Main heading")
    assert bread.anchor == "brown or white"
    assert picture.anchor == "a picture"
    assert (picture.subheading, picture.heading) == ("Other section", "")
    assert picture.url_words == ["other", "example"]
    assert [link.position for link in read(PAGE).links] == [0, 1, 2, 3]


def test_at_most_k_words_around_a_link_in_document_order():
    body = " ".join(f"w{n}" for n in range(50)) + " <a href=x>anchor</a> " + " ".join(f"v{n}" for n in range(50))
    (link,) = read(f"<p>{body}").links
    assert link.before(4) == ("w46", "w47", "w48", "w49")
    assert link.after(4) == ("v0", "v1", "v2", "v3")
    assert len(link.before()) == len(link.after()) == 10
    assert link.before(0) == link.after(0) == ()
    assert link.text_before().endswith("w48 w49 ")


def test_links_that_lead_nowhere_are_dropped():
    hrefs = [
        "",
        "#top",
        "mailto:a@b.example",
        "javascript:x()",
        "tel:1",
        "data:,x",
        "a.zip",
        "b.JPG",
        "ftp://x/",
        "http://[x",
    ]
    page = read("".join(f"<a href='{href}'>x</a>" for href in hrefs) + "<a>no href</a><a href='good.html'>y</a>")
    assert [link.url for link in page.links] == ["http://www.example.com/dir/good.html"]


def test_base_changes_what_links_are_relative_to():
    page = read("<base href='http://base.example/x/'><base href='http://second.example/'><a href='y'>z</a>")
    assert [link.url for link in page.links] == ["http://base.example/x/y"]


def test_frames_maps_and_refreshes_are_links():
    page = read(
        "<meta http-equiv=refresh content='3; URL=next.html'><frameset><frame src=a.html name=menu><frame src='b.html'>"
        "</frameset><iframe src=c.html title='inner'></iframe><map><area href=d.html alt='the north'></map>"
    )
    assert [link.url.rpartition("/")[2] for link in page.links] == ["next.html", "a.html", "b.html", "c.html", "d.html"]
    assert [link.anchor for link in page.links] == ["", "menu", "", "inner", "the north"]


def test_an_unclosed_link_does_not_swallow_the_page():
    first, second = read("<a href=x>one" + " word" * 5000 + "<a href=y>two").links
    assert len(first.anchor) <= 300
    assert second.anchor == "two"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>Zürich</p>".encode(), "text/html; charset=utf-8"),
        ("<p>Zürich</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ("<p>Zürich</p>".encode("latin-1"), "text/html"),
        ("<p>Zürich</p>".encode(), "text/html"),
        ("<p>Zürich</p>".encode("utf-16"), "text/html"),
        (b"\xef\xbb\xbf" + "<p>Zürich</p>".encode(), "text/html; charset=latin-1"),
        ("<meta charset=windows-1252><p>Zürich</p>".encode("cp1252"), "text/html"),
        ("<p>Zürich</p>".encode(), "text/html; charset=no-such-charset"),
        ("<p>Zürich</p>".encode(), ""),
    ],
)
def test_text_is_read_in_whatever_charset_it_comes(body, content_type):
    assert read(body, content_type).text == "Zürich"


def test_a_page_with_a_false_charset_is_read_as_well_as_it_goes():
    page = read("<title>x</title><p>Zürich <a href=y>weiter</a>".encode("latin-1"), "text/html; charset=utf-8")
    assert page.problem is None
    assert [link.anchor for link in page.links] == ["weiter"]


@pytest.mark.parametrize(
    ("body", "content_type", "problem"),
    [
        (b"", "text/html", "empty body"),
        (b" \n ", "text/html", "empty body"),
        (b"%PDF-1.4", "application/pdf", "not HTML: application/pdf"),
        (bytes(range(256)) * 10, "text/html", "binary content declared as text/html"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "", "binary content declared as nothing"),
    ],
)
def test_what_cannot_be_read_has_a_reason(body, content_type, problem):
    page = read(body, content_type)
    assert page.problem == problem
    assert page.links == []


def test_a_comment_that_is_never_closed_does_not_hide_the_page():
    page = read(
        "<!-- closed --><p>one</p><!-- top of the page > <title>T</title><p>two <a href=x>three</a> <!-- four >"
    )
    assert page.title == "T"
    assert page.words == ["t", "one", "two", "three"]
    assert len(page.links) == 1


def test_nuls_are_ignored():
    page = read("<p>so\x00rting</p><a href='x\x00.html'>l</a>" + "padding " * 100)
    assert page.text.startswith("sorting")
    assert page.links[0].url.endswith("/x.html")


@pytest.mark.parametrize(
    "body",
    [b"<!DOCTYPE html>", b"<!-- only a comment -->", b"<", b"<html", b"&", b"<a href=", b"</div></p>", b"<?xml?>"],
)
def test_scraps_are_no_error(body):
    assert isinstance(read(body), Page)


def test_ten_megabytes_of_nested_tags_have_a_reason():
    page = read(b"<body><a href=first>x</a>" + b"<div>" * 2_000_000 + b"<a href=last>deep</a>")
    assert page.problem == "tags nested more than 1,000 deep"
    assert [link.anchor for link in page.links] == ["x"]


def test_deep_but_honest_pages_are_read():
    page = read(b"<font>" * 900 + b"<a href=last>deep</a>")
    assert page.problem is None
    assert [link.anchor for link in page.links] == ["deep"]


@pytest.mark.parametrize(
    "body",
    [
        b"<!---->" * 50_000 + b"x",
        b"<b>" * 300_000 + b"</i>" * 300_000,
        b"<a href=x>" * 100_000,
        b"<!--" * 200_000,
        b"<p " + b"a=1 " * 200_000,
    ],
)
@pytest.mark.parametrize("content_type", ["text/plain", "text/html"])
def test_no_page_takes_long(body, content_type):
    began = process_time()
    read(body, content_type)
    assert process_time() - began < 10


def test_lists_in_lists_without_end_do_not_multiply_the_text():
    page = read(b"<a href=x>y</a><ul>" * 900 + b"word " * 20_000)
    assert len(page.links) == 900
    assert sum(map(len, {link.block for link in page.links})) < 20 * len(page.raw_text)


def test_the_block_of_a_link_is_the_innermost_list():
    one, two = read("<ul><li>a <a href=1>one</a><ul><li>b <a href=2>two</a></ul> c</ul>").links
    assert (one.block, two.block) == ("a one b two c", "b two")


@pytest.mark.parametrize(
    "charset", ["base64", "hex", "zlib", "rot13", "idna", "undefined", "utf-7", "\x00", "a" * 1000]
)
def test_charsets_that_are_none_do_no_harm(charset):
    assert read(b"<p>words", f"text/html; charset={charset}").words == ["words"]
    assert "words" in read(f"<meta charset='{charset}'><p>words".encode(), "text/html").words


@pytest.mark.parametrize("charset", ["punycode", "unicode_escape", "raw_unicode_escape"])
def test_codecs_that_only_python_knows_are_no_charsets(charset):
    text = "words-ab9c \\u0041 \\d"
    assert read(f"<p>{text}".encode(), f"text/html; charset={charset}").text == text
    assert read(f"<meta charset={charset}><p>{text}".encode(), "text/html").text == text
    began = process_time()
    read(b"<p>words-" + b"ab9c" * 50_000, f"text/html; charset={charset}")  # punycode: three seconds; 10 MB: hours
    assert process_time() - began < 1


def test_more_links_than_a_page_should_have_are_counted_and_left_out(monkeypatch):
    monkeypatch.setattr(links, "MAX_LINKS", 10)
    page = read("".join(f"<a href={n}.html>{n}</a>" for n in range(25)))
    assert (len(page.links), page.links_left_out) == (10, 15)


def test_xhtml_and_plain_text():
    xhtml = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>Hi <a href="x"/></p></body></html>'
    assert [link.url for link in read(xhtml, "application/xhtml+xml").links] == ["http://www.example.com/dir/x"]
    plain = read("Just <text>, no tags", "text/plain")
    assert (plain.text, plain.links) == ("Just <text>, no tags", [])
    assert read("<html><a href=x>y</a>", "text/plain").links


@pytest.mark.slow
@pytest.mark.skipif(not SHARED_WEBS.exists(), reason="the labelled webs (../shared/webs) are not there")
@pytest.mark.parametrize("name", ["wikipedia", "webkb"])
def test_pages_of_the_real_webs_are_read(name):
    connection = sqlite3.connect(f"file:{SHARED_WEBS / name}.sqlite?mode=ro", uri=True)
    linked = worded = pages = 0
    for url, content_type, body, labels in connection.execute(
        "SELECT url, content_type, body, labels FROM page WHERE rowid % 4 = 1"
    ):
        page = read_html(Page(url), zlib.decompress(body), content_type)
        assert page.problem is None, url
        worded += bool(page.words)
        linked += bool(page.links)
        pages += 1
        json.loads(labels)
    connection.close()
    assert linked / pages > 0.85
    assert worded / pages > 0.999


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/it's", "/it's"),
        ("0; URL='/it'", "/it"),
        ("0;url='/it", "/it"),
        ('0;url="/it\'s" or not', "/it's"),
        ("0 , url = /x ", "/x"),
        ("0 /x", "/x"),
        ("0;/x", "/x"),
        ("0;'/x'", "/x"),
        (" 5.5.5; url=/x", "/x"),
        (".5; url=/x", "/x"),
        ("5;url/x", "/dir/url/x"),
        ("5;urls=/x", "/dir/urls=/x"),
        ("-1;url=/x", None),
        ("+1;url=/x", None),
        ("url=/x", None),
        (";url=/x", None),
        ("5x;url=/x", None),
        ("/x", None),
        ("5", None),
        ("5;", None),
        ("5;url=", None),
        ("", None),
        ("\u0665;url=/x", None),
    ],
)
def test_a_refresh_leads_where_browsers_go(content, target):
    quoted = content.replace('"', "&quot;")
    links = [link.url for link in read(f'<meta http-equiv=refresh content="{quoted}">').links]
    assert links == ([f"http://www.example.com{target}"] if target else [])


@pytest.mark.parametrize("tag", ["noframes", "iframe", "noembed"])
def test_what_is_there_for_old_browsers_is_no_text(tag):
    page = read(f"<p>before <{tag}>use <b>another</b> browser</{tag}> after <a href=x>link</a>")
    assert page.words == ["before", "after", "link"]
    assert [link.anchor for link in page.links] == ["link"]


def test_links_for_browsers_without_frames_and_scripts_are_followed():
    page = read(
        "<title>T</title><frameset><frame src=menu name=menu><noframes><body><base href=/wrong/><title>Wrong</title>"
        "<h1>No frames</h1><p>See <a href=plain rel=nofollow>the plain <b>page</b></a><map><area href=map alt=north>"
        "</map><meta name=robots content=noindex></body></noframes></frameset>"
        "<noscript><a href=script>no scripts</a></noscript><a href=last>last</a>"
    )
    assert [(link.url.rpartition("/dir/")[2], link.anchor, link.nofollow) for link in page.links] == [
        ("menu", "menu", False),
        ("plain", "the plain page", True),
        ("map", "north", False),
        ("script", "no scripts", False),
        ("last", "last", False),
    ]
    assert (page.title, page.robots, page.headings) == ("T", set(), [])
    assert "plain" not in page.words


def test_noframes_that_hold_noframes_take_no_longer():
    began = process_time()
    page = read(b"<noframes>" * 20_000 + b"<a href=x>y</a>")
    assert process_time() - began < 2
    assert page.text == ""


@pytest.mark.parametrize("tag", ["svg", "math"])
@pytest.mark.parametrize("after", ["<p>", "<div>", "<table><tr><td>", "<h1>", "<ul><li>", "<span>", "<hr>", "<p><b>"])
def test_a_drawing_that_is_never_closed_hides_nothing_but_itself(tag, after):
    page = read(f"<p>before <{tag}><g><text>drawn</text><path d='M0 0'>{after}after <a href=x>link</a><p>end")
    assert page.words == ["before", "after", "link", "end"]
    assert [link.anchor for link in page.links] == ["link"]


def test_a_drawing_that_was_left_ends_once():
    page = read("<svg><p>one</svg> two <svg><text>drawn</text></svg> three <script>var hidden</script><p>four")
    assert page.words == ["one", "two", "three", "four"]
    page = read("<svg><svg><title>icon</title><a href=x>drawn</a></svg><text>drawn</text></svg><title>T</title><p>one")
    assert (page.title, page.words) == ("T", ["t", "one"])
    assert [link.url for link in page.links] == ["http://www.example.com/dir/x"]


@pytest.mark.parametrize("tag", ["template", "svg", "math"])
def test_the_base_counts_only_as_a_part_of_the_page(tag):
    page = read(f"<{tag}><base href='http://wrong.example/'></{tag}><a href=y>z</a>")
    assert [link.url for link in page.links] == ["http://www.example.com/dir/y"]
    page = read(f"<{tag}><base href='http://wrong.example/'></{tag}><base href='/right/'><a href=y>z</a>")
    assert [link.url for link in page.links] == ["http://www.example.com/right/y"]


def test_nothing_in_a_template_is_there():
    page = read(
        "<template><title>No</title><meta name=robots content=none><meta http-equiv=refresh content='0;url=no'>"
        "<link rel=canonical href=/no><a href=no>no</a><iframe src=no></iframe><h1>no</h1><ul><li>no</ul>"
        "<script type=application/ld+json>{'license': 'http://no.example/'}</script><svg><p>no</p></svg>"
        "<template><a href=no>no</a></template>no</template><title>Yes</title><h1>yes</h1><a href=yes>yes</a>"
    )
    assert (page.title, page.robots, page.canonical, page.rights.licences) == ("Yes", set(), None, [])
    assert [link.url.rpartition("/")[2] for link in page.links] == ["yes"]
    assert page.words == ["yes"] * 3
    assert [heading.text for heading in page.headings] == ["yes"]


def test_the_language_of_a_target_is_kept_as_a_hint():
    page = read(
        "<link rel=alternate hreflang=de href=/de><link rel='alternate' hreflang=x-default href=/en>"
        "<link rel=alternate hreflang=it href=/it><link rel=stylesheet hreflang=fr href=/c>"
        "<a hreflang=pt-BR href=/br>x</a><a href=/de>y</a><a href=/c>z</a><a href=/en>w</a><a href=/br>again</a>"
    )
    assert [(link.url.rpartition("/")[2], link.hreflang) for link in page.links] == [
        ("br", "pt-br"),
        ("de", "de"),
        ("c", ""),
        ("en", ""),
        ("br", "pt-br"),
    ]  # and no link to /it: the page does not show one


def test_a_page_of_translations_without_end_keeps_a_bounded_number():
    page = read("".join(f"<a href=/{n} hreflang={'x' * 50}>{n}</a>" for n in range(9_000)))
    assert len(page.links[0].hreflang) == 35
    assert sum(bool(link.hreflang) for link in page.links) < 1_000
