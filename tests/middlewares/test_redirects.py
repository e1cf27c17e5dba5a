from __future__ import annotations

import pytest

from focuscrawl.middlewares.redirects import redirect_target
from focuscrawl.web.webs import Answer
from tests.conftest import at, small_web


@pytest.mark.parametrize("location", ["http://[/", "javascript:history.back()", "http://a:99999/"])
def test_the_failure_of_a_bad_redirect_names_where_it_leads(crawl, location):
    web = small_web({"seed": ["lost", "a"], "a": []})
    web.answers[at("lost")] = Answer(302, location=location)
    crawled = crawl("breadth_first", web, seeds=at("seed"))
    ((reason,),) = crawled.sql("SELECT reason FROM failure")
    assert reason == f"bad redirect: {location}"
    assert crawled.urls == [at("seed"), at("a")]
    assert crawled.stats["focus/failed/bad redirect"] == 1


@pytest.mark.parametrize(
    "location",
    [
        "/x/../private/",
        "/./private/",
        "/x/%2e%2e/private/",
        "/%2E/private/",
        "//hidden.example/private/",
        "/x\\..\\private/",
    ],
)
@pytest.mark.parametrize("rule", ["robots.txt", "FOCUS_DENY"])
def test_no_way_to_write_a_redirect_passes_the_rules(crawl, location, rule):
    """Whatever decides about a URL sees what the server would see."""
    web = small_web({"seed": ["lost", "a"], "a": []})
    host = "hidden" if location.startswith("//") else "lost"
    web.add(at(f"{host}/private/"), "<title>Private</title>")
    web.answers[at("lost")] = Answer(302, location=location)
    settings = {"FOCUS_DENY": ["/private/"]}
    if rule == "robots.txt":
        settings = {}
        web.answers[at(f"{host}/robots.txt")] = Answer(200, "text/plain", b"User-agent: *\nDisallow: /private/")
    crawled = crawl("breadth_first", web, settings=settings, seeds=at("seed"))
    assert crawled.urls == [at("seed"), at("a")]
    assert crawled.sql("SELECT count(*) FROM failure") == [(1,)]


def test_a_redirect_is_as_short_as_a_link(crawl):
    web = small_web({"seed": ["lost", "a"], "a": []})
    web.answers[at("lost")] = Answer(302, location="/" + "a" * 60_000)
    web.answers[at("a")] = Answer(302, location="/" + "a" * 3_000)
    crawled = crawl("breadth_first", web, seeds=at("seed"))
    reasons = [reason for (reason,) in crawled.sql("SELECT reason FROM failure")]
    assert len(reasons) == 2
    assert all(reason.startswith("bad redirect: ") and len(reason) < 500 for reason in reasons)


def test_user_info_of_redirects_and_links_is_dropped(crawl):
    web = small_web({"seed": ["lost"], "found": []})
    web.add(at("seed"), "<a href='http://user:secret@lost.example/'>x</a>")
    web.answers[at("lost")] = Answer(302, location="http://user@found.example/")
    crawled = crawl("breadth_first", web, seeds=at("seed"))
    assert crawled.urls == [at("seed"), at("found")]


@pytest.mark.parametrize(
    ("location", "target"),
    [
        (b"/a b", "http://h.example/a%20b"),
        (b"\xc3\xa9", "http://h.example/%C3%A9"),
        (b"\xe9", "http://h.example/%E9"),
        (b"//\xc3\xa9x.example/", "http://xn--x-9fa.example/"),
        (b"https:///evil.example", "https://evil.example/"),
        (b"#top", "http://h.example/x"),
        (b"ftp://h.example/", None),
        (b"data:text/html,x", None),
        (b"http://h.example:99999/", None),
    ],
)
def test_where_a_location_leads(location, target):
    assert redirect_target("http://h.example/x", location) == target
