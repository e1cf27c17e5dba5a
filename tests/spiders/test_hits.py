"""Spiders that rank what waits by the graph of the crawl: hits, pagerank, hybrid."""

from __future__ import annotations

import pytest

from focuscrawl.reports.explain import explain
from focuscrawl.store.store import Store
from focuscrawl.web.webs import open_web
from tests.conftest import at, small_web


def names(crawled) -> list[str]:
    return [url.removeprefix("http://").replace(".example/", "/").rstrip("/") for url in crawled.urls]


# three pages about the topic link to "good", three others to "popular"; the seed names them in turn
HUBS = {
    "root": ["x", "a", "y", "b", "z", "c"],
    **{name: ["good"] for name in "abc"},
    **{name: ["popular"] for name in "xyz"},
    "good": ["good/1"],
    "popular": ["popular/1"],
    "good/1": [],
    "popular/1": [],
}
ON_TOPIC = {"root": "sort", **dict.fromkeys("abc", "heap sort")}


@pytest.mark.parametrize("every", [1, 3, 200])
@pytest.mark.parametrize(("spider", "options"), [("hits", {}), ("pagerank", {"focused": "yes"})])
def test_what_relevant_pages_link_to_comes_first(crawl, spider, options, every):
    crawled = crawl(spider, small_web(HUBS, ON_TOPIC), seeds=at("root"), keywords="sort,heap", every=every, **options)
    order = names(crawled)
    assert order.index("good") < order.index("popular")
    assert sorted(order) == sorted(HUBS)


def test_pagerank_counts_links_whatever_they_are_about(crawl):
    links = {"root": ["a", "b"], "a": ["few", "many", *"cdef"], "b": ["many", *"ghijk"]}
    links |= {name: [] for targets in list(links.values()) for name in targets if name not in links}
    web = small_web(links, {"root": "sort", "a": "sort", "few": "sort"})
    assert names(crawl("pagerank", web, seeds=at("root"), keywords="sort"))[:4] == ["root", "a", "b", "many"]


@pytest.mark.parametrize("spider", ["hits", "pagerank", "hybrid", "info_spiders"])
@pytest.mark.parametrize("pages", [30, 55])
def test_a_resumed_crawl_fetches_in_the_same_order(crawl, tmp_path, spider, pages):
    options = {"every": 20} if spider in ("hits", "pagerank") else {}
    web = open_web("demo")
    whole = crawl(spider, web, tmp_path / "whole", topic="sorting", max_pages=80, **options)
    crawl(spider, web, tmp_path / "parts", topic="sorting", max_pages=pages, **options)
    parts = crawl(spider, web, tmp_path / "parts", topic="sorting", max_pages=80, **options)
    assert parts.urls == whole.urls


def test_explain_says_what_a_page_handed_on(crawl):
    crawled = crawl("hits", small_web(HUBS, ON_TOPIC), seeds=at("root"), keywords="sort,heap", max_pages=5)
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert "handed on by its page" in "\n".join(explain(store, at("a")))
    store.close()


# ---- hybrid

CANDIDATES = {
    "seed": ["a", "b", "c"],
    "a": ["a/1", "a/2"],
    "b": ["b/1", "seed", "a"],
    "c": ["c/1"],
    **{name: [] for name in ("a/1", "a/2", "b/1", "c/1")},
}


def test_only_links_of_seed_pages_are_followed(crawl):
    crawled = crawl("hybrid", small_web(CANDIDATES), seeds=at("seed"), keywords="sort", max_pages=4)
    assert names(crawled) == ["seed", "a", "b", "c"]


def test_the_candidate_with_the_highest_rank_is_the_next_seed_page(crawl):
    texts = {"c": "sort"}
    crawled = crawl("hybrid", small_web(CANDIDATES, texts), seeds=at("seed"), keywords="sort,heap")
    # c by its content; then b, with a link from and a link to a seed page, before a, with one from the seed
    assert names(crawled)[4:] == ["c/1", "b/1", "a/1", "a/2"]
    ranks = dict(crawled.sql("SELECT url, seed_page.rank FROM seed_page JOIN url ON url.id = url_id"))
    assert ranks[at("b")] == pytest.approx(0.2)
    assert ranks[at("a")] == pytest.approx(0.2)  # b is a seed page now, and links to it
    ((relevance,),) = crawled.sql(f"SELECT relevance FROM page WHERE url = '{at('c')}'")
    assert ranks[at("c")] == pytest.approx(relevance + 0.1)


def test_the_rank_multiplies_links_and_content_or_adds_them(crawl, tmp_path):
    web = {
        "seed": ["much", "linked"],
        "much": ["much/1"],
        "linked": ["linked/1", "seed"],
        **{name: [] for name in ("much/1", "linked/1")},
    }
    texts = {"much": "sort", "linked": "heap"}
    ranks = {}
    for rank in ("product", "sum"):
        options = {"seeds": at("seed"), "keywords": "sort:5,heap:3", "rank": rank}
        crawled = crawl("hybrid", small_web(web, texts), tmp_path / rank, **options)
        ranks[rank] = dict(crawled.sql("SELECT url, seed_page.rank FROM seed_page JOIN url ON url.id = url_id"))
    seed, much, linked = map(at, ("seed", "much", "linked"))
    similarity = dict(crawled.sql("SELECT url, relevance FROM page"))
    assert similarity[much] > similarity[linked] > 0
    # one link from the seed page; one from it and one to it
    assert ranks["product"][much] == pytest.approx(1 * (0.1 + similarity[much]))
    assert ranks["product"][linked] == pytest.approx(2 * (0.1 + similarity[linked]))
    assert ranks["sum"][much] == pytest.approx(1 * 0.1 + similarity[much])
    assert ranks["sum"][linked] == pytest.approx(2 * 0.1 + similarity[linked])
    assert list(ranks["product"])[:3] == [seed, linked, much]
    assert list(ranks["sum"])[:3] == [seed, much, linked]
