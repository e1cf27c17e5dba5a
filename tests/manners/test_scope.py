from __future__ import annotations

import logging
from time import process_time

import pytest

from focuscrawl.crawl import clock
from focuscrawl.errors import FocusError
from focuscrawl.manners import scope as scope_module
from focuscrawl.manners.scope import Scope
from focuscrawl.web.webs import Answer
from tests.conftest import at, scrapy, small_web


@pytest.mark.parametrize(
    ("rule", "within", "without"),
    [
        ("example.com", ["http://example.com/", "https://www.example.com/a", "http://a.b.example.com:8080/"],
         ["http://example.org/", "http://notexample.com/", "http://example.com.evil.org/", "http://x.org/example.com"]),
        ("*.example.com", ["http://a.example.com/"], ["http://example.org/"]),
        ("WWW.Example.COM", ["http://example.com/"], ["http://example.org/"]),
        ("https://example.com/docs/", ["http://example.com/docs/a", "http://de.example.com/docs/"],
         ["http://example.com/", "http://example.com/docsx", "http://example.org/docs/"]),
        ("/print/", ["http://a.org/print/1", "http://b.org/print/"], ["http://a.org/", "http://a.org/x/print/"]),
        (r"re:[?&]sort=", ["http://a.org/?sort=1", "http://a.org/l?x=1&sort=2"], ["http://a.org/?resort=1"]),
        ("127.0.0.1", ["http://127.0.0.1:8000/x"], ["http://127.0.0.2/"]),
        ("::1", ["http://[::1]:80/"], ["http://[::2]/"]),
        ("[::1]", ["http://[::1]:80/"], ["http://[::2]/"]),
        ("bücher.example", ["http://xn--bcher-kva.example/"], ["http://buecher.example/"]),
        (" BÜCHER.example./größe ", ["http://www.xn--bcher-kva.example./gr%c3%b6%C3%9Fe"], ["http://xn--bcher-kva.example/"]),
        ("example.com", ["http://example.com./", "http://a.example.com.:80/x"], ["http://com./"]),
        (" /print/", ["http://a.org/%70rint/"], ["http://a.org/%2Fprint/", "http://a.org/print%2F"]),
        ("/a%20b", ["http://a.org/a%20b", "http://a.org/%61%20b"], ["http://a.org/a"]),
        (" re:a b", ["http://a.org/?a b"], ["http://a.org/?b a"]),
    ],
)  # fmt: skip
def test_a_rule_is_a_domain_a_prefix_a_path_or_an_expression(rule, within, without):
    denying, allowing = Scope(deny=[rule]), Scope(allow=[rule])
    for url in within:
        assert denying.refuses(url), url
        assert not allowing.refuses(url), url
    for url in without:
        assert not denying.refuses(url), url
        assert allowing.refuses(url), url


def test_what_is_denied_is_out_of_scope_even_if_it_is_allowed():
    scope = Scope(allow=["example.com"], deny=["example.com/private/"])
    assert scope.refuses("http://example.com/private/x") == "denied by 'example.com/private/'"
    assert scope.refuses("http://example.org/") == "not matched by any allow rule"
    assert scope.refuses("http://example.com/") is None
    assert not Scope().refuses("http://example.com/")


@pytest.mark.parametrize(
    "rule", ["", "re:(", "exa mple.com", "?x=1", "*", "example.com:8080", "http://[::1]:80/", "localhost:"]
)
def test_a_rule_that_is_none_is_named(rule):
    with pytest.raises(FocusError, match="FOCUS_DENY: "):
        Scope(deny=[rule])


def test_a_file_of_rules_is_read_again_when_it_changes(tmp_path, caplog, monkeypatch):
    file = tmp_path / "scope.txt"
    file.write_text("# what we want\n\nallow example.com\nDENY example.com/old/\n")
    time = [0.0]
    monkeypatch.setattr(clock, "monotonic", lambda: time[0])
    scope = Scope(file=file)
    assert scope.refuses("http://example.com/old/")
    assert not scope.refuses("http://example.com/new/")
    file.write_text("deny example.com/new/ and more\n")
    assert not scope.refuses("http://example.com/new/")  # not looked at yet
    time[0] += scope_module.RELOAD
    with caplog.at_level(logging.INFO):
        assert not scope.refuses("http://example.com/old/")
    assert "rules reloaded" in caplog.text
    file.write_text("forbid everything\n")
    time[0] += scope_module.RELOAD
    assert scope.refuses("http://example.com/new/ and more")
    assert "line 1: 'forbid everything': write `allow RULE` or `deny RULE`" in caplog.text
    file.unlink()
    time[0] += scope_module.RELOAD
    assert scope.refuses("http://example.com/new/ and more")
    assert "the old rules stay in force" in caplog.text


@pytest.mark.slow
def test_a_hundred_thousand_rules_cost_no_more_than_a_few():
    hosts = [f"host{number}.example" for number in range(50_000)]
    paths = [f"/path/{number}/" for number in range(50_000)]
    scope = Scope(deny=[*hosts, *paths, *(f"a.example{path}" for path in paths)])
    begin = process_time()
    for number in range(5_000):
        assert not scope.refuses(f"http://a.example/page/{number}")
    assert process_time() - begin < 2
    assert scope.refuses("http://b.example/path/49999/x")
    assert scope.refuses("http://www.host49999.example/")


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "rules").write_text("deny a.example\n", "utf-8-sig")
    assert Scope(file=tmp_path / "rules").refuses("http://a.example/")


LINKS = {"a": ["a/x", "b", "c"], "a/x": [], "b": ["b/x"], "b/x": [], "c": []}


def test_links_out_of_scope_are_not_followed(crawl):
    crawled = crawl("breadth_first", small_web(LINKS), settings={"FOCUS_DENY": "b.example"}, seeds=at("a"))
    assert crawled.urls == [at("a"), at("a/x"), at("c")]
    assert crawled.stats["focus/links_refused"] == 1


def test_nor_are_redirects_and_seeds(crawl):
    web = small_web(LINKS)
    web.answers[at("c")] = Answer(302, location=at("b/x"))
    crawled = crawl("breadth_first", web, settings={"FOCUS_ALLOW": "a.example,c.example"}, seeds=f"{at('a')},{at('b')}")
    assert crawled.urls == [at("a"), at("a/x")]
    assert crawled.stats["focus/out_of_scope"] == 2
    assert (
        crawled.sql("SELECT reason FROM failure ORDER BY url") == [("out of scope: not matched by any allow rule",)] * 2
    )


def test_robots_txt_and_rights_are_asked_for_wherever_pages_are_in_scope(crawl):
    web = small_web({"a/docs/": ["a/docs/x", "a/docs/y"], "a/docs/x": [], "a/docs/y": []})
    web.add(at("a/robots.txt"), "User-agent: *\nDisallow: /docs/y", content_type="text/plain")
    web.add(at("a/.well-known/tdmrep.json"), '[{"location": "/docs/x", "tdm-reservation": 1}]')
    settings = {"FOCUS_ALLOW": "a.example/docs/", "FOCUS_DENY": "/robots,/.well-known/"}
    crawled = crawl("breadth_first", web, settings=settings, seeds=at("a/docs/"))
    assert crawled.urls == [at("a/docs/"), at("a/docs/x")]
    assert crawled.sql("SELECT robots_txt, tdm_reservation FROM rights") == [("allowed", None), ("allowed", 1)]
    assert crawled.sql("SELECT url, reason FROM failure") == [(at("a/docs/y"), "robots.txt disallows it")]


def test_rules_that_come_later_hold_for_what_waits(crawl, tmp_path, monkeypatch):
    monkeypatch.setattr(scope_module, "RELOAD", 0)
    file = tmp_path / "scope.txt"
    file.write_text("")

    from focuscrawl.spiders.breadth_first import BreadthFirstSpider

    class Changing(BreadthFirstSpider):
        name = "changing"

        def score(self, page):
            if page.url == at("a/x"):
                file.write_text("deny c.example\n")
            return super().score(page)

    web = small_web(LINKS | {"a/x": ["b/x"]})
    crawled = crawl(Changing, web, settings={"FOCUS_SCOPE": str(file)}, seeds=at("a"))
    assert at("c") not in crawled.urls
    assert crawled.sql("SELECT url, reason FROM failure") == [(at("c"), "out of scope: denied by 'c.example'")]


def test_wrong_rules_are_told_before_the_crawl_begins(tmp_path):
    (tmp_path / "rules").write_text("deny re:[\n")
    base = ("crawl", "breadth_first", "-a", "seeds=http://a.example/", "-s", f"FOCUS_DIR={tmp_path / 'c'}")
    for setting, message in (
        (f"FOCUS_SCOPE={tmp_path / 'rules'}", "line 1: 're:[' is not a valid regular expression"),
        (f"FOCUS_SCOPE={tmp_path / 'none'}", "No such file"),
    ):
        result = scrapy(*base, "-s", "FOCUS_WEB=demo", "-s", setting)
        assert result.returncode == 2
        assert message in result.stderr
        assert "Traceback" not in result.stderr
