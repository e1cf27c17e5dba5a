"""The report says how a crawl was made, and shows pages that say something about its verdicts."""

from __future__ import annotations

from focuscrawl.reports.report import crawl_report
from focuscrawl.store.places import read_crawl
from focuscrawl.store.store import Store
from tests.conftest import at, small_web

NAMES = [f"p{number}" for number in range(14)]
WEB = small_web(
    {"a": NAMES, **{name: [] for name in NAMES}},
    {name: " ".join(["sort"] * (number % 5 + 1) + [f"word{number}"] * 9) for number, name in enumerate(NAMES)},
)


def report(folder) -> str:
    with read_crawl(folder) as store:
        return crawl_report(store)


def test_it_tells_how_the_crawl_was_made_and_how_to_repeat_it(crawl):
    crawled = crawl("best_first", WEB, seeds=at("a"), keywords="sort:2,heap")
    text = report(crawled.folder)
    assert "<b>strategy</b></td><td>best_first" in text
    assert "sort 2, heap 1" in text
    assert at("a") in text
    assert "<b>threshold</b></td><td>0.3" in text
    assert "UTC: nothing was left to fetch" in text
    assert "Scrapy 2." in text
    assert "with focuscrawl 0." in text[text.index("How to cite it") :]
    assert "<pre>scrapy crawl best_first -a seeds=http://a.example/ -a keywords=sort:2,heap" in text


def test_it_shows_borderline_and_random_pages(crawl):
    crawled = crawl("best_first", WEB, seeds=at("a"), keywords="sort,heap", settings={"FOCUS_DUPLICATES": 0})
    text = report(crawled.folder)
    assert "Borderline pages" in text
    assert text == report(crawled.folder)  # the same pages are drawn again


def test_what_a_strange_file_says_of_its_runs_is_text(crawl):
    crawled = crawl("best_first", small_web({"a": []}), seeds=at("a"), keywords="sort")
    store = Store(crawled.folder / "crawl.sqlite")
    evil = "<script>alert(1)</script>"
    store.set_meta(
        "runs", [{"seeds": [evil], "options": {evil: evil}, "settings": {evil: 1}, "arguments": {evil: evil}}]
    )
    store.close()
    assert evil not in report(crawled.folder)
