from __future__ import annotations

import pytest

from focuscrawl.graph import hits


def test_hubs_point_to_authorities():
    edges = [(hub, authority) for hub in "abc" for authority in "xy"] + [("a", "z"), ("d", "z")]
    hubs, authorities = hits(edges)
    assert [name for name, _ in hubs[:3]] == ["a", "b", "c"]
    assert {name for name, _ in authorities[:2]} == {"x", "y"}
    assert sum(weight for _, weight in hubs) == pytest.approx(1)
    assert sum(weight for _, weight in authorities) == pytest.approx(1)


def test_a_graph_without_edges_has_neither():
    assert hits([]) == ([], [])
