"""The pages with a known main text are what they claim to be."""

from __future__ import annotations

import pytest
from lxml.html import fromstring

from focuscrawl.web.charsets import decode
from tests.main_text_pages import FOLDER, KnownPage, known_pages


def test_there_are_pages_of_many_kinds_each_with_its_text():
    pages = known_pages()
    assert len(pages) >= 12
    assert {path.stem for path in FOLDER.glob("*.txt")} == {page.name for page in pages}


@pytest.mark.parametrize("page", known_pages(), ids=lambda page: page.name)
def test_every_line_of_the_main_text_is_on_the_page_in_that_order(page: KnownPage):
    text, _ = decode(page.body)
    shown = "".join("".join(fromstring(text).find("body").itertext()).split())
    place = 0
    for line in page.text.splitlines():
        found = shown.find("".join(line.split()), place)
        assert found >= 0, line
        place = found + 1
    assert len("".join(page.text.split())) < 0.9 * len(shown), "there is something to leave out"
