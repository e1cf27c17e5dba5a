"""The process that reads PDFs: `python -m focuscrawl.reading.pdf_worker`, started by `focuscrawl.reading.pdf`.

PDFs come from anyone, and their parser is native code. So it runs in a process of its own, which may use little memory
and processor time, may write no file, and may die: that costs one PDF. It reads from its standard input: eight bytes
with the length of a PDF, then the PDF; it answers with eight bytes and a JSON object. It imports nothing that it does
not need, because it is started again after each PDF that kills it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any, BinaryIO

import pypdfium2 as pdfium
from pypdfium2 import raw

try:
    import resource
except ImportError:  # Windows has no such limits: there, only the time on the clock is limited
    resource = None  # type: ignore[assignment]

#: Most pages of a PDF, and most characters of all of them, that are read. Links, and entries of the outline, likewise.
MAX_PAGES = 300
MAX_CHARS = 1_000_000
MAX_LINKS = 2_000
MAX_OUTLINE = 500
#: The place of a link is looked for on pages with at most this many characters: that takes time for each of them.
_MAX_PLACED = 50_000
#: Characters at the beginning in which the title is looked for, by its size.
_MAX_TITLE_CHARS = 1_500


def limit(memory: int) -> None:
    """Limit what this process may use, for good: bytes of memory, no new files."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_next(seconds: int) -> None:
    """Limit the processor time until the next call; the system ends the process when it is used up."""
    if resource is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


def read(data: bytes) -> dict[str, Any]:
    """What a PDF says, or `error`: why it cannot be read."""
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        message = str(error)
        if "password" in message.lower():
            return {"error": "it needs a password"}
        return {"error": f"damaged ({message.rpartition('PDFium: ')[2].rstrip(').')})"}
    said = {name.lower(): text.strip("\x00 \t\r\n")[:1000] for name, text in document.get_metadata_dict().items()}
    pages: list[dict[str, Any]] = []
    largest = ""
    chars = links = 0
    for number in range(min(len(document), MAX_PAGES)):
        try:
            page = document[number]
            text_page = page.get_textpage()
        except pdfium.PdfiumError:  # one damaged page does not spoil the others
            pages.append({"text": "", "links": []})
            continue
        text = text_page.get_text_range(0, min(text_page.count_chars(), MAX_CHARS - chars)) if chars < MAX_CHARS else ""
        if not chars:
            largest = _largest_text(text_page)
        chars += len(text)
        found = _links(document, page, text_page, MAX_LINKS - links, placed=len(text) <= _MAX_PLACED)
        links += len(found)
        pages.append({"text": text, "links": found})
        text_page.close()
        page.close()
        if chars >= MAX_CHARS:
            break
    answer = {
        **said,
        "largest": largest,
        "pages": pages,
        "outline": _outline(document),
        "language": _language(document),
    }
    document.close()
    return answer


def _outline(document: pdfium.PdfDocument) -> list[tuple[int, str, int]]:
    """The entries of the outline: level, title and page, -1 if it has none."""
    entries: list[tuple[int, str, int]] = []
    try:
        for mark in document.get_toc(max_depth=6):
            target = mark.get_dest()
            place = target.get_index() if target is not None else None
            entries.append((mark.level, (mark.get_title() or "")[:300], -1 if place is None else place))
            if len(entries) >= MAX_OUTLINE:
                break
    except (pdfium.PdfiumError, ValueError):
        pass
    return entries


def _links(
    document: pdfium.PdfDocument, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage, most: int, *, placed: bool
) -> list[tuple[int, int, str, str]]:
    """The links of a page that lead out of it: start and end in its text (-1 if unknown), URL, anchor."""
    found: list[tuple[int, int, str, str]] = []
    position, handle = ctypes.c_int(0), raw.FPDF_LINK()
    while len(found) < most and raw.FPDFLink_Enumerate(page, position, handle):
        url = _target(document, handle)
        box = raw.FS_RECTF()
        if not url or not raw.FPDFLink_GetAnnotRect(handle, box):
            continue
        anchor = text_page.get_text_bounded(box.left, box.bottom, box.right, box.top)[:300] if placed else ""
        start, end = _place(text_page, box) if placed else (-1, -1)
        found.append((start, end, url, anchor))
    return found


def _target(document: pdfium.PdfDocument, handle: Any) -> str:
    action = raw.FPDFLink_GetAction(handle)
    if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
        return ""
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= 4_000:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, buffer, size)
    try:
        return buffer.value.decode("utf-8")
    except UnicodeDecodeError:
        return buffer.value.decode("latin-1")


def _place(text_page: pdfium.PdfTextPage, box: Any) -> tuple[int, int]:
    """Where the text in a box begins and ends in the text of its page; -1 if there is none."""
    middle, wide = (box.bottom + box.top) / 2, min(20.0, (box.right - box.left) / 2)
    first, last = (
        raw.FPDFText_GetCharIndexAtPos(text_page, x, middle, wide, 5.0) for x in (box.left + 1, box.right - 1)
    )
    if first < 0 or last < first:
        return -1, -1
    start, end = (raw.FPDFText_GetTextIndexFromCharIndex(text_page, index) for index in (first, last))
    return (start, end + 1) if 0 <= start <= end else (-1, -1)


def _largest_text(text_page: pdfium.PdfTextPage) -> str:
    """The largest text at the beginning of a document: most have their title there."""
    count = min(text_page.count_chars(), _MAX_TITLE_CHARS)
    text = text_page.get_text_range(0, count)
    if len(text) != count:  # some characters are two units of UTF-16: then their places differ
        return ""
    box = raw.FS_RECTF()
    heights = [
        box.top - box.bottom if raw.FPDFText_GetLooseCharBox(text_page, index, box) else 0.0 for index in range(count)
    ]
    top = max((height for height, char in zip(heights, text, strict=True) if char.isalnum()), default=0.0)
    lines = []
    start = 0
    for line in text.splitlines(keepends=True):
        sizes = [height for height, char in zip(heights[start:], line, strict=False) if char.isalnum()]
        start += len(line)
        if sizes and max(sizes) >= 0.95 * top:
            lines.append(line.strip())
        elif lines:
            break
    title = " ".join(lines)
    return title if len(title) <= 300 and len(lines) <= 4 else ""


def _language(document: pdfium.PdfDocument) -> str:
    size = raw.FPDFCatalog_GetLanguage(document, None, 0)
    if not 2 < size <= 200:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFCatalog_GetLanguage(document, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")


def serve(requests: BinaryIO, answers: BinaryIO, seconds: int) -> None:
    """Answer requests until there are no more."""
    while len(head := requests.read(8)) == 8:
        data = requests.read(int.from_bytes(head, "big"))
        limit_next(seconds)
        try:
            answer = read(data)
        except MemoryError:
            answer = {"error": "it takes too much memory"}
        except Exception as error:  # whatever a PDF can cause
            answer = {"error": f"damaged ({type(error).__name__})"}
        packed = json.dumps(answer).encode()
        answers.write(len(packed).to_bytes(8, "big") + packed)
        answers.flush()


def main(memory: int, seconds: int) -> None:
    """Serve standard input; what a library prints must not get between the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    limit(memory)
    serve(sys.stdin.buffer, answers, seconds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
