from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuscrawl import urls

BASE = "http://www.example.com/a/b.html"


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://www.java.com/en/about/", "https://www.java.com/en/about/"),
        ("/en/about/", "http://www.example.com/en/about/"),
        ("en/about/", "http://www.example.com/a/en/about/"),
        ("../c.html#part", "http://www.example.com/c.html"),
        ("?page=2", "http://www.example.com/a/b.html?page=2"),
        ("//Other.example:80/X", "http://other.example/X"),
        ("with space.html", "http://www.example.com/a/with%20space.html"),
        ("http://münchen.example/ä", "http://xn--mnchen-3ya.example/%C3%A4"),
    ],
)
def test_links_are_resolved_as_browsers_do(href, url):
    assert urls.join(BASE, href) == url
    assert urls.Base(BASE).join(href) == url


@pytest.mark.parametrize(
    "href", ["mailto:a@b.example", "javascript:void(0)", "tel:1", "data:text/html,x", "ftp://x/", "http://[bad"]
)
def test_what_is_no_page_is_no_link(href):
    assert urls.join(BASE, href) is None


_piece = st.text("abcXYZ019-_.~/?=&%#:@+ ä", max_size=12)


@given(
    _piece,
    st.sampled_from(["", "/", "http://", "https://a.example/", "http://B.example", "./", "../", "//c.example/"]),
    _piece,
)
def test_the_short_way_to_join_agrees_with_the_parser(path, prefix, rest):
    base = urls.join("http://www.example.com/", path) or BASE
    assert urls.Base(base).join(prefix + rest) == urls.join(base, prefix + rest)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://www.example.com/a", "http://example.com/a"),
        ("http://example.com/a", "https://example.com/a"),
        ("http://example.com/a#top", "http://example.com/a"),
        ("http://example.com/a?x=1&y=2", "http://example.com/a?y=2&x=1"),
        ("http://example.com/a?x=1&utm_source=feed&gclid=9", "http://example.com/a?x=1"),
        ("http://example.com/a?utm_medium=x", "http://example.com/a"),
        ("http://example.com/%7Ejoe", "http://example.com/~joe"),
        ("http://example.com/%c3%a4", "http://example.com/%C3%A4"),
        ("http://example.com/?f[a]=1", "http://example.com/?f%5Ba%5D=1"),
        ("http://example.com/p|q", "http://example.com/p%7Cq"),
    ],
)
def test_the_same_page_under_two_names_has_one_key(one, other):
    assert urls.key(one) == urls.key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/a", "http://example.com/A"),
        ("http://example.com/a", "http://example.com/a/"),
        ("http://example.com/a?x=1", "http://example.com/a?x=2"),
        ("http://example.com/a%2Fb", "http://example.com/a/b"),
        ("http://example.com/a", "http://example.com:8080/a"),
        ("http://a.example.com/", "http://b.example.com/"),
        ("http://example.com/a?x=1&x=2", "http://example.com/a?x=1"),
    ],
)
def test_different_pages_have_different_keys(one, other):
    assert urls.key(one) != urls.key(other)


def test_the_scheme_counts_if_asked_for():
    one, other = "http://example.com/", "https://example.com/"
    assert urls.key(one, any_scheme=False) != urls.key(other, any_scheme=False)


@given(_piece)
def test_a_canonical_url_is_its_own_canonical_url(path):
    url = urls.join("http://www.example.com/", path)
    if url is not None:
        once = urls.canonical(url)
        assert urls.canonical(f"http://{once}") == once


def test_a_seed_keeps_the_case_of_its_path():
    assert urls.check(" HTTP://Example.COM/Some/Path#x ") == "http://example.com/Some/Path"


@pytest.mark.parametrize(
    "url", ["", "example.com", "ftp://example.com/", "http://", "http://exa mple.com/", "http://[::1"]
)
def test_a_bad_seed_is_named(url):
    with pytest.raises(ValueError, match=r"URL"):
        urls.check(url)


def test_files_that_are_no_pages_are_told_by_their_ending():
    assert urls.is_binary("http://example.com/paper.PDF")
    assert urls.is_binary("http://example.com/a/photo.jpeg?size=1")
    assert not urls.is_binary("http://example.com/paper.html")
    assert not urls.is_binary("http://example.zip")
    assert not urls.is_binary("http://example.zip/")
    assert not urls.is_binary("http://example.com/?file=a.pdf")


def test_words_of_a_url():
    assert urls.words("http://www.cs.example.edu/~joe/Bubble_sort/index.html?topic=heap%20sort") == [
        "cs", "example", "joe", "bubble", "sort", "topic", "heap", "sort",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://localhost:8000/x", "http://[::1]/", "http://a.localhost/"]
)
def test_the_users_own_machine(url):
    assert urls.is_local(url)
    assert not urls.is_local("http://example.com/")


def test_host_names():
    assert urls.host("http://Example.com:8080/x") == "example.com"
    assert urls.host("https://user:pw@example.com/") == "example.com"
    assert urls.host("http://[::1]:80/") == "::1"
    assert urls.host("nonsense") == ""
