"""From the bytes of a response to a Page, whatever it is: the one place that chooses a reader.

What a body is shows in its first bytes, in its Content-Type and in its URL, in this order: servers often declare PDFs
and feeds as something else. HTML is recognised first, and costs no more than before there were other readers.
"""

from __future__ import annotations

from collections.abc import Collection

from focuscrawl.page import Page
from focuscrawl.reading import types
from focuscrawl.reading.content import NotTextError, is_plain, text_of
from focuscrawl.reading.draft import Draft
from focuscrawl.reading.feeds import NotFeedError, is_feed, read_feed
from focuscrawl.reading.html import read_html
from focuscrawl.reading.markdown import read_markdown
from focuscrawl.reading.pdf import NotPdfError, is_pdf, read_pdf
from focuscrawl.reading.text import read_text
from focuscrawl.reading.types import FileType
from focuscrawl.reading.word import NotWordError, is_word, read_word

_HTML = ("text/html", "application/xhtml+xml")
#: What a server says that does not know: then the URL may know.
_UNKNOWN = ("", "text/plain", "application/octet-stream", "binary/octet-stream")
_MARKDOWN = ("md", "markdown", "mdown", "mkd")
_FEED_START = (b"<?xml", b"<rss", b"<feed", b"<rdf", b"<RDF", b"<!--", b"{")
_UTF8 = "text/html; charset=utf-8"
#: The media type under which the text of a document is decoded; it keeps the charset of the header.
_AS_TEXT = "text/plain"


def read_page(
    page: Page,
    body: bytes,
    content_type: str = "",
    *,
    agent: str = "focuscrawl",
    documents: Collection[str] = types.ALL,
) -> Page:
    """Fill *page* from the bytes of its response. Any bytes are accepted; if they cannot be read,
    `page.problem` says why.

    *agent* is our product token, by which meta tags may address us instead of as `robots`. *documents* are the kinds
    of documents that are read and followed (FOCUS_DOCUMENTS). A PDF is read by another process, and this call waits
    for it; `focuscrawl.reading.pdf.ask` reads it in advance.
    """
    kind = type_of(page.url, body, content_type)
    if kind is None:
        return read_html(page, body, content_type, agent=agent, documents=documents)
    page.body, page.content_type = body, content_type
    why = types.not_read(kind, documents)
    if why is not None:
        page.problem = f"not read: {why}"
        return page
    try:
        draft = _draft(kind, page.url, body, content_type)
    except NotTextError as error:
        page.problem = str(error)
    except (NotFeedError, NotPdfError, NotWordError) as error:
        page.problem = f"unreadable {kind.name}: {error}"
    else:
        _fill(page, draft, kind, agent, documents)
    return page


def type_of(url: str, body: bytes, content_type: str) -> FileType | None:
    """What a response is; None for HTML and for everything that is unknown."""
    if body.startswith(b"%PDF-"):
        return types.PDF
    mime = types.mime(content_type)
    if body[:9].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_FEED_START) and is_feed(body):
        return types.FEED
    if mime in _HTML:
        return None
    if body.startswith(b"PK\x03\x04") and is_word(body):
        return types.WORD
    if mime in _UNKNOWN and types.extension(url) in _MARKDOWN and _is_text(body, content_type):
        return types.MARKDOWN
    if mime == "text/plain":
        return types.TEXT if not body.strip() or _is_text(body, content_type) else None
    return types.of_mime(mime)


def _is_text(body: bytes, content_type: str) -> bool:
    """Whether a body is text, and not HTML declared as text or nothing; what is not text at all is told later."""
    try:
        text, _ = text_of(body, _declared(content_type))
    except NotTextError:
        return False
    return is_plain(text, _AS_TEXT)


def _declared(content_type: str) -> str:
    """A Content-Type header with the media type of text."""
    return _AS_TEXT + content_type[len(content_type.partition(";")[0]) :]


def _draft(kind: FileType, url: str, body: bytes, content_type: str) -> Draft:
    if kind is types.PDF:
        if not is_pdf(body) and b"%PDF-" not in body[:1024]:
            raise NotPdfError("it does not begin as a PDF does" if body.strip() else "empty body")
        return read_pdf(body)
    if kind is types.WORD:
        return read_word(body)
    text, _ = text_of(body, _declared(content_type))
    if kind is types.FEED:
        return read_feed(text, url)
    return read_markdown(text) if kind is types.MARKDOWN else read_text(text)


def _fill(page: Page, draft: Draft, kind: FileType, agent: str, documents: Collection[str]) -> None:
    body, content_type = page.body, page.content_type
    read_html(page, draft.html(), _UTF8, agent=agent, documents=documents)
    page.body, page.content_type = body, content_type
    page.listing = page.listing or draft.listing
    if not page.blocks and not page.problem:
        page.problem = f"{kind.told} without text" if kind is not types.PDF else "a PDF without text: scanned, perhaps"
