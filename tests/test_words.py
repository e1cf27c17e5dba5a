from __future__ import annotations

from time import process_time

from focuscrawl import words


def test_words_are_lower_case_letters_and_digits():
    assert words.tokenize("Quick-sort: O(n log n), „schnell“—und naïve_test 3.14!") == [
        "quick", "sort", "o", "n", "log", "n", "schnell", "und", "naïve", "test", "3", "14",
    ]  # fmt: skip


def test_chinese_and_japanese_are_words_by_character():
    assert words.tokenize("排序 algorithm ソート") == ["排", "序", "algorithm", "ソ", "ー", "ト"]


def test_signs_part_words_and_are_none():
    assert words.tokenize("a─b „c“ 排—d") == ["a", "b", "c", "排", "d"]


def test_a_text_of_signs_takes_little_longer_than_one_of_words():
    def seconds(text: str) -> float:
        took = []
        for _ in range(7):
            began = process_time()
            words.tokenize(text)
            took.append(process_time() - began)
        return min(took)

    assert seconds("─" * 100_000) < 8 * seconds("naïve café " * 9_091)


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


def test_a_word_too_long_to_be_one_is_not_remembered():
    stems = words._Stems()
    assert stems["s" * 1_000_000] == "s" * 1_000_000
    assert not stems
