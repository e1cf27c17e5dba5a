from __future__ import annotations

import pytest

from focuscrawl.crawl.responses import soft_404
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html


@pytest.mark.parametrize(
    ("html", "missing"),
    [
        ("<title>404 Not Found</title><p>Sorry.", True),
        ("<title>Shop</title><h1>This page could not be found</h1>", True),
        ("<title>Seite nicht gefunden</title>", True),
        ("<title>Sorting</title><p>An element that is not found is added.", False),
        ("<title>404 Not Found</title><p>" + "A long article about the status code. " * 50, False),
        ("<title>Route 404: a road</title>" + "<p>It leads from north to south. " * 40, False),
    ],
)
def test_error_pages_that_are_called_a_success_are_noticed(html, missing):
    assert soft_404(read_html(Page("http://a.example/"), html.encode(), "text/html")) is missing
