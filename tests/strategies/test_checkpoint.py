from __future__ import annotations

import random
import zlib
from contextlib import suppress

import numpy as np
import pytest

from focuscrawl.judge import KeywordJudge
from focuscrawl.strategies.adaptive import checkpoint
from focuscrawl.strategies.adaptive.checkpoint import joined, pack, parted, unpack
from focuscrawl.strategies.adaptive.learner import Learner


def test_arrays_come_back_as_they_were():
    sparse = np.zeros(10_000)
    sparse[[5, 9_999]] = 1.5, -2.0
    arrays = {
        "sparse": sparse,
        "table": np.arange(12, dtype=np.int32).reshape(4, 3),
        "flags": np.array([True, False]),
        "nothing": np.zeros(0, dtype=np.float32),
        **joined("parts", [np.array([1, 2]), np.zeros(0), np.array([3])], np.int64),
    }
    found = unpack(pack(arrays))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert [part.tolist() for part in parted("parts", found)] == [[1, 2], [], [3]]


@pytest.mark.filterwarnings("ignore:overflow")
def test_damaged_bytes_are_an_error_or_do_no_harm():
    learner = Learner(KeywordJudge({"sort": 1.0}))
    raw = zlib.decompress(learner.state())
    other = random.Random(1)
    for _ in range(60):
        changed = bytearray(raw)
        for _ in range(other.randint(1, 3)):
            changed[other.randrange(min(len(changed), 4000))] = other.randrange(256)
        with suppress(ValueError, LookupError, TypeError, OverflowError):
            learner.restore(zlib.compress(bytes(changed)))


def test_what_was_learned_about_another_topic_is_refused():
    with pytest.raises(ValueError, match="another topic"):
        Learner(KeywordJudge({"sort": 1.0})).restore(Learner(KeywordJudge({"heap": 1.0})).state())


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("name", ["weights", "weights of features", "sums", "learner"])
def test_numbers_that_nobody_can_reckon_with_are_refused(name, number):
    learner = Learner(KeywordJudge({"sort": 1.0}))
    arrays = unpack(learner.state(), scores=("now", "told"))
    arrays[name].flat[0] = number
    with pytest.raises(ValueError, match="impossible number"):
        learner.restore(pack(arrays))


def test_a_score_is_from_0_to_1():
    learner = Learner(KeywordJudge({"sort": 1.0}))
    arrays = unpack(learner.state(), scores=("now", "told"))
    arrays["now"].flat[0] = 2.0
    with pytest.raises(ValueError, match="now has an impossible number"):
        learner.restore(pack(arrays))


def test_bytes_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(checkpoint, "_MOST", 1 << 20)
    with pytest.raises(ValueError, match="too large"):
        unpack(pack({"large": np.zeros((1 << 20, 5), dtype=bool)}))
    with pytest.raises(ValueError, match="too large"):
        unpack(pack({"sparse": np.zeros(1 << 20)}))
