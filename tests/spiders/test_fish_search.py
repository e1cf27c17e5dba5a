"""Fish-Search, Shark-Search, InfoSpiders: crawlers that the papers review."""

from __future__ import annotations

import json

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.strategies.agents import Agent
from focuscrawl.web.webs import MemoryWeb, open_web
from tests.conftest import at, small_web


def names(crawled) -> list[str]:
    return [url.removeprefix("http://").replace(".example/", "/").rstrip("/") for url in crawled.urls]


CHAIN = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"], "e": ["f"], "f": []}


def test_a_fish_dies_after_so_many_irrelevant_pages(crawl, tmp_path):
    def order(depth: int, **texts: str) -> list[str]:
        folder = tmp_path / f"{depth}-{len(texts)}"
        return names(crawl("fish_search", small_web(CHAIN, texts), folder, seeds=at("a"), keywords="sort", depth=depth))

    assert order(2, a="sort") == ["a", "b", "c"]
    assert order(3, a="sort") == ["a", "b", "c", "d"]
    assert order(2, a="sort", c="sort") == ["a", "b", "c", "d", "e"]  # food, and it swims on


def test_links_of_relevant_pages_come_first_and_only_the_first_of_them_count(crawl):
    links = {"root": ["dull", "food"], "dull": [f"dull/{n}" for n in range(4)], "food": [f"food/{n}" for n in range(8)]}
    links |= {name: [] for targets in list(links.values()) for name in targets if name not in links}
    texts = {"food": "sort", "root": "sort"}
    crawled = crawl("fish_search", small_web(links, texts), seeds=at("root"), keywords="sort", width=2)
    scores = {name: page["score"] for name, page in zip(names(crawled), crawled.pages, strict=True)}
    assert [scores[f"food/{n}"] for n in range(4)] == [1, 1, 1, 0]  # one and a half times the width
    assert [scores[f"dull/{n}"] for n in range(3)] == [0.5, 0.5, 0]
    order = names(crawled)
    assert order.index("food/2") < order.index("dull/0") < order.index("food/3")


def test_relevance_is_1_or_0(crawl):
    crawled = crawl(
        "fish_search", small_web(CHAIN, {"a": "heap", "b": "sort heap"}), seeds=at("a"), keywords="sort:9,heap:1"
    )
    assert [page["relevance"] for page in crawled.pages[:3]] == [0, 1, 0]


def test_a_shark_smells_the_anchor_and_what_stands_around_it(crawl):
    web = MemoryWeb()
    filler = "word " * 40
    body = (
        f"<p>sort {filler}</p><p><a href='http://c.example/'>elsewhere</a></p>"
        f"<p>{filler}</p><p>about heaps: <a href='http://b.example/'>here</a></p>"
        f"<p>{filler}</p><p><a href='http://a.example/'>heap sort</a></p>"
    )
    web.add("http://root.example/", f"<title>x</title>{body}")
    for name in "abc":
        web.add(at(name), "<p>nothing")
    crawled = crawl("shark_search", web, seeds=at("root"), keywords="sort,heap")
    assert names(crawled) == ["root", "a", "b", "c"]
    (why,) = crawled.sql("SELECT why FROM link WHERE anchor = 'heap sort'")[0]
    assert json.loads(why)["anchor"] == pytest.approx(1)
    score = {page["url"]: page["score"] for page in crawled.pages}
    inherited = 0.5 * crawled.pages[0]["relevance"]
    assert score[at("a")] == pytest.approx(0.5 * inherited + 0.5 * (0.8 * 1 + 0.2 * 1))
    assert score[at("c")] == pytest.approx(0.5 * inherited)


def test_what_is_inherited_decays_from_page_to_page(crawl):
    crawled = crawl(
        "shark_search", small_web(CHAIN, {"a": f"sort sort {'word ' * 40}"}), seeds=at("a"), keywords="sort"
    )
    first, *others = (page["score"] for page in crawled.pages[1:4])
    assert first > 0
    assert others == pytest.approx([first / 2, first / 4])


# ---- agents


def test_an_agent_learns_what_its_links_are_worth():
    agent = Agent([0.0, 0.0, 0.0], 1.0)
    for _ in range(500):
        agent.learn([1.0, 1.0, 0.0], 1.0, 0.0)
        agent.learn([1.0, 0.0, 1.0], 0.0, 0.0)
    assert agent.activation([1.0, 1.0, 0.0]) > 0.7
    assert agent.activation([1.0, 0.0, 1.0]) < 0.3


def test_agents_multiply_where_they_find_something_and_die_where_they_do_not(crawl, tmp_path):
    options = {"seeds": at("root"), "keywords": "sort", "agents": 3}
    links = {"root": [f"p/{n}" for n in range(30)], **{f"p/{n}": [] for n in range(30)}}
    rich = small_web(links, dict.fromkeys(links, "sort"))
    crawled = crawl("info_spiders", rich, tmp_path / "rich", max_pages=20, **options)
    assert crawled.stats["focus/agents"] > 3
    poor = crawl("info_spiders", small_web(links), tmp_path / "poor", cost=0.5, **options)
    assert sorted(names(poor)) == sorted(links)  # new agents go on until nothing is left
    assert poor.stats["focus/agents"] <= 3


def test_the_same_seed_gives_the_same_crawl(crawl, tmp_path):
    def order(folder: str, seed: int) -> list[str]:
        web = open_web("demo")
        return crawl("info_spiders", web, tmp_path / folder, topic="sorting", max_pages=60, seed=seed).urls

    assert order("a", 1) == order("b", 1) != order("c", 2)


@pytest.mark.parametrize(
    ("spider", "option"),
    [
        ("fish_search", {"width": 0}),
        ("fish_search", {"depth": 0}),
        ("shark_search", {"decay": 2}),
        ("info_spiders", {"agents": 0}),
        ("pagerank", {"damping": 1}),
        ("hits", {"every": 0}),
    ],
)
def test_parameters_out_of_range_are_refused(crawl, spider, option):
    ((name, value),) = option.items()
    with pytest.raises(FocusError, match=f"option {name}={value}: expected"):
        crawl(spider, small_web(CHAIN), seeds=at("a"), keywords="sort", **option)
