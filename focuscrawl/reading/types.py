"""Types of files: what a URL or a Content-Type header says, and which of them FOCUS_DOCUMENTS lets the crawl read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from focuscrawl.errors import FocusError

#: The kinds of documents that can be read, besides HTML.
KINDS = ("text", "markdown", "feed", "pdf", "word")
ALL = frozenset(KINDS)


class FileType(NamedTuple):
    """A type of file: its name, the name with an article, and its kind in FOCUS_DOCUMENTS if it can be read."""

    name: str
    told: str
    kind: str = ""


PDF = FileType("PDF", "a PDF", "pdf")
WORD = FileType("word-processor file", "a word-processor file", "word")
TEXT = FileType("plain text", "plain text", "text")
MARKDOWN = FileType("Markdown text", "a Markdown text", "markdown")
FEED = FileType("feed", "a feed", "feed")
_OLD_WORD = FileType("old word-processor file", "a word-processor file in an old format")
_SHEET = FileType("spreadsheet", "a spreadsheet")
_SLIDES = FileType("presentation", "a presentation")
_POSTSCRIPT = FileType("PostScript", "a PostScript or TeX file")
_BOOK = FileType("e-book", "an e-book")
_IMAGE = FileType("image", "an image")
_VIDEO = FileType("video", "a video")
_AUDIO = FileType("audio", "an audio file")
_ARCHIVE = FileType("archive", "an archive")
_PROGRAM = FileType("program", "a program")
_FONT = FileType("font", "a font")
_CODE = FileType("script or style", "a script or style sheet")
_DATA = FileType("data", "a data file")

#: What a file is by the extension of its name, for extensions that no HTML page has.
_EXTENSIONS: dict[str, FileType] = {
    name: kind
    for kind, names in {
        PDF: "pdf",
        WORD: "docx docm odt",
        _OLD_WORD: "doc dot rtf",
        _SHEET: "xls xlsm xlsx ods odf",
        _SLIDES: "pps ppsx ppt pptx odp",
        _POSTSCRIPT: "ai dvi eps ps tex",
        _BOOK: "djvu epub mobi",
        _IMAGE: "arw avif bmp gif ico jpeg jpg png psd svg svgz tif tiff webp wrl xpm",
        _VIDEO: "avi dcr f4v flv m4v mkv mov mp4 mpeg mpg ogm ogv rm swf webm wmv",
        _AUDIO: "aac flac m4a mid midi mp2 mp3 oga ogg ra ram wav wma",
        _ARCHIVE: "7z bz2 gz hqx iso jar lzh rar sea sit tar tbz tbz2 tgz torrent xz z zip zst",
        _PROGRAM: "apk bin class deb dll dmg exe msi o pkg rpm so",
        _FONT: "eot otf ttf woff woff2",
        _CODE: "css js",
        _DATA: "asc csv dat dmp json pgp sig",
    }.items()
    for name in names.split()
}

#: What a response is by its Content-Type. Those of HTML and XML are not here: `documents` looks into them.
_MIMES: dict[str, FileType] = {
    "text/plain": TEXT,
    **dict.fromkeys(("text/markdown", "text/x-markdown"), MARKDOWN),
    **dict.fromkeys(("application/rss+xml", "application/atom+xml", "application/rdf+xml"), FEED),
    "application/feed+json": FEED,
    **dict.fromkeys(("application/pdf", "application/x-pdf"), PDF),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": WORD,
    "application/vnd.oasis.opendocument.text": WORD,
    **dict.fromkeys(("application/msword", "application/rtf", "text/rtf"), _OLD_WORD),
    **dict.fromkeys(("application/vnd.ms-excel", "application/vnd.oasis.opendocument.spreadsheet"), _SHEET),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": _SHEET,
    **dict.fromkeys(("application/vnd.ms-powerpoint", "application/vnd.oasis.opendocument.presentation"), _SLIDES),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": _SLIDES,
    "application/postscript": _POSTSCRIPT,
    "application/epub+zip": _BOOK,
    **dict.fromkeys(("application/zip", "application/gzip", "application/x-gzip", "application/x-tar"), _ARCHIVE),
    **dict.fromkeys(("text/css", "text/javascript", "application/javascript"), _CODE),
    **dict.fromkeys(("application/json", "text/csv"), _DATA),
}
_FAMILIES = {"image": _IMAGE, "video": _VIDEO, "audio": _AUDIO, "font": _FONT}


def extension(url: str) -> str:
    """The extension of the file name in a URL, in lower case."""
    path = url.partition("?")[0]
    slash = path.rfind("/")
    dot = path.rfind(".", slash + 1)
    # the host must not be taken for a file name: http://example.zip
    return path[dot + 1 :].lower() if dot > slash > 7 else ""


def of_url(url: str) -> FileType | None:
    """The type of a file that is no HTML page, by its URL; None if it may be a page."""
    return _EXTENSIONS.get(extension(url))


def mime(content_type: str) -> str:
    """The media type of a Content-Type header, in lower case and without parameters."""
    return content_type.partition(";")[0].strip().lower()


def of_mime(name: str) -> FileType | None:
    """The type of a response by its media type; None for HTML, XML and unknown types."""
    return _MIMES.get(name) or _FAMILIES.get(name.partition("/")[0])


def not_read(kind: FileType, documents: Collection[str]) -> str | None:
    """Why a type of file is not read, with the setting that would change it; None if it is read."""
    if not kind.kind:
        return f"{kind.told}, which is never read"
    if kind.kind in documents:
        return None
    return f"{kind.told} and FOCUS_DOCUMENTS {f'has no {kind.kind}' if documents else 'is off'}"


def parse_documents(value: str | Iterable[str]) -> frozenset[str]:
    """The kinds of documents that a value of FOCUS_DOCUMENTS names."""
    given = value.split(",") if isinstance(value, str) else [str(name) for name in value]
    names = {name.strip().lower() for name in given if name.strip()}
    if names == {"all"}:
        return ALL
    if names == {"off"} or names <= ALL:
        return frozenset(names - {"off"})
    raise FocusError(f"setting FOCUS_DOCUMENTS={value}: expected all, off, or some of {', '.join(KINDS)}")
