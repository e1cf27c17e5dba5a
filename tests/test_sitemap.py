from __future__ import annotations

import gzip

import pytest

from focuscrawl.frontier.scheduler import FrontierScheduler
from focuscrawl.html import MAX_LINKS
from focuscrawl.page import Page
from focuscrawl.pipelines.store import StorePipeline
from focuscrawl.sitemap import MAX_FILES, read_sitemap
from focuscrawl.web.webs import Answer, MemoryWeb
from tests.conftest import at, scrapy

LIMIT = 10_000_000


def sitemap(*places: str, kind: str = "urlset", item: str = "url") -> bytes:
    rows = "".join(f"<{item}><loc>{place}</loc></{item}>" for place in places)
    return f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</{kind}>'.encode()


def index(*places: str) -> bytes:
    return sitemap(*places, kind="sitemapindex", item="sitemap")


def read(body: bytes) -> tuple[Page, list[str]]:
    page = Page("http://a.example/sitemap.xml")
    return page, read_sitemap(page, body, LIMIT)


def test_the_words_of_a_url_stand_for_its_anchor():
    page, _ = read(sitemap("http://a.example/notes/heap-sort", "/quick_sort.html", "mailto:me", "/a.pdf"))
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.example/notes/heap-sort", "example notes heap sort"),
        ("http://a.example/quick_sort.html", "example quick sort"),
    ]
    assert "heap" in page.words
    assert page.links[0].before() == ("sitemap", "of", "a", "example")
    assert page.listing


def test_the_latest_come_first_and_there_is_an_end():
    rows = "".join(
        f"<url><loc>/{n}</loc><lastmod>2020-01-{n % 28 + 1:02}</lastmod></url>" for n in range(MAX_LINKS + 5)
    )
    page, _ = read(f"<urlset>{rows}</urlset>".encode())
    assert len(page.links) == MAX_LINKS
    assert page.links_left_out == 5
    assert page.links[0].after() == ("last", "changed", "2020", "01", "28")


def test_it_may_be_compressed_but_no_bomb():
    page, _ = read(gzip.compress(sitemap("/x")))
    assert len(page.links) == 1
    page, _ = read(gzip.compress(b"<urlset>" + b" " * (LIMIT + 1)))
    assert page.problem == "unreadable sitemap: more than 10,000,000 bytes when unpacked"
    assert not page.links


@pytest.mark.parametrize(
    "body", [b"", b"nonsense", b"<html><p>x", b"<?xml", b"\x1f\x8bnonsense", b"<a>" * 10_000, b"\x00" * 100]
)
def test_what_is_none_is_said_so(body):
    page, listed = read(body)
    assert "sitemap" in page.problem
    assert not page.links
    assert not listed


def test_entities_are_not_expanded():
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><urlset><url><loc>/&b;</loc></url></urlset>'
    page, _ = read(bomb)
    assert all("aaaa" not in link.url for link in page.links)


def test_an_index_lists_sitemaps():
    page, listed = read(index("/one.xml", "http://b.example/two.xml.gz"))
    assert listed == ["http://a.example/one.xml", "http://b.example/two.xml.gz"]
    assert not page.links


def web(**answers: bytes) -> MemoryWeb:
    made = MemoryWeb()
    made.add(at("a"), "<title>sort</title><p>sort, and no links at all")
    for name in ("heap-sort", "quick-sort", "gardening"):
        made.add(at(f"a/{name}"), f"<p>about {name}")
    return made


def robots(*sitemaps: str) -> Answer:
    lines = "".join(f"Sitemap: {url}\n" for url in sitemaps)
    return Answer(200, "text/plain", f"User-agent: *\nDisallow:\n{lines}".encode())


def run(crawl, made: MemoryWeb, how: str = "robots", spider: str = "best_first", **settings):
    return crawl(spider, made, settings={"FOCUS_SITEMAPS": how, **settings}, seeds=at("a"), keywords="sort,heap,quick")


def test_pages_that_only_a_sitemap_names_are_found_and_scored(crawl):
    made = web()
    made.answers[at("a/robots.txt")] = robots("/map.xml.gz")
    body = sitemap(*(at(f"a/{name}") for name in ("gardening", "heap-sort", "quick-sort")))
    made.answers[at("a/map.xml.gz")] = Answer(200, "application/gzip", gzip.compress(body))
    crawled = run(crawl, made)
    assert crawled.urls[:2] == [at("a"), at("a/map.xml.gz")]
    assert set(crawled.urls[2:]) == {at("a/gardening"), at("a/heap-sort"), at("a/quick-sort")}
    assert all(page["score"] > 0 for page in crawled.pages[2:])
    assert {page["parent"] for page in crawled.pages[2:]} == {at("a/map.xml.gz")}
    # the list itself is no page about the topic
    assert crawled.sql("SELECT relevant, matched FROM page WHERE url = ?", at("a/map.xml.gz")) == [(0, 0)]
    assert at("a/map.xml.gz") not in crawled.matched
    told = scrapy("explain", crawled.folder, at("a/heap-sort"))
    assert "[example heap sort]" in told.stdout


def test_nothing_is_asked_for_unless_wanted(crawl):
    made = web()
    made.answers[at("a/robots.txt")] = robots("/map.xml")
    made.answers[at("a/map.xml")] = Answer(200, "text/xml", sitemap(at("a/heap-sort")))
    assert run(crawl, made, "no").urls == [at("a")]


def test_the_usual_place_is_tried_if_asked_for(crawl, tmp_path):
    made = web()
    made.answers[at("a/sitemap.xml")] = Answer(200, "application/xml", sitemap(at("a/heap-sort")))
    assert run(crawl, made, "robots").urls == [at("a")]
    assert run(crawl, made, "all", "breadth_first", FOCUS_DIR=str(tmp_path / "other")).stats["focus/pages"] == 3


def test_a_host_off_the_topic_is_not_asked(crawl):
    made = web()
    made.add(at("a"), "<title>gardening</title><p>flowers")
    made.answers[at("a/robots.txt")] = robots("/map.xml")
    assert run(crawl, made).urls == [at("a")]


def test_lists_of_lists_come_to_an_end(crawl):
    made = web()
    made.answers[at("a/robots.txt")] = robots(*(f"/map{number}.xml" for number in range(100)))
    for number in range(100):
        inner = [f"/map{number}-{other}.xml" for other in range(50)]
        made.answers[at(f"a/map{number}.xml")] = Answer(200, "text/xml", index(*inner))
    crawled = run(crawl, made)
    assert crawled.stats["focus/sitemaps"] == MAX_FILES
    assert len(crawled.urls) == MAX_FILES + 1


def test_an_index_leads_to_pages(crawl):
    made = web()
    made.answers[at("a/robots.txt")] = robots("/index.xml")
    made.answers[at("a/index.xml")] = Answer(200, "text/xml", index("/map.xml"))
    made.answers[at("a/map.xml")] = Answer(200, "text/xml", sitemap(at("a/heap-sort"), at("a/missing")))
    crawled = run(crawl, made)
    assert crawled.urls[:3] == [at("a"), at("a/index.xml"), at("a/map.xml")]
    assert at("a/heap-sort") in crawled.urls


def test_a_sitemap_that_waits_is_read_as_one_after_a_restart(crawl):
    made = web()
    made.answers[at("a/robots.txt")] = robots("/map.xml")
    made.answers[at("a/map.xml")] = Answer(200, "text/xml", sitemap(at("a/heap-sort")))
    crawl("best_first", made, settings={"FOCUS_SITEMAPS": "robots"}, seeds=at("a"), keywords="sort", max_pages=1)
    crawled = crawl("best_first", made, settings={"FOCUS_SITEMAPS": "robots"}, seeds=at("a"), keywords="sort")
    assert crawled.urls == [at("a"), at("a/map.xml"), at("a/heap-sort")]


def test_a_wrong_choice_costs_one_line(tmp_path):
    result = scrapy(
        "crawl", "best_first", "-a", "topic=sorting", "-s", "FOCUS_WEB=demo", "-s", "FOCUS_SITEMAPS=maybe",
        "-s", f"FOCUS_DIR={tmp_path / 'c'}",
    )  # fmt: skip
    assert result.returncode == 2
    assert result.stderr.endswith("setting FOCUS_SITEMAPS=maybe: expected no, robots or all\n")


def test_a_sitemap_that_waits_as_a_link_is_read_as_a_sitemap(crawl):
    made = web()
    made.add(at("a"), '<p>flowers <a href="/heap">trees</a> <a href="/map.xml">map</a>')
    made.add(at("a/heap"), "<title>heap</title><p>heap, quick, sort")
    made.answers[at("a/robots.txt")] = robots("/map.xml")
    made.answers[at("a/map.xml")] = Answer(200, "text/xml", sitemap(at("a/heap-sort")))
    assert run(crawl, made).urls == [at("a"), at("a/heap"), at("a/map.xml"), at("a/heap-sort")]


@pytest.mark.parametrize("last", ["a", "a/index.xml"])
def test_sitemaps_are_not_lost_when_the_crawl_is_killed_after_the_page_that_led_to_them(crawl, monkeypatch, last):
    """What is queued after a page is stored is not there if the crawl ends right then."""
    made = web()
    made.answers[at("a/robots.txt")] = robots("/index.xml")
    made.answers[at("a/index.xml")] = Answer(200, "text/xml", index("/map.xml"))
    made.answers[at("a/map.xml")] = Answer(200, "text/xml", sitemap(at("a/heap-sort")))
    stored = StorePipeline.process_item

    def store_and_fail(pipeline, item):
        stored(pipeline, item)
        if item.url == at(last):
            FrontierScheduler.of(pipeline.crawler).stop("killed", "killed")
            pipeline.crawl.store.failed = RuntimeError("killed")
        return item

    with monkeypatch.context() as patch:
        patch.setattr(StorePipeline, "process_item", store_and_fail)
        assert at("a/heap-sort") not in run(crawl, made).urls
    assert at("a/heap-sort") in run(crawl, made).urls
