from __future__ import annotations

from focuscrawl import words


def test_words_are_lower_case_letters_and_digits():
    assert words.tokenize("Quick-sort: O(n log n), „schnell“—und naïve_test 3.14!") == [
        "quick", "sort", "o", "n", "log", "n", "schnell", "und", "naïve", "test", "3", "14",
    ]  # fmt: skip


def test_chinese_and_japanese_are_words_by_character():
    assert words.tokenize("排序 algorithm ソート") == ["排", "序", "algorithm", "ソ", "ー", "ト"]


def test_text_without_words_has_none():
    assert words.tokenize(" \t…— ") == []


def test_words_of_one_family_share_a_stem():
    assert words.stems(["sort", "sorts", "sorted", "sorting"]) == ["sort"] * 4


def test_stems_are_counted():
    assert words.count_stems(["sorting", "a", "sorts", "a", "heap"]) == {"sort": 2, "a": 2, "heap": 1}


def test_remembered_stems_are_bounded(monkeypatch):
    stems = words._Stems()
    monkeypatch.setattr(words._Stems, "LIMIT", 10)
    for number in range(100):
        assert stems[f"running{number}"]
    assert len(stems) <= 10
