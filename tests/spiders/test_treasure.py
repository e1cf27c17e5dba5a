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
from tests import searx
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


@pytest.mark.parametrize(("option", "priority"), [("priority", "paper"), ("rule", "paper"), ("priority", "neighbours")])
def test_a_t_graph_orders_links_by_their_distance_from_a_target(crawl, web, tmp_path, option, priority):
    near = Node(at("x"), "", "", "", f"{MUSIC} far away", {at("t"): 1})
    graph = TGraph("780", [near, Node(at("y"), "", "", "", "nothing alike", {at("t"): 3})])
    graph.topic = "crawl"
    graph.save(tmp_path / "t.json")
    topic = tmp_path / "t.toml"
    topic.write_text(f'name = "crawl"\nseeds = ["{at("root")}"]\ndewey = ["780"]\n')
    options = {"tgraph": tmp_path / "t.json", "match": 0.24, "watchdog_every": 0, option: priority}
    crawled = crawl("treasure", web, topic=topic, **options)
    assert names(crawled)[:2] == ["root", "far"]
    far, bow = (
        json.loads(crawled.sql("SELECT why FROM link WHERE anchor = ?", name)[0][0])["T-Graph priority"]
        for name in ("far", "bow")
    )
    if priority == "paper":
        assert (far, bow) == (1, pytest.approx(1 / 4))
    else:
        assert 1 > far > bow > 1 / 4


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


# ---- back-links


def from_backlinks(crawl, tmp_path, source, **options):
    """Crawl with a T-Graph from back-links: hub -> list -> target."""
    web = MemoryWeb()
    web.add(at("root"), f"<title>root</title><p>{MUSIC}</p>{links(cello=MUSIC)}")
    web.add(at("target"), f"<p>{MUSIC}</p>")
    web.add(at("list"), f"<h1>Lists</h1><h2>Strings</h2><p>cello <a href={at('target')}>t</a></p>")
    web.add(at("hub"), f"<p>all lists <a href={at('list')}>l</a></p>")
    web.add(at("liar"), "<p>no link at all</p>")
    topic = tmp_path / "t.toml"
    topic.write_text(
        f'name = "strings"\nseeds = ["{at("root")}"]\nexamples = ["{at("target")}"]\ndewey = ["780"]\n', "utf-8"
    )
    return crawl("treasure", web, topic=topic, backlinks=source, watchdog_every=0, **options)


@pytest.mark.parametrize(("levels", "pages"), [(4, {"list": 1, "hub": 2}), (1, {"list": 1})])
def test_a_t_graph_is_built_bottom_up_from_a_list_of_back_links(crawl, tmp_path, levels, pages):
    listed = tmp_path / "backlinks.txt"
    listed.write_text(
        f"# page, parent\n{at('target')} {at('list')}\n{at('target')}\t{at('liar')}\n{at('list')} {at('hub')}\n",
        "utf-8",
    )
    crawled = from_backlinks(crawl, tmp_path, listed, levels=levels)
    graph = TGraph.load(crawled.folder / "tgraph.json")
    assert {node.page: node.distance for node in graph.nodes} == {at(name): level for name, level in pages.items()}
    assert (graph.nodes[0].ish, graph.nodes[0].mh, graph.nodes[0].dic) == ("Strings", "Lists", {at("target"): 1})


def test_back_links_come_from_a_search_engine(crawl, tmp_path):
    with searx.serving() as instance:
        instance.results["", f"link:{at('target')}"] = [at("list"), at("target"), at("liar")]
        crawled = from_backlinks(crawl, tmp_path, instance.address, levels=2)
        assert next(asked["q"] for asked in instance.asked) == f"link:{at('target')}"
    graph = TGraph.load(crawled.folder / "tgraph.json")
    assert [node.page for node in graph.nodes] == [at("list")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("http://a.example/\n", "line 1: expected two URLs"),
        ("", "the file is empty"),
        (b"\xff\xff", "not UTF-8"),
        (None, "cannot be read: No such file"),
        (f"{at('target')} {at('liar')}\n", "is empty: no link there leads to a relevant page"),
    ],
)
def test_what_can_be_wrong_with_back_links(crawl, tmp_path, content, says):
    listed = tmp_path / "backlinks.txt"
    if content is not None:
        listed.write_bytes(content if isinstance(content, bytes) else content.encode())
    crawled = from_backlinks(crawl, tmp_path, listed)
    assert says in Crawl.of(crawled.crawler).fatal


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
    rows = crawled.sql(
        "SELECT json_extract(ifnull(link.why, reason.why), '$.\"layer of its page\"'), score FROM link"
        " LEFT JOIN reason ON reason.id = link.reason WHERE score NOT NULL"
    )
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
