"""Links: what was remembered of earlier pages never changes where a link leads."""

from itertools import product

import pytest

from focuscrawl import urls
from focuscrawl.page import Page
from focuscrawl.reading import links
from focuscrawl.reading.html import read_html

HOSTS = ["http://a.example/", "https://a.example/", "http://a.example/d/", "http://a.example/d/e.html?q=1"]
HREFS = [
    *("b", "b/", "/b", "/d/b", "d/b", "../b", "./b", "b/../c", "?q=1", "d/?q=1", "/?q=1", "/d/?q=1", "//a.example/b"),
    *("http://a.example/b", "HTTP://a.example/b", "http:b", "http://a.example/d/?q=1", "https://a.example/b", "#b", ""),
    *(
        "mailto:b@a.example",
        "javascript:b",
        "http://b.example",
        "httpb",
        "b#c",
        " b ",
        "/b c",
        "b%20c",
        "/b.pdf",
        "b.zip",
    ),
]


@pytest.fixture(autouse=True)
def nothing_met(monkeypatch):
    monkeypatch.setattr(links, "_met", {})


@pytest.mark.parametrize("order", [1, -1])
def test_a_link_leads_to_the_same_url_whatever_was_read_before(order):
    pairs = list(product(HOSTS, HREFS))[::order]
    for _ in range(2):
        for page_url, href in pairs:
            page = read_html(Page(page_url), f'<a href="{href}">x</a>'.encode(), "text/html")
            led = [link.url for link in page.links] + [file.url for file in page.unread]
            stripped = href.strip()
            expected = urls.join(page_url, stripped) if stripped and stripped[0] != "#" else None
            assert led == ([expected] if expected else []), (page_url, href)


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(links, "_MOST_MET", 100)
    for number in range(30):
        anchors = "".join(f'<a href="/{number}/{link}">x</a>' for link in range(20))
        page = read_html(Page("http://a.example/"), anchors.encode(), "text/html")
        assert [link.url for link in page.links] == [f"http://a.example/{number}/{link}" for link in range(20)]
        assert len(links._met) <= 100


def test_long_urls_are_not_remembered():
    href = "/" + "a" * 5_000
    for _ in range(2):
        page = read_html(Page("http://a.example/"), f'<a href="{href}">x</a>'.encode(), "text/html")
        assert [link.url for link in page.links] == [f"http://a.example{href}"]
    assert not links._met
