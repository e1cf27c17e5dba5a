from __future__ import annotations

from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from focuscrawl import urls
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html

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
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://example.com/?utm%5Fsource=x", "http://example.com/"),
        ("http://www.www.example.com/", "http://example.com/"),
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
        ("http://example.com/%%34%31", "http://example.com/A"),
        ("http://example.com/?a%26b=1", "http://example.com/?a&b=1"),
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


def test_a_seed_keeps_the_case_of_its_path():
    assert urls.check(" HTTP://Example.COM/Some/Path#x ") == "http://example.com/Some/Path"


@pytest.mark.parametrize(
    "url", ["", "example.com", "ftp://example.com/", "http://", "http://exa mple.com/", "http://[::1"]
)
def test_a_bad_seed_is_named(url):
    with pytest.raises(ValueError, match=r"URL"):
        urls.check(url)


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("example.com", "http://example.com"),
        ("www.example.com/a?b=c", "http://www.example.com/a?b=c"),
        ("bücher.example:8080/", "http://bücher.example:8080/"),
        ("localhost:8888", "http://localhost:8888"),
        ("127.0.0.1/x", "http://127.0.0.1/x"),
        ("nonsense", None),
        ("htp:/foo", None),
        ("http:/example.com", None),
        ("mailto:me@example.com", None),
        ("/srv/seeds.txt", None),
        ("two words.", None),
    ],
)
def test_only_what_looks_like_a_host_is_taken_for_a_url_without_its_scheme(text, guess):
    with pytest.raises(ValueError, match=r"is not a URL") as caught:
        urls.check(text)
    assert str(caught.value) == f"'{text}' is not a URL" + (f" (did you mean '{guess}'?)" if guess else "")


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


# ---- properties

_HOSTS = st.sampled_from(["example.com", "a.example", "b.a.example", "xn--mnchen-3ya.example", "1.2.3.4", "[::1]"])
_PATHS = st.lists(st.text("abAB01-._~!$'()*+,;=:@%[]|{}^ ä/", max_size=6), max_size=4).map("/".join)
_NAMES = st.text("abXY01-._~[] ", min_size=1, max_size=4).filter(lambda name: not urls.TRACKING.fullmatch(name))
_VALUES = st.text("abAB01-._~+:/?@%[]'ä ", max_size=6)
_QUERIES = st.lists(st.tuples(_NAMES, _VALUES).map("=".join), max_size=4)
_TRACKERS = st.sampled_from(
    ["utm_source=x", "utm_medium=", "gclid=9", "fbclid", "_ga=1.2", "utm%5Fsource=y", "%67clid=1"]
)


def _made(scheme: str, host: str, path: str, query: list[str], fragment: str = "") -> str:
    """A URL as `join` and `check` return it, but for the fragment."""
    return urls.check(f"{scheme}://{host}/{path}?{'&'.join(query)}".replace(" ", "%20")) + fragment


_URLS = st.builds(_made, st.sampled_from(["http", "https"]), _HOSTS, _PATHS, _QUERIES)


@given(_URLS, st.sampled_from(["http", "https"]), st.integers(0, 2))
def test_a_canonical_url_is_canonical_whatever_it_was_made_of(url, scheme, more):
    once = urls.canonical(url.replace("://", "://" + "www." * more))
    assert urls.canonical(f"{scheme}://{once}") == once


@given(_URLS, _URLS)
def test_keys_are_equal_when_canonical_urls_are(one, other):
    assert (urls.key(one) == urls.key(other)) == (urls.canonical(one) == urls.canonical(other))
    strict = urls.canonical(one, any_scheme=False) == urls.canonical(other, any_scheme=False)
    assert (urls.key(one, any_scheme=False) == urls.key(other, any_scheme=False)) == strict


@given(_HOSTS, _PATHS, _QUERIES, st.lists(_TRACKERS, max_size=3), st.randoms(use_true_random=False), st.data())
def test_what_shows_the_same_page_never_changes_the_key(host, path, query, trackers, chance, data):
    assume(host[0] not in "[1")  # an address has no www.
    url = _made("http", host, path, query)
    shuffled = [*query, *trackers]
    chance.shuffle(shuffled)
    other = _made("https", f"www.{host}", path, shuffled, data.draw(st.sampled_from(["", "#", "#top", "#?a=b"])))
    assert urls.key(url) == urls.key(other)


@given(_URLS, st.data())
def test_needless_escapes_never_change_the_key(url, data):
    root, slash, rest = url.partition("://")[2].partition("/")
    escaped = "".join(
        f"%{ord(char):02{data.draw(st.sampled_from('xX'))}}"
        if char.isalnum() and rest[max(0, at - 2) : at].find("%") < 0 and data.draw(st.booleans())
        else char
        for at, char in enumerate(rest)
    )
    assert urls.key(f"http://{root}{slash}{escaped}") == urls.key(url)


def _decoded(url: str) -> tuple[str, list[str], list[list[str]]]:
    """Host, segments and parameters of a URL as a server understands them."""
    path, _, query = url.partition("://")[2].removeprefix("www.").partition("?")
    host, *segments = path.split("/")
    parameters = [[unquote_to_bytes(side) for side in part.split("=", 1)] for part in query.split("&") if part]
    kept = [part for part in parameters if not urls.TRACKING.fullmatch(part[0].decode("latin-1"))]
    return host, [unquote_to_bytes(segment) for segment in segments], sorted(kept)


@given(_URLS, _URLS)
def test_urls_that_a_server_tells_apart_have_different_keys(one, other):
    if urls.key(one) == urls.key(other):
        assert _decoded(one) == _decoded(other)


@given(_URLS, st.data())
def test_a_change_that_shows_another_page_always_changes_the_key(url, data):
    root, mark, query = url.partition("?")
    changed = [f"{root}/{mark}{query}", f"{root}x{mark}{query}", f"{url}{'&' if mark else '?'}page=2"]
    changed.append(url.replace("://", "://other.", 1) if "://[" not in url else url.replace("::1", "::2"))
    place = data.draw(st.integers(0, len(root)))
    swapped = root[:place] + root[place:].swapcase()
    if place > root.index("/", 8) and "%" not in root[place - 2 :] and swapped != root:
        changed.append(f"{swapped}{mark}{query}")
    for other in changed:
        assert urls.key(other) != urls.key(url)


@given(st.text(), st.text())
def test_any_text_can_be_joined_checked_and_taken_apart(base, href):
    for text in (base, f"http://{base}", f"http://a.example/{base}", "\ud800"):
        url = urls.join(text, href)
        assert url is None or url.startswith(("http://", "https://"))
        assert urls.Base(text).join(href) == url
        try:
            checked = urls.check(text)
        except ValueError:
            checked = None
        for made in filter(None, (url, checked)):
            assert isinstance(urls.key(made), int)
            assert urls.words(made) is not None
            assert urls.host(made)
            assert urls.is_binary(made) in (True, False)


@given(
    _URLS,
    st.one_of(
        st.text(max_size=20), _URLS, st.tuples(_PATHS, _QUERIES.map("&".join)).map("?".join), st.from_regex(urls._CLEAN)
    ),
)
def test_the_short_way_to_join_agrees_with_the_parser_for_any_href(base, href):
    assert urls.Base(base).join(href) == urls.join(base, href)


# ---- query strings in the charset of the page


@pytest.mark.parametrize(
    ("codec", "query", "encoded"),
    [
        # those of the web platform's own tests
        ("cp1252", "\u2020", "%86"),
        ("big5hkscs", "\u2020", "%26%238224%3B"),
        ("cp949", "\u2020", "%A2%D3"),
        ("iso2022_jp", "\x0eA", "%26%2365533%3BA"),
        ("iso2022_jp", "\u203e\\", "%1B(J~%1B(B\\"),
        ("gb18030", "\ue5e5", "%26%2358853%3B"),
        ("cp932", "\u2212", "%81|"),
        ("iso8859-2", "\u00a2", "%26%23162%3B"),
        ("utf-8", "\u00e1|", "%C3%A1|"),
        # single bytes
        ("cp1252", "q=é&r=ü", "q=%E9&r=%FC"),
        ("cp1252", "q=☃ş", "q=%26%239731%3B%26%23351%3B"),
        ("cp1252", "q=😀", "q=%26%23128512%3B"),
        ("cp1252", "q=\x81", "q=%81"),
        ("cp1252", "q=\x80", "q=%26%23128%3B"),
        ("cp1251", "q=Привет", "q=%CF%F0%E8%E2%E5%F2"),
        ("cp1251", "q=\x98é", "q=%98%26%23233%3B"),
        ("koi8-r", "q=Привет", "q=%F0%D2%C9%D7%C5%D4"),
        # Japanese
        ("cp932", "q=日本", "q=%93%FA%96{"),
        ("cp932", "q=ソ表", "q=%83\\%95\\"),
        ("cp932", "q=¥‾ｱ①", "q=\\~%B1%87@"),
        ("cp932", "q=é\ue000\u00a0", "q=%26%23233%3B%26%2357344%3B%26%23160%3B"),
        ("euc_jp", "q=日本", "q=%C6%FC%CB%DC"),
        ("euc_jp", "q=¥−ｱ①", "q=\\%A1%DD%8E%B1%AD%A1"),
        ("euc_jp", "q=丂", "q=%26%2319970%3B"),
        ("iso2022_jp", "q=日本", "q=%1B$BF|K\\%1B(B"),
        ("iso2022_jp", "q=日a本", "q=%1B$BF|%1B(Ba%1B$BK\\%1B(B"),
        ("iso2022_jp", "q=¥a", "q=%1B(J\\a%1B(B"),
        ("iso2022_jp", "q=¥\\", "q=%1B(J\\%1B(B\\"),
        ("iso2022_jp", "q=ｱﾞ−①", "q=%1B$B%%22!+!]-!%1B(B"),
        ("iso2022_jp", "q=日é", "q=%1B$BF|%1B(B%26%23233%3B"),
        # Chinese and Korean
        ("gb18030", "q=中文€", "q=%D6%D0%CE%C4%A2%E3"),
        ("gb18030", "q=é☃", "q=%A8%A6%817%A30"),
        ("gbk", "q=中文€☃", "q=%D6%D0%CE%C4%80%26%239731%3B"),
        ("big5hkscs", "q=中文", "q=%A4%A4%A4%E5"),
        ("cp949", "q=한국", "q=%C7%D1%B1%B9"),
        # encodings that are only read, and UTF-16
        ("hz", "q=中", "q=%E4%B8%AD"),
        ("iso2022_kr", "q=한", "q=%ED%95%9C"),
        ("utf-16-le", "q=é", "q=%C3%A9"),
    ],
)
def test_a_query_is_encoded_in_the_charset_of_the_page(codec, query, encoded):
    assert urls.join("http://a.example/", f"?{query}", codec) == f"http://a.example/?{encoded}"


@pytest.mark.parametrize("codec", ["cp1252", "cp932", "gb18030", "iso2022_jp", "cp1251"])
def test_path_and_host_are_in_utf_8_whatever_the_charset(codec):
    url = urls.join("http://a.example/", "http://bücher.example/é/日?q=1#é?é", codec)
    assert url == "http://xn--bcher-kva.example/%C3%A9/%E6%97%A5?q=1"
    assert urls.join("http://a.example/", "#é?é", codec) == "http://a.example/"


def test_only_http_has_queries_in_the_charset_of_the_page():
    assert urls.join("http://a.example/", "mailto:x@a.example?subject=é", "cp1252") is None


def test_ascii_in_a_query_is_escaped_as_the_standard_says():
    for codec, letter in (("utf-8", "%C3%A9"), ("cp1252", "%E9"), ("iso2022_jp", "%26%23233%3B")):
        url = urls.join("http://a.example/", " ?é=\"<>'|{}`^%zz \t\n&b ", codec)
        assert url == f"http://a.example/?{letter}=%22%3C%3E%27|{{}}`^%zz%20&b"


@pytest.mark.parametrize(
    ("label", "query"),
    [
        ("windows-1251", "%CF"),
        ("Shift_JIS", "%84P"),
        ("gbk", "%A7%B1"),
        ("utf-8", "%D0%9F"),
        ("iso-2022-jp", "%1B$B%271%1B(B"),
    ],
)
def test_the_links_of_a_page_have_queries_in_its_charset(label, query):
    body = f"<meta charset={label}><a href='/ф?q=П'>x</a>".encode(label)
    (link,) = read_html(Page("http://a.example/"), body, "text/html").links
    assert link.url == f"http://a.example/%D1%84?q={query}"


@given(
    st.text(),
    st.sampled_from(["cp1252", "cp932", "euc_jp", "iso2022_jp", "gb18030", "gbk", "big5hkscs", "cp949", "cp874"]),
)
def test_any_query_can_be_encoded_and_once_is_enough(text, codec):
    url = urls.join(BASE, f"?{text}", codec)
    assert url is not None
    assert url.isascii()
    assert urls.join(BASE, url, codec) == url
