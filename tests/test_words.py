from __future__ import annotations

from time import process_time

from focuscrawl import words


def test_words_are_lower_case_letters_and_digits():
    assert words.tokenize("Quick-sort: O(n log n), „schnell“—und naïve_test 3.14!") == [
        "quick", "sort", "o", "n", "log", "n", "schnell", "und", "naïve", "test", "3", "14",
    ]  # fmt: skip


def test_without_spaces_two_neighbouring_characters_are_a_word():
    assert words.tokenize("排序算法 algorithm ソート 茶") == ["排序", "序算", "算法", "algorithm", "ソー", "ート", "茶"]
    assert words.tokenize("ที่นี่") == ["ที่นี่"]
    assert words.tokenize("오르간은") == ["오르", "르간", "간은"]


def test_what_only_looks_different_is_the_same_word():
    assert words.tokenize("Orgel\u00adbau cafe\u0301 ＡＩ ﬁne İzmir") == ["orgelbau", "café", "ai", "fine", "izmir"]
    assert words.tokenize("الكِتَاب") == words.tokenize("الكتاب")


def test_vowel_signs_are_parts_of_words():
    assert words.tokenize("हिन्दी में") == ["हिन्दी", "में"]


def test_stems_follow_the_language_and_never_collide():
    assert len(set(words.stems(["orgel", "orgeln"], "de"))) == 1
    assert len(set(words.stems(["пчела", "пчёлы".replace("ё", "е"), "пчелами"], "ru"))) == 1
    assert words.stem("die", "de") != words.stem("die", "en")
    assert words.stem("2024", "de") == words.stem("2024", "en")
    assert words.stem("linux", "ru") == words.stem("linux", "en")


def test_a_language_without_a_stemmer_has_its_words():
    assert words.stems(["đàn", "organ"], "vi") == ["vi:đàn", "vi:organ"]


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
    assert words.count_stems({"sorting": 1, "a": 2, "sorts": 1, "heap": 1}) == {"sort": 2, "a": 2, "heap": 1}


def test_remembered_stems_are_bounded(monkeypatch):
    stems = words._Stems("en")
    monkeypatch.setattr(words._Stems, "LIMIT", 10)
    for number in range(100):
        assert stems[f"running{number}"]
    assert len(stems) <= 10


def test_a_word_too_long_to_be_one_is_not_remembered():
    stems = words._Stems("en")
    assert stems["s" * 1_000_000] == "s" * 1_000_000
    assert not stems
