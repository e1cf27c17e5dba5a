"""Intelligent crawling: what the crawl has learned decides what it fetches next."""

from __future__ import annotations

import sqlite3

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.reports.explain import explain
from focuscrawl.spiders import intelligent
from focuscrawl.spiders.intelligent import Ratios, squash
from focuscrawl.store.store import Store
from tests.conftest import at, small_web

HUBS = {"root": [f"p{n}" for n in range(12)]}
HUBS |= {f"p{n}": [f"p{n}x{m}" for m in range(6)] for n in range(12)}
ODD = [name for n in range(1, 12, 2) for name in HUBS[f"p{n}"]]
EVEN = [name for n in range(0, 12, 2) for name in HUBS[f"p{n}"]]


def run(crawl, web, relevant, folder=None, texts=None, **options):
    """Crawl a web whose relevant pages are those; *only* one kind of evidence counts if it is given."""
    if only := options.pop("only", None):
        options |= {kind: float(kind == only) for kind in ("content", "url", "links", "siblings")}
    leaves: dict[str, list[str]] = {name: [] for targets in web.values() for name in targets}
    pages = small_web({**leaves, **web}, {**(texts or {}), **dict.fromkeys(relevant, "sort")})
    return crawl("intelligent", pages, folder, seeds=at("root"), keywords="sort", **options)


def mean_place(crawled, names) -> float:
    return sum(crawled.urls.index(at(name)) for name in names) / len(names)


def test_words_of_urls_that_led_to_relevant_pages_are_preferred(crawl):
    good, bad = [f"h{n}/good-{n}" for n in range(12)], [f"h{n}/bad-{n}" for n in range(12)]
    links = {"root": [name for pair in zip(bad, good, strict=True) for name in pair]}
    crawled = run(crawl, links, good, only="url")
    assert set(crawled.urls[-9:]) < {at(name) for name in bad}


def test_links_of_relevant_pages_are_preferred_once_they_led_to_relevant_pages(crawl):
    odd = [f"p{n}" for n in range(1, 12, 2)]
    crawled = run(crawl, HUBS, [*odd, *ODD], only="links")
    assert set(crawled.urls[-35:]) < {at(name) for name in EVEN}  # one of 36 was tried


def test_links_beside_relevant_ones_are_preferred(crawl):
    links = {"root": ["dull", "hub"], "dull": [f"d{n}" for n in range(8)], "hub": [f"s{n}" for n in range(8)]}
    crawled = run(crawl, links, links["hub"], only="siblings")  # the hub is not relevant itself
    assert crawled.urls[-6:] == [at(f"d{n}") for n in range(2, 8)]


def test_links_on_pages_with_words_that_led_to_relevant_pages_are_preferred(crawl):
    # each hub is found through one that says the same, so that its words were learned before it is read
    links, texts = {"root": ["odd0", "even0"]}, {}
    for kind, words in (("odd", "recipe flour oven"), ("even", "engine wheel brake")):
        for n in range(8):
            links[f"{kind}{n}"] = [*(f"{kind}{n}x{m}" for m in range(4)), f"{kind}{n + 1}"]
            texts[f"{kind}{n}"] = words
    leaves = {kind: [f"{kind}{n}x{m}" for n in range(8) for m in range(4)] for kind in ("odd", "even")}
    crawled = run(crawl, links, leaves["odd"], texts=texts, only="content")
    assert mean_place(crawled, leaves["odd"]) < mean_place(crawled, leaves["even"]) - 15


def test_only_words_that_are_significantly_interesting_count():
    ratios = Ratios()
    for n in range(20):
        ratios.count({"always", "leading" if n % 2 else "other"}, bool(n % 2))
    ratios.count({"once"}, True)
    (interest,) = ratios.significant({"always", "leading", "other", "once", "never"}, 0.5)
    assert 0.4 < interest < 0.7  # log 2, with caution
    assert ratios.log_interest("other", 0.5) < 0 == ratios.log_interest("never", 0.5)


def test_rare_words_are_forgotten_when_there_are_too_many():
    ratios = Ratios()
    ratios.count(["often", "rare"], True)
    ratios.count(["often"], False)
    ratios.forget_rare(1)
    assert (ratios.cases, ratios.hits) == ({"often": 2}, {"often": 1})


def test_order_survives_the_squeeze_into_scores():
    totals = [-50.0, -1.0, -0.1, 0.0, 0.1, 1.0, 50.0]
    scores = [squash(total) for total in totals]
    assert scores == sorted(set(scores))
    assert 0 < scores[0] < scores[3] == 0.5 < scores[-1] < 1


@pytest.mark.parametrize("kept", ["kept at the end", "lost", "kept half way"])
def test_a_resumed_crawl_fetches_in_the_same_order(crawl, tmp_path, monkeypatch, kept):
    """Whether the counts of words were written at the end, never (as when it is killed), or some pages ago."""
    monkeypatch.setattr(intelligent, "REMEMBERED", 3)
    if kept == "kept half way":
        monkeypatch.setattr(intelligent, "RHYTHM", 5)
    if kept != "kept at the end":
        monkeypatch.setattr(intelligent.IntelligentSpider, "closed", lambda spider, reason: None)
    texts = {f"p{n}": "recipe flour oven" if n % 2 else "engine wheel brake" for n in range(12)}
    relevant = [*ODD, "p3", "p5"]
    whole = run(crawl, HUBS, relevant, tmp_path / "whole", texts).urls
    assert len(whole) == 85
    for pages in (1, 2, 9, 16, 17, 30, 45, 64, 70, 85):
        crawled = run(crawl, HUBS, relevant, tmp_path / "parts", texts, max_pages=pages)
    assert crawled.urls == whole


def test_two_crawls_are_the_same(crawl, tmp_path):
    first, second = (run(crawl, HUBS, ODD, tmp_path / name) for name in "ab")
    assert first.urls == second.urls
    assert [page["score"] for page in first.pages] == [page["score"] for page in second.pages]


def test_explain_tells_which_evidence_made_the_score(crawl):
    crawled = run(crawl, HUBS, ODD, max_pages=40)
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    ((url,),) = crawled.sql("SELECT url FROM page WHERE id = 40")
    text = "\n".join(explain(store, url))
    store.close()
    assert all(f"{kind} " in text.rpartition("link score")[2] for kind in ("content", "url", "links", "siblings"))


def test_a_page_linked_twice_from_a_page_is_one_piece_of_evidence(crawl):
    crawled = run(crawl, {"root": ["a", "a", "b"], "a": ["c", "c"], "b": ["c"]}, ["a"])
    spider = crawled.crawler.spider
    connection = sqlite3.connect(crawled.folder / "crawl.sqlite")
    ((c,),) = connection.execute("SELECT id FROM url WHERE url = ?", (at("c"),)).fetchall()
    connection.close()
    assert sorted(spider._parents(c)) == [2, 3]


@pytest.mark.parametrize(("name", "value"), [("content", -1), ("url", "much"), ("links", 101), ("siblings", "nan")])
def test_wrong_weights_are_refused(crawl, name, value):
    with pytest.raises(FocusError, match=f"option {name}={value}: expected a number from 0 to 100"):
        run(crawl, HUBS, [], **{name: value})
