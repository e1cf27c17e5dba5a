"""Seen URLs: the same answers as a dictionary gives, in a tenth of the memory."""

from random import Random

import numpy as np

from focuscrawl import urls
from focuscrawl.frontier.seen import Keys, Seen


def some_keys(count):
    draw = Random(1)
    return list({draw.getrandbits(64) - (1 << 63) for _ in range(count)})


def load(seen, keys):
    """Load keys as a crawl's file gives them, in two parts; their ids are 1, 2, 3 …"""
    ids = np.arange(1, len(keys) + 1)
    half = len(keys) // 2
    seen.load((np.array(keys[part], np.int64), ids[part]) for part in (slice(half), slice(half, None)))


def test_every_url_is_found_again_wherever_it_is_kept():
    keys = some_keys(5_000)
    seen = Seen(recent=300)
    load(seen, keys[:2_000])
    for start in range(2_000, 4_500, 50):
        seen.add({key: url_id for url_id, key in enumerate(keys[start : start + 50], start + 1)})
    expected = {key: url_id for url_id, key in enumerate(keys[:4_500], 1)}
    assert len(seen) == 4_500
    assert seen.get_all(keys) == [expected.get(key) for key in keys]
    assert [seen.get(key) for key in keys] == [expected.get(key) for key in keys]


def test_the_smallest_and_the_largest_key_are_found():
    seen = Seen(recent=1)
    keys = [-(1 << 63), (1 << 63) - 1, 0]
    load(seen, keys)
    assert seen.get_all([*keys, 5, -5]) == [1, 2, 3, None, None]


def test_of_two_equal_keys_the_first_counts():
    seen = Seen(recent=2)
    load(seen, [7, 8, 9, 7, 10, 11])
    assert seen.get(7) == 1
    assert len(seen) == 5
    few = Seen()
    load(few, [7, 8, 7])
    assert few.get(7) == 1


def test_a_million_urls_take_a_fraction_of_a_dictionary():
    seen = Seen()
    load(seen, some_keys(1_000_000))
    assert seen.size <= 13_000_000


def test_keys_are_the_same_however_often_they_are_asked_for():
    addresses = [f"http://a.example/{number}" for number in range(50)] + ["http://a.example/" + "a" * 5_000]
    keys = Keys(any_scheme=True)
    for _ in range(2):
        assert keys.of(addresses) == [urls.key(url) for url in addresses]
    assert len(keys._known) == 50
