"""Strategies that know topics by Dewey numbers: treasure, taxonomy_tunnel; and the context graph."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.errors import FocusError
from focuscrawl.reports.explain import explain
from focuscrawl.store.store import Store
from focuscrawl.strategies.tgraph import Node, TGraph
from focuscrawl.web.webs import MemoryWeb, open_web
from tests.conftest import at

MUSIC = "The orchestra and the pianist play a symphony with violins and cellos"
PLANTS = "Petals, stamens and leaves of shrubs and flowering plants, botanists say"


def names(crawled) -> list[str]:
    return [url.removeprefix("http://").replace(".example/", "/").rstrip("/") for url in crawled.urls]


def links(**where: str) -> str:
    return "".join(f"<p>{text}: <a href='{at(name)}'>{name}</a></p>" for name, text in where.items())


@pytest.fixture
def web() -> MemoryWeb:
    web = MemoryWeb()
    web.add(at("root"), f"<title>root</title><p>{MUSIC}</p>{links(leaf=PLANTS, cello=MUSIC, far=MUSIC + ' far away')}")
    web.add(at("cello"), f"<title>cello</title><p>{MUSIC} {MUSIC}</p>{links(bow=MUSIC)}")
    web.add(at("leaf"), f"<title>leaf</title><p>{PLANTS} {PLANTS}</p>{links(tree=PLANTS)}")
    for name, text in (("bow", MUSIC), ("far", MUSIC), ("tree", PLANTS)):
        web.add(at(name), f"<title>{name}</title><p>{text} {text}")
    return web


def run(crawl, web, folder=None, spider="treasure", **options):
    return crawl(spider, web, folder, seeds=at("root"), **{"dewey": "780", **options})


def test_links_about_something_else_have_the_least_priority(crawl, web):
    crawled = run(crawl, web)
    score = dict(zip(names(crawled), (page["score"] for page in crawled.pages), strict=True))
    assert names(crawled)[-2:] == ["leaf", "tree"]
    assert score["leaf"] == score["tree"] == 0.01
    assert score["cello"] > 0.5


def test_pages_have_their_dewey_numbers_and_are_judged_by_them(crawl, web):
    crawled = run(crawl, web)
    pages = dict(zip(names(crawled), crawled.pages, strict=True))
    assert pages["cello"]["topics"][0].startswith("78")
    assert pages["leaf"]["topics"][0].startswith("58")
    assert set(crawled.matched) == {at(name) for name in ("root", "cello", "bow", "far")}
    assert pages["cello"]["relevance"] > 0.5 > pages["leaf"]["relevance"]


def test_a_t_graph_orders_links_by_their_distance_from_a_target(crawl, web, tmp_path):
    near = Node(at("x"), "", "", "", f"{MUSIC} far away", {at("t"): 1})
    graph = TGraph("780", [near, Node(at("y"), "", "", "", "nothing alike", {at("t"): 3})])
    graph.topic = "crawl"
    graph.save(tmp_path / "t.json")
    topic = tmp_path / "t.toml"
    topic.write_text(f'name = "crawl"\nseeds = ["{at("root")}"]\ndewey = ["780"]\n')
    crawled = crawl("treasure", web, topic=topic, tgraph=tmp_path / "t.json", match=0.24, watchdog_every=0)
    assert names(crawled)[:2] == ["root", "far"]
    why = json.loads(crawled.sql("SELECT why FROM link WHERE anchor = 'far'")[0][0])
    assert why["T-Graph priority"] == 1
    why = json.loads(crawled.sql("SELECT why FROM link WHERE anchor = 'bow'")[0][0])
    assert why["T-Graph priority"] == pytest.approx(1 / 4)


def test_the_watchdog_learns_what_led_to_relevant_pages(crawl):
    crawled = crawl("treasure", open_web("demo"), topic="sorting", max_pages=120, watchdog_every=25)
    graph = TGraph.load(crawled.folder / "tgraph.json")
    assert any(node.born for node in graph.nodes)
    assert {node.distance for node in graph.nodes} >= {1, 2}
    assert any(node.matched for node in graph.nodes)


def test_a_resumed_crawl_goes_on_with_its_t_graph(crawl, tmp_path):
    web = open_web("demo")
    whole = crawl("treasure", web, tmp_path / "whole", topic="sorting", max_pages=80, watchdog_every=20)
    crawl("treasure", web, tmp_path / "parts", topic="sorting", max_pages=50, watchdog_every=20)
    parts = crawl("treasure", web, tmp_path / "parts", topic="sorting", max_pages=80, watchdog_every=20)
    assert len(set(parts.urls)) == len(parts.urls) == 80
    assert parts.urls[:50] == whole.urls[:50]


def test_every_response_is_kept_with_its_status(crawl, web):
    web.add(at("root"), f"<title>root</title><p>{MUSIC}</p>{links(missing=MUSIC)}")
    crawled = run(crawl, web)
    assert crawled.sql("SELECT status, problem FROM page WHERE url = ?", at("missing")) == [(404, "HTTP 404")]


def test_explain_tells_focus_and_t_graph(crawl, web):
    crawled = run(crawl, web)
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert "focus 78" in "\n".join(explain(store, at("cello")))
    assert "T-Graph priority" in "\n".join(explain(store, at("cello")))
    store.close()


# ---- what can be wrong


def test_a_topic_without_dewey_numbers(crawl, web):
    with pytest.raises(FocusError, match=r'no Dewey numbers given; use .* dewey = \["005"\] in it, or -a dewey='):
        run(crawl, web, dewey="")


@pytest.mark.parametrize(
    ("number", "says"), [("78", "not a Dewey number"), ("007", "not in the lexicon"), ("x", "not a Dewey number")]
)
def test_unknown_numbers(crawl, web, number, says):
    with pytest.raises(FocusError, match=says):
        run(crawl, web, dewey=number)


def test_a_t_graph_of_another_topic_or_an_empty_one(crawl, web, tmp_path):
    TGraph("birds", [Node(at("x"), "", "", "", "x", {at("t"): 1})]).save(tmp_path / "birds.json")
    crawled = run(crawl, web, tmp_path / "1", tgraph=tmp_path / "birds.json")
    assert crawled.stats["finish_reason"] == "cannot_learn"
    assert "is about 'birds', not" in Crawl.of(crawled.crawler).fatal
    topic = Crawl.of(crawled.crawler).topic.name
    TGraph(topic).save(tmp_path / "empty.json")
    crawled = run(crawl, web, tmp_path / "2", tgraph=tmp_path / "empty.json")
    assert "is empty: no link there leads to a relevant page" in Crawl.of(crawled.crawler).fatal
    crawled = run(crawl, web, tmp_path / "3", tgraph=tmp_path / "none.json")
    assert "cannot be read" in Crawl.of(crawled.crawler).fatal


# ---- the taxonomy


def test_the_view_is_broadened_when_precision_falls_and_narrowed_when_it_recovers(crawl, caplog):
    """Seven pages of plants in a row; behind the last, by way of art in general, there is music."""
    caplog.set_level("INFO")
    art = "Sculptors and painters in museums of art, painting and sculpture"
    web = MemoryWeb()
    web.add(at("root"), f"<title>root</title><p>{PLANTS}</p>" + links(**{f"p{n}": PLANTS for n in range(7)}))
    for n in range(7):
        further = {"art": art} if n == 6 else {f"q{n}": PLANTS}
        web.add(at(f"p{n}"), f"<title>p{n}</title><p>{PLANTS} number {n}</p>" + links(**further))
        web.add(at(f"q{n}"), f"<title>q{n}</title><p>{PLANTS} number {n}</p>")
    web.add(at("art"), f"<title>art</title><p>{art}</p>" + links(**{f"m{n}": MUSIC for n in range(12)}))
    for n in range(12):
        web.add(at(f"m{n}"), f"<title>m{n}</title><p>{MUSIC} number {n}</p>")
    crawled = run(crawl, web, spider="taxonomy_tunnel", window=5)
    order = names(crawled)
    assert order.index("m11") < order.index("q0")
    views = [record.args[1] for record in caplog.records if "the view is now" in record.msg]
    assert views[:2] == [2, 3]  # broader after five pages of plants, narrower again once there is music
    (view,) = crawled.sql("SELECT value FROM meta WHERE key = 'view'")[0]
    assert json.loads(view)["digits"] == views[-1]


# ---- the context graph


def test_the_context_graph_needs_an_earlier_crawl(crawl):
    with pytest.raises(FocusError, match="needs the link graph of an earlier crawl"):
        crawl("context_graph", open_web("demo"), topic="sorting")


def test_links_are_queued_by_the_layer_of_their_page(crawl, tmp_path):
    web = open_web("demo")
    earlier = crawl("breadth_first", web, tmp_path / "earlier", topic="sorting", max_pages=150)
    crawled = crawl("context_graph", web, tmp_path / "c", topic="sorting", crawl=earlier.folder, max_pages=60)
    assert (crawled.folder / "context_graph.json").exists()
    rows = crawled.sql("SELECT json_extract(why, '$.\"layer of its page\"'), score FROM link WHERE score NOT NULL")
    by_layer: dict[float, list[float]] = {}
    for layer, score in rows:
        by_layer.setdefault(layer, []).append(score)
    layers = sorted(by_layer)
    assert len(layers) >= 2
    assert all(min(by_layer[near]) >= max(by_layer[far]) for near, far in pairwise(layers))
    crawl("context_graph", web, tmp_path / "c", topic="sorting", crawl=earlier.folder, max_pages=70)  # goes on


def test_an_earlier_crawl_of_another_topic(crawl, tmp_path):
    web = open_web("demo")
    earlier = crawl("breadth_first", web, tmp_path / "earlier", seeds="http://crossroads.example/", max_pages=3)
    crawled = crawl("context_graph", web, tmp_path / "c", topic="sorting", crawl=earlier.folder)
    assert "is about" in Crawl.of(crawled.crawler).fatal
