"""Pages with a known main text: tests/main_text/NAME.html, and NAME.txt as a person would cut it out.

The main text is what somebody came for: headline, lead, paragraphs, lists, tables and captions, the posts of a thread.
It is not the menu, the way there, who wrote it and when, advertisements, lists of other pages, comments of readers,
signatures, notices about cookies. A line of the text is a block of the page. A page that only links has no main text.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "main_text"


class KnownPage(NamedTuple):
    """A page, and its main text, one line per block."""

    name: str
    body: bytes
    text: str


def known_pages() -> list[KnownPage]:
    """All pages, by name."""
    return [
        KnownPage(path.stem, path.read_bytes(), path.with_suffix(".txt").read_text("utf-8"))
        for path in sorted(FOLDER.glob("*.html"))
    ]
