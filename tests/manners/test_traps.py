from __future__ import annotations

import random
from time import process_time

import pytest

from focuscrawl import urls
from focuscrawl.manners.traps import DAMPING, TRIES, Recall, Traps, patterns
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.web.webs import NOT_FOUND, Answer, MemoryWeb
from tests.conftest import at, scrapy, small_web

HTML = "text/html"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://a.example/", ["http://a.example/"]),
        ("http://a.example/wiki/Heap_sort", ["http://a.example/wiki/*"]),
        ("http://a.example/wiki/Heap.HTML", ["http://a.example/wiki/*.html"]),
        ("http://a.example/cal/2031/05/", ["http://a.example/cal/0/0/"]),
        ("http://a.example/v2/item-17", ["http://a.example/v0/*"]),
        ("http://a.example/b/9f86d081884c/x", ["http://a.example/b/x/*"]),
        ("http://a.example/l.php?b=2&a=1", ["http://a.example/l.php?a&b", "http://a.example/l.php?"]),
        (
            "http://a.example/a/b/c/d?x",
            ["http://a.example/a/b/c/d?x", "http://a.example/a/b/c/d?", "http://a.example/a/**"],
        ),
        ("http://a.example/l?=1&", ["http://a.example/l?"]),
        ("nonsense", []),
    ],
)
def test_urls_are_grouped_by_pattern(url, found):
    assert patterns(url) == found


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://a.example/x/y/x/y/x/", "path segments repeat"),
        ("http://a.example/" + "/".join("abcdefghijklmnop"), "path deeper than 12 segments"),
        ("http://a.example/p;jsessionid=0A1B", "session id"),
        ("http://a.example/p?PHPSESSID=0a1b", "session id"),
        ("http://a.example/p?sid=0123456789abcdef0123", "session id"),
        ("http://a.example/(S(lit3py55t21z5v55vlm25s55))/p.aspx", "session id"),
    ],
)
def test_some_urls_look_like_traps(url, why):
    traps = Traps()
    assert traps.damping(url) < 1
    assert traps.why(url) == why


@pytest.mark.parametrize(
    "url",
    ["http://a.example/", "http://a.example/2024/01/01/", "http://a.example/a/b/a/b", "http://a.example/?sid=12",
     "http://a.example/x?q=(s)", "http://a.example/1/1/1/1/1"],
)  # fmt: skip
def test_most_do_not(url):
    assert Traps().damping(url) == 1
    assert Traps().why(url) == ""


def test_a_path_of_very_many_segments_is_looked_at_in_a_moment():
    url = "http://a.example/" + "/".join(f"s{number}" for number in range(20_000))
    begin = process_time()
    assert Traps().damping(url) < 1
    assert process_time() - begin < 1


def page(url: str, text: str) -> Page:
    return read_html(Page(url), f"<p>{text}</p>".encode(), HTML)


def month(number: int) -> Page:
    return page(
        f"http://a.example/cal/{2000 + number // 12}/{number % 12 + 1}",
        f"Events in month {number % 12} of the year: nothing is planned for now. Next month, previous month, today.",
    )


def test_pages_that_say_nothing_new_make_a_trap_and_new_ones_unmake_it():
    traps = Traps()
    number = 0
    while not traps.is_trap("http://a.example/cal/0/0"):
        traps.notice(month(number))
        number += 1
        assert number < 40
    assert traps.damping("http://a.example/cal/2050/1") == DAMPING
    assert traps.damping("http://a.example/news/2050/1") == 1
    assert traps.why("http://a.example/cal/2050/1").startswith(
        f"calendar: the last {TRIES} pages like http://a.example/cal"
    )
    traps.notice(
        page("http://a.example/cal/2051/1", "Moon landing: an expedition reaches the southern craters at last")
    )
    assert traps.damping("http://a.example/cal/2050/1") == 1


def test_articles_are_no_trap_however_many_there_are():
    words = [f"word{number}" for number in range(20_000)]
    chance = random.Random(1)
    traps = Traps()
    for number in range(300):
        traps.notice(page(f"http://a.example/article/{number}", " ".join(chance.choices(words, k=200))))
    assert traps.damping("http://a.example/article/1000") == 1
    assert traps.patterns["http://a.example/article/0"].pages == 300


def test_pages_that_cannot_be_read_are_nothing_new():
    traps = Traps()
    for number in range(TRIES):
        missing = Page(f"http://a.example/gone/{number}", status=404)
        missing.problem = "HTTP 404"
        traps.notice(missing)
    assert traps.damping("http://a.example/gone/99") == DAMPING


def test_traps_are_known_to_the_next_run():
    traps = Traps([("http://a.example/cal/0/0", 30, TRIES)])
    assert traps.damping("http://a.example/cal/2050/1") == DAMPING
    traps.notice(month(1))  # what it said before is forgotten: this one does not count as new
    assert traps.damping("http://a.example/cal/2050/1") == DAMPING


def test_patterns_and_queries_may_be_bounded():
    traps = Traps(pages_per_pattern=2, queries_per_path=3)
    for number, url in enumerate(("/a/1", "/a/2", "/l?x=1", "/l?y=2", "/l?x=2&y=2")):
        traps.notice(page(f"http://a.example{url}", f"something new {number} " * number))
    assert traps.damping("http://a.example/a/3") == 0
    assert traps.why("http://a.example/a/3") == "page limit reached: http://a.example/a/0"
    assert traps.damping("http://a.example/l?z=1") == 0
    assert traps.damping("http://a.example/b/1") == 1


# ---- crawls


class Endless(MemoryWeb):
    """A few good pages, and a place on the same host that never ends."""

    def __init__(self, first: str) -> None:
        super().__init__()
        good = "".join(f'<p><a href="/good/{number}">sorting {number}</a>' for number in range(60))
        self.add(at("a"), f'<title>sort</title><p>sort</p><a href="{first}">more to sort</a>{good}')
        chance = random.Random(2)
        for number in range(60):
            text = " ".join(f"w{chance.randrange(9999)}" for _ in range(80))
            self.add(at(f"a/good/{number}"), f"<title>Sort {number}</title><p>sort sorting {text}</p>")

    def next_after(self, url: str) -> str:
        raise NotImplementedError

    def get(self, url: str) -> Answer:
        answer = super().get(url)
        if answer is not NOT_FOUND or "robots.txt" in url or ".json" in url:
            return answer
        links = "".join(f'<a href="{target}">more to sort</a> ' for target in self.next_after(url).split())
        return Answer(200, HTML, f"<title>Sort</title><p>sort sorting, in some way or other</p>{links}".encode())


class Calendar(Endless):
    def next_after(self, url):
        *_, year, month = url.split("/")
        year, month = int(year) + int(month) // 12, int(month) % 12 + 1
        return f"/cal/{year}/{month} /cal/{year + 1}/{month}"


class Deeper(Endless):
    def next_after(self, url):
        return f"{url}/deep{random.Random(url).randrange(99)}x {url}/more"


class Repeating(Endless):
    def next_after(self, url):
        return f"{url}/en/docs {url}/en"


class Sessions(Endless):
    def next_after(self, url):
        chance = random.Random(url)
        return " ".join(f"/list;jsessionid={chance.getrandbits(64):x}" for _ in range(3))


class Queries(Endless):
    def next_after(self, url):
        chance = random.Random(url)
        return " ".join(f"/list?sort={chance.randrange(99)}&page={chance.randrange(99)}" for _ in range(3))


class SoftErrors(Endless):
    def get(self, url):
        answer = super().get(url)
        if answer.body.startswith(b"<title>Sort</title>"):
            body = answer.body.replace(b"<title>Sort</title>", b"<title>Not found</title>")
            return answer._replace(body=body)
        return answer

    def next_after(self, url):
        chance = random.Random(url)
        return " ".join(f"/missing/{chance.getrandbits(32)}" for _ in range(3))


@pytest.mark.parametrize(
    ("trap", "first"),
    [
        (Calendar, "/cal/2030/1"),
        (Deeper, "/x"),
        (Repeating, "/y"),
        (Sessions, "/list;jsessionid=1"),
        (Queries, "/list?sort=1&page=1"),
        (SoftErrors, "/missing/0"),
    ],
)
def test_a_trap_does_not_keep_the_crawl_from_the_good_pages(crawl, trap, first):
    """Newest first is what a trap would win by: its pages always have a next one."""
    from focuscrawl.spider import FocusedSpider

    class Newest(FocusedSpider):
        name = "newest"
        made = 0

        def score(self, page):
            Newest.made += 1
            return [0.5 + Newest.made / 10_000 + link.url.endswith(first) * 0.1 for link in page.links]

    crawled = crawl(Newest, trap(first), seeds=at("a"), keywords="sort", max_pages=120)
    good = [url for url in crawled.urls if "/good/" in url]
    assert len(good) == 60
    assert crawled.crawler.spider.crawl.relevant >= 60


def test_a_trap_is_reported(crawl):
    crawled = crawl("breadth_first", Calendar("/cal/2030/1"), seeds=at("a"), keywords="sort", max_pages=120)
    assert crawled.stats["focus/traps/calendar"] == 1
    assert crawled.stats["focus/damped"] > 0
    assert crawled.sql("SELECT stale >= 20 FROM pattern WHERE pattern LIKE '%/cal/0/0'") == [(1,)]
    report = (crawled.folder / "report.html").read_text()
    assert "http://a.example/cal/0/0" in report
    (url,) = crawled.sql("SELECT url FROM frontier WHERE damping < 1 LIMIT 1")[0]
    told = scrapy("explain", crawled.folder, url)
    assert "damped to 10 % of its score: calendar" in told.stdout


def test_the_bounds_hold_in_a_crawl(crawl):
    settings = {"FOCUS_PAGES_PER_PATTERN": 5}
    crawled = crawl("breadth_first", Calendar("/cal/2030/1"), settings=settings, seeds=at("a"), max_pages=120)
    assert len([url for url in crawled.urls if "/cal/" in url]) == 5
    assert crawled.stats["focus/pattern_full"] > 0


def test_session_ids_make_no_difference():
    assert urls.key("http://a.example/p;jsessionid=1?x=1&PHPSESSID=3") == urls.key("http://a.example/p?x=1")
    assert urls.key("http://a.example/p?sid=1") != urls.key("http://a.example/p")


def test_a_damped_url_keeps_its_place_when_the_crawl_goes_on(crawl):
    web = Calendar("/cal/2030/1")
    crawl("breadth_first", web, seeds=at("a"), keywords="sort", max_pages=100)
    crawled = crawl("breadth_first", web, seeds=at("a"), keywords="sort", max_pages=110)
    rows = crawled.sql("SELECT score, rank, damping FROM frontier WHERE damping < 1")
    assert rows
    assert all(rank == pytest.approx(score * damping) for score, rank, damping in rows)


def test_nothing_is_damped_on_a_plain_web(crawl):
    crawled = crawl("breadth_first", small_web({"a": ["b"], "b": []}), seeds=at("a"))
    assert crawled.stats["focus/damped"] == 0


def test_what_is_read_again_after_a_stop_is_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr("focuscrawl.manners.traps.RECALLED_BYTES", 1_000)
    read = []

    def words(number):
        read.append(number)
        return {f"w{number}"}, 400

    recall = Recall(lambda: [(n, f"http://a.example/x?n={n}", False) for n in range(1, 50)], words)
    assert len(list(recall("http://a.example/x?n"))) == 3
    assert list(recall("http://a.example/x?")) == []
    assert read == [3, 4, 5]
