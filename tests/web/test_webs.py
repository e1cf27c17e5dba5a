from __future__ import annotations

import json
import sqlite3
import zlib

import pytest

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.web.webs import MemoryWeb, WebFile, open_web
from tests.conftest import SHARED_WEBS, at, small_web


@pytest.fixture
def web_file(tmp_path):
    web = MemoryWeb()
    web.add(
        "http://a.example/", "<title>A</title><a href='/b c'>b</a><a href='http://gone.example/'>gone</a>", ["topic"]
    )
    web.add("http://a.example/b%20c", "<p>B", ["topic", "hub"], "text/html; charset=utf-8")
    web.redirect("http://a.example/old", "http://a.example/")
    web.save(tmp_path / "web.sqlite")
    return tmp_path / "web.sqlite"


def test_a_web_saved_is_the_web_read(web_file):
    web = open_web(str(web_file))
    assert web.get("http://a.example/").body.startswith(b"<title>A</title>")
    assert web.get("http://a.example/b%20c").content_type == "text/html; charset=utf-8"
    assert web.get("http://a.example/old")[0::3] == (301, "http://a.example/")
    assert web.get("http://a.example/nowhere").status == 404
    assert web.labels("http://a.example/b%20c") == ["topic", "hub"]
    assert web.labels("http://a.example/nowhere") == []
    assert web.hosts() == ["a.example"]


def test_a_page_is_found_under_other_spellings_of_its_url(web_file):
    web = open_web(str(web_file))
    assert web.get("http://www.a.example").status == 200
    assert web.labels("https://a.example/#top") == ["topic"]
    assert web.get("http://www.a.example/old").status == 301


def test_a_web_file_has_the_tables_that_other_tools_expect(web_file):
    connection = sqlite3.connect(web_file)
    url, host, body, labels = connection.execute("SELECT url, host, body, labels FROM page ORDER BY url").fetchone()
    assert (url, host, json.loads(labels)) == ("http://a.example/", "a.example", ["topic"])
    assert zlib.decompress(body).startswith(b"<title>")
    assert connection.execute("SELECT * FROM link").fetchall() == [("http://a.example/", "http://a.example/b%20c", "b")]
    connection.close()


def test_what_is_no_web_file_is_refused(tmp_path):
    (tmp_path / "text").write_text("no database, just text " * 100)
    with sqlite3.connect(tmp_path / "other.sqlite") as connection:
        connection.execute("CREATE TABLE x (y)")
    with sqlite3.connect(tmp_path / "half.sqlite") as connection:
        connection.execute("CREATE TABLE page (url)")
    for name, says in {
        "missing": "no such file",
        "text": "cannot be read",
        "other.sqlite": "no table 'page'",
        "half.sqlite": "lacks",
    }.items():
        with pytest.raises(FocusError, match=says):
            WebFile(tmp_path / name)


@pytest.mark.parametrize(
    "name", ["synthetic:x", "synthetic:-1", "synthetic:10?hosts=x", "synthetic:10?colour=1", "synthetic:"]
)
def test_a_wrong_synthetic_web_is_refused(name):
    with pytest.raises(FocusError, match="write synthetic:PAGES"):
        open_web(name)


def test_synthetic_pages_are_the_same_each_time_and_as_large_as_asked_for():
    one, other = open_web("synthetic:1000000"), open_web("synthetic:1000000")
    url = one.url(123_456)
    answer = one.get(url)
    assert answer == other.get(url)
    assert 15_000 < len(answer.body) < 25_000
    page = read_html(Page(url), answer.body, answer.content_type)
    assert len(page.links) == 60
    assert all(one.get(link.url).status == 200 for link in page.links)
    same = sum(one.labels(link.url) == one.labels(url) for link in page.links)
    assert 20 < same < 55


def test_synthetic_webs_have_edges():
    web = open_web("synthetic:100?hosts=10&links=3&bytes=1000")
    assert len(web.hosts()) == 10
    assert web.get("http://host-3.synthetic.example/").status == 200
    assert web.get("http://host-3.synthetic.example/13.html").status == 200
    assert web.get("http://host-3.synthetic.example/14.html").status == 404
    assert web.get("http://host-3.synthetic.example/103.html").status == 404
    assert web.get("http://elsewhere.example/").status == 404
    assert web.labels("http://elsewhere.example/") == []


@pytest.mark.skipif(not SHARED_WEBS.exists(), reason="the labelled webs (../shared/webs) are not there")
@pytest.mark.parametrize("name", ["wikipedia", "webkb"])
def test_links_of_the_real_webs_are_found_on_their_pages(name):
    web = open_web(str(SHARED_WEBS / f"{name}.sqlite"))
    targets: dict[str, set[str]] = {}
    for source, target in web.connection.execute("SELECT src, dst FROM link ORDER BY src LIMIT 3000"):
        targets.setdefault(source, set()).add(urls.canonical(urls.join(target, "") or target))
    missing = []
    for source, expected in targets.items():
        answer = web.get(source)
        page = read_html(Page(source), answer.body, answer.content_type)
        found = {urls.canonical(link.url) for link in page.links}
        if not expected <= found:  # some lead there by a redirect
            found |= {urls.canonical(web.get(link.url).location) for link in page.links}
        missing += [(source, target) for target in expected - found]
    assert len(missing) < 0.01 * 3000, missing[:5]


def test_memory_webs_know_their_hosts():
    assert small_web({"a": [], "b/x": []}).hosts() == ["a.example", "b.example"]
    assert small_web({"a": []}).get(at("b")).status == 404
