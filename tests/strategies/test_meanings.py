from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.strategies.adaptive import meanings
from focuscrawl.strategies.adaptive.hashing import hashes
from focuscrawl.strategies.adaptive.learner import Learner
from focuscrawl.strategies.adaptive.meanings import Meanings
from focuscrawl.strategies.adaptive.reading import Reader
from focuscrawl.strategies.adaptive.vectors import Vectors

VOLCANOES, BREAD, OTHERS = ("lava", "basalt", "volcano"), ("dough", "oven", "flour"), 2


class Tokenizer:
    """Every word is one part: those of a subject are alike, any other word is like all others."""

    def encode_batch_fast(self, found, *, add_special_tokens):
        return [SimpleNamespace(ids=[0 if word in VOLCANOES else 1 if word in BREAD else OTHERS]) for word in found]


@pytest.fixture
def vectors():
    return Vectors(Tokenizer(), np.eye(3, 4, dtype=np.float32))


def page(anchor: str) -> Page:
    html = f'<p>some pages about this and that</p><p><a href="/1">{anchor}</a></p>'
    return read_html(Page("http://a.example/"), html.encode(), "text/html")


def test_words_near_the_topic_say_so_whether_or_not_they_are_keywords(vectors):
    known = Meanings(vectors)
    known.meet(dict(zip(hashes(["lava", "dough", "the"]), ["lava", "dough", "the"], strict=True)))
    known.aim(np.array([1.0, 0, 0, 0]))
    lava, dough, the = hashes(["lava", "dough", "the"])
    assert known.near[lava] == known.weight[lava] > 5
    assert known.near[dough] == 0 < known.weight[dough]
    assert known.weight[the] < 0.1
    sums = (np.array([table[[lava, dough]].sum()]) for table in (known.near, known.weight, known.squared))
    assert 0.6 < known.cosines(*sums)[0] < 0.71
    known.aim(np.array([0, 1.0, 0, 0]))
    assert known.near[lava] == 0 < known.near[dough]


def test_words_mean_the_same_whether_they_were_met_one_by_one_or_all_at_once():
    names = [f"word{number}" for number in range(300)]
    numbers = hashes(names)
    table = np.random.default_rng(0).normal(size=(300, 256)).astype(np.float32)
    parts = SimpleNamespace(
        encode_batch_fast=lambda found, **_: [SimpleNamespace(ids=[sum(map(ord, word)) % 300]) for word in found]
    )
    one_by_one, at_once = (Meanings(Vectors(parts, table)) for _ in range(2))
    for known in (one_by_one, at_once):
        known.aim(np.random.default_rng(1).normal(size=256))
    for pair in zip(numbers, names, strict=True):
        one_by_one.meet(dict([pair]))
    at_once.restore(one_by_one.state())
    np.testing.assert_array_equal(one_by_one.near, at_once.near)


def test_a_link_is_followed_for_what_its_words_mean(vectors):
    keywords = KeywordJudge({"volcano": 1.0})
    learner = Learner(keywords, vectors=vectors)
    reader = Reader(keywords, vectors.embed)
    found = []
    for anchor in ("lava", "dough"):
        reading = reader.read(page(anchor))
        found.append(learner.preview(reading.links, learner.relevance(reading)))
    ((lava,), (why,)), ((dough,), (why_not,)) = found
    assert lava > dough
    assert why["meaning of anchor and URL"] > 0 > why_not["meaning of anchor and URL"]


def test_the_words_that_were_met_are_kept(vectors):
    known = Meanings(vectors)
    known.meet(dict(zip(hashes(VOLCANOES), VOLCANOES, strict=True)))
    again = Meanings(vectors)
    again.restore(known.state())
    for one in (known, again):
        one.aim(np.array([1.0, 0, 0, 0]))
    np.testing.assert_array_equal(again.near, known.near)
    again.meet({hashes(["lava"])[0]: "dough"})  # the first word of a hash counts
    np.testing.assert_array_equal(again.near, known.near)
    with pytest.raises(ValueError, match="differ in number"):
        again.restore({**known.state(), "met": np.zeros(1, dtype=np.int32)})
    with pytest.raises(ValueError, match="too long"):
        again.restore({"met": np.zeros(1, dtype=np.int32), "met words": np.full(1_000, ord("a"), dtype=np.uint8)})


def test_words_beyond_the_limit_mean_nothing(vectors, monkeypatch):
    monkeypatch.setattr(meanings, "MOST", 2)
    known = Meanings(vectors)
    known.meet(dict(zip(hashes(VOLCANOES), VOLCANOES, strict=True)))
    known.meet(dict(zip(hashes(BREAD), BREAD, strict=True)))
    assert np.count_nonzero(known.weight) == 2


def test_a_page_of_nonsense_leaves_room_for_the_words_of_others(vectors, monkeypatch):
    monkeypatch.setattr(meanings, "MOST_OF_A_PAGE", 2)
    known = Meanings(vectors)
    known.meet({number: f"x{number}" for number in range(100)})
    known.meet(dict(zip(hashes(["lava"]), ["lava"], strict=True)))
    assert np.count_nonzero(known.weight) == 3
