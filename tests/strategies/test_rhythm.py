from __future__ import annotations

from focuscrawl.strategies.rhythm import Rhythm


def times(every: int, pages: int) -> list[int]:
    rhythm = Rhythm(every)
    return sorted({rhythm.due(number) for number in range(pages + 1)})


def test_a_short_crawl_has_a_fixed_distance():
    assert times(50, 500) == list(range(0, 501, 50))


def test_a_long_crawl_has_a_distance_of_a_tenth():
    assert times(5, 80) == [0, *range(5, 65, 5), 66, 72, 79]
    assert len(times(200, 1_000_000)) < 90


def test_a_resumed_crawl_keeps_the_rhythm():
    whole, resumed = Rhythm(3), Rhythm(3)
    for pages in range(200):
        whole.due(pages)
    assert [resumed.due(pages) for pages in range(200, 400)] == [whole.due(pages) for pages in range(200, 400)]
