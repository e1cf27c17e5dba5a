"""The add-on in a fresh project of somebody else's: its spiders are as they were, their crawls are focused."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import serving
from tests.conftest import scrapy

SETTINGS = """
ADDONS = {"focuscrawl.addon.FocusAddon": 500}
FOCUS_TOPIC = {"name": "Sorting", "keywords": {"sort": 5, "algorithm": 4, "array": 3, "merge": 2}}
ITEM_PIPELINES = {"shop.pipelines.ShopPipeline": 300}
COMMANDS_MODULE = "focuscrawl.commands"
"""
RULES = """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

class RulesSpider(CrawlSpider):
    name = "rules"
    start_urls = ["http://crossroads.example/", "http://sorting-handbook.example/"]
    rules = [Rule(LinkExtractor(), callback="parse_item", follow=True)]

    def parse_item(self, response, **kwargs):
        yield {"url": response.url, "anchor": response.meta["link_text"]}
"""
PLAIN = """
import scrapy

class PlainSpider(scrapy.Spider):
    name = "plain"
    start_urls = ["http://crossroads.example/", "http://sorting-handbook.example/"]

    async def parse(self, response, parent="nobody"):
        yield {"url": response.url, "parent": parent}
        for href in response.css('a::attr(href)').getall():
            if "mailto" not in href:
                yield response.follow(href, cb_kwargs={"parent": response.url})
"""
OWN = """
from focuscrawl.spider import FocusedSpider

class OwnSpider(FocusedSpider):
    name = "own"
    start_urls = ["http://crossroads.example/", "http://sorting-handbook.example/"]

    def score(self, page):
        return self.alike(page, self.relevance(page), {"page": self.relevance(page)})
"""
PIPELINE = """
class ShopPipeline:
    def process_item(self, item):
        assert isinstance(item, dict), item
        return item
"""
OFFLINE = ("-s", "FOCUS_WEB=demo", "-s", "CONCURRENT_REQUESTS=1")


@pytest.fixture
def shop(tmp_path) -> Path:
    made = scrapy("startproject", "shop", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    package = tmp_path / "shop" / "shop"
    (package / "settings.py").write_text((package / "settings.py").read_text() + SETTINGS)
    (package / "pipelines.py").write_text(PIPELINE)
    for name, text in {"rules": RULES, "plain": PLAIN, "own": OWN}.items():
        (package / "spiders" / f"{name}.py").write_text(text)
    return tmp_path / "shop"


def crawl(shop: Path, spider: str, *more: object, pages: int = 40):
    options = ("-s", f'FOCUS_STRATEGY_OPTIONS={{"max_pages": {pages}}}')
    if spider == "own":  # a strategy itself: its options are arguments
        options = ("-a", f"max_pages={pages}")
    return scrapy("crawl", spider, *OFFLINE, *options, *more, "-O", f"{spider}.jsonl", cwd=shop)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("spider", ["rules", "plain"])
def test_a_spider_crawls_as_it_did_but_the_best_first(shop, spider):
    result = crawl(shop, spider)
    assert result.returncode == 0, result.stderr
    assert "ERROR" not in result.stderr
    folder = shop / "crawls" / f"{spider}-sorting"
    pages = lines(folder / "pages.jsonl")
    assert len(pages) == 40
    web = demo_web()
    assert sum("sorting" in web.labels(page["url"]) for page in pages) > 30  # in breadth-first order it is a third
    assert "Dropped" not in result.stderr  # pages are no items of the project's, and nothing is lost
    assert (folder / "report.html").exists()
    items = lines(shop / f"{spider}.jsonl")
    assert {item["url"] for item in items} <= {page["url"] for page in pages}
    assert len(items) >= 38  # a CrawlSpider makes none of its start pages
    # what callbacks were given came through the frontier
    known = {"nobody", *(page["url"] for page in pages)}
    assert all(item["parent"] in known if spider == "plain" else item["anchor"] for item in items)


def test_dead_links_are_pages_of_the_store_but_not_of_the_spider(shop):
    assert crawl(shop, "rules", pages=150).returncode == 0
    pages = lines(shop / "crawls" / "rules-sorting" / "pages.jsonl")
    dead = {page["url"] for page in pages if page["status"] == 404}
    assert dead
    assert not dead & {item["url"] for item in lines(shop / "rules.jsonl")}


def test_a_crawl_goes_on_where_it_was(shop):
    assert crawl(shop, "plain", pages=20).returncode == 0
    first = lines(shop / "plain.jsonl")
    assert crawl(shop, "plain", pages=40).returncode == 0
    second = lines(shop / "plain.jsonl")
    assert len(second) == 20
    assert not {item["url"] for item in first} & {item["url"] for item in second}
    assert all(item["parent"] != "nobody" for item in second)


def test_links_are_scored_by_their_anchor_and_can_be_explained(shop):
    assert crawl(shop, "rules").returncode == 0
    folder = shop / "crawls" / "rules-sorting"
    connection = sqlite3.connect(folder / "crawl.sqlite")
    ((url,),) = connection.execute("SELECT url FROM page WHERE via IS NOT NULL ORDER BY id LIMIT 1").fetchall()
    connection.close()
    result = scrapy("explain", folder, url, cwd=shop)
    assert result.returncode == 0, result.stderr
    assert "anchor" in result.stdout


def test_another_strategy_may_score_and_learn_first(shop):
    result = crawl(shop, "plain", "-s", "FOCUS_STRATEGY=baseline", "-s", "FOCUS_TOPIC=sorting")
    assert result.returncode == 0, result.stderr
    pages = lines(shop / "crawls" / "plain-sorting-algorithms" / "pages.jsonl")
    judged = {page["url"]: page["relevance"] for page in pages}
    assert judged["http://sorting-handbook.example/"] > 0.5 > judged["http://crossroads.example/"]


def test_a_strategy_of_the_projects_own_needs_no_guide(shop):
    result = scrapy("crawl", "own", *OFFLINE, "-a", "max_pages=30", cwd=shop)
    assert result.returncode == 0, result.stderr
    assert len((shop / "crawls" / "own-sorting" / "pages.jsonl").read_text().splitlines()) == 30


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("FOCUS_STRATEGY=best_frist", "FOCUS_STRATEGY=best_frist: expected adaptive"),
        ("FOCUS_STRATEGY=shop.items.Nothing", "FOCUS_STRATEGY=shop.items.Nothing: cannot be imported"),
        (
            "FOCUS_STRATEGY=shop.spiders.plain.PlainSpider",
            "FOCUS_STRATEGY=shop.spiders.plain.PlainSpider: is not a Focused",
        ),
        ("FOCUS_STRATEGY_OPTIONS=x", "FOCUS_STRATEGY_OPTIONS: expected a table"),
        ("FOCUS_STRATEGY_OPTIONS=[1]", "FOCUS_STRATEGY_OPTIONS: expected a table"),
        (
            'FOCUS_STRATEGY_OPTIONS={"maxpages": 3}',
            "setting FOCUS_STRATEGY_OPTIONS: spider 'adaptive' has no option 'maxpages'; did you mean max_pages?",
        ),
        (
            'FOCUS_STRATEGY_OPTIONS={"max_pages": "many"}',
            "setting FOCUS_STRATEGY_OPTIONS: option max_pages=many: expected a whole number",
        ),
        (
            'FOCUS_STRATEGY_OPTIONS={"seeds": "http://crossroads.example/"}',
            "setting FOCUS_STRATEGY_OPTIONS: spider 'adaptive' has no option 'seeds'",
        ),
        ("FOCUS_STRATEGY=taxonomy_tunnel", ", or -a dewey=005,006; with the add-on, use FOCUS_STRATEGY_OPTIONS"),
        (
            "SCHEDULER=scrapy.core.scheduler.Scheduler",
            "SCHEDULER=scrapy.core.scheduler.Scheduler: the add-on needs its own",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(shop, setting, message):
    result = scrapy("crawl", "plain", *OFFLINE, "-s", setting, cwd=shop)
    assert result.returncode != 0
    assert message in result.stderr.splitlines()[-1]


def test_a_topic_file_without_what_the_strategy_needs_is_named(shop):
    (shop / "t.toml").write_text('name = "T"')
    for topic, message in (
        ("t.toml", "topic 'T' (t.toml) has no keywords; set FOCUS_TOPIC to a topic file with"),
        ("", "no keywords given; set FOCUS_TOPIC to a topic file with keywords = "),
    ):
        given = "-s", f"FOCUS_TOPIC={topic}", "-s", "FOCUS_STRATEGY=best_first"
        result = scrapy("crawl", "plain", *OFFLINE, *given, cwd=shop)
        assert result.returncode == 2
        assert message in result.stderr.splitlines()[-1]
    assert not (shop / "crawls").exists()


def test_arguments_that_only_the_spider_sees_are_told_in_one_line(shop):
    given = [part for name in ("max_pages=10", "topic=sorting", "seeds=x", "colour=red") for part in ("-a", name)]
    result = crawl(shop, "plain", *given, pages=3)
    assert result.returncode == 0, result.stderr
    (line,) = (line for line in result.stderr.splitlines() if "WARNING: " in line)
    assert line.endswith(
        "the strategy does not see the arguments of spider 'plain': -a max_pages belongs in FOCUS_STRATEGY_OPTIONS,"
        " -a topic belongs in FOCUS_TOPIC, -a seeds belongs in its start_urls"
    )


def test_a_spiders_own_arguments_are_its_own_whatever_their_names(shop):
    spider = shop / "shop" / "spiders" / "plain.py"
    own = "\n    threshold = '1'\n\n    def __init__(self, max_pages=0, **kw):\n        super().__init__(**kw)\n"
    spider.write_text(
        PLAIN.replace('    name = "plain"', f'    name = "plain"{own}        self.max_pages = max_pages\n')
    )
    result = crawl(shop, "plain", "-a", "max_pages=10", "-a", "threshold=2", pages=3)
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr


def test_looking_at_a_single_page_crawls_nothing(shop):
    with serving(demo_web()) as server:
        proxy = {"http_proxy": server.address, "no_proxy": ""}
        fetched = scrapy("fetch", "--nolog", "http://crossroads.example/", cwd=shop, **proxy)
    assert "<title>Crossroads, a directory</title>" in fetched.stdout
    assert not (shop / "crawls").exists()


def test_a_spider_may_begin_by_itself(shop):
    spider = shop / "shop" / "spiders" / "plain.py"
    spider.write_text(
        PLAIN.replace("start_urls = [", "places = [").replace(
            "    async def parse",
            "    async def start(self):\n        for url in self.places:\n            yield scrapy.Request(url)\n\n    async def parse",
        )
    )
    assert crawl(shop, "plain").returncode == 0
    assert len(lines(shop / "crawls" / "plain-sorting" / "pages.jsonl")) == 40


def test_a_crawl_of_a_guests_is_reported_but_not_visited_again(shop):
    assert crawl(shop, "plain", pages=5).returncode == 0
    folder = Path("crawls") / "plain-sorting"
    result = scrapy("recrawl", folder, *OFFLINE, cwd=shop)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    line = result.stderr.splitlines()[-1]
    assert line.startswith(f"focuscrawl: {folder} was made by spider 'plain', which is not a FocusedSpider")
    reported = scrapy("recrawl", folder, "--report", cwd=shop)
    assert reported.returncode == 0, reported.stderr
    assert "5 new pages" in reported.stdout


HARD = """
import scrapy

class Thing:
    pass

class HardSpider(scrapy.Spider):
    name = "hard"
    allowed_domains = ["crossroads.example", "sorting-handbook.example"]
    start_urls = ["http://crossroads.example/"]

    def parse(self, response):
        yield response.follow("http://sorting-handbook.example/", self.parse_thing, cb_kwargs={"thing": Thing()})
        yield response.follow("/sorting.html", meta=response.meta)
        raise ValueError("half way")

    def parse_thing(self, response, thing):
        yield {"url": response.url, "thing": type(thing).__name__}
"""
MIDDLEWARE = """
from scrapy import Request

class Watch:
    async def process_spider_output(self, response, result):
        async for output in result:
            assert isinstance(output, Request | dict), output
            yield output
"""


def test_what_cannot_be_stored_and_callbacks_that_fail_half_way_lose_nothing(shop):
    (shop / "shop" / "spiders" / "hard.py").write_text(HARD)
    result = crawl(shop, "hard")
    pages = {page["url"]: page for page in lines(shop / "crawls" / "hard-sorting" / "pages.jsonl")}
    assert {"http://crossroads.example/", "http://sorting-handbook.example/"} <= set(pages)
    assert pages["http://crossroads.example/sorting.html"]["parent"] == "http://crossroads.example/"
    assert "half way" in result.stderr
    assert "after a crash only its URL is left" in result.stderr
    assert lines(shop / "hard.jsonl") == [{"url": "http://sorting-handbook.example/", "thing": "Thing"}]


STRATEGY = """
import json

from focuscrawl import settings
from focuscrawl.pipelines.lines import LinesPipeline
from focuscrawl.spiders.shark_search import SharkSearchSpider

class CorpusPipeline(LinesPipeline):
    filename = "corpus.jsonl"
    def line(self, page):
        return json.dumps({"url": page.url})
    def stored(self, store):
        return [json.dumps({"url": url}) for (url,) in store.execute("SELECT url FROM page ORDER BY id")]

class WithCorpus(SharkSearchSpider):
    name = "with_corpus"
    custom_settings = {"ITEM_PIPELINES": {**settings.ITEM_PIPELINES, CorpusPipeline: 450}, "FOCUS_AGEING": 0.5}
"""
COUNTING = """
class ShopPipeline:
    def process_item(self, item):
        assert isinstance(item, dict), item
        return item | {"seen": True}
"""


def test_a_strategy_with_pipelines_of_its_own_leaves_the_projects_alone(shop):
    (shop / "shop" / "strategies.py").write_text(STRATEGY)
    (shop / "shop" / "pipelines.py").write_text(COUNTING)
    result = crawl(shop, "plain", "-s", "FOCUS_STRATEGY=shop.strategies.WithCorpus", pages=20)
    assert result.returncode == 0, result.stderr
    items = lines(shop / "plain.jsonl")
    assert len(items) == 20
    assert all(item["seen"] for item in items)
    assert len(lines(shop / "crawls" / "plain-sorting" / "corpus.jsonl")) == 20


def test_what_a_spider_sets_for_itself_counts_more_than_what_its_strategy_does(shop):
    (shop / "shop" / "strategies.py").write_text(STRATEGY)
    spider = shop / "shop" / "spiders" / "plain.py"
    changed = PLAIN.replace("    start_urls", "    custom_settings = {'FOCUS_AGEING': 0.25}\n    start_urls")
    spider.write_text(changed.replace('"parent": parent', '"ageing": self.settings["FOCUS_AGEING"]'))
    assert crawl(shop, "plain", "-s", "FOCUS_STRATEGY=shop.strategies.WithCorpus", pages=5).returncode == 0
    assert {item["ageing"] for item in lines(shop / "plain.jsonl")} == {0.25}


def test_one_of_our_pipelines_may_be_switched_off(shop):
    off = '{"focuscrawl.pipelines.pages.PagesFilePipeline": null, "shop.pipelines.ShopPipeline": 300}'
    result = crawl(shop, "plain", "-s", f"ITEM_PIPELINES={off}", pages=5)
    assert result.returncode == 0, result.stderr
    assert len(lines(shop / "plain.jsonl")) == 5
    assert not (shop / "crawls" / "plain-sorting" / "pages.jsonl").exists()


def test_a_single_page_is_looked_at_by_a_spider_of_its_site_too(shop):
    (shop / "shop" / "spiders" / "hard.py").write_text(HARD)
    with serving(demo_web()) as server:
        proxy = {"http_proxy": server.address, "no_proxy": ""}
        fetched = scrapy("fetch", "--nolog", "http://crossroads.example/", cwd=shop, **proxy)
        shell = scrapy("shell", "-c", "response.status", "--nolog", "http://crossroads.example/", cwd=shop, **proxy)
    assert "<title>Crossroads, a directory</title>" in fetched.stdout
    assert shell.stdout.strip() == "200"
    assert not (shop / "crawls").exists()


def test_the_projects_own_middlewares_see_what_they_always_did(shop):
    (shop / "shop" / "middlewares.py").write_text(MIDDLEWARE)
    watch = "-s", 'SPIDER_MIDDLEWARES={"shop.middlewares.Watch": 543}'
    result = crawl(shop, "plain", *watch)
    assert "AssertionError" not in result.stderr
    assert len(lines(shop / "plain.jsonl")) == 40


def test_a_strategy_that_has_another_crawl_first_works_beside_a_spider(shop):
    options = '{"max_pages": 30, "lessons": "auto", "lesson_pages": 60}'
    more = "-s", "FOCUS_STRATEGY=apprentice", "-s", "FOCUS_TOPIC=sorting", "-s", f"FOCUS_STRATEGY_OPTIONS={options}"
    result = scrapy("crawl", "plain", *OFFLINE, *more, cwd=shop)
    assert result.returncode == 0, result.stderr
    assert len(lines(shop / "crawls" / "plain-sorting-algorithms" / "pages.jsonl")) == 30


def test_long_tables_are_topics_and_pages_of_a_strategy_are_items(shop):
    settings = shop / "shop" / "settings.py"
    keywords = {f"word{number}": 1 for number in range(60)} | {"sort": 5}
    settings.write_text(
        settings.read_text().replace("ITEM_PIPELINES", "NONE")
        + f"\nFOCUS_TOPIC = {{'name': 'Long', 'keywords': {keywords}}}\n"
    )
    result = scrapy("crawl", "own", *OFFLINE, "-a", "max_pages=10", "-O", "own.jsonl", cwd=shop)
    assert result.returncode == 0, result.stderr
    assert len(lines(shop / "own.jsonl")) == 10


def test_a_crawl_that_failed_has_failed(shop):
    spider = shop / "shop" / "spiders" / "plain.py"
    spider.write_text(
        PLAIN.replace("http://crossroads.example/", "http://nobody.example/").replace(
            ', "http://sorting-handbook.example/"', ""
        )
    )
    result = crawl(shop, "plain")
    assert result.returncode == 1
    assert result.stderr.endswith("no page could be read: http://nobody.example/: HTTP 404\n")


@pytest.mark.parametrize("spider", ["plain", "own"])
def test_a_look_at_a_page_touches_no_crawl(shop, spider):
    """With Scrapy's own command as with ours; the spider's callback runs once."""
    assert crawl(shop, spider, pages=5).returncode == 0
    settings = shop / "shop" / "settings.py"
    ours = settings.read_text()
    page = "http://sorting-handbook.example/"
    for text in (ours, ours.replace("COMMANDS_MODULE", "OTHER")):
        settings.write_text(text)
        before = {path: path.read_bytes() for path in shop.rglob("*") if path.is_file() and path.suffix != ".pyc"}
        looked = scrapy("parse", "--spider", spider, *OFFLINE, page, "-L", "ERROR", "--nocolour", cwd=shop)
        assert (looked.returncode, looked.stderr) == (0, "")
        assert looked.stdout.count(f"'url': '{page}'") + looked.stdout.startswith(f"{page}\n") == 1
        after = {path: path.read_bytes() for path in shop.rglob("*") if path.is_file() and path.suffix != ".pyc"}
        assert after == before
