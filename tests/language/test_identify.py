"""The language of a text, by the text and by hints."""

from __future__ import annotations

import pytest

from focuscrawl.language.identify import identify, is_english
from focuscrawl.language.languages import NAMES, algorithm, code_of
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html

GERMAN = "Die Orgel in der Kirche wurde vor zwei Jahren erneuert und klingt seitdem wieder wie am ersten Tag."
FRENCH = "L'orgue de la cathédrale a été restauré il y a deux ans et sonne depuis comme au premier jour."
RUSSIAN = "Орган в соборе был восстановлен два года назад и с тех пор звучит как в первый день."
JAPANESE = "大聖堂のオルガンは二年前に修復され、それ以来、最初の日のように鳴っています。"


@pytest.mark.parametrize(("text", "code"), [(GERMAN, "de"), (FRENCH, "fr"), (RUSSIAN, "ru"), (JAPANESE, "ja")])
def test_a_sentence_tells_its_language(text, code):
    found = identify(text)
    assert found.code == code
    assert found.confidence > 0.9


def test_a_clear_text_wins_over_a_wrong_declaration():
    assert identify(GERMAN, declared="en").code == "de"


def test_a_declaration_settles_a_text_that_says_little():
    assert identify("Oslo", declared="no").code == "no"
    assert identify("2024 – 17", declared="fi").code == "fi"


def test_the_languages_of_the_topic_are_likelier():
    text = "En stor by"  # Danish or Swedish
    assert {identify(text, expected=[code]).code for code in ("da", "sv")} == {"da", "sv"}


def test_what_is_in_no_language_has_none():
    assert identify("").code == ""
    assert identify("12.3 + 4 = ?").code == ""


def test_english_is_told_by_its_words():
    assert is_english(["the", "organ", "of", "the", "church", "and", "the", "sound", "of", "the", "pipes"])
    assert not is_english(GERMAN.lower().split())
    assert not is_english([])


@pytest.mark.parametrize(
    ("tag", "code"),
    [("de-CH", "de"), ("pt_BR", "pt"), ("zh-Hant", "zh"), ("nb", "no"), ("EN", "en"), ("x-default", "")],
)
def test_tags_name_languages(tag, code):
    assert code_of(tag) == code


def test_every_snowball_language_is_used():
    import Stemmer

    used = {algorithm(code) for code in NAMES} | {"english", "dutch_porter"}
    assert set(Stemmer.algorithms()) <= used


def page(html: str, **said: str) -> Page:
    made = Page("http://a.example/")
    for name, value in said.items():
        setattr(made, name, value)
    return read_html(made, html.encode(), "text/html; charset=utf-8")


def test_the_page_decides_by_its_main_text():
    menu = "<nav>" + "<a href=/x>All about the organ and the history of the church</a>" * 5 + "</nav>"
    assert page(f"<html lang=en>{menu}<p>{GERMAN}</p>").language == "de"


def test_the_html_element_declares_before_the_header():
    assert page("<html lang=fr><p>Oslo", declared_language="no").declared_language == "fr"
    assert page("<html><p>Oslo", declared_language="no").language == "no"


def test_links_have_the_language_of_their_page():
    (link,) = page(f"<p>{GERMAN} <a href=/o>Alte Orgeln</a>").links
    assert link.language == "de"
    assert link.anchor_stems == ["de:alt", "de:orgel"]
