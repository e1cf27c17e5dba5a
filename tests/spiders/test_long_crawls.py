"""What a strategy does for a page does not become more as the crawl goes on.

What it asks of the crawl's file is counted in steps of SQLite's machine, which a busy machine does not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader

from focuscrawl.spider import FocusedSpider
from focuscrawl.spiders.hits import HitsSpider
from focuscrawl.testing import crawl
from focuscrawl.web.synthetic import TOPICS, SyntheticWeb

PAGES = 300
#: Words of Dewey's 599, of its neighbours, and of others.
WORDS = ["elephant", "whale", "tiger", "dolphin", "eagle", "sparrow", "salmon", "algebra", "poem", "mortgage"]


class Animals(SyntheticWeb):
    """A synthetic web whose topics have names that a Dewey lexicon knows."""

    def __init__(self) -> None:
        super().__init__(20_000, hosts=20, links=12, bytes=2_000)
        self.topical = [[WORDS[topic % len(WORDS)], *words] for topic, words in enumerate(self.topical)]

    def topic_of_crawl(self) -> dict[str, object]:
        pages = [self.url(topic * self.host_count) for topic in range(TOPICS)]
        others = [self.url(page) for page in range(20 * self.host_count) if self.topic(page)]
        return {
            "name": "elephants",
            "seeds": [self.url(page) for page in range(3)],
            "keywords": dict.fromkeys(self.topical[0][:10], 1),
            "examples": [self.url(page) for page in range(8)],
            "counterexamples": [*pages[1:], *others[:8]],
            "dewey": ["599"],
        }


def counted(name: str, steps: list[int]) -> type:
    """The spider of that name; *steps* gets what SQLite did for the strategy, by the number of pages there were."""
    settings = Settings()
    settings.setmodule("focuscrawl.settings")
    base = SpiderLoader.from_settings(settings).load(name)

    class Counted(base):
        @contextmanager
        def _counting(self) -> Iterator[None]:
            def count() -> None:
                steps[min(self.crawl.pages, PAGES)] += 1

            connection = self.crawl.store.connection
            connection.set_progress_handler(count, 5)
            try:
                yield
            finally:
                connection.set_progress_handler(None, 0)

        def learn(self, page, via):
            with self._counting():
                super().learn(page, via)

        def _rescore(self, entry):
            with self._counting():
                return super()._rescore(entry)

        def score(self, page):
            with self._counting():
                return super().score(page)

        def refill(self):
            with self._counting():
                return super().refill()

    return Counted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hits", {"every": 4}),
        ("pagerank", {"every": 4}),
        ("hybrid", {}),
        ("info_spiders", {}),
        ("perimeter", {"d": 1}),
        ("treasure", {"watchdog_every": 10}),
        ("taxonomy_tunnel", {"window": 5, "low": 0.3, "high": 0.3}),
        ("apprentice", {"training": "online", "hubs_every": 4}),
    ],
)
def test_a_late_page_asks_no_more_of_the_file_than_an_early_one(tmp_path, name, options):
    web = Animals()
    steps = [0] * (PAGES + 1)
    settings = {"FOCUS_TOPIC": web.topic_of_crawl(), "LOG_LEVEL": "ERROR"}
    crawled = crawl(counted(name, steps), web, tmp_path, settings, max_pages=PAGES, **options)
    assert len(crawled.pages) == PAGES
    early, late = sum(steps[40:100]), sum(steps[-60:])
    assert late <= 1.35 * early


def test_the_graph_is_computed_every_so_many_pages_and_later_when_it_has_grown(tmp_path):
    """Each time all links count: at a fixed distance a crawl twice as long would take four times as long."""
    computed = []

    class Watched(HitsSpider):
        def compute(self, graph):
            computed.append(graph.pages)
            return super().compute(graph)

    web = Animals()
    settings = {"FOCUS_TOPIC": web.topic_of_crawl(), "LOG_LEVEL": "ERROR"}
    crawl(Watched, web, tmp_path, settings, max_pages=200, every=5)
    assert computed[:10] == list(range(5, 55, 5))
    assert all(later - earlier <= max(5, earlier // 10 + 1) for earlier, later in pairwise(computed))
    assert len(computed) < 30


@pytest.mark.parametrize("name", ["hits", "pagerank"])
def test_pages_that_arrive_together_may_find_what_the_graph_does_not_know_yet(tmp_path, name):
    """The graph ends with a page of a round number; by the time it is computed, others may be stored."""
    web = Animals()
    settings = {"FOCUS_TOPIC": web.topic_of_crawl(), "LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 8}
    crawled = crawl(name, web, tmp_path, settings, max_pages=60, every=2, threshold=0.01)
    assert len(crawled.pages) == 60


def test_what_waits_is_scored_anew_some_links_at_a_time(tmp_path, monkeypatch):
    """All of it at once would fill the memory of a long crawl."""
    monkeypatch.setattr("focuscrawl.strategies.rescoring.TOGETHER", 10)
    calls: list[int] = []
    waiting: list[int] = []

    class Restless(FocusedSpider):
        name = "restless"

        def score(self, page):
            if self.crawl.pages == 20:
                waiting.append(len(self.crawl.frontier))
                self.rescore_waiting(self._anew)
            return [0.5 if self.crawl.pages < 20 else 0.0] * len(page.links)

        def _anew(self, links):
            calls.append(len(links))
            return [0.25] * len(links)

    web = Animals()
    settings = {"FOCUS_TOPIC": web.topic_of_crawl(), "LOG_LEVEL": "ERROR"}
    crawled = crawl(Restless, web, tmp_path, settings, max_pages=21)
    assert max(calls) <= 10
    assert crawled.sql("SELECT count(*) FROM frontier WHERE score = 0.25") == [(waiting[0],)]
