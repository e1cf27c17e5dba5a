from __future__ import annotations

import gzip
from time import process_time

import pytest

from focuscrawl.manners.sitemap import MAX_FILES, MAX_URLS, read_sitemap
from focuscrawl.page import Page
from focuscrawl.pipelines.store import StorePipeline
from focuscrawl.reading.links import MAX_LINKS
from focuscrawl.seeding.seeding import search_crawl
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


def found(body: bytes) -> list[str]:
    """The paths that a sitemap without a problem leads to."""
    page, _ = read(body)
    assert page.problem is None
    return [link.url.removeprefix("http://a.example") for link in page.links]


@pytest.mark.parametrize("place", ["", " \n", "#top", "http://a.example/sitemap.xml", "sitemap.xml", "http://["])
def test_a_sitemap_does_not_lead_to_itself_or_nowhere(place):
    assert found(sitemap(place, "/x")) == ["/x"]
    assert found(b"<urlset><url><loc/></url><url/><url><loc>/x</loc></url></urlset>") == ["/x"]
    assert read(index(place, "/x"))[1] == ["http://a.example/x"]


def test_members_of_a_gzip_file_are_read_one_after_the_other():
    body = sitemap("/one", "/two", "/three")
    assert found(gzip.compress(body[:100]) + gzip.compress(b"") + gzip.compress(body[100:])) == [
        "/one",
        "/two",
        "/three",
    ]
    assert found(gzip.compress(sitemap("/one")) + gzip.compress(sitemap("/two"))) == ["/one", "/two"]
    assert found(gzip.compress(body) + bytes(100)) == ["/one", "/two", "/three"]
    assert found(gzip.compress(body) + b"\x1f\x8bdamaged") == ["/one", "/two", "/three"]


def test_members_unpack_to_no_more_than_one_may():
    page, _ = read(gzip.compress(b"<urlset>" + b" " * (LIMIT // 2)) * 3)
    assert page.problem == "unreadable sitemap: more than 10,000,000 bytes when unpacked"
    began = process_time()
    read(gzip.compress(b"") * 300_000)
    assert process_time() - began < 3


def test_a_file_that_breaks_off_gives_what_it_has():
    body = sitemap(*(f"/page-{number}" for number in range(1_000)))
    whole = found(body)
    assert len(whole) == 1_000
    for cut in (body[:-100], gzip.compress(body)[:-200]):
        some = found(cut)
        assert some
        assert some == whole[: len(some)]
    page, _ = read(b"<?xml version='1.0'?><urlset><url><loc>http://a.exa")
    assert page.problem == "unreadable sitemap: truncated"


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("/?a=1&b=2&c;d", "/?a=1&b=2&c;d"),
        ("/?a=1&amp;b=2", "/?a=1&b=2"),
        ("/?a=1&amp;b=2&c=3", "/?a=1&b=2&c=3"),
        ("/?a&copy=1&eacute;", "/?a&copy=1&eacute;"),
        ("/?q=&#233;&#xE9;", "/?q=%C3%A9%C3%A9"),
        ("<![CDATA[/?a=1&b=2&amp;c=3]]>", "/?a=1&b=2&amp;c=3"),
        ("/?a<3&b", "/?a%3C3&b"),
        ("/a\x01b\x00c", "/abc"),
        ("\n  /x\n  ", "/x"),
        ("/é", "/%C3%A9"),
    ],
)
def test_urls_are_taken_as_they_are_meant(place, path):
    assert found(sitemap(place, "/last")) == [path, "/last"]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url><loc>/a</url><url><loc>/b</loc></url></urlset>",
        b"<urlset><url><loc>/a</loc><url><loc>/b</loc></urlset>",
        b"<?xml version='1.0' encoding='utf-16'?><urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>",
        "<?xml version='1.0' encoding='utf-16'?><urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>".encode(
            "utf-16"
        ),
        b"\xef\xbb\xbf\n\n<?xml version='1.0'?><URLSET><URL><LOC>/a</LOC></URL><url><loc>/b</loc></url></URLSET>",
        b"<x:urlset xmlns:x='http://x'><x:url><x:loc>/a</x:loc></x:url><x:url><x:loc>/b</x:loc></x:url></x:urlset>",
        b"<urlset><url><image:image><image:loc>/c</image:loc></image:image><loc>/a</loc></url><url><loc>/b</loc></url></urlset>",
        b"<urlset xmlns='s' xmlns:i='i'><url><loc>/a</loc><i:image><i:loc>/c</i:loc></i:image></url><url><loc>/b</loc></url></urlset>",
    ],
)
def test_sitemaps_need_not_be_perfect(body):
    assert found(body) == ["/a", "/b"]


def test_external_entities_and_bombs_do_no_harm(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    outside = f'<!DOCTYPE x [<!ENTITY a SYSTEM "{secret.as_uri()}">]><urlset><url><loc>/&a;</loc></url></urlset>'
    assert found(outside.encode()) == ["/&a;"]
    levels = "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    bomb = f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{levels}]><urlset><url><loc>/&i;</loc></url></urlset>'
    began = process_time()
    assert found(bomb.encode()) == ["/&i;"]
    assert found(bomb.replace("ENTITY ", "ENTITY % ").replace("&", "%").encode()) == ["/%i;"]
    assert process_time() - began < 1


RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>News</title>
<link>http://a.example/</link><atom:link href="http://a.example/sitemap.xml" rel="self"/>
<item><title>Heap &amp; sort</title><link>/old</link><pubDate>Fri, 01 Jan 2010 10:00:00 GMT</pubDate></item>
<item><title/><link>/new?a=1&b=2</link><guid>tag:1</guid><pubDate>Mon, 01 Feb 2010 10:00:00 +0200</pubDate></item>
<item><guid>http://a.example/only-guid</guid></item><item><guid isPermaLink="false">http://a.example/no</guid></item>
<item><description>&lt;a href="/no"&gt;</description></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><link href="http://a.example/"/>
<entry><title>Old</title><link rel="edit" href="/no"/><link href="/old"/><updated>2010-01-01T10:00:00Z</updated></entry>
<entry><title>New</title><link rel="alternate" href="/new"/><link href="/no" rel="enclosure"/>
<updated>2010-02-01T10:00:00Z</updated></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel>
<title>News</title><link>http://a.example/</link></channel><item rdf:about="x"><title>One</title><link>/one</link></item></rdf:RDF>"""


def test_feeds_are_sitemaps():
    page, listed = read(RSS)
    assert [(link.url.removeprefix("http://a.example"), link.anchor) for link in page.links] == [
        ("/new?a=1&b=2", "example new"),
        ("/old", "Heap & sort"),
        ("/only-guid", "example only guid"),
    ]
    assert page.links[1].after() == ("last", "changed", "2010", "01", "01t10", "00", "00", "00", "00")
    assert (page.problem, page.listing, listed) == (None, True, [])
    assert "heap" in page.words
    page, _ = read(ATOM)
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.example/new", "New"),
        ("http://a.example/old", "Old"),
    ]
    assert found(RDF) == ["/one"]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_list_of_urls_is_a_sitemap(mark):
    lines = [
        "http://a.example/heap-sort",
        "",
        "  https://b.example/x?a=1&b=2 ",
        "# a remark",
        "/relative",
        "http://a.example/é",
    ]
    page, _ = read(mark + "\r\n".join(lines).encode())
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.example/heap-sort", "example heap sort"),
        ("https://b.example/x?a=1&b=2", "example"),
        ("http://a.example/%C3%A9", "example"),
    ]
    assert page.problem is None
    assert [link.url for link in read("http://a.example/x".encode("utf-16"))[0].links] == ["http://a.example/x"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["xml", "text", "feed"])
def test_a_sitemap_without_end_is_read_in_bounded_time(kind):
    row = {
        "xml": "<url><loc>/{}</loc></url>",
        "text": "http://a.example/{}\n",
        "feed": "<item><link>/{}</link></item>",
    }[kind]
    start = {"xml": "<urlset>", "text": "", "feed": "<rss><channel>"}[kind]
    body = (start + "".join(row.format(number) for number in range(300_000))).encode()
    began = process_time()
    page, _ = read(body)
    assert process_time() - began < 4
    assert (len(page.links), page.links_left_out) == (MAX_LINKS, MAX_URLS - MAX_LINKS)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "unreadable sitemap: empty"),
        (b" \n", "unreadable sitemap: empty"),
        (b"nonsense", "not a sitemap: text without URLs"),
        (b"<html><p>x", "not a sitemap: <html>"),
        (b"<!DOCTYPE html><html><head><meta a><body><br>", "not a sitemap: <html>"),
        (b"<?xml", "unreadable sitemap: not XML"),
        (b"<!-- <urlset> -->", "unreadable sitemap: not XML"),
        (b"<opml><body/></opml>", "not a sitemap: <opml>"),
    ],
)
def test_what_is_wrong_is_said(body, problem):
    assert read(body)[0].problem == problem


def test_a_damaged_file_says_what_is_wrong():
    page, _ = read(b"\x1f\x8bnonsense")
    assert page.problem.startswith("unreadable sitemap: Error -3 while decompressing data")
    assert read(b"\x1f\x8b")[0].problem == "unreadable sitemap: empty"


def test_a_list_that_was_read_as_one_is_not_found_by_a_search(crawl):
    made = web()
    made.answers[at("a/robots.txt")] = robots("/map.txt")
    made.answers[at("a/map.txt")] = Answer(200, "text/plain", at("a/heap-sort").encode())
    crawled = run(crawl, made)
    assert at("a/heap-sort") in crawled.urls
    assert at("a/map.txt") in crawled.urls
    told = scrapy("search", crawled.folder, "heap").stdout
    assert at("a/heap-sort") in told
    assert at("a/map.txt") not in told
    assert search_crawl(crawled.folder, "heap", 10) == [at("a/heap-sort")]


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
            pipeline.crawl.stop("killed", "killed")
            pipeline.crawl.store.failed = RuntimeError("killed")
        return item

    with monkeypatch.context() as patch:
        patch.setattr(StorePipeline, "process_item", store_and_fail)
        assert at("a/heap-sort") not in run(crawl, made).urls
    assert at("a/heap-sort") in run(crawl, made).urls
