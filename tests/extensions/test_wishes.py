"""A running crawl does what it is asked for."""

from __future__ import annotations

import pytest

from focuscrawl.crawl import wishes
from focuscrawl.errors import FocusError
from focuscrawl.extensions.wishes import Wishes
from focuscrawl.store.store import Store
from tests.conftest import at, small_web

CHAIN = {f"p{number}": [f"p{number + 1}"] for number in range(400)} | {"p400": []}


@pytest.fixture
def asked(crawl, tmp_path, monkeypatch):
    """Crawl a long chain; when a page of it is asked for, ask something of the crawl."""
    monkeypatch.setattr("focuscrawl.extensions.wishes.INTERVAL", 0.005)

    def run(wish: dict[str, object], at_page: str = "p3", **arguments):
        web = small_web(CHAIN)
        answer = web.get

        def get(url: str):
            if url == at(at_page):
                wishes.ask(tmp_path / "crawl", **wish)
            return answer(url)

        web.get = get
        return crawl("breadth_first", web, seeds=at("p0"), **arguments)

    return run


def test_it_stops_and_can_be_resumed(asked, crawl):
    crawled = asked({"do": wishes.STOP})
    stopped = len(crawled.urls)
    assert 3 < stopped < 400
    assert crawled.stats["finish_reason"] == "stopped from the dashboard"
    again = crawl("breadth_first", small_web(CHAIN), crawled.folder, seeds=at("p0"), max_pages=stopped + 5)
    assert len(again.urls) == stopped + 5  # the old wish is not fulfilled again


def test_it_fetches_another_number_of_pages(asked):
    assert len(asked({"do": wishes.MAX_PAGES, "pages": 350}, max_pages=5 + 300).urls) == 350


def test_it_pauses_and_goes_on(asked, monkeypatch):
    looks = []
    look = Wishes.look

    def looking(self):
        look(self)
        if self.crawler.engine.paused:
            looks.append(self.crawl.pages)
            if len(looks) == 20:
                wishes.ask(self.crawl.folder, wishes.GO)

    monkeypatch.setattr(Wishes, "look", looking)
    crawled = asked({"do": wishes.PAUSE}, max_pages=60)
    assert len(crawled.urls) == 60
    assert len(looks) >= 20
    assert looks[-1] - looks[0] <= 2  # what was in flight


def test_nonsense_is_not_asked(tmp_path):
    with pytest.raises(FocusError, match="expected stop, pause"):
        wishes.ask(tmp_path, "fly")
    with pytest.raises(FocusError, match="expected a whole number"):
        wishes.ask(tmp_path, wishes.MAX_PAGES, 0)


def test_what_a_strange_file_wishes_is_ignored(crawl):
    crawled = crawl("breadth_first", small_web({"a": []}), seeds=at("a"))
    store = Store(crawled.folder / "crawl.sqlite")
    for value in ("stop", ["stop"], {"do": 1, "at": "x"}, {"do": "max_pages", "at": 7}):
        store.set_meta(wishes.KEY, value)
        assert wishes.read(store) is None
    store.set_meta(wishes.KEY, {"do": "max_pages", "at": "x", "pages": -5})
    assert wishes.read(store).pages == 0
    store.close()
