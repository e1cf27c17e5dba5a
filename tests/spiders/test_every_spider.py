"""What holds for every strategy: it crawls the embedded web, survives poor pages, and can be explained."""

from __future__ import annotations

import pytest
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from focuscrawl.options import options_of
from focuscrawl.reports.explain import explain
from focuscrawl.store.store import Store
from focuscrawl.web.webs import MemoryWeb, open_web

LOADER = SpiderLoader.from_settings(get_project_settings())
SPIDERS = LOADER.list()


def options(name: str) -> dict[str, object]:
    """What some strategies cannot do without."""
    if name == "context_graph":
        return {"crawl": "auto", "crawl_pages": 120}
    return {"training": "online"} if name == "apprentice" else {}


@pytest.mark.parametrize("name", SPIDERS)
def test_it_crawls_and_tells_why(crawl, tmp_path, name):
    web = open_web("demo")
    crawled = crawl(name, web, tmp_path / "c", topic="sorting", max_pages=60, **options(name))
    assert len(crawled.urls) == len(set(crawled.urls)) == 60
    assert crawled.stats.get("log_count/ERROR", 0) == 0
    assert crawled.stats["focus/relevant"] > 0
    scores = [score for (score,) in crawled.sql("SELECT score FROM link WHERE score NOT NULL")]
    assert scores
    assert all(0 <= score <= 1 for score in scores)
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert len(list(explain(store, crawled.urls[-1]))) > 3
    store.close()


@pytest.mark.parametrize("name", SPIDERS)
def test_poor_pages_do_it_no_harm(crawl, tmp_path, name):
    """A seed with nothing to read, links without text, the same link twice, dead ends and dead links."""
    extra = options(name)
    if name == "context_graph":  # from the poor seed it would learn nothing
        extra = {"crawl": tmp_path / "earlier"}
        crawl("breadth_first", open_web("demo"), tmp_path / "earlier", topic="sorting", max_pages=120)
    web = MemoryWeb()
    demo = open_web("demo")
    for url, answer in demo.pages():  # the topic's examples are there
        web.answers[url] = answer
    web.add(
        "http://poor.example/",
        "<a href=/empty></a><a href=/empty></a><a href=/missing>x</a><a href=/text.txt>sort</a><a href='/#a'>self</a>",
    )
    web.add("http://poor.example/empty", "")
    web.add("http://poor.example/text.txt", "plain words", content_type="text/plain")
    crawled = crawl(
        name, web, tmp_path / "c", topic="sorting", seeds="http://poor.example/", max_pages=10, threshold=0, **extra
    )
    assert crawled.stats.get("log_count/ERROR", 0) <= (name == "niche_genetic")  # no relevant seed page: it says so
    assert crawled.urls[0] == "http://poor.example/"


@pytest.mark.parametrize("name", SPIDERS)
def test_scrapyd_can_be_given_all_its_options(name):
    """What schedule.json takes for itself does not reach a spider."""
    own = {"project", "spider", "setting", "jobid", "priority"}
    taken = {name: option for name, option in options_of(LOADER.load(name)).items() if name in own}
    assert all(option.alias and option.alias not in own for option in taken.values()), taken
