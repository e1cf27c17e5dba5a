from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from focuscrawl.page import Link, Page
from focuscrawl.store.store import Store
from focuscrawl.strategies.graph import LinkGraph, hits, pagerank


def graph(size: int, edges: list[tuple[int, int]]):
    sources, targets = zip(*edges, strict=True)
    return csr_matrix((np.ones(len(edges)), (sources, targets)), shape=(size, size))


def test_hubs_point_to_authorities():
    # 0, 1, 2 link to both 4 and 5; 0 and 3 link to 6
    hubs, authorities = hits(graph(7, [*((hub, to) for hub in (0, 1, 2) for to in (4, 5)), (0, 6), (3, 6)]))
    assert list(np.argsort(-hubs, kind="stable")[:3]) == [0, 1, 2]
    assert set(np.argsort(-authorities)[:2]) == {4, 5}
    assert hubs[4] == authorities[0] == 0


def test_hits_by_hand():
    """One hub of two authorities, one of one: h = (φ, 1) and a = (φ, 1) in the golden ratio."""
    hubs, authorities = hits(graph(4, [(0, 2), (0, 3), (1, 2)]))
    golden = (1 + 5**0.5) / 2
    assert hubs[0] / hubs[1] == pytest.approx(golden, rel=1e-4)
    assert authorities[2] / authorities[3] == pytest.approx(golden, rel=1e-4)


def test_weights_hold_the_topic():
    """A dense corner off the topic draws plain HITS to it."""
    edges = [*((hub, to) for hub in (0, 1, 2) for to in (4, 5, 6)), (3, 7), (3, 8)]
    weights = np.array([0.01, 0.01, 0.01, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5])
    assert int(np.argmax(hits(graph(9, edges))[1])) in (4, 5, 6)
    assert int(np.argmax(hits(graph(9, edges), weights)[1])) in (7, 8)


def test_pagerank_by_hand():
    """0 and 1 link to each other, 1 also to 2: PR(0) = 0.15 + 0.85 PR(1) / 2, PR(1) = 0.15 + 0.85 PR(0)."""
    first = 0.15 * (1 + 0.425) / (1 - 0.85 * 0.425)
    second = 0.15 + 0.85 * first
    ranks = pagerank(graph(3, [(0, 1), (1, 0), (1, 2)]))
    assert ranks == pytest.approx([first, second, 0.15 + 0.425 * second], abs=1e-4)


def test_a_surfer_who_begins_somewhere_is_found_near_it():
    ranks = pagerank(graph(4, [(0, 1), (2, 3)]), start=np.array([2.0, 0.0, 0.0, 0.0]))
    assert ranks[1] > 0
    assert ranks[2] == ranks[3] == 0


def add(store: Store, url_id: int, targets: list[int], relevance: float) -> None:
    page = Page(f"http://a.example/{url_id}", relevance=relevance)
    page.url_id = url_id
    known = store.execute("SELECT ifnull(max(id), 0) FROM url").fetchone()[0]
    store.urls.add((n, n, f"http://a.example/{n}", 1) for n in range(known + 1, max(url_id, *targets, 0) + 1))
    store.links.add(store.pages.add(page, None), [Link("http://a.example/")] * len(targets), targets)


def test_the_graph_of_a_crawl_grows_with_it(tmp_path):
    store = Store(tmp_path / "crawl.sqlite")
    links = LinkGraph(store)
    links.read()
    assert links.matrix().nnz == 0
    add(store, 1, [2, 3, 3, 1], 0.5)
    links.read()
    assert sorted(zip(*map(list, links.ends()), strict=True)) == [(1, 2), (1, 3)]  # no link twice, none to itself
    add(store, 3, [5], 0.25)
    add(store, 2, [], 0.0)
    links.read(upto=2)
    assert links.pages == 2
    assert links.targets_of([3]) == [5]
    assert links.sources_of([3, 5]) == [1, 3]
    assert np.nan_to_num(links.relevance, nan=-1).tolist() == [-1, 0.5, -1, 0.25, -1, -1]
    links.read()
    assert links.relevance[2] == 0
    store.close()


def test_the_neighbours_of_a_page_are_found_without_looking_at_all_links(tmp_path):
    store = Store(tmp_path / "crawl.sqlite")
    with store.transaction():
        for number in range(1, 5_001):
            add(store, number, [number % 5_000 + 1, *range(10_000 + number, 10_019 + number)], 0.5)
    links = LinkGraph(store)
    links.read()
    began = process_time()  # a look at the 100,000 links each time would take seconds
    for number in range(2, 5_001):
        assert links.sources_of([number]) == [number - 1]
        assert len(links.targets_of([number])) == 20
    assert process_time() - began < 0.5
    assert links.targets_of([]) == links.sources_of([]) == links.targets_of([10_001]) == []
    store.close()


def test_pages_without_links_have_no_targets(tmp_path):
    store = Store(tmp_path / "crawl.sqlite")
    links = LinkGraph(store)
    for url_id, targets in ((1, []), (2, [5, 6]), (3, []), (4, [])):
        add(store, url_id, targets, 0.5)
        links.read()
    add(store, 5, [2], 0.5)
    links.read()
    assert [links.targets_of([node]) for node in range(1, 7)] == [[], [5, 6], [], [], [2], []]
    assert [links.sources_of([node]) for node in (2, 5, 6)] == [[5], [2], [2]]
    assert links.urls_of(3) == [4, 5]
    assert [links.is_page(node) for node in (5, 6)] == [True, False]
    store.close()
