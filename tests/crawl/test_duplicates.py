from __future__ import annotations

import random

import pytest

from focuscrawl.crawl.duplicates import Duplicates, signature, similarity
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.store.bodies import body_of
from focuscrawl.store.store import Store
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import at

CHANCE = random.Random(3)
WORDS = [f"word{number}" for number in range(5_000)]
TEXT = CHANCE.choices(WORDS, k=400)


def page(text: str, url: str = "http://a.example/") -> Page:
    return read_html(Page(url), f"<p>{text}</p>".encode(), "text/html")


def changed(words: list[str], places: int) -> list[str]:
    result = list(words)
    for place in random.Random(places).sample(range(len(words)), places):
        result[place] = "other"
    return result


@pytest.mark.parametrize(("places", "least", "most"), [(0, 1, 1), (2, 0.9, 1), (40, 0.4, 0.7), (400, 0, 0.05)])
def test_similarity_is_the_share_of_the_text_that_is_the_same(places, least, most):
    assert (
        least <= similarity(signature(page(" ".join(TEXT))), signature(page(" ".join(changed(TEXT, places))))) <= most
    )


def test_pages_with_little_text_are_like_no_other():
    assert signature(page("")) is None
    assert signature(page("one " * 9)) is None
    assert signature(page("one " * 10)) is not None


def test_of_many_pages_the_right_one_is_found():
    texts = [CHANCE.choices(WORDS, k=300) for _ in range(300)]
    signatures = [signature(page(" ".join(text))) for text in texts]
    duplicates = Duplicates(0.9, lambda number: signatures[number], ((n, "", s) for n, s in enumerate(signatures)))
    for number, text in enumerate(texts):
        assert duplicates.find(signature(page(" ".join(changed(text, 1))))) == number
    assert duplicates.find(signature(page(" ".join(CHANCE.choices(WORDS, k=300))))) is None


def mirrored() -> MemoryWeb:
    web = MemoryWeb()
    web.add(at("a"), f'<a href="{at("b")}">b</a><a href="{at("c")}">c</a><p>{" ".join(WORDS[:50])}')
    body = f'<title>sort</title><p>sort {" ".join(TEXT)}<a href="/more">more</a>'
    web.add(at("b"), body)
    web.add(at("c"), body.replace("word77", "other"))
    web.add(at("c/more"), "<p>sort and sort again")
    return web


def test_a_copy_is_stored_without_its_body_and_counted_once(crawl):
    crawled = crawl("best_first", mirrored(), seeds=at("a"), keywords="sort")
    query = "SELECT url, duplicate_of, relevant, matched, body IS NULL FROM page WHERE url IN (?, ?) ORDER BY id"
    assert crawled.sql(query, at("b"), at("c")) == [
        (at("b"), None, 1, 1, 0),
        (at("c"), 2, 0, 0, 1),
    ]
    assert crawled.matched == [at("b"), at("c/more")]
    assert crawled.stats["focus/duplicates"] == 1
    assert crawled.stats["focus/relevant"] == 2
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert store.pages.body(at("c")) == body_of(crawled.sql("SELECT body FROM page WHERE id = 2")[0][0])
    store.close()


def test_of_copies_that_come_at_the_same_time_one_counts(crawl):
    """Both wait until their hosts have said which rights they reserve."""
    settings = {"CONCURRENT_REQUESTS": 16}
    crawled = crawl("best_first", mirrored(), settings=settings, seeds=at("a"), keywords="sort")
    rows = crawled.sql("SELECT duplicate_of, relevant, matched FROM page WHERE url IN (?, ?)", at("b"), at("c"))
    assert rows == [(None, 1, 1), (2, 0, 0)]
    assert len(crawled.matched) == 2
    assert crawled.stats["focus/duplicates"] == 1
    assert crawled.stats["focus/relevant"] == 2


def test_copies_of_what_an_earlier_run_stored_are_found(crawl):
    crawl("best_first", mirrored(), seeds=at("a"), keywords="sort", max_pages=2)
    crawled = crawl("best_first", mirrored(), seeds=at("a"), keywords="sort")
    assert crawled.sql("SELECT duplicate_of FROM page WHERE url = ?", at("c")) == [(2,)]


def test_only_pages_that_share_a_title_are_compared(crawl):
    crawled = crawl("best_first", mirrored(), seeds=at("a"), keywords="sort")
    titles = crawled.sql("SELECT title, count(*), count(signature) FROM page GROUP BY title ORDER BY title")
    assert titles == [("", 3, 0), ("sort", 2, 2)]  # of the pages without a title, one has text enough


def test_of_two_pages_with_one_title_in_different_runs_both_get_a_signature(crawl):
    crawl("best_first", mirrored(), seeds=at("a"), keywords="sort", max_pages=2)
    crawled = crawl("best_first", mirrored(), seeds=at("a"), keywords="sort")
    stored = dict(crawled.sql("SELECT url, signature FROM page"))
    assert stored[at("a")] is None
    assert similarity(stored[at("b")], stored[at("c")]) >= 0.9


def test_it_can_be_switched_off(crawl):
    crawled = crawl("best_first", mirrored(), settings={"FOCUS_DUPLICATES": 0}, seeds=at("a"), keywords="sort")
    assert crawled.matched == [at("b"), at("c"), at("c/more")]


def test_pages_that_share_their_navigation_are_no_copies(crawl):
    web = MemoryWeb()
    navigation = " ".join(WORDS[:600])
    links = "".join(f'<a href="{at(f"a/{number}")}">x</a>' for number in range(20))
    web.add(at("a"), f"<title>start</title>{links}")
    for number in range(20):
        own = " ".join(CHANCE.choices(WORDS, k=10))
        web.add(at(f"a/{number}"), f"<title>Page {number}</title><p>{navigation}</p><p>{own}</p>")
    assert "focus/duplicates" not in crawl("breadth_first", web, seeds=at("a")).stats
