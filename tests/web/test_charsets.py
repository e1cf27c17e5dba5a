"""Which charset a page is read in: as browsers do it, and never so that the page is lost."""

from __future__ import annotations

from time import process_time

import pytest

from focuscrawl.page import Page
from focuscrawl.reading.html import read_html

HTML = "text/html"


def read(body: bytes, content_type: str = HTML) -> Page:
    return read_html(Page("http://a.example/dir/"), body, content_type)


PAGE = "<title>Zürich</title><p>Straße <a href=x>über</a>"
RUSSIAN = "<title>Москва</title><p>Россия <a href=x>ещё</a>"


@pytest.mark.parametrize(
    "meta",
    [
        *("<meta charset=UTF-16>", "<meta charset='utf-16le'>", "<meta charset=utf-16be>", "<meta charset=unicode>"),
        "<meta http-equiv=Content-Type content='text/html; charset=UTF-16'>",
        "<meta content='text/html;charset=utf-16le' http-equiv='content-type'>",
        "<?xml version='1.0' encoding='UTF-16'?>",
    ],
)
def test_a_tag_in_ascii_that_says_utf_16_means_utf_8(meta):
    page = read(f"{meta}{PAGE}".encode())
    assert (page.title, page.text, page.problem) == ("Zürich", "Straße über", None)
    assert [link.anchor for link in page.links] == ["über"]


def test_x_user_defined_means_windows_1252():
    assert read(b"<meta charset=x-user-defined>" + PAGE.encode("cp1252")).title == "Zürich"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (f"<meta charset=windows-1251>{PAGE}".encode("utf-16"), HTML),
        (b"\xef\xbb\xbf" + f"<meta charset=utf-16>{PAGE}".encode(), HTML),
        (b"\xef\xbb\xbf" + f"<meta charset=windows-1251>{PAGE}".encode(), "text/html; charset=koi8-r"),
        (f"<meta charset=windows-1251>{PAGE}".encode(), "text/html; charset=utf-8"),
        (f"<meta charset=utf-8>{PAGE}".encode("cp1252"), "text/html; charset=windows-1252"),
    ],
)
def test_a_byte_order_mark_comes_first_then_the_header_then_the_page(body, content_type):
    assert read(body, content_type).title == "Zürich"


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_by_header_needs_no_byte_order_mark(order):
    body = PAGE.encode(f"utf-16-{order}")
    assert read(body, f"text/html; charset=utf-16{order}").title == "Zürich"
    assert read(body, "text/html; charset=utf-16").title == "Zürich"


@pytest.mark.parametrize("charset", ["utf-16", "utf-16le", "utf-16be", "utf-32", "cp037", "ebcdic-cp-us"])
def test_a_page_of_plain_bytes_is_not_lost_by_a_charset_that_has_none(charset):
    for header, meta in ((f"text/html; charset={charset}", ""), (HTML, f"<meta charset={charset}>")):
        assert read(f"{meta}{PAGE}".encode(), header).title == "Zürich"
        assert read(f"{meta}{PAGE}".encode("cp1252"), header).title in ("Zürich", "Z�rich")
    russian = f"<meta charset=windows-1251>{RUSSIAN}".encode("cp1251")
    assert read(russian, f"text/html; charset={charset}").title == "Москва"


@pytest.mark.parametrize("charset", ["klingon", "", "base64", "idna", "utf-7", "undefined", "rot13", "\xff"])
def test_a_bogus_charset_does_not_hide_the_next(charset):
    russian = RUSSIAN.encode("cp1251")
    good = b"<meta charset=windows-1251>"
    assert read(good + russian, f"text/html; charset={charset}").title == "Москва"
    assert read(f"<meta charset='{charset}'>".encode("latin-1") + good + russian).title == "Москва"


@pytest.mark.parametrize(
    "before",
    [
        *(b"<!-- " + b"x" * 5_000 + b" -->", b"<script>" + b"var a = '<b>';\n" * 1_000 + b"</script>"),
        *(b"<link rel=x href=y>" * 1_000, b"<body>", b"<html><head>\n\n<title>Title</title>"),
        *(
            b"<!-->",
            b"<!-- never closed >",
            b"<!-- <meta charset=koi8-r> -->",
            b"<script>'<meta charset=koi8-r>'</script>",
        ),
        *(b"<style>/*<meta charset=koi8-r>*/</style>", b"<title><meta charset=koi8-r></title>"),
        *(b"<meta name=description content='<meta charset=koi8-r>'>", b"<meta name=charset content='charset=koi8-r'>"),
        *(b"<meta http-equiv=refresh content='charset=koi8-r'>", b"<metacharset=koi8-r>", b"<p title='a>b'>"),
    ],
)
def test_the_tag_may_come_late_and_counts_only_where_it_is_one(before):
    page = read(before + b"<meta charset=windows-1251><p>" + "Россия".encode("cp1251"))
    assert page.text.endswith("Россия")


@pytest.mark.parametrize(
    "meta",
    [
        *("<META CHARSET=WINDOWS-1251>", "<meta\ncharset = 'windows-1251'/>", '<meta/charset=" windows-1251 ">'),
        *("<meta charset=x-cp1251>", "<meta charset=cp1251 charset=koi8-r>", "<meta charset=windows-1251 ;>"),
        "<meta http-equiv='Content-Type' content='text/html; charset = \"windows-1251\"'>",
        "<meta content='charset=windows-1251' http-equiv=content-type>",
        "<meta http-equiv=Content-Type content=text/html;charset=windows-1251>",
        "<meta http-equiv=Content-Type content='charset charset=windows-1251'>",
        "<?xml version='1.0' encoding='windows-1251'?>",
        "<!DOCTYPE html>\n<meta charset=windows-1251>",
    ],
)
def test_the_forms_of_the_tag(meta):
    assert read(f"{meta}{RUSSIAN}".encode("cp1251")).title == "Москва"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        *(("x-cp1250", "cp1250", "Łódź"), ("iso88592", "iso8859-2", "Łódź"), ("koi8-ru", "koi8-u", "Київ")),
        *(
            ("x-mac-cyrillic", "mac-cyrillic", "Москва"),
            ("iso-8859-8-i", "iso8859-8", "שלום"),
            ("big5", "big5", "北京"),
        ),
        *(("x-gbk", "gb18030", "北京"), ("x-euc-jp", "euc-jp", "東京"), ("x-sjis", "shift_jis", "東京")),
        *(("ks_c_5601-1987", "cp949", "서울"), ("dos-874", "cp874", "กรุงเทพ"), ("iso-8859-1", "cp1252", "a–b")),
    ],
)
def test_names_that_browsers_know(label, codec, text):
    title = f"<title>{text}</title>".encode(codec)
    assert read(title, f"text/html; charset={label}").title == text
    assert read(f"<meta charset='{label}'>".encode() + title).title == text


@pytest.mark.parametrize("piece", [b"<!--", b"<meta ", b"<meta charset", b"<script>", b"<", b"<meta a='", b"=", b" "])
def test_looking_for_the_charset_is_bounded(piece):
    began = process_time()
    read(piece * (2_000_000 // len(piece)), "application/xhtml+xml")
    first = process_time() - began
    began = process_time()
    read(piece * (2_000_000 // len(piece)), "application/xhtml+xml; charset=utf-8")
    assert first < process_time() - began + 1


def target(href: str, charset: str = "windows-1251", before: str = "") -> str | None:
    """Where a link on a page in that charset leads."""
    page = read(f"{before}<a href='{href}'>x</a>".encode(charset, "xmlcharrefreplace"), f"text/html; charset={charset}")
    return next((link.url for link in page.links), None)


@pytest.mark.parametrize(
    ("href", "charset", "url"),
    [
        ("?q=я", "windows-1251", "http://a.example/dir/?q=%FF"),
        ("?q=я", "koi8-r", "http://a.example/dir/?q=%D1"),
        ("?q=я", "utf-8", "http://a.example/dir/?q=%D1%8F"),
        ("?q=ü&amp;r=1", "iso-8859-1", "http://a.example/dir/?q=%FC&r=1"),
        ("?q=&#1103;", "windows-1251", "http://a.example/dir/?q=%FF"),
        ("?q=日本", "euc-jp", "http://a.example/dir/?q=%C6%FC%CB%DC"),
        ("?q=ソ", "shift_jis", "http://a.example/dir/?q=%83\\"),
        ("/s/?a=1&b=я&c=ю", "windows-1251", "http://a.example/s/?a=1&b=%FF&c=%FE"),
        ("https://b.example/?q=я", "windows-1251", "https://b.example/?q=%FF"),
        ("//b.example?я", "windows-1251", "http://b.example/?%FF"),
        ("?q=%D1%8F", "windows-1251", "http://a.example/dir/?q=%D1%8F"),
        ("?q=a b", "windows-1251", "http://a.example/dir/?q=a%20b"),
    ],
)
def test_a_query_is_in_the_charset_of_its_page(href, charset, url):
    assert target(href, charset) == url


def test_what_the_charset_lacks_is_escaped_as_browsers_do():
    assert target("?q=я&#9731;я") == "http://a.example/dir/?q=%FF%26%239731%3B%FF"
    assert target("?q=&#128512;") == "http://a.example/dir/?q=%26%23128512%3B"
    assert target("?q=&#9731;", "iso-2022-jp") == "http://a.example/dir/?q=%26%239731%3B"


def test_only_the_query_is():
    assert target("я?я#я") == "http://a.example/dir/%D1%8F?%FF"
    assert target("я#?я") == "http://a.example/dir/%D1%8F"
    assert target("http://я.example/я?я") == "http://xn--41a.example/%D1%8F?%FF"


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_pages_in_utf_16_have_queries_in_utf_8(charset):
    body = "<p><a href='?q=я'>x</a>".encode(charset)
    assert [link.url for link in read(body, "text/html; charset=utf-16").links] == ["http://a.example/dir/?q=%D1%8F"]


def test_canonical_urls_and_the_base_too():
    page = read("<link rel=canonical href='/?я'>".encode("cp1251"), "text/html; charset=windows-1251")
    assert page.canonical == "http://a.example/?%FF"
    assert target("?ю", before="<base href='http://b.example/?я'>") == "http://b.example/?%FE"
