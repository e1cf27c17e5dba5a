"""From a sentence to keywords."""

from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.seeding.idea import LONGEST, common_words, understand, weight


def test_what_people_write_around_a_topic_is_left_out():
    idea = understand("I want pages about the geology of sedimentary rocks and how they form")
    assert idea.name == "Geology of sedimentary rocks"
    assert idea.language == "en"
    assert set(idea.keywords) == {"sedimentary rocks", "sedimentary", "geology", "rocks", "form"}
    assert list(idea.keywords)[:2] == ["sedimentary rocks", "sedimentary"]


def test_rare_words_weigh_more_and_so_does_the_subject():
    assert weight("sourdough") > weight("bread") > weight("home")
    keywords = understand("sorting algorithms: how computers put data in order").keywords
    assert keywords["sorting"] >= 3 > keywords["data"]  # a common word, but what it is about


def test_words_stand_together_only_without_a_stop_word_or_mark_between():
    keywords = understand("steam engines, iron ships and the telegraph").keywords
    assert {"steam engines", "iron ships", "telegraph"} <= set(keywords)
    assert not {"engines iron", "ships telegraph"} & set(keywords)


@pytest.mark.parametrize(
    ("sentence", "language", "expected"),
    [
        ("Webseiten über Orgelbau und historische Kirchenorgeln", "de", {"orgelbau", "historische kirchenorgeln"}),
        ("recettes de cuisine traditionnelle de Bretagne", "fr", {"recettes", "cuisine traditionnelle", "bretagne"}),
        ("日本の茶の栽培と歴史", "ja", {"日本", "茶", "栽培", "歴史"}),
    ],
)
def test_other_languages_are_told(sentence, language, expected):
    idea = understand(sentence)
    assert idea.language == language
    assert expected <= set(idea.keywords)
    assert not {"webseiten", "über", "de"} & set(idea.keywords)


@pytest.mark.parametrize("sentence", ["", "the pages", "…", "x", "all about it"])
def test_a_sentence_that_says_nothing_is_rejected(sentence):
    with pytest.raises(FocusError, match="no word that tells one page from another"):
        understand(sentence)


def test_a_whole_text_is_rejected():
    with pytest.raises(FocusError, match="give a sentence"):
        understand("word " * LONGEST)


def page(text: str) -> Page:
    return read_page(Page("http://a.example/"), f"<html><body><p>{text}</p></body></html>".encode(), "text/html")


def test_words_that_the_seeds_share_are_found():
    pages = [page("the volcano and its magma chamber"), page("magma under a volcano"), page("a volcano without it")]
    assert common_words(pages, ["volcano"]) == ["magma"]
    assert common_words(pages[:1], ["volcano"]) == []
