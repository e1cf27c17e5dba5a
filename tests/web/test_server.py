"""A web file over real HTTP: as a proxy and directly."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import serving
from focuscrawl.web.webs import Answer, MemoryWeb, conditional
from tests.conftest import Crawled, scrapy


@pytest.fixture(scope="module")
def server():
    web = MemoryWeb()
    web.add(
        "http://a.example/",
        "<a href='/x'>x</a> <a href=\"http://b.example/y\">y</a> <a href='z'>z</a> <a href=//c.example/>c</a>",
    )
    web.add("http://a.example/x", "<p>X")
    web.add("http://b.example/y?q=1", "plain", content_type="text/plain")
    web.add("http://b.example/robots.txt", "User-agent: *\nDisallow: /closed\n", content_type="text/plain")
    web.redirect("http://b.example/old", "http://a.example/x")
    with serving(web) as server:
        yield server


def get(url: str, proxy: str | None = None, method: str = "GET"):
    opener = build_opener(ProxyHandler({"http": proxy} if proxy else {}))
    return opener.open(Request(url, method=method), timeout=10)


def test_as_a_proxy_it_keeps_host_names(server):
    assert get("http://a.example/x", server.address).read() == b"<p>X"
    assert get("http://b.example/y?q=1", server.address).headers["Content-Type"] == "text/plain"
    assert get("http://b.example/old", server.address).url == "http://a.example/x"
    with pytest.raises(HTTPError, match="404"):
        get("http://a.example/nothing", server.address)


def test_directly_the_path_names_the_host_and_links_follow(server):
    body = get(f"{server.address}/a.example/").read()
    assert b"href='/a.example/x'" in body
    assert b'href="/b.example/y"' in body
    assert b"href='z'" in body
    assert get(f"{server.address}/b.example/old").read() == b"<p>X"
    assert b"a.example" in get(f"{server.address}/").read()
    assert b"Disallow: /b.example/closed" in get(f"{server.address}/robots.txt").read()


def test_a_web_without_rules_has_no_robots_txt():
    web = MemoryWeb()
    web.add("http://a.example/", "x")
    with serving(web) as server, pytest.raises(HTTPError, match="404"):
        get(f"{server.address}/robots.txt")


def test_head_requests_have_no_body(server):
    answer = get("http://a.example/x", server.address, "HEAD")
    assert (answer.read(), answer.headers["Content-Length"]) == (b"", "4")


@pytest.mark.parametrize("how", ["proxy", "direct", "replay"])
def test_a_crawl_finds_the_same_pages_whichever_way_it_is_served(tmp_path, how):
    topic = [
        "-a",
        "keywords=sort,heap",
        "-a",
        "max_pages=40",
        "-s",
        "CONCURRENT_REQUESTS=1",
        "-s",
        f"FOCUS_DIR={tmp_path}",
    ]
    with serving(demo_web()) as server:
        seed, environment, extra = "http://sorting-handbook.example/", {}, ["-s", "DOWNLOAD_DELAY=0"]
        if how == "proxy":
            environment = {"http_proxy": server.address, "no_proxy": ""}
        elif how == "direct":
            seed, extra = f"{server.address}/sorting-handbook.example/", []  # loopback needs no delay
        else:
            extra = ["-s", "FOCUS_WEB=demo"]
        result = scrapy("crawl", "best_first", "-a", f"seeds={seed}", *topic, *extra, **environment)
        assert result.returncode == 0, result.stderr
        paths = [url.replace(f"{server.address}/", "http://") for url in Crawled(tmp_path).urls]
    expected = {"http://sorting-handbook.example/", "http://sorting-handbook.example/index.html"}
    assert expected <= set(paths)
    assert len(paths) == 40
    assert sum("sort" in path for path in paths) > 30


def test_who_has_a_page_already_is_told_so(server):
    response = get("http://a.example/x", server.address)
    opener = build_opener(ProxyHandler({"http": server.address}))
    for tag in (response.headers["ETag"], f'"other", W/{response.headers["ETag"]}', "*"):
        with pytest.raises(HTTPError, match="304") as answer:
            opener.open(Request("http://a.example/x", headers={"If-None-Match": tag}), timeout=10)
        assert answer.value.read() == b""
    assert (
        opener.open(Request("http://a.example/x", headers={"If-None-Match": '"other"'}), timeout=10).read() == b"<p>X"
    )


def test_dates_count_where_there_is_no_tag():
    date = "Sun, 01 Nov 2026 10:00:00 GMT"
    answer = Answer(200, body=b"x", headers=(("Last-Modified", date),))
    assert conditional(answer, "", date).status == 304
    assert conditional(answer, '"other"', date).status == 200  # a tag says more than a date
    assert conditional(answer, "", "Mon, 02 Nov 2026 10:00:00 GMT").status == 200
    assert conditional(Answer(404), "*").status == 404
