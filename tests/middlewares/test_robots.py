from __future__ import annotations

import gc
import tracemalloc
from time import monotonic, process_time

import pytest

from focuscrawl.manners.recent import Recent
from focuscrawl.manners.robots import Rules, wished_delay
from focuscrawl.middlewares import robots
from focuscrawl.middlewares.robots import RobotsMiddleware
from focuscrawl.web.webs import Answer
from tests.conftest import at, small_web

LINKS = {"a": ["a/open", "a/closed/x"], "a/open": [], "a/closed/x": []}


def run(crawl, rules: str | Answer | None, **settings):
    web = small_web(LINKS)
    if isinstance(rules, Answer):
        web.answers[at("a/robots.txt")] = rules
    elif rules is not None:
        web.add(at("a/robots.txt"), rules, content_type="text/plain")
    return crawl("breadth_first", web, settings=settings, seeds=at("a"))


def test_refusals_are_counted_and_stored_with_their_reason(crawl):
    crawled = run(crawl, "User-agent: *\nDisallow: /closed/")
    assert crawled.stats["robotstxt/forbidden"] == 1
    assert crawled.sql("SELECT url, reason FROM failure") == [(at("a/closed/x"), "robots.txt disallows it")]


def test_a_host_that_cannot_say_is_left_alone(crawl):
    crawled = run(crawl, Answer(500), RETRY_ENABLED=False)
    assert crawled.sql("SELECT reason FROM failure") == [("robots.txt could not be read: HTTP 500",)]


def test_robots_txt_is_asked_for_once_per_host(crawl):
    assert run(crawl, "User-agent: *\nDisallow:", CONCURRENT_REQUESTS=8).stats["robotstxt/request_count"] == 1


@pytest.mark.parametrize(
    ("rules", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 0.2", 0.2),
        ("User-agent: *\nRequest-rate: 10/1s", 0.1),
        ("User-agent: *\nCrawl-delay: 3600", 0.3),  # cut by the setting
        ("User-agent: other\nCrawl-delay: 5", 0),
        ("User-agent: *\nCrawl-delay: 0.01", 0.05),  # ours is longer
    ],
)
def test_a_host_is_given_the_distance_it_asks_for(crawl, rules, delay):
    settings = {"FOCUS_CRAWL_DELAY_MAX": 0.3, "DOWNLOAD_DELAY": 0.05 if delay == 0.05 else 0}
    crawled = run(crawl, rules, **settings)
    assert len(crawled.asked) == 3
    assert min(crawled.gaps) >= delay * 0.95
    assert ("robotstxt/slowed" in crawled.stats) == (delay not in (0, 0.05))


@pytest.mark.parametrize(
    ("rules", "delay"),
    [
        ("", 0),
        ("Crawl-delay: 5", 0),
        ("User-agent: *\nCrawl-delay: 5", 5),
        ("User-agent: *\ncrawl-delay:.5 # half a second", 0.5),
        ("User-agent: *\nCrawl-delay: soon", 0),
        ("User-agent: *\nCrawl-delay: -5", 0),
        ("User-agent: *\nCrawl-delay: nan", 0),
        ("User-agent: *\nCrawl-delay: " + "9" * 400, 0),
        ("User-agent: *\nRequest-rate: 1/5", 5),
        ("User-agent: *\nRequest-rate: 2/1m", 30),
        ("User-agent: *\nRequest-rate: 1/1H 0600-0845", 3600),
        ("User-agent: *\nRequest-rate: 0/5", 5),
        ("User-agent: *\nRequest-rate: 1/" + "9" * 400, 0),
        ("User-agent: *\nCrawl-delay: 2\nRequest-rate: 1/5", 5),
        ("User-agent: *\nCrawl-delay: 5\nUser-agent: FocusCrawl\nCrawl-delay: 2", 2),
        ("User-agent: *\nCrawl-delay: 5\nUser-agent: focuscrawl\nDisallow:", 0),
        ("User-agent: focuscrawl\nUser-agent: other\nDisallow: /x\nCrawl-delay: 5", 5),
        ("User-agent: other\nCrawl-delay: 9\nUser-agent: *\nDisallow: /x", 0),
        ("User-agent: focus\nCrawl-delay: 9\nUser-agent: *\nCrawl-delay: 5", 5),
    ],
)
def test_the_distance_that_a_robots_txt_asks_for(rules, delay):
    assert wished_delay(rules.encode(), "focuscrawl/1.0") == delay


@pytest.mark.parametrize(
    "rules",
    [
        b"".join(b"User-agent: a%d\n" % n for n in range(12_000))
        + b"".join(b"Allow: /%d\n" % n for n in range(12_000)),
        b"User-agent: *\n" * 15_000 + b"".join(b"Allow: /%d\n" % n for n in range(12_000)),
        b"User-agent: *\n" + b"".join(b"Disallow: /*%d*b$\n" % n for n in range(20_000)),
        b"User-agent: *\nDisallow: /" + b"*a" * 100 + b"b",
        b"User-agent: *\nDisallow: /" + b"*a" * 200_000,
        b"User-agent: *\nDisallow: /" + b"*" * 400_000 + b"b",
        b"User-agent: *\nDisallow" + b" " * 400_000 + b"x y",
    ],
    ids=["many agents", "one agent many times", "many stars", "stars in one rule", "long rule", "only stars", "spaces"],
)
def test_a_hostile_robots_txt_is_read_in_a_moment(rules):
    start = process_time()  # however busy the machine is
    assert Rules.read(rules, "focuscrawl").allows(f"http://a.example/{'a' * 2000}")
    assert wished_delay(rules, "focuscrawl") == 0
    assert process_time() - start < 5


def test_it_can_be_switched_off(crawl):
    assert len(run(crawl, "User-agent: *\nDisallow: /", ROBOTSTXT_OBEY=False).urls) == 3


@pytest.mark.slow
def test_what_is_kept_of_hosts_is_bounded_in_bytes(crawl, monkeypatch):
    """Forty large robots.txt: those of hosts not asked lately are dropped, and asked for again when they are needed."""
    monkeypatch.setattr(robots, "RULES_SIZE", 200_000)
    monkeypatch.setattr(robots, "MATCHERS_SIZE", 2_000_000)
    names = [f"h{number}" for number in range(12)]
    web = small_web({"seed": names, **{name: [f"{name}/b"] for name in names}, **{f"{name}/b": [] for name in names}})
    rules = b"User-agent: *\n" + b"".join(b"Disallow: /secret/%d\n" % number for number in range(1_500))
    others = b"".join(b"User-agent: other%d\nDisallow: /%d\n" % (number, number) for number in range(5_000))
    for name in names:
        web.answers[at(f"{name}/robots.txt")] = Answer(200, "text/plain", others + rules)
    tracemalloc.start()
    crawled = crawl("breadth_first", web, seeds=at("seed"))
    middleware = crawled.crawler.get_downloader_middleware(RobotsMiddleware)
    assert len(crawled.urls) == 25
    assert middleware._sites.size <= 200_000
    assert middleware._matchers.size <= 2_000_000
    gc.collect()
    # each says 35 KB to us, and 180 KB to others, which are not kept
    sizes = [tracemalloc.get_traced_memory()[0]]
    middleware._sites, middleware._matchers = Recent(1), Recent(1)
    gc.collect()
    sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[0] - sizes[1] < 6_000_000
    assert crawled.stats["robotstxt/request_count"] > 13


@pytest.mark.parametrize(
    "line", ["focuscrawl, otherbot", "otherbot,focuscrawl", "focuscrawl;", "FocusCrawl<br>", "focuscrawl/1.0 (x)"]
)
def test_a_list_of_crawlers_names_each_of_them(line):
    body = f"User-agent: {line}\nDisallow: /\nCrawl-delay: 7\n\nUser-agent: *\nDisallow:".encode()
    assert not Rules.read(body, "focuscrawl").allows("http://a.example/x")
    assert wished_delay(body, "focuscrawl") == 7
    assert Rules.read(body, "thirdbot").allows("http://a.example/x")


@pytest.mark.parametrize("status", [429, 503, 500])
def test_a_robots_txt_that_cannot_be_read_is_asked_for_again_after_a_rest(crawl, status):
    """Meanwhile its pages wait in the frontier, and other hosts are crawled."""
    web = small_web({"seed": ["busy", "a"], "busy": [], "a": []})
    web.answers[at("busy/robots.txt")] = Answer(status)
    asked = []
    answer = web.get

    def get(url):
        asked.append((monotonic(), url))
        if len([url for _, url in asked if url == at("busy/robots.txt")]) == 2:
            web.answers[at("busy/robots.txt")] = Answer(200, "text/plain", b"User-agent: *\nDisallow: /x")
        return answer(url)

    web.get = get
    crawled = crawl("breadth_first", web, settings={"FOCUS_BACKOFF_MAX": 0.3}, seeds=at("seed"))
    assert crawled.urls == [at("seed"), at("a"), at("busy")]
    times = [moment for moment, url in asked if url == at("busy/robots.txt")]
    assert len(times) == 2
    assert times[1] - times[0] >= 0.3
