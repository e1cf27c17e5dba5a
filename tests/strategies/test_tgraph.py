"""The T-Graph: hand-computed similarities, distances and priorities."""

from __future__ import annotations

import json

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.store.store import Store
from focuscrawl.strategies.tgraph import COUNT, DOUBT, PAPER, Ascent, Node, TGraph, bottom_up, node_of, top_down
from focuscrawl.strategies.tgraph_picture import as_svg, as_text
from focuscrawl.urls import key
from tests.conftest import at, small_web


def page(url: str, html: str) -> Page:
    return read_html(Page(url), html.encode(), "text/html")


HTML = "<h1>Heaps</h1><h2>Sorts</h2><h3>Quick</h3><p>a fast sort: <a href=http://b.example/>quick sort</a></p>"


def test_osm_by_hand():
    """ISH quick = quick: 1; SH sorts against sort search: 1/√2; MH heaps against trees: 0; DC: 2 of 4 words in common."""
    node = Node(at("x"), "Quick", "Sort search", "Trees", "sort sort fast", {at("t"): 1})
    graph = TGraph("t", [node])
    (link,) = page(at("a"), HTML).links
    # DC of the link: a fast sort quick sort -> a 1, fast 1, sort 2, quick 1, of length √7; of the node sort 2, fast 1
    dc = (2 * 2 + 1 * 1) / (7**0.5 * 5**0.5)
    assert float(graph.osm([link])[0, 0]) == pytest.approx((1 + 1 / 2**0.5 + 0 + dc) / 4)


def test_all_headings_around_a_section_are_compared():
    """SH of the node is compared with each section around the link's own; the main heading is none of them."""
    html = "<h1>Main</h1><h2>Far</h2><h3>Near</h3><h4>Own</h4><p><a href=http://b.example/>x</a></p>"
    (link,) = page(at("a"), html).links
    assert (link.headings, link.subheading, link.heading) == (["Own", "Near", "Far"], "Own", "Near")
    for heading, similarity in (("Near", 1), ("Far", 1), ("Own", 0), ("Main", 0), ("Far near", 1 / 2**0.5)):
        graph = TGraph("t", [Node(at("x"), "", heading, "", "", {at("t"): 1})])
        assert float(graph.osm([link])[0, 0]) == pytest.approx(similarity / 4)


def test_a_lone_main_heading_counts_once():
    (link,) = page(at("a"), "<html lang=en><h1>Heaps</h1><p><a href=http://b.example/>x</a></p>").links
    assert (link.subheading, link.heading, link.main_heading) == ("", "", "Heaps")
    node = node_of([link], at("a"))
    assert (node.ish, node.sh, node.mh) == ("", "", "Heaps")
    assert float(TGraph("t", [Node(at("x"), "Heaps", "Heaps", "Heaps", "", {at("t"): 1})]).osm([link])[0, 0]) == 0.25


def test_priority_is_one_over_the_least_distance_among_matches():
    far = Node(at("x"), "Quick", "Sorts", "Heaps", "a fast sort: quick sort", {at("t"): 3})
    near = Node(at("y"), "Quick", "", "", "", {at("t"): 2, at("u"): 4})
    nothing = Node(at("z"), "Birds", "Feathers", "", "", {at("t"): 1})
    links = page(at("a"), HTML).links
    (found,) = TGraph("t", [far, near, nothing]).match(links, rule=PAPER)
    assert (
        found.priority == 1 / 2
    )  # near has one field of four in common, which is enough; far is more alike, but farther
    assert found.osm == pytest.approx(0.25)
    assert found.node == 1
    (found,) = TGraph("t", [nothing, far]).match(links, threshold=0.05, rule=PAPER)
    assert found.priority == 1 / 3
    (found,) = TGraph("t", [nothing, Node(at("y"), "Fish", "", "", "", {at("t"): 3})]).match(links, rule=PAPER)
    assert (found.priority, found.osm) == (1 / 4, 0)  # none matches: behind the last level


def test_the_threshold_is_inclusive():
    node = Node(at("x"), "Quick", "", "", "", {at("t"): 1})
    links = page(at("a"), HTML).links
    assert TGraph("t", [node]).match(links, 0.25, PAPER)[0].priority == 1
    assert TGraph("t", [node]).match(links, 0.26, PAPER)[0].priority == 1 / 2


def test_the_most_similar_nodes_decide():
    """Weights are similarities squared; a node of similarity 0.2 behind the last level counts as well."""
    alike = Node(at("x"), "Quick", "Sorts", "Heaps", "", {at("t"): 3})
    less = Node(at("y"), "Quick", "", "", "", {at("t"): 1})
    links = page(at("a"), HTML).links
    (found,) = TGraph("t", [alike, less]).match(links)
    weights = 0.75**2, 0.25**2, DOUBT**2
    expected = (weights[0] / 3 + weights[1] + weights[2] / 4) / sum(weights)
    assert found == (pytest.approx(expected), pytest.approx(0.75), 0)
    (found,) = TGraph("t", [Node(at("z"), "Birds", "", "", "", {at("t"): 3})]).match(links)
    assert found == (pytest.approx(1 / 4), 0, -1)  # nothing is alike


def test_only_the_most_similar_nodes_decide():
    near = Node(at("y"), "Quick", "Sorts", "Heaps", "", {at("t"): 1})
    links = page(at("a"), HTML).links
    few = TGraph("t", [*[near] * COUNT, Node(at("z"), "Quick", "", "", "", {at("t"): 3})])
    many = TGraph("t", [*[near] * COUNT, *[Node(at("z"), "Quick", "", "", "", {at("t"): 3})] * 100])
    assert few.match(links)[0].priority == pytest.approx(many.match(links)[0].priority)
    assert few.match(links)[0].priority > 0.9


def test_top_down_distances():
    """start -> middle -> target, and start -> other, from which nothing leads on."""
    pages = [
        page(at("start"), f"<p><a href={at('middle')}>m</a> <a href={at('other')}>o</a></p><p><a href={at('z')}>z</a>"),
        page(at("middle"), f"<p>one <a href={at('target')}>t</a></p><p>two <a href={at('start')}>s</a></p>"),
        page(at("other"), "<p>nothing"),
    ]
    graph = top_down("topic", pages, [at("target")])
    assert {node.page: node.dic for node in graph.nodes if node.distance < 3} == {
        at("start"): {at("middle"): 2, at("other"): 5},
        at("middle"): {at("target"): 1},
    }
    assert graph.levels == 3  # from middle back to start
    assert len(graph.nodes) == 3  # the paragraph with z leads nowhere that is known


def test_bottom_up_from_a_crawl(crawl):
    links = {"root": ["a"], "a": ["b"], "b": ["t"], "t": [], "side": ["t"]}
    crawled = crawl(
        "breadth_first", small_web(links, {"t": "sort"}), seeds=f"{at('root')},{at('side')}", keywords="sort"
    )
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    graph = bottom_up("t", store, [at("t")])
    assert {node.page: node.distance for node in graph.nodes} == {at("b"): 1, at("side"): 1, at("a"): 2, at("root"): 3}
    assert {node.page for node in bottom_up("t", store, [at("t")], levels=1).nodes} == {at("b"), at("side")}
    assert len(bottom_up("t", store, [at("t")], size=2).nodes) == 2
    store.close()


def test_an_ascent_asks_for_no_more_than_it_needs():
    """A search engine that names ever more pages costs as many downloads as there may be nodes."""
    asked: list[str] = []

    def parents_of(url: str) -> list[str]:
        asked.append(url)
        return [at(f"{len(asked)}-{number}") for number in range(10)]

    ascent = Ascent("t", [at(f"target{number}") for number in range(50)], levels=4, size=25)
    assert len(ascent.wanted(parents_of)) == 30
    assert len(asked) == 3
    for number in range(30):
        ascent.add(page(at(f"p{number}"), f"<p>{number} <a href={at('target0')}>t</a></p>"))
    assert ascent.is_full
    assert ascent.wanted(parents_of) == []
    assert len(asked) == 3


def test_dead_nodes_are_dropped():
    gone = Node(at("a"), "", "", "", "x", {at("gone"): 1}, matched=5)
    unmatched = Node(at("b"), "", "", "", "y", {at("t"): 1}, born=10)
    useful = Node(at("c"), "", "", "", "z", {at("t"): 1, at("gone"): 1}, matched=1)
    graph = TGraph("t", [gone, unmatched, useful])
    assert graph.prune({key(at("gone"))}, pages=100, patience=50) == 2
    assert [node.page for node in graph.nodes] == [at("c")]
    assert list(useful.dic) == [at("t")]


def test_a_node_that_is_known_gets_more_destinations():
    graph = TGraph("t", [Node(at("a"), "h", "", "", "text", {at("x"): 2})])
    again = Node(at("a"), "h", "", "", "text", {at("x"): 3, at("y"): 1})
    assert graph.extend([again]) == 0
    assert graph.nodes[0].dic == {at("x"): 2, at("y"): 1}
    assert graph.extend([Node(at("b"), "", "", "", "", {at("x"): 1})], size=1) == 0


def test_it_is_saved_and_reloaded_as_data(tmp_path):
    graph = TGraph("t", [Node(at("a"), "h", "s", "m", "text", {at("x"): 2}, matched=3, born=7)])
    graph.save(tmp_path / "t.json")
    assert TGraph.load(tmp_path / "t.json").nodes == graph.nodes
    assert json.loads((tmp_path / "t.json").read_text())["topic"] == "t"


@pytest.mark.parametrize(
    ("content", "says"), [("{}", "is not a T-Graph"), ("[1]", "is not a T-Graph"), (None, "cannot be read")]
)
def test_a_file_that_is_none(tmp_path, content, says):
    if content is not None:
        (tmp_path / "t.json").write_text(content)
    with pytest.raises(FocusError, match=says):
        TGraph.load(tmp_path / "t.json")


def test_text_and_picture_show_levels_and_links():
    graph = TGraph(
        "<t>",
        [Node(at("a"), "I", "S", "M", "text & more", {at("b"): 2}), Node(at("b"), "", "", "N", "x", {at("t"): 1})],
    )
    assert "level 1: 1 nodes, 1 download from a target" in as_text(graph)
    svg = as_svg(graph)
    assert svg.count('class="node"') == 2
    assert svg.count('class="link"') == 2  # from a to b, from b to the targets
    assert "&lt;t&gt;" in svg
    assert "text &amp; more" in svg


def test_words_are_stemmed_in_the_language_of_their_page():
    german = "Die alten Orgeln der Kirchen in der Stadt wurden von dem Meister und seinen Leuten erneuert."
    html = "<html lang=de><meta charset=utf-8><h1>{}</h1><p>" + german + " <a href=http://b.example/>{}</a></p>"
    (known,) = page(at("a"), html.format("Kirchenmusik", "Orgeln")).links
    (new,) = page(at("b"), html.format("Kirchenmusiken", "Orgel")).links
    node = node_of([known], at("a"))
    node.dic = {at("t"): 1}
    assert node.language == "de"
    assert "de:orgel" in node.stems[-1]
    graph = TGraph.from_json(TGraph("t", [node]).to_json())
    assert float(graph.osm([new])[0, 0]) == pytest.approx(float(graph.osm([known])[0, 0])) == pytest.approx(0.5)
