"""PDFs made for tests: by a library, and by hand where a library makes no such PDF."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fpdf import FPDF
from fpdf.enums import AccessPermission, EncryptionMethod

from focuscrawl.testing import at


class Made(NamedTuple):
    """A PDF and what it says; `problem` is part of the message if it cannot be read."""

    body: bytes
    says: tuple[str, ...] = ()
    title: str = ""
    links: tuple[str, ...] = ()
    problem: str = ""


@cache
def _font() -> Path:
    """A font with the letters of many languages, which comes with a library that the tests need anyway."""
    from matplotlib import get_data_path

    return Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


def paper(
    title: str = "Heap sort",
    text: str = "Sorting by a heap takes few comparisons.",
    *,
    font: str = "helvetica",
    compress: bool = True,
    links: tuple[tuple[str, str], ...] = (),
    pages: int = 1,
    prepare: Callable[[FPDF], None] = lambda pdf: None,
) -> bytes:
    """A PDF with a large title, a text and links."""
    pdf = FPDF()
    pdf.set_compression(compress)
    if font == "unicode":
        pdf.add_font("unicode", fname=_font())
    prepare(pdf)
    for number in range(pages):
        pdf.add_page()
        if not number:
            pdf.set_font(font, size=24)
            pdf.multi_cell(0, text=title, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font(font, size=12)
        pdf.write(8, text=text)
        for anchor, url in links:
            pdf.write(8, text=" See ")
            pdf.write(8, text=anchor, link=url)
            pdf.write(8, text=" there.")
    return bytes(pdf.output())


# ---- by hand


def by_hand(
    objects: dict[int, bytes], *, tail: bytes = b"", head: bytes = b"%PDF-1.7\n", wrong_xref: bool = False
) -> bytes:
    """A PDF of numbered objects; the first is the catalog. *tail* is added to the trailer."""
    out = bytearray(head)
    places = {}
    for number, content in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out) + (7 if wrong_xref else 0)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (max(objects) + 1)
    for number in range(1, max(objects) + 1):
        out += b"%010d 00000 n \n" % (places.get(number, 0) + (99 if wrong_xref else 0))
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (max(objects) + 1, tail, start)
    return bytes(out)


def stream(data: bytes, entries: bytes = b"", *, compress: bool = False) -> bytes:
    """A stream object."""
    if compress:
        data, entries = zlib.compress(data), entries + b" /Filter /FlateDecode"
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


_RESOURCES = b"/Resources << /Font << /F1 5 0 R >> >>"


def simple(
    content: bytes,
    *,
    more: dict[int, bytes] | None = None,
    page: bytes = b"",
    catalog: bytes = b"",
    font: bytes = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    **kept: object,
) -> bytes:
    """A PDF of one page with a content stream."""
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R %s %s >>" % (_RESOURCES, page),
        4: content,
        5: font,
    }
    return by_hand(objects | (more or {}), **kept)  # type: ignore[arg-type]


def shown(text: bytes, size: int = 12) -> bytes:
    """A content stream that shows a text."""
    return b"BT /F1 %d Tf 50 700 Td (%s) Tj ET" % (size, text)


def in_any_language(text: str) -> bytes:
    """A PDF with a text in any script: the font is not embedded, but says which characters its codes are."""
    letters = sorted(set(text))
    codes = {letter: number for number, letter in enumerate(letters, 1)}
    table = "".join(f"<{code:04X}> <{letter.encode('utf-16-be').hex()}>\n" for letter, code in codes.items())
    unicode = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        "1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        f"{len(letters)} beginbfchar\n{table}endbfchar\nendcmap end end"
    )
    told = "".join(f"{codes[letter]:04X}" for letter in text)
    return simple(
        stream(f"BT /F1 12 Tf 50 700 Td <{told}> Tj ET".encode(), compress=True),
        font=b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 6 0 R"
        b" /DescendantFonts [7 0 R] >>",
        more={
            6: stream(unicode.encode(), compress=True),
            7: b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDToGIDMap /Identity /DW 1000"
            b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 8 0 R >>",
            8: b"<< /Type /FontDescriptor /FontName /X /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800"
            b" /Descent -200 /CapHeight 700 /StemV 80 >>",
        },
    )


def with_xref_stream(text: bytes) -> bytes:
    """A PDF of version 1.5, whose table of objects is a compressed stream and whose objects are in another."""
    inner = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        5: b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
    }
    heads, packed = [], b""
    for number, content in inner.items():
        heads.append(b"%d %d" % (number, len(packed)))
        packed += content + b"\n"
    head = b" ".join(heads) + b"\n"
    out = bytearray(b"%PDF-1.5\n")
    places = {4: len(out)}
    out += b"4 0 obj\n" + stream(shown(text), compress=True) + b"\nendobj\n"
    places[6] = len(out)
    entries = b"/Type /ObjStm /N %d /First %d" % (len(inner), len(head))
    out += b"6 0 obj\n" + stream(head + packed, entries, compress=True) + b"\nendobj\n"
    places[7] = len(out)
    rows = [(0, 0, 65535)]
    rows += [(2, 6, list(inner).index(n)) if n in inner else (1, places[n], 0) for n in range(1, 8)]
    table = b"".join(bytes([kind]) + place.to_bytes(4, "big") + last.to_bytes(2, "big") for kind, place, last in rows)
    out += (
        b"7 0 obj\n" + stream(table, b"/Type /XRef /Size 8 /W [1 4 2] /Root 1 0 R", compress=True) + b"\nendobj\n"
        b"startxref\n%d\n%%%%EOF\n" % places[7]
    )
    return bytes(out)


def _encrypted(method: EncryptionMethod, *, user: str | None) -> bytes:
    def prepare(pdf: FPDF) -> None:
        pdf.set_encryption(
            owner_password="owner", user_password=user, encryption_method=method, permissions=AccessPermission.none()
        )

    return paper(prepare=prepare)


def _described(pdf: FPDF) -> None:
    pdf.set_title("Über Sortierverfahren – 整列")
    pdf.set_author("Ada Example")
    pdf.set_lang("de-DE")


def book() -> bytes:
    """A PDF with an outline of two levels."""
    pdf = FPDF()
    pdf.set_title("A book about sorting")
    for name in ("Insertion", "Selection"):
        pdf.add_page()
        pdf.set_font("times", size=20)
        pdf.start_section(name)
        pdf.cell(text=name, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("times", size=14)
        pdf.start_section(f"How {name} works", level=1)
        pdf.cell(text=f"How {name} works", new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("times", size=11)
        pdf.multi_cell(0, text=f"{name} sort looks at every element. " * 8)
    return bytes(pdf.output())


def _form() -> bytes:
    return simple(
        stream(shown(b"Order form for sorted lists")),
        page=b"/Annots [6 0 R]",
        catalog=b"/AcroForm << /Fields [6 0 R] >>",
        more={
            6: b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada) /Rect [50 600 200 620] /P 3 0 R >>",
        },
    )


def _hand_linked() -> bytes:
    """A link whose place holds no text."""
    return simple(
        stream(shown(b"Sorting networks")),
        page=b"/Annots [6 0 R]",
        more={
            6: b"<< /Type /Annot /Subtype /Link /Rect [400 100 500 120]"
            b" /A << /S /URI /URI (http://b.example/hidden) >> >>",
        },
    )


LANGUAGES = {
    "japanese": "整列アルゴリズムは速い",
    "chinese": "归并排序算法很快",
    "korean": "정렬 알고리즘은 빠르다",
    "arabic": "خوارزمية الترتيب",
    "hindi": "छँटाई का तरीका",
    "thai": "การเรียงลำดับ",
    "emoji": "sorting 🙂 works",
}
ALPHABETS = {
    "german": "Größenvergleich für Straßen",
    "french": "Les élèves trient où ça paraît utile",
    "spanish": "El niño ordenó números",
    "russian": "Сортировка слиянием",
    "greek": "Ταξινόμηση με συγχώνευση",
    "czech": "Řazení sléváním žluťoučký",
    "polish": "Sortowanie źdźbeł ółąę",
    "turkish": "Sıralama ağaç ile",
    "vietnamese": "Sắp xếp trộn",
    "ukrainian": "Сортування злиттям її ґанок",
}
LINKS = (("the heap page", at("b/heap")), ("our notes", at("b/notes?x=1")))


def readable() -> Iterator[tuple[str, Made]]:
    """PDFs that say something."""
    text = "Sorting by a heap takes few comparisons."
    for font in ("helvetica", "times", "courier"):
        for compress in (True, False):
            yield f"{font}-{compress}", Made(paper(font=font, compress=compress), (text,), "Heap sort")
    for name, said in ALPHABETS.items():
        yield name, Made(paper("Heaps", said, font="unicode"), (said,), "Heaps")
    for name, said in LANGUAGES.items():
        yield name, Made(in_any_language(said), () if name == "arabic" else (said,))
    yield "links", Made(paper(links=LINKS), (text, "the heap page"), "Heap sort", tuple(url for _, url in LINKS))
    mail = (("write to us", "mailto:a@example.com"), *LINKS)
    yield "mailto", Made(paper(links=mail), ("write to us",), "Heap sort", tuple(url for _, url in LINKS))
    bare = Made(paper(text="Look at http://b.example/bare, which sorts."), ("Look at",), "", (at("b/bare"),))
    yield "bare-url", bare
    yield "hidden-link", Made(_hand_linked(), ("Sorting networks",), "Sorting networks", (at("b/hidden"),))
    yield "described", Made(paper(prepare=_described), (text,), "Über Sortierverfahren – 整列")
    yield "book", Made(book(), ("Insertion sort looks",), "A book about sorting")
    yield "long", Made(paper(pages=40), (text,), "Heap sort")
    yield "too-long", Made(paper(text="page", pages=320), ("page",), "Heap sort")
    yield "form", Made(_form(), ("Order form for sorted lists",))
    yield "xref-stream", Made(with_xref_stream(b"Objects in streams"), ("Objects in streams",))
    for method in (EncryptionMethod.RC4, EncryptionMethod.AES_128):
        yield f"owner-password-{method.name}", Made(_encrypted(method, user=None), (text,), "Heap sort")
    good = simple(stream(shown(b"Still readable")))
    yield "wrong-xref", Made(simple(stream(shown(b"Still readable")), wrong_xref=True), ("Still readable",))
    yield "no-end", Made(good[: good.rindex(b"startxref")], ("Still readable",))
    yield "rubbish-after", Made(good + b"\x00\xff" * 400, ("Still readable",))
    yield "rubbish-inside", Made(good.replace(b"/Type /Pages", b"/Type /Pages /X \xff\xfe\x00"), ("Still readable",))
    yield "old", Made(simple(stream(shown(b"An old one")), head=b"%PDF-1.0\n"), ("An old one",))
    windows = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    yield "latin-1", Made(simple(stream(shown(b"Caf\\351 sorting")), font=windows), ("Café sorting",))
    yield "wrong-length", Made(good.replace(b"/Length ", b"/Length 9"), ("Still readable",))


def unreadable() -> Iterator[tuple[str, Made]]:
    """PDFs that say nothing, and why."""
    for method in (EncryptionMethod.RC4, EncryptionMethod.AES_128, EncryptionMethod.AES_256):
        yield f"password-{method.name}", Made(_encrypted(method, user="secret"), problem="it needs a password")
    whole = paper()
    yield "header-only", Made(b"%PDF-1.7\n", problem="damaged")
    yield "random", Made(b"%PDF-1.7\n" + bytes((7 * n * n + n) % 256 for n in range(5_000)), problem="damaged")
    yield "no-table", Made(whole[: whole.rindex(b"xref\n0")], problem="damaged")
    yield "cut-early", Made(whole[:60], problem="damaged")
    yield "no-pages", Made(by_hand({1: b"<< /Type /Catalog >>"}), problem="")
    yield "empty-page", Made(simple(stream(b"")), problem="without text")
    picture = simple(stream(b"q 100 0 0 100 50 600 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q"))
    yield "picture", Made(picture, problem="without text")
    kids = by_hand({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"})
    yield "loop-of-pages", Made(kids, problem="")
    yield "loop-of-xrefs", Made(simple(stream(b""), tail=b"/Prev 9"), problem="")


def _bomb(piece: bytes, size: int) -> bytes:
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(piece * 1000) for _ in range(size // (1000 * len(piece)))) + packer.flush()
    return stream(data, b"/Filter /FlateDecode")


def _doubling_forms() -> bytes:
    forms = {
        number: stream(
            b"/X Do /X Do " if number < 45 else shown(b"x"),
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >>"
            b" /Font << /F1 5 0 R >> >>" % (number + 1),
        )
        for number in range(10, 46)
    }
    first = b"/Resources << /XObject << /X 10 0 R >> >>"
    return simple(stream(b"/X Do"), more=forms).replace(_RESOURCES, first, 1)


def _packed_twice() -> bytes:
    twice = zlib.compress(zlib.compress(b" " * 300_000_000, 9), 9)
    return simple(stream(twice, b"/Filter [/FlateDecode /FlateDecode]"))


#: Small PDFs that ask for much memory or time, each made when it is called for: some take a second.
BOMBS: dict[str, Callable[[], bytes]] = {
    "packed-text": lambda: simple(_bomb(b"BT /F1 12 Tf 50 700 Td (" + b"sort " * 20 + b") Tj ET\n", 400_000_000)),
    "packed-twice": _packed_twice,
    "doubling-forms": _doubling_forms,
    "nested-arrays": lambda: simple(stream(b"[" * 1_000_000 + b"]" * 1_000_000, compress=True)),
    "nested-objects": lambda: by_hand({1: b"<< /Type /Catalog /Pages " + b"[" * 200_000 + b" >>"}),
    "many-pages": lambda: by_hand(
        {1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [] /Count 2000000000 >>"}
    ),
    "huge-size": lambda: simple(stream(shown(b"x")), tail=b"/Size 2147483647"),
    "many-objects": lambda: simple(stream(shown(b"x")), more=dict.fromkeys(range(10, 100_000), b"null")),
}
