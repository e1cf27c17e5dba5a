from __future__ import annotations

from focuscrawl.manners.recent import Recent


def test_what_was_used_longest_ago_goes_first():
    recent: Recent[str, int] = Recent(300)
    for number, name in enumerate("abc"):
        recent.put(name, number, 100)
    assert recent.get("a") == 0
    recent.put("d", 3, 100)
    assert [recent.get(name) for name in "abcd"] == [0, None, 2, 3]
    assert recent.size == 300


def test_the_newest_is_kept_whatever_its_size():
    recent: Recent[str, int] = Recent(300)
    recent.put("a", 0, 100)
    recent.put("b", 1, 1000)
    assert len(recent) == 1
    assert recent.get("b") == 1
    recent.put("b", 2, 10)
    assert (recent.get("b"), recent.size) == (2, 10)
    recent.pop("b")
    assert (recent.get("b"), recent.size) == (None, 0)
