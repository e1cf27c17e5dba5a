"""Stored pages are visited again: what changed is judged and stored, what is gone counts no more."""

from __future__ import annotations

import json
import sqlite3

import pytest
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from focuscrawl.options import Option
from focuscrawl.recrawl.changes import changes_since
from focuscrawl.recrawl.spider import revisiting
from focuscrawl.search.index import Index
from focuscrawl.search.query import Query
from focuscrawl.store.store import Store
from focuscrawl.store.visits import Visits
from focuscrawl.web.webs import Answer, MemoryWeb
from tests import pdfs
from tests.conftest import at, small_web
from tests.lessons import lessons_web, topic_file

LOADER = SpiderLoader.from_settings(get_project_settings())
SORT = "sort algorithms are many and this page tells of quick merge and heap sort in plain words"


def again(strategy: str = "best_first", **options):
    return revisiting(LOADER.load(strategy), **{"older_than": 0, **options})


def web_of_three() -> MemoryWeb:
    return small_web({"a": ["b", "c"], "b": [], "c": []}, {"a": "sort", "b": "sort of", "c": "nothing here"})


def outcomes(crawled) -> dict[str, str]:
    return dict(crawled.sql("SELECT url, outcome FROM visit JOIN page ON page.id = visit.page ORDER BY visit.id"))


def backdate(crawled, *, days: int = 100) -> None:
    """What happened so far happened a while ago."""
    with sqlite3.connect(crawled.folder / "crawl.sqlite") as connection:
        shift = f"-{days} days"
        form = "strftime('%Y-%m-%dT%H:%M:%f+00:00', {}, ?)"
        connection.execute(f"UPDATE page SET fetched_at = {form.format('fetched_at')}", (shift,))
        first = form.format("json_extract(first, '$.fetched_at')")
        connection.execute(
            f"UPDATE page SET first = json_set(first, '$.fetched_at', {first}) WHERE first NOT NULL", (shift,)
        )
        connection.execute(f"UPDATE visit SET visited_at = {form.format('visited_at')}", (shift,))
    connection.close()


@pytest.fixture
def crawled(crawl):
    web = web_of_three()
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort")
    crawled.web = web
    crawled.again = lambda settings=None, **options: crawl(
        again(**options), web, seeds=at("a"), keywords="sort", settings=settings
    )
    return crawled


def test_what_did_not_change_is_asked_for_with_its_etag_and_costs_no_body(crawled):
    visited = crawled.again()
    assert set(outcomes(visited).values()) == {"unchanged"}
    assert visited.stats["downloader/response_status_count/304"] == 3
    assert visited.sql("SELECT count(*), count(etag) FROM page") == [(3, 3)]


def test_seeds_that_only_the_file_tells_of_open_neither_this_machine_nor_a_private_network(crawl):
    web = web_of_three()
    seeds = f"{at('a')},http://10.0.0.1:9/,http://127.0.0.1:9/"
    crawl("best_first", web, seeds=seeds, keywords="sort")
    for told in (True, False):
        networks = crawl(again(seeds_told=told), web, seeds=seeds, keywords="sort").crawler.spider.crawl.networks
        assert networks.allow("8.8.8.8")
        assert networks.allow("127.0.0.1") is networks.allow("10.0.0.1") is not told


def test_without_etags_the_body_tells(crawled, monkeypatch):
    monkeypatch.setattr("focuscrawl.web.webs.conditional", lambda answer, *_: answer)
    visited = crawled.again()
    visited = crawled.again()
    assert "downloader/response_status_count/304" not in visited.stats
    assert set(outcomes(visited).values()) == {"unchanged"}


def test_if_modified_since_is_asked_for(crawl):
    web = MemoryWeb()
    date = "Sun, 01 Nov 2026 10:00:00 GMT"
    web.answers[at("a")] = Answer(200, body=b"<p>sort", headers=(("Last-Modified", date), ("ETag", "x" * 5000)))
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort")
    assert crawled.sql("SELECT etag, last_modified FROM page") == [(None, date)]  # an ETag may be too long to keep
    visited = crawl(again(), web, seeds=at("a"), keywords="sort")
    assert visited.stats["downloader/response_status_count/304"] == 1


def test_a_changed_page_is_judged_anew_and_its_new_links_wait(crawled):
    text = f"<title>Sorting now</title><p>{SORT}</p><a href='{at('d')}'>to d</a><a href='{at('a')}'>to a</a>"
    crawled.web.add(at("c"), text)
    crawled.web.add(at("d"), "<p>sort, too")
    assert at("c") not in crawled.matched
    before = (crawled.folder / "pages.jsonl").read_bytes()
    visited = crawled.again()
    assert outcomes(visited) == {at("a"): "unchanged", at("b"): "unchanged", at("c"): "changed"}
    assert visited.matched == [at("a"), at("b"), at("c")]
    assert visited.sql("SELECT title, matched, problem FROM page WHERE url = ?", at("c")) == [("Sorting now", 1, None)]
    ((details,),) = visited.sql("SELECT details FROM visit WHERE outcome = 'changed'")
    said = json.loads(details)
    assert said["title"] == ["c", "Sorting now"]
    assert said["matched"] == [False, True]
    assert said["relevance"][0] == 0 < said["relevance"][1]
    assert 0 < said["new_words"] <= 1
    assert visited.sql("SELECT url, frontier.score > 0, link.anchor FROM frontier JOIN link ON link.id = via") == [
        (at("d"), 1, "to d")
    ]
    assert (crawled.folder / "pages.jsonl").read_bytes() == before  # what was fetched first stays
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert SORT.encode() in (store.pages.body(at("c")) or b"")
    store.close()


def test_new_pages_are_fetched_if_asked_for_best_first(crawled):
    crawled.web.add(at("c"), f"<p>{SORT}</p>" + "".join(f"<a href='{at(name)}'>{name}</a>" for name in "def"))
    for name in "def":
        crawled.web.add(at(name), f"<title>{name}</title><p>sort and {name}")
    visited = crawled.again(new_pages=2)
    assert visited.urls == [at("a"), at("b"), at("c"), at("d"), at("e")]
    assert visited.matched == [at("a"), at("b"), at("c"), at("d"), at("e")]
    assert visited.sql("SELECT url FROM frontier") == [(at("f"),)]


def test_files_stay_in_order_when_the_crawl_goes_on(crawled, crawl):
    crawled.web.add(at("b"), f"<p>{SORT}</p><a href='{at('d')}'>d</a>")
    crawled.web.add(at("a"), "<p>nothing any more")
    crawled.web.add(at("c"), "<p>sort at last")
    crawled.web.add(at("d"), "<p>sort, too")
    first = crawled.pages
    visited = crawled.again()
    assert visited.matched == [at("b"), at("c")]
    resumed = crawl("best_first", crawled.web, seeds=at("a"), keywords="sort")
    assert resumed.matched == [at("b"), at("c"), at("d")]
    assert resumed.pages[:3] == first


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_gone_counts_no_more_but_its_text_stays(crawled, status):
    crawled.web.answers[at("b")] = Answer(status)
    visited = crawled.again()
    assert outcomes(visited)[at("b")] == "gone"
    assert visited.matched == [at("a")]
    ((relevant, problem, body),) = visited.sql("SELECT relevant, problem, body FROM page WHERE url = ?", at("b"))
    assert (relevant, problem) == (0, f"HTTP {status}")
    assert body


def test_a_soft_404_is_gone_too(crawled):
    crawled.web.add(at("b"), "<title>Page not found</title><p>Sorry")
    assert outcomes(crawled.again())[at("b")] == "gone"


def test_a_page_that_is_gone_is_not_asked_for_again_too_soon_and_may_come_back(crawled):
    kept = crawled.web.answers.pop(at("b"))
    assert outcomes(crawled.again())[at("b")] == "gone"
    visited = crawled.again()
    assert len(visited.asked) == 2
    backdate(visited)
    visited = crawled.again()
    assert visited.sql("SELECT count(*) FROM visit WHERE outcome = 'gone'") == [(2,)]
    backdate(visited)
    crawled.web.answers[at("b")] = kept
    visited = crawled.again()
    assert outcomes(visited)[at("b")] == "back"
    assert visited.matched == [at("a"), at("b")]


def test_a_page_that_moved_is_gone_and_its_new_place_waits(crawled):
    crawled.web.redirect(at("b"), at("new/b"))
    crawled.web.add(at("new/b"), "<title>b</title><p>sort of</p>")
    visited = crawled.again(new_pages=1)
    assert outcomes(visited)[at("b")] == "gone"
    assert visited.matched == [at("a"), at("new/b")]


def test_the_same_page_at_https_is_the_same_page(crawled):
    safe = at("b").replace("http:", "https:")
    crawled.web.answers[safe] = crawled.web.answers[at("b")]
    crawled.web.redirect(at("b"), safe)
    assert outcomes(crawled.again())[at("b")] == "unchanged"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(500),
        Answer(503),
        Answer(403),
        Answer(302, location=at("login")),
        Answer(200, body=b""),
        Answer(200, "image/png", b"\x89PNG"),
    ],
    ids=["500", "503", "403", "for now elsewhere", "empty", "no text"],
)
def test_a_page_that_cannot_be_had_stays_as_it_is(crawled, answer):
    crawled.web.answers[at("b")] = answer
    before = crawled.sql("SELECT * FROM page ORDER BY id")
    visited = crawled.again({"FOCUS_BACKOFF_MAX": 0.01})
    assert outcomes(visited)[at("b")] == "unreachable"
    assert visited.sql("SELECT * FROM page ORDER BY id") == before
    assert visited.matched == [at("a"), at("b")]
    assert len(crawled.again().asked) == 2  # in an hour


def test_a_busy_host_is_asked_again_when_it_has_rested(crawled):
    answers = [Answer(503, headers=(("Retry-After", "1"),)), crawled.web.answers[at("b")]]
    get = crawled.web.get
    crawled.web.get = lambda url: answers.pop(0) if url == at("b") and len(answers) > 0 else get(url)
    visited = crawled.again()
    assert outcomes(visited)[at("b")] == "unchanged"
    assert visited.asked[-1] - visited.asked[-2] > 0.9


def test_robots_txt_is_obeyed(crawled):
    crawled.web.add(at("b/robots.txt"), "User-agent: *\nDisallow: /", content_type="text/plain")
    crawled.web.answers.pop(at("b"))
    visited = crawled.again()
    assert outcomes(visited)[at("b")] == "unreachable"
    assert "robots.txt disallows it" in visited.sql("SELECT details FROM visit WHERE outcome = 'unreachable'")[0][0]


def test_the_distance_between_requests_to_a_host_is_kept(crawl):
    web = small_web({"a": ["a/1", "a/2"], "a/1": [], "a/2": []}, {"a": "sort"})
    crawl("best_first", web, seeds=at("a"), keywords="sort")
    settings = {"DOWNLOAD_DELAY": 0.3, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "CONCURRENT_REQUESTS": 8}
    visited = crawl(again(), web, seeds=at("a"), keywords="sort", settings=settings)
    assert len(visited.asked) == 3
    assert min(visited.gaps) > 0.28


def test_a_bounded_run_visits_the_most_worthwhile_pages(crawled):
    backdate(crawled)
    visited = crawled.again(most_visits=1)
    assert list(outcomes(visited)) == [at("a")]
    visited = crawled.again(most_visits=2)  # what was visited just now has not changed since
    assert [url for url, _ in visited.sql("SELECT url, visit.id FROM visit JOIN page ON page.id = page")] == [
        at("a"),
        at("b"),
        at("c"),
    ]


def test_what_was_visited_lately_is_left_alone(crawled):
    assert crawled.again(older_than=3600).asked == []


def test_when_a_page_changes_the_first_of_its_copies_takes_its_place(crawl):
    web = small_web({"a": ["b", "c", "d"]}, {"a": "sort"})
    for name in "bcd":
        web.add(at(name), f"<title>Sort</title><p>{SORT} " + SORT * 3)
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort")
    assert crawled.matched == [at("a"), at("b")]
    web.add(at("b"), "<title>Something else</title><p>gardens and engines, and what else there is in the world")
    visited = crawl(again(), web, seeds=at("a"), keywords="sort")
    assert visited.matched == [at("a"), at("c")]
    assert visited.sql("SELECT url, duplicate_of, body IS NULL FROM page ORDER BY id") == [
        (at("a"), None, 0),
        (at("b"), None, 0),
        (at("c"), None, 0),
        (at("d"), 3, 1),
    ]
    assert set(outcomes(visited).values()) == {"unchanged", "changed"}


def test_a_page_that_changes_a_little_keeps_its_copies(crawl):
    web = small_web({"a": ["b", "c"]}, {"a": "sort"})
    words = " ".join(f"{SORT} {number}" for number in range(20))
    for name in "bc":
        web.add(at(name), f"<title>Sort</title><p>{words}")
    crawl("best_first", web, seeds=at("a"), keywords="sort")
    web.add(at("b"), f"<title>Sort</title><p>{words} indeed")
    visited = crawl(again(), web, seeds=at("a"), keywords="sort")
    assert outcomes(visited)[at("b")] == "changed"
    assert visited.matched == [at("a"), at("b")]
    assert visited.sql("SELECT duplicate_of FROM page WHERE url = ?", at("c")) == [(2,)]


def test_a_copy_whose_text_was_not_kept_is_compared_all_the_same(crawl, monkeypatch):
    web = small_web({"a": ["b", "c"]}, {"a": "sort"})
    for name in "bc":
        web.add(at(name), f"<title>Sort</title><p>{SORT} " + SORT * 3)
    crawl("best_first", web, seeds=at("a"), keywords="sort")
    monkeypatch.setattr("focuscrawl.web.webs.conditional", lambda answer, *_: answer)
    visited = crawl(again(), web, seeds=at("a"), keywords="sort")
    assert outcomes(visited)[at("c")] == "unchanged"
    web.add(at("c"), "<title>Sort</title><p>Another page about quick sort, with words of its own to tell it apart")
    visited = crawl(again(), web, seeds=at("a"), keywords="sort")
    assert outcomes(visited)[at("c")] == "changed"
    assert visited.matched == [at("a"), at("b"), at("c")]


def test_a_sitemap_that_lists_more_is_a_change(crawl):
    def sitemap(*names: str) -> str:
        return "<urlset>" + "".join(f"<url><loc>{at(name)}</loc></url>" for name in names) + "</urlset>"

    web = small_web({"a": [], "a/1": [], "a/2": []}, dict.fromkeys(("a", "a/1", "a/2"), "sort"))
    web.add(at("a/robots.txt"), f"Sitemap: {at('a/map.xml')}", content_type="text/plain")
    web.add(at("a/map.xml"), sitemap("a/1"), content_type="application/xml")
    settings = {"FOCUS_SITEMAPS": "robots"}
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort", settings=settings)
    assert at("a/1") in crawled.urls
    web.add(at("a/map.xml"), sitemap("a/1", "a/2"), content_type="application/xml")
    visited = crawl(again(new_pages=5), web, seeds=at("a"), keywords="sort", settings=settings)
    assert outcomes(visited)[at("a/map.xml")] == "changed"
    assert at("a/2") in visited.matched


def test_a_pdf_that_changed_is_read_again_and_one_that_did_not_is_left(crawl):
    web = small_web({"a": ["a/x.pdf", "a/y.pdf"], "b": []}, {"a": "sort"})
    for name in ("x", "y"):
        web.add(at(f"a/{name}.pdf"), pdfs.paper("Sort", f"{SORT} {name}"), content_type="application/pdf")
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort")
    assert at("a/x.pdf") in crawled.matched
    changed = pdfs.paper("Sort anew", f"{SORT} once more", links=(("b", at("b")),))
    web.add(at("a/x.pdf"), changed, content_type="application/pdf")
    visited = crawl(again(new_pages=5), web, seeds=at("a"), keywords="sort")
    assert outcomes(visited) == {at("a"): "unchanged", at("a/x.pdf"): "changed", at("a/y.pdf"): "unchanged"}
    assert at("b") in visited.urls
    assert visited.sql("SELECT title FROM page WHERE url = ?", at("a/x.pdf")) == [("Sort anew",)]


def test_a_feed_that_lists_more_is_a_change_and_stays_a_feed(crawl):
    def feed(*names: str) -> str:
        entries = "".join(f"<item><title>{name}</title><link>{at(name)}</link></item>" for name in names)
        return f"<rss><channel><title>Sort news</title>{entries}</channel></rss>"

    web = small_web({"a": ["a/feed"], "a/1": [], "a/2": []}, dict.fromkeys(("a", "a/1", "a/2"), "sort"))
    web.add(at("a/feed"), feed("a/1"), content_type="application/rss+xml")
    crawl("best_first", web, seeds=at("a"), keywords="sort")
    web.add(at("a/feed"), feed("a/1", "a/2"), content_type="application/rss+xml")
    visited = crawl(again(new_pages=5), web, seeds=at("a"), keywords="sort")
    assert outcomes(visited)[at("a/feed")] == "changed"
    assert at("a/2") in visited.matched
    assert visited.sql("SELECT title, withheld FROM page WHERE url = ?", at("a/feed")) == [("Sort news", "listing")]


OPTIONS = {
    "niche_genetic": {"hub_links": 2},
    "apprentice": {"lessons": "auto", "lesson_pages": 30},
    "context_graph": {"crawl": "auto", "crawl_pages": 200},
    "taxonomy_tunnel": {"dewey": "635"},
    "treasure": {"dewey": "635"},
}


@pytest.mark.parametrize("name", LOADER.list())
def test_every_strategy_can_visit_its_pages(crawl, tmp_path, name):
    web = lessons_web(pages=15)
    topic = topic_file(tmp_path / "topic")
    options = OPTIONS.get(name, {})
    crawled = crawl(name, web, topic=topic, max_pages=12, **options)
    first, second = crawled.sql("SELECT url FROM page WHERE problem IS NULL ORDER BY id LIMIT 2 OFFSET 1")
    web.add(first[0], f"<title>New</title><p>rose tulip soil <a href='{at('brand/new')}'>roses</a>")
    web.add(at("brand/new"), "<title>Brand new</title><p>rose tulip soil seed bloom")
    web.answers.pop(second[0])
    visited = crawl(again(name, new_pages=3), web, topic=topic, **options)
    assert "log_count/ERROR" not in visited.stats
    assert outcomes(visited)[first[0]] == "changed"
    assert outcomes(visited)[second[0]] == "gone"
    known = visited.sql("SELECT link.id < 0 FROM link JOIN url ON url.id = url_id WHERE url.url = ?", at("brand/new"))
    assert known == [(1,)]
    crawl(name, web, topic=topic, max_pages=25, **options)


def test_a_run_that_cannot_be_written_stops_and_the_file_is_whole(crawled, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Visits, "add", full)
    visited = crawled.again()
    assert "disk is full" in visited.crawler.spider.crawl.fatal
    assert visited.sql("SELECT count(*) FROM visit") == [(0,)]
    assert visited.sql("PRAGMA integrity_check") == [("ok",)]


def test_the_report_tells_what_a_reader_wants_to_know(crawled):
    crawled.web.add(at("c"), f"<title>Sorting now</title><p>{SORT} <a href='{at('d')}'>d</a>")
    crawled.web.add(at("d"), "<title>D</title><p>sort")
    crawled.web.answers.pop(at("b"))
    visited = crawled.again(new_pages=1)
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    changes = changes_since(store, store.meta("runs")[-1]["began"])
    store.close()
    assert {(page.kind, page.url) for page in changes.pages} == {
        ("new", at("d")),
        ("changed", at("c")),
        ("gone", at("b")),
    }
    assert changes.visits == {"unchanged": 1, "changed": 1, "gone": 1}
    assert visited.matched == [at("a"), at("c"), at("d")]


def test_a_search_index_follows_what_changes_and_what_goes(crawled):
    store = Store(crawled.folder / "crawl.sqlite")
    Index(store).update()
    store.close()
    crawled.web.add(at("c"), "<title>Sorting now</title><p>marmalade")
    del crawled.web.answers[at("b")]
    visited = crawled.again()
    store = Store(visited.folder / "crawl.sqlite", create=False)
    found = {word: [hit.url for hit in Index(store).search(Query.of(word)).hits] for word in ("marmalade", "sort")}
    assert Index(store).waiting() == 0
    store.close()
    assert found == {"marmalade": [at("c")], "sort": [at("c"), at("a")]}  # b is gone


def test_a_copy_that_takes_the_place_of_its_original_is_found_by_a_search(crawl):
    web = small_web({"a": ["b", "c"]}, {"a": "sort"})
    for name in "bc":
        web.add(at(name), f"<title>Sort</title><p>{SORT} marmalade")
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort", settings={"FOCUS_INDEX": True})

    def found() -> list[str]:
        store = Store(crawled.folder / "crawl.sqlite", create=False)
        hits = Index(store).search(Query.of("marmalade")).hits
        store.close()
        return [hit.url for hit in hits]

    assert found() == [at("b")]
    del web.answers[at("b")]
    crawl(again(), web, seeds=at("a"), keywords="sort")
    assert found() == [at("c")]


# ---- visits wait in the frontier, but are not part of it


def test_a_bounded_frontier_keeps_its_urls_while_pages_are_visited(crawl):
    names = [f"b{number}" for number in range(6)]
    texts = dict.fromkeys(("a", *names), "sort")
    web = small_web({"a": names, **{name: [f"new-{name}"] for name in names}}, texts)
    given = {"seeds": at("a"), "keywords": "sort"}
    crawled = crawl("best_first", web, settings={"FOCUS_FRONTIER_SIZE": 4}, max_pages=4, **given)
    waiting = crawled.sql("SELECT url FROM frontier ORDER BY url_id")
    assert len(waiting) == 4
    web.add(at("b0"), f"<p>{SORT}</p><a href='{at('later')}'>something else</a>")
    visited = crawl(again(), web, settings={"FOCUS_FRONTIER_SIZE": 4}, **given)
    assert "changed" in outcomes(visited).values()
    assert len(visited.sql("SELECT url FROM frontier")) == 4
    assert visited.stats["focus/queued"] == 4


@pytest.mark.parametrize("settings", [{}, {"HTTPERROR_ALLOW_ALL": False}], ids=["ours", "Scrapy's"])
def test_a_page_that_redirects_to_itself_is_unreachable_not_gone(crawled, settings):
    crawled.web.answers[at("b")] = Answer(301, location=at("b"))
    crawled.web.answers[at("c")] = Answer(404)
    visited = crawled.again(settings)
    assert outcomes(visited) == {at("a"): "unchanged", at("b"): "unreachable", at("c"): "gone"}
    assert at("b") in visited.matched


def test_a_page_first_reached_by_a_redirect_follows_another_spelling_of_its_url(crawl):
    web = small_web({"a": [], "c": []}, {"a": "sort", "c": "sort too"})
    web.add(at("a"), f"<p>sort <a href='{at('b')}'>b</a>")
    web.answers[at("b")] = Answer(302, location=at("c"))
    given = {"seeds": at("a"), "keywords": "sort"}
    crawled = crawl("best_first", web, **given)
    assert crawled.urls == [at("a"), at("c")]
    secure = at("c").replace("http:", "https:")
    web.answers[secure] = web.answers.get(at("c")) or web.get(at("c"))
    web.answers[at("c")] = Answer(301, location=secure)
    visited = crawl(again(), web, **given)
    assert outcomes(visited) == {at("a"): "unchanged", at("c"): "unchanged"}
    assert "focus/visits/error" not in visited.stats


def test_a_visit_keeps_the_score_that_its_page_was_fetched_with(crawl):
    web = web_of_three()
    given = {"seeds": at("a"), "keywords": "sort"}
    crawled = crawl("best_first", web, **given)
    before = crawled.sql("SELECT url, score FROM page ORDER BY id")
    seen = []

    class Watching(again()):
        def stored(self, page):
            seen.append(page.score)

        def score(self, page):
            seen.append((page.url, page.score))
            return super().score(page)

    web.add(at("b"), f"<p>{SORT}</p><a href='{at('d')}'>to d</a>")
    crawl(Watching, web, **given)
    assert (at("b"), dict(before)[at("b")]) in seen


def test_nothing_new_is_fetched_before_the_visits_are_done_whatever_it_scores(crawl):
    class Adding(LOADER.load("best_first")):
        def merge(self, old, new):
            return old + new + 5

    web = small_web(
        {"a": ["b", "c", "d"], "b": ["d", "e"], "c": ["d", "e"], "d": [], "e": []}, dict.fromkeys("abcde", "sort")
    )
    given = {"seeds": at("a"), "keywords": "sort"}
    crawl(Adding, web, max_pages=3, **given)
    visited = crawl(revisiting(Adding, older_than=0), web, settings={"CONCURRENT_REQUESTS": 8}, **given)
    assert len(visited.pages) == 3
    assert len(outcomes(visited)) == 3


def test_a_strategy_may_have_attributes_of_its_own(crawl):
    class Counting(LOADER.load("best_first")):
        def prepare(self):
            self.visited = set()

    web = web_of_three()
    given = {"seeds": at("a"), "keywords": "sort"}
    crawl(Counting, web, **given)
    visited = crawl(revisiting(Counting, older_than=0), web, **given)
    assert set(outcomes(visited).values()) == {"unchanged"}


def test_the_hours_of_a_crawl_do_not_limit_the_new_pages_after_visits(crawl):
    class Hourly(LOADER.load("best_first")):
        max_hours = Option(1.0, "hours of a crawl", at_least=0.0)

    web = web_of_three()
    crawled = crawl(Hourly, web, seeds=at("a"), keywords="sort", max_pages=1)
    with sqlite3.connect(crawled.folder / "crawl.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '3600' WHERE key = 'seconds'")
    connection.close()
    visited = crawl(revisiting(Hourly, older_than=0, new_pages=2), web, seeds=at("a"), keywords="sort")
    assert outcomes(visited) == {at("a"): "unchanged"}
    assert set(visited.urls) == {at("a"), at("b"), at("c")}


def test_what_a_page_says_of_itself_is_renewed_even_if_its_text_is_the_same(crawled):
    def set_page(author: str, text: str) -> None:
        crawled.web.add(at("b"), f"<title>b</title><meta name=author content='{author}'><p>{text}</p>")

    def stored() -> list[tuple[str]]:
        return crawled.sql("SELECT authors FROM metadata JOIN page ON page.id = metadata.page WHERE url = ?", at("b"))

    set_page("Jane Doe", "sort of")
    assert outcomes(crawled.again())[at("b")] == "unchanged"
    assert stored() == [('["Jane Doe"]',)]
    set_page("John Smith", f"sort of {SORT}")
    assert outcomes(crawled.again())[at("b")] == "changed"
    assert stored() == [('["John Smith"]',)]
    crawled.web.add(at("b"), f"<title>b</title><p>sort of {SORT}</p>")
    crawled.again()
    assert stored() == []
    assert [page["authors"] for page in crawled.pages] == [[], [], []]  # pages.jsonl tells what was fetched first


def test_a_page_that_begins_to_refuse_a_purpose_leaves_the_exports_even_if_its_text_is_the_same(crawl):
    web = web_of_three()
    settings = {"FOCUS_RIGHTS": "ai-train"}
    for number, name in enumerate("ac"):
        web.answers[at(name)] = web.answers[at(name)]._replace(headers=(("TDM-Reservation", str(number)),))
    crawl("best_first", web, seeds=at("a"), keywords="sort", settings=settings)
    body = web.answers[at("b")].body
    web.answers[at("b")] = Answer(200, "text/html", body, headers=(("Content-Usage", "train-ai=n"), ("ETag", '"2"')))
    for name in "ac":  # other tags, so that the bodies are sent
        answer = web.answers[at(name)]
        web.answers[at(name)] = answer._replace(headers=(*answer.headers, ("ETag", '"2"')))
    visited = crawl(again(), web, seeds=at("a"), keywords="sort", settings=settings)
    assert outcomes(visited) == {at("a"): "unchanged", at("b"): "changed", at("c"): "unchanged"}
    assert at("b") not in visited.matched
    assert visited.sql("SELECT withheld FROM page WHERE url = ?", at("b")) == [("reservation: ai-train",)]
    assert outcomes(crawl(again(), web, seeds=at("a"), keywords="sort", settings=settings))[at("b")] == "unchanged"
