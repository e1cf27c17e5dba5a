from __future__ import annotations

import io
import zipfile

import pytest

from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.reading.word import MAX_XML

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"'
)


def packed(files: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return out.getvalue()


def paragraph(text: str, style: str = "", *, item: bool = False) -> str:
    numbered = "<w:numPr/>" if item else ""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/>{numbered}</w:pPr>' if style or item else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


BODY = (
    paragraph("Sorting by hand", "berschrift1")
    + '<w:p><w:r><w:t>Cards are </w:t></w:r><w:r><w:t>sorted, see </w:t></w:r><w:hyperlink r:id="rId7"><w:r><w:t>the heap</w:t></w:r>'
    "</w:hyperlink><w:r><w:t> page.</w:t></w:r><w:del><w:r><w:delText>deleted words</w:delText></w:r></w:del></w:p>"
    + paragraph("one", item=True)
    + paragraph("two", item=True)
    + paragraph("Details", "Heading2")
    + '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "http://b.example/field" </w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>a field</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    + "<w:tbl><w:tr><w:tc>"
    + paragraph("in a table, http://b.example/bare.")
    + "</w:tc></w:tr></w:tbl>"
    + "<mc:AlternateContent><mc:Choice>"
    + paragraph("in a box")
    + "</mc:Choice><mc:Fallback>"
    + paragraph("repeated")
    + "</mc:Fallback></mc:AlternateContent>"
)


def docx(body: str = BODY, **more: str) -> bytes:
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f"<?xml version='1.0'?><w:document {W}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": '<Relationships><Relationship Id="rId7" TargetMode="External" Target="heap.html"/>'
            '<Relationship Id="rId8" Target="styles.xml"/></Relationships>',
            "word/styles.xml": f'<w:styles {W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>',
            "docProps/core.xml": f'<c:p xmlns:c="x" {ODF} xmlns:dcterms="y"><dc:creator>Ada</dc:creator>'
            "<dc:title>Cards</dc:title><dcterms:created>2026-01-02T03:04:05Z</dcterms:created></c:p>",
            **more,
        }
    )


def odt(body: str, meta: str = "") -> bytes:
    return packed(
        {
            "mimetype": ODT,
            "content.xml": f"<office:document-content {ODF}><office:body><office:text>{body}</office:text></office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {ODF}><office:meta>{meta}</office:meta></office:document-meta>",
        }
    )


def read(body: bytes, content_type: str = DOCX) -> Page:
    return read_page(Page("http://a.example/dir/cards.docx"), body, content_type)


def test_a_docx_says_what_was_written():
    page = read(docx())
    assert page.problem is None
    assert (page.title, page.authors, page.published) == ("Cards", ["Ada"], "2026-01-02T03:04:05+00:00")
    assert [(heading.level, heading.text) for heading in page.headings] == [(1, "Sorting by hand"), (2, "Details")]
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.example/dir/heap.html", "the heap"),
        ("http://b.example/field", "a field"),
        ("http://b.example/bare", "http://b.example/bare"),
    ]
    assert page.links[0].block == "Cards are sorted, see the heap page."
    assert page.links[1].headings == ["Details"]
    assert "in a box" in page.text
    assert not {"deleted", "repeated"} & set(page.words)
    assert len(page.lists) == 1


def test_an_odt_says_what_was_written():
    body = (
        '<text:h text:outline-level="2">Heaps</text:h><text:p>A<text:s/>heap, see <text:a xlink:href="http://b.example/">there</text:a>.'
        "<office:annotation><text:p>a remark</text:p></office:annotation></text:p>"
        "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
    )
    meta = "<dc:title>On heaps</dc:title><meta:initial-creator>Ada</meta:initial-creator><dc:language>en</dc:language><dc:date>2026-01-02</dc:date>"
    page = read(odt(body, meta), ODT)
    assert (page.title, page.authors, page.declared_language, page.modified) == (
        "On heaps",
        ["Ada"],
        "en",
        "2026-01-02",
    )
    assert [heading.text for heading in page.headings] == ["Heaps"]
    assert [(link.url, link.anchor) for link in page.links] == [("http://b.example/", "there")]
    assert page.text == "Heaps\nA heap, see there.\none"


@pytest.mark.parametrize("content_type", [DOCX, "application/octet-stream", "application/zip", ""])
def test_it_is_recognised_whatever_it_is_declared_as(content_type):
    assert read(docx(), content_type).title == "Cards"


def bomb(size: int) -> bytes:
    return docx(**{"word/document.xml": b"<w:document><w:body>" + b" " * size})  # type: ignore[arg-type]


LAUGHS = "<!DOCTYPE x [<!ENTITY a 'sort sort'>" + "".join(
    f"<!ENTITY {name} '{f'&{before};' * 10}'>" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"PK\x03\x04 rubbish word/", "unreadable word-processor file: File is not a zip file"),
        (docx()[:-40], "unreadable word-processor file: File is not a zip file"),
        (bomb(MAX_XML + 1), "word/document.xml is larger than 20 MB when unpacked"),
        (docx(**{"word/document.xml": f"{LAUGHS}]><w:document {W}>&i;</w:document>"}), "XML with a document type"),
        (
            docx(**{"word/document.xml": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:t>&e;</w:t>'}),
            "document type",
        ),
        (packed({"word/other.xml": "<x/>"}), "an archive without a text"),
        (packed({f"word/{number}": "" for number in range(20_001)}), "an archive of 20,001 files"),
        (docx(""), "a word-processor file without text"),
        (b"", "unreadable word-processor file: File is not a zip file"),
    ],
)
def test_a_hostile_or_damaged_file_says_why_it_is_not_read(body, problem):
    page = read(body)
    assert problem in (page.problem or "")
    assert "root:" not in page.raw_text


def test_damaged_bytes_inside_cost_the_document_only():
    whole = docx()
    for place in range(30, len(whole), 53):
        page = read(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        assert page.problem is None or page.problem.startswith(
            ("unreadable", "a word-processor", "not HTML", "binary", "not read")
        )


def test_a_file_with_a_password_says_so():
    whole = bytearray(docx())
    central = whole.index(b"PK\x01\x02")
    while central >= 0:  # the flag of each entry
        whole[central + 8] |= 1
        central = whole.find(b"PK\x01\x02", central + 1)
    assert "password" in (read(bytes(whole)).problem or "")


def test_word_that_is_off_is_not_read():
    page = read_page(Page("http://a.example/x.docx"), docx(), DOCX, documents={"pdf"})
    assert page.problem == "not read: a word-processor file and FOCUS_DOCUMENTS has no word"
