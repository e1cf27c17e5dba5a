"""FocusedSpider: what a strategy is made of, and what becomes of seeds, topics and directories."""

from __future__ import annotations

import gc
import logging
import weakref
from typing import ClassVar

import pytest
from scrapy import Request
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.test import get_crawler

from focuscrawl.crawl.checks import check_settings
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.spiders.best_first import BestFirstSpider
from focuscrawl.topic import Topic
from focuscrawl.web.webs import Answer
from tests.conftest import FixedScores, at, small_web

LINKS = {
    "root": ["a/0.2", "b/0.9", "c/0.5"],
    "a/0.2": ["d/0.1"],
    "b/0.9": ["e/0.7"],
    "c/0.5": [],
    "d/0.1": [],
    "e/0.7": [],
}


def test_a_new_strategy_is_a_class_with_a_name_and_one_method(crawl):
    class ShortestUrl(FocusedSpider):
        name = "shortest_url"
        needs = ()

        def score(self, page):
            return [1 / len(link.url) for link in page.links]

    crawled = crawl(
        ShortestUrl,
        small_web({"root": ["x/long", "x/l", "x/lon"], "x/long": [], "x/l": [], "x/lon": []}),
        seeds=at("root"),
    )
    assert crawled.urls == [at("root"), at("x/l"), at("x/lon"), at("x/long")]


def test_with_one_download_at_a_time_the_fetch_order_is_the_score_order(crawl):
    crawled = crawl(FixedScores, small_web(LINKS), seeds=at("root"))
    assert crawled.urls == [at(name) for name in ("root", "b/0.9", "e/0.7", "c/0.5", "a/0.2", "d/0.1")]
    assert [page["score"] for page in crawled.pages] == [1.0, 0.9, 0.7, 0.5, 0.2, 0.1]
    assert crawled.stats["focus/priority_inversions"] == 0


def test_a_refused_link_is_not_fetched_but_stored(crawl):
    class Refusing(FixedScores):
        def score(self, page):
            return [None if "//a." in link.url else 0.5 for link in page.links]

    crawled = crawl(Refusing, small_web(LINKS), seeds=at("root"))
    assert at("a/0.2") not in crawled.urls
    assert crawled.sql("SELECT count(*) FROM link WHERE score IS NULL") == [(1,)]


@pytest.mark.parametrize("scores", [[0.5], [float("nan")] * 3])
def test_a_strategy_that_gives_wrong_scores_loses_neither_the_page_nor_the_crawl(crawl, scores):
    class Wrong(FixedScores):
        def score(self, page):
            return scores if len(page.links) == 3 else [0.5] * len(page.links)

    crawled = crawl(Wrong, small_web(LINKS), seeds=f"{at('root')},{at('b/0.9')}")
    assert set(crawled.urls) == {at(name) for name in LINKS}
    assert crawled.urls[:3] == [at("root"), at("b/0.9"), at("e/0.7")]  # links without a score wait behind all others
    assert crawled.sql("SELECT url FROM failure WHERE reason LIKE 'spider error: score%'") == [(at("root"),)]


@pytest.mark.parametrize("hook", ["judge", "matches", "learn", "score", "rescore", "refill"])
def test_whatever_fails_in_a_hook_costs_no_page(crawl, hook):
    class Failing(FixedScores):
        def rescore(self, link):
            return 0.5

    def fail(self, *_):
        raise ZeroDivisionError

    setattr(Failing, hook, fail)
    crawled = crawl(Failing, small_web(LINKS), seeds=at("root"))
    assert set(crawled.urls) == {at(name) for name in LINKS}
    reasons = [reason for (reason,) in crawled.sql("SELECT reason FROM failure")]
    assert reasons
    assert set(reasons) == {f"spider error: {hook}: ZeroDivisionError()"}
    assert crawled.stats["spider_exceptions/ZeroDivisionError"] == len(reasons)


def test_a_link_that_cannot_be_scored_anew_was_not_asked_for(crawl, tmp_path):
    """What a hook failed on is no URL that gave no answer: it keeps its place when the crawl is resumed."""

    class Failing(FixedScores):
        def rescore(self, link):
            raise ZeroDivisionError

    web = small_web(LINKS)
    crawl(Failing, web, tmp_path / "c", seeds=at("root"), max_pages=2)
    crawled = crawl(FixedScores, web, tmp_path / "c", seeds=at("root"))
    assert crawled.urls == [at("root"), at("b/0.9"), at("e/0.7"), at("c/0.5"), at("a/0.2"), at("d/0.1")]


@pytest.mark.parametrize("hook", ["learn", "score"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), FocusError("cannot write model.json")])
def test_what_cannot_be_written_stops_the_crawl_in_one_line(crawl, hook, error):
    class Failing(FixedScores):
        pass

    def fail(self, *_):
        raise error

    setattr(Failing, hook, fail)
    crawled = crawl(Failing, small_web(LINKS), seeds=at("root"))
    fatal = Crawl.of(crawled.crawler).fatal
    assert str(error) in fatal
    assert "\n" not in fatal
    assert crawled.urls[0] == at("root")  # the page that it happened on is stored
    assert crawled.sql("SELECT count(*) FROM failure") == [(0,)]


def test_scores_beyond_their_range_are_cut(crawl):
    class Eager(FixedScores):
        def score(self, page):
            return [7.0 if "//a." in link.url else -3.0 for link in page.links]

    crawled = crawl(Eager, small_web(LINKS), seeds=at("root"))
    assert {page["score"] for page in crawled.pages} == {1.0, 0.0}


def test_a_strategy_learns_what_became_of_its_links(crawl):
    lessons = []

    class Learning(FixedScores):
        def learn(self, page, via):
            lessons.append((page.url, via.anchor, via.score, via.before()))

    crawl(Learning, small_web(LINKS), seeds=at("root"))
    assert (at("b/0.9"), "to b/0.9", 0.9, ("to", "a", "0", "2")) in lessons
    assert len(lessons) == 5  # all but the seed


def test_a_strategy_may_change_its_mind_about_what_waits(crawl):
    class Fickle(FixedScores):
        def rescore(self, link):
            return 0.1 if "b/" in link.anchor else link.score

    crawled = crawl(
        Fickle,
        small_web({"root": ["a/0.2", "b/0.9", "c/0.6"], "a/0.2": [], "b/0.9": [], "c/0.6": []}),
        seeds=at("root"),
    )
    assert crawled.urls[1:] == [at("c/0.6"), at("a/0.2"), at("b/0.9")]


def test_the_judgement_is_made_once(crawl):
    judged = []

    class Counting(FixedScores):
        def judge(self, page):
            judged.append(page.url)
            return super().judge(page)

        def score(self, page):
            self.relevance(page)
            return super().score(page)

    crawled = crawl(Counting, small_web(LINKS), seeds=at("root"), keywords="sort")
    assert judged == crawled.urls


def test_a_spider_may_yield_requests_of_its_own(crawl):
    class Own(FocusedSpider):
        name = "own"
        needs = ()

        def parse(self, response):
            yield from super().parse(response)
            if response.url == at("root"):
                yield Request(at("extra"))
                yield Request(at("special"), callback=self.parse_special, cb_kwargs={"word": b"bytes"})

        def parse_special(self, response, word):
            assert word == b"bytes"
            yield {"url": response.url}

        def score(self, page):
            return [0.9 if "extra" in link.url else 0.1 for link in page.links]

    web = small_web({"root": ["a"], "a": [], "extra": [], "special": []})
    crawled = crawl(Own, web, seeds=at("root"))
    assert crawled.urls == [at("root"), at("extra"), at("a")]
    assert [page["score"] for page in crawled.pages] == [1.0, 0.9, 0.1]
    assert crawled.pages[1]["parent"] == at("root")
    assert crawled.stats["item_scraped_count"] == 4  # the one of parse_special among them
    assert crawled.sql("SELECT count(*) FROM frontier") == [(0,)]


def test_requests_of_its_own_survive_a_stop(crawl, tmp_path):
    class Own(FocusedSpider):
        name = "own"
        needs = ()

        def parse(self, response):
            yield from super().parse(response)
            if response.url == at("root"):
                yield Request(
                    at("form"), method="POST", body=b"x=\xff", headers={"X-Test": "1"}, callback=self.parse_form
                )

        def parse_form(self, response):
            assert response.request.method == "POST"
            assert response.request.body == b"x=\xff"
            page = self.read(response)
            page.title = "answer to the form"
            yield page

        def score(self, page):
            return [0.5] * len(page.links)

    web = small_web({"root": [], "form": []})
    crawl(Own, web, seeds=at("root"), max_pages=1)
    crawled = crawl(Own, web, seeds=at("root"))
    assert [page["title"] for page in crawled.pages] == ["root", "answer to the form"]


def test_a_retried_form_is_not_taken_for_a_link(crawl):
    class Own(FixedScores):
        def parse(self, response):
            yield from super().parse(response)
            if response.url == at("root"):
                yield Request(at("form/0.4"), method="POST", body=b"x")

        def score(self, page):
            return [0.9 if "form" in link.url else 0.5 for link in page.links]

    web = small_web({"root": ["form/0.4"]})
    web.answers[at("form/0.4")] = Answer(500, "text/html", b"")
    crawled = crawl(Own, web, seeds=at("root"))
    assert [page["status"] for page in crawled.pages] == [200, 500, 500]


def test_depth_and_url_length_are_limited_if_asked_for(crawl, tmp_path):
    chain = {"a": ["a/1"], "a/1": ["a/2"], "a/2": ["a/3"], "a/3": []}
    assert len(crawl("breadth_first", small_web(chain), tmp_path / "1", {"DEPTH_LIMIT": 2}, seeds=at("a")).urls) == 3
    long = small_web({"a": ["a/" + "x" * 3000], "a/" + "x" * 3000: []})
    assert len(crawl("breadth_first", long, tmp_path / "2", seeds=at("a")).urls) == 1


def test_nofollow_is_obeyed_if_asked_for(crawl, tmp_path):
    web = small_web({"a": [], "b": []})
    web.add(at("a"), f"<a href='{at('b')}' rel='nofollow'>b</a>")
    assert len(crawl("breadth_first", web, tmp_path / "1", seeds=at("a")).urls) == 2
    assert len(crawl("breadth_first", web, tmp_path / "2", {"FOCUS_NOFOLLOW": True}, seeds=at("a")).urls) == 1


@pytest.mark.parametrize(
    ("meta", "headers", "urls", "matched"),
    [
        ("", (), 2, 2),
        ("<meta name=robots content='NOFOLLOW'>", (), 1, 1),
        ("<meta name=robots content='noindex, follow'>", (), 2, 1),
        ("<meta name=robots content=none>", (), 1, 0),
        ("", (("X-Robots-Tag", "nofollow"),), 1, 1),
        ("", (("X-Robots-Tag", "focuscrawl: noindex, nofollow"),), 1, 0),
        ("", (("X-Robots-Tag", "otherbot: none"), ("X-Robots-Tag", "noindex")), 2, 1),
        ("", (("X-Robots-Tag", "unavailable_after: 25 Jun 2030 15:00:00 PST"),), 2, 2),
        ("", (("X-Robots-Tag", "noindex, max-snippet:-1"),), 2, 1),
        ("", (("X-Robots-Tag", "otherbot: noarchive, FocusCrawl: none"),), 1, 0),
        ("<meta name=FocusCrawl content=noindex>", (), 2, 1),
    ],
)
def test_pages_that_ask_not_to_be_indexed_or_followed_are_obeyed(crawl, tmp_path, meta, headers, urls, matched):
    web = small_web({"b": []})
    web.answers[at("a")] = Answer(200, "text/html", f"{meta}<a href='{at('b')}'>b</a>".encode(), headers=headers)
    crawled = crawl("breadth_first", web, tmp_path / "1", seeds=at("a"))
    assert (len(crawled.urls), len(crawled.matched)) == (urls, matched)
    free = crawl("breadth_first", web, tmp_path / "2", {"FOCUS_ROBOTS_META": False}, seeds=at("a"))
    assert (len(free.urls), len(free.matched)) == (2, 2)


def test_an_invalid_seed_is_named_and_the_others_are_crawled(crawl, caplog):
    crawled = crawl("breadth_first", small_web({"a": []}), seeds=f"b.example,{at('a')}")
    assert crawled.urls == [at("a")]
    assert "seed skipped: 'b.example' is not a URL (did you mean 'http://b.example'?)" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "no seeds given; use -a seeds="),
        ({"seeds": "nonsense,ftp://x/"}, "no valid seed: 'nonsense' is not a URL"),
        ({"seeds": "http://a/", "topic": "no-such-topic"}, "unknown topic"),
        ({"seeds": "http://a/", "max_pages": "-1"}, "option max_pages=-1"),
        ({"seeds": "http://a/", "maxpages": "1"}, "did you mean max_pages?"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_fetched(crawl, tmp_path, arguments, says):
    with pytest.raises(FocusError) as caught:
        crawl("breadth_first", small_web({}), tmp_path / "new", **arguments)
    assert says in str(caught.value)
    assert not (tmp_path / "new").exists()


def test_a_directory_belongs_to_its_spider_and_topic(crawl, tmp_path):
    web = small_web({"a": []})
    crawl("breadth_first", web, seeds=at("a"), keywords="x")
    with pytest.raises(FocusError, match="belongs to spider 'breadth_first' and topic 'x', not to 'keyword'"):
        crawl("keyword", web, seeds=at("a"), keywords="x")
    with pytest.raises(FocusError, match="not to 'breadth_first' and 'y'"):
        crawl("breadth_first", web, seeds=at("a"), keywords="y")
    with pytest.raises(FocusError, match="with other keywords"):
        crawl("breadth_first", web, seeds=at("a"), keywords="x:2")


def test_the_scheme_rule_cannot_change_half_way(crawl):
    web = small_web({"a": []})
    crawl("breadth_first", web, seeds=at("a"))
    with pytest.raises(FocusError, match="started with another FOCUS_ANY_SCHEME"):
        crawl("breadth_first", web, settings={"FOCUS_ANY_SCHEME": False}, seeds=at("a"))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("FOCUS_FRONTIER_SIZE", "many", "a whole number"),
        ("FOCUS_PAGES_PER_HOST", "-1", "a whole number"),
        ("FOCUS_AGEING", "slow", "a number"),
        ("FOCUS_HOSTS_PER_BATCH", None, "a whole number"),
    ],
)
def test_wrong_settings_are_named(crawl, name, value, expected):
    with pytest.raises(FocusError, match=f"setting {name}={value}: expected {expected}, at least 0"):
        crawl("breadth_first", small_web({"a": []}), settings={name: value}, seeds=at("a"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DOWNLOAD_DELAY", "0.25"),
        ("DOWNLOAD_TIMEOUT", 2.5),
        ("DOWNLOAD_DELAY_JITTER", "0.5"),
        ("TELNETCONSOLE_ENABLED", "True"),
        ("COOKIES_ENABLED", "1"),
        ("RETRY_TIMES", None),
        ("LOG_LEVEL", 15),
        ("LOG_LEVEL", "WARN"),
        ("FOCUS_PROGRESS", "auto"),
        ("NEW_OF_THE_PROJECTS", "whatever"),
    ],
)
def test_whatever_can_be_read_may_be_set(name, value):
    check_settings(Settings({name: value}))
    check_settings(BaseSettings({name: value}))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("CONCURRENT_REQUESTS", "1.5", "a whole number"),
        ("CONCURRENT_REQUESTS", [1], "a whole number"),
        ("CLOSESPIDER_TIMEOUT", "", "a number"),
        ("RETRY_ENABLED", "yes", "True or False"),
        ("LOG_LEVEL", None, "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("LOG_LEVEL", "info", "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("RETRY_GIVE_UP_LOG_LEVEL", "LOUD", "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("FOCUS_DUPLICATES", "2", "a number, 0 to 1"),
    ],
)
def test_what_cannot_be_read_is_named_in_any_settings(name, value, expected):
    for settings in (Settings({name: value}), BaseSettings({name: value})):
        with pytest.raises(FocusError) as caught:
            check_settings(settings)
        assert str(caught.value) == f"setting {name}={value}: expected {expected}"


def test_a_spiders_own_settings_are_checked_like_others(crawl, tmp_path):
    class Hasty(FixedScores):
        custom_settings: ClassVar = {"DOWNLOAD_DELAY": "none"}

    with pytest.raises(FocusError, match="setting DOWNLOAD_DELAY=none: expected a number"):
        crawl(Hasty, small_web({"a": []}), tmp_path / "new", seeds=at("a"))
    assert not (tmp_path / "new").exists()


def test_a_directory_in_use_is_refused(crawl, tmp_path):
    web = small_web({"a": []})
    crawl("breadth_first", web, seeds=at("a"))
    running = Crawl(tmp_path / "crawl", "breadth_first", Topic("a.example"))
    with pytest.raises(FocusError, match="in use by another crawl"):
        crawl("breadth_first", web, seeds=at("a"))
    running.close()


class Taught(FixedScores):
    name = "taught"
    needs = ("examples",)

    def train_on_examples(self):
        type(self).seen = [page.words for page in self.examples], [page.words for page in self.counterexamples]


def test_examples_are_read_from_files_and_fetched_from_the_web_before_the_seeds(crawl, tmp_path):
    (tmp_path / "one.html").write_text("<p>from a file")
    (tmp_path / "t.toml").write_text(
        f"name = 't'\nexamples = ['one.html', '{at('example')}', '{at('missing')}']\ncounterexamples = ['{at('other')}']"
    )
    web = small_web({"root": [], "example": [], "other": []}, {"example": "from the web", "other": "off topic"})
    crawled = crawl(Taught, web, seeds=at("root"), topic=tmp_path / "t.toml")
    assert Taught.seen == ([["from", "a", "file"], ["example", "from", "the", "web"]], [["other", "off", "topic"]])
    assert crawled.urls == [at("root")]
    assert crawled.sql("SELECT url FROM example ORDER BY url") == [(at("example"),), (at("other"),)]
    requests = crawled.stats["downloader/request_count"]
    again = crawl(Taught, web, seeds=at("root"), topic=tmp_path / "t.toml")
    assert again.stats["downloader/request_count"] < requests  # the examples are in the store


def test_examples_that_robots_forbid_are_not_fetched(crawl, tmp_path):
    (tmp_path / "t.toml").write_text(f"name = 't'\nexamples = ['{at('example/x')}']")
    web = small_web({"root": [], "example/x": []})
    web.add(at("example/robots.txt"), "User-agent: *\nDisallow: /x", content_type="text/plain")
    crawl(Taught, web, seeds=at("root"), topic=tmp_path / "t.toml")
    assert Taught.seen == ([], [])


def test_a_contact_goes_into_the_user_agent(crawl, tmp_path, caplog):
    web = small_web({"a": []})
    contact = {"FOCUS_CONTACT": "https://example.org/bot"}
    crawled = crawl("breadth_first", web, tmp_path / "1", contact, seeds=at("a"))
    assert crawled.crawler.settings["USER_AGENT"].endswith(" (+https://example.org/bot)")
    own = {"FOCUS_CONTACT": "https://example.org/bot", "USER_AGENT": "mine/1.0"}
    assert crawl("breadth_first", web, tmp_path / "2", own, seeds=at("a")).crawler.settings["USER_AGENT"] == "mine/1.0"


def test_pages_tell_what_they_are_when_printed():
    assert repr(Page("http://a/")) == "<Page 200 http://a/>"


def test_a_process_forgets_the_crawls_it_has_finished(crawl, caplog, tmp_path):
    """A lab runs hundreds of them, one after the other."""
    caplog.set_level(logging.CRITICAL, "scrapy")  # its records hold the crawler, and pytest the records

    def crawled(number: int) -> weakref.ref:
        web = small_web({"a": ["b"], "b": []})
        return weakref.ref(crawl("best_first", web, tmp_path / str(number), seeds=at("a"), keywords="sort").crawler)

    crawls = [crawled(number) for number in range(2)]
    gc.collect()
    assert [one() for one in crawls] == [None, None]


def test_a_project_without_our_settings_is_told_how_to_get_them():
    crawler = get_crawler(BestFirstSpider)
    with pytest.raises(FocusError, match="settings are not loaded; add ADDONS"):
        BestFirstSpider.from_crawler(crawler, seeds=at("a"), keywords="sort")
