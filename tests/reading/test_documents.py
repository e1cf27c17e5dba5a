"""Which reader reads a response, and what is said of those that none reads."""

from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading import types
from focuscrawl.reading.documents import read_page

URL = "http://a.example/dir/"


def read(body: bytes, content_type: str, url: str = URL, documents=types.ALL) -> Page:
    return read_page(Page(url), body, content_type, documents=documents)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("all", types.ALL),
        ("off", set()),
        ("", set()),
        ("pdf", {"pdf"}),
        (" PDF, Feed ,text", {"pdf", "feed", "text"}),
        (["word", "pdf"], {"word", "pdf"}),
    ],
)
def test_the_setting_names_kinds(value, expected):
    assert types.parse_documents(value) == expected


@pytest.mark.parametrize("value", ["pfd", "all,pdf", "off,pdf", "yes", "html"])
def test_a_wrong_setting_is_refused_with_what_it_takes(value):
    with pytest.raises(
        FocusError, match=r"FOCUS_DOCUMENTS=.*expected all, off, or some of text, markdown, feed, pdf, word"
    ):
        types.parse_documents(value)


@pytest.mark.parametrize(
    ("content_type", "documents", "problem"),
    [
        ("application/pdf", (), "not read: a PDF and FOCUS_DOCUMENTS is off"),
        ("application/pdf", ("text",), "not read: a PDF and FOCUS_DOCUMENTS has no pdf"),
        ("text/plain", (), "not read: plain text and FOCUS_DOCUMENTS is off"),
        ("image/png", types.ALL, "not read: an image, which is never read"),
        ("IMAGE/X-ANY; a=b", types.ALL, "not read: an image, which is never read"),
        ("video/mp4", types.ALL, "not read: a video, which is never read"),
        ("application/zip", types.ALL, "not read: an archive, which is never read"),
        ("application/msword", types.ALL, "not read: a word-processor file in an old format, which is never read"),
        ("application/x-nonsense", types.ALL, "not HTML: application/x-nonsense"),
    ],
)
def test_what_is_not_read_is_explained(content_type, documents, problem):
    assert read(b"some bytes", content_type, documents=documents).problem == problem


def test_a_response_keeps_its_bytes_and_its_type():
    page = read(b"words http://b.example/x", "text/plain; charset=latin-1")
    assert (page.body, page.content_type) == (b"words http://b.example/x", "text/plain; charset=latin-1")


def test_plain_text_has_paragraphs_a_title_and_links():
    page = read(
        b"Sorting\r\n=======\r\n\r\nSee http://b.example/a(b), (http://b.example/c).\r\n\r\n\r\nThe end <b>.",
        "text/plain",
    )
    assert page.title == "Sorting"
    assert [page.cut(block) for block in page.blocks] == [
        "Sorting =======",
        "See http://b.example/a(b), (http://b.example/c).",
        "The end <b>.",
    ]
    assert [link.url for link in page.links] == ["http://b.example/a(b)", "http://b.example/c"]
    assert page.links[0].before(1) == ("see",)


def test_text_in_another_charset():
    assert read("Größe".encode("latin-1"), "text/plain; charset=iso-8859-1").words == ["größe", "größe"]


def test_a_long_first_line_is_no_title():
    assert read(b"x " * 500, "text/plain").title == ""


LINKS = (
    b"<a href=/paper.pdf>the paper</a> <a href=/photo.jpg>photo</a> <a href=/x.docx>letter</a> <a href=/page>page</a>"
    b"<img src=/drawing.png><a href=/data.zip><img src=/icon.gif alt='all data'></a>"
)


def test_links_to_documents_are_followed_and_other_files_recorded():
    page = read(LINKS, "text/html")
    assert [link.url for link in page.links] == [f"http://a.example/{name}" for name in ("paper.pdf", "x.docx", "page")]
    assert [link.position for link in page.links] == [0, 2, 3]
    assert page.unread == [
        ("http://a.example/photo.jpg", "photo", "image", "an image, which is never read"),
        ("http://a.example/data.zip", "all data", "archive", "an archive, which is never read"),
    ]


def test_links_to_documents_that_are_off_are_recorded():
    page = read(LINKS, "text/html", documents=())
    assert [link.url for link in page.links] == ["http://a.example/page"]
    assert ("http://a.example/paper.pdf", "the paper", "PDF", "a PDF and FOCUS_DOCUMENTS is off") in page.unread


def test_what_is_recorded_of_one_page_is_bounded():
    page = read(
        b"".join(b"<a href=%d.jpg>x</a>" % number for number in range(6_000)) + b"<a href=page>y</a>", "text/html"
    )
    assert len(page.unread) == 5_000
    assert len(page.links) == 1


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://a.example/x.PDF?y=1", "PDF"),
        ("https://a.example/x.tar.gz", "archive"),
        ("http://a.example/x.md", None),
        ("http://a.example/x.txt", None),
        ("http://example.pdf", None),
        ("http://a.example/x.pdf/", None),
        ("http://a.example/", None),
    ],
)
def test_the_type_of_a_url(url, name):
    found = types.of_url(url)
    assert (found.name if found else None) == name
