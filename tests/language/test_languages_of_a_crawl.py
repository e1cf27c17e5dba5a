"""Languages in a crawl: topics that speak several, pages that are left out, links that are held back."""

from __future__ import annotations

import pytest

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.judge import KeywordJudge
from focuscrawl.language.languages import NAMES
from focuscrawl.language.wanted import wanted_languages
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.search.index import Index
from focuscrawl.search.query import Query
from focuscrawl.store.store import Store
from focuscrawl.strategies.adaptive.hashing import hashes
from focuscrawl.strategies.adaptive.reading import Reader
from focuscrawl.topic import topic_of
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import at

GERMAN = "Die alten Orgeln der Kirchen wurden von einem Orgelbauer erneuert, und ihre Pfeifen klingen wieder."
ENGLISH = "The old organs of the churches were restored by a builder of organs and the sound of the pipes is back."


def page(text: str) -> Page:
    return read_html(Page("http://a.example/"), f"<p>{text}".encode(), "text/html; charset=utf-8")


def test_a_page_is_judged_by_the_keywords_of_its_language_and_those_without_one():
    judge = KeywordJudge({"Silbermann": 1}, {"de": {"Orgel": 1}, "fr": {"orgue": 1, "tuyau": 1}})
    alone = KeywordJudge({"Silbermann": 1, "Orgel": 1})
    assert judge.coverage(page(GERMAN), 0.3) == alone.coverage(page(GERMAN), 0.3)
    assert set(judge.coverage(page(f"{GERMAN} Silbermann baute sie."), 0.3).why) == {"Orgel", "Silbermann"}
    assert judge.coverage(page(ENGLISH), 0.0).why == {}


def test_a_keyword_finds_compounds_in_languages_that_write_them_as_one_word():
    judge = KeywordJudge({"Orgel": 1, "Pfeife": 1})
    assert set(judge.frequencies(page("Die Kirchenorgel hat neue Orgelpfeifen aus Zinn und steht in der Stadt."))) == {
        "Orgel", "Pfeife",
    }  # fmt: skip
    assert KeywordJudge({"order": 1}).frequencies(page("The disorder of the borders and of the orderlies.")) == {}


def test_keywords_without_spaces_are_found_in_the_text():
    judge = KeywordJudge({"機械学習": 1, "茶": 1})
    text = "これは機械学習の入門です。機械学習とお茶の話をします。毎日の生活の中で役に立ちます。"
    assert judge.frequencies(page(text)) == {"機械学習": 2, "茶": 1}


def test_a_topic_file_may_have_keywords_by_language():
    topic = topic_of({"name": "Organs", "keywords": {"Silbermann": 2, "de": {"Orgel": 5}, "fr": ["orgue"]}}, "t.toml")
    assert topic.keywords == {"Silbermann": 2}
    assert topic.keywords_in == {"de": {"Orgel": 5}, "fr": {"orgue": 1}}
    assert topic.languages == ["de", "fr"]
    assert topic.all_keywords == {"Silbermann": 2, "Orgel": 5, "orgue": 1}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"keywords": {"xx": {"a": 1}}}, "unknown language 'xx'"),
        ({"languages": ["German"]}, "unknown language 'German'; write 'de'"),
        ({"languages": ["fr"], "keywords": {"de": {"Orgel": 1}}}, r"it has \[keywords.de\], but 'de' is not in"),
        ({"languages": "de"}, "'languages' must be a list of strings"),
    ],
)
def test_a_wrong_language_costs_one_line(table, message):
    with pytest.raises(FocusError, match=message):
        topic_of({"name": "x", **table}, "t.toml")


@pytest.mark.parametrize("value", ["german", "de,follow=maybe", "follow=no"])
def test_a_wrong_setting_costs_one_line(value):
    with pytest.raises(FocusError, match="setting FOCUS_LANGUAGES="):
        wanted_languages(value.split(","))


def mixed_web() -> MemoryWeb:
    web = MemoryWeb()
    web.add(at("root"), f"<p>{GERMAN} Orgel <a href={at('en')}>English</a> <a href={at('de')}>Deutsch</a>")
    web.add(at("en"), f"<p>{ENGLISH} Orgel Orgelbauer <a href={at('behind')}>more</a>")
    web.add(at("de"), f"<p>{GERMAN} Auch hier geht es um Orgeln.")
    web.add(at("behind"), f"<p>{GERMAN} Und hier um Pfeifen und Orgeln.")
    return web


def test_pages_in_other_languages_are_left_out_and_their_links_followed(crawl):
    crawled = crawl(
        "best_first", mixed_web(), settings={"FOCUS_LANGUAGES": "de"}, seeds=at("root"), keywords="Orgel,Orgelbauer"
    )
    assert sorted(crawled.matched) == sorted([at("root"), at("de"), at("behind")])
    assert crawled.sql("SELECT url, language, withheld FROM page WHERE withheld NOT NULL") == [
        (at("en"), "en", "language: en")
    ]


def test_or_their_links_are_held_back(crawl):
    crawled = crawl(
        "best_first",
        mixed_web(),
        settings={"FOCUS_LANGUAGES": "de,follow=no"},
        seeds=at("root"),
        keywords="Orgel,Orgelbauer",
    )
    assert sorted(crawled.matched) == sorted([at("root"), at("de")])
    ((why,),) = crawled.sql("SELECT why FROM link WHERE anchor = 'more'")
    assert "its page is in English (FOCUS_LANGUAGES)" in why


@pytest.mark.parametrize(("setting", "fetched"), [("de,follow=no", "root de x"), ("de", "root en de x")])
def test_a_link_whose_hreflang_names_another_language_is_held_back(crawl, setting, fetched):
    web = MemoryWeb()
    web.add(
        at("root"),
        f"<p>{GERMAN} <a href={at('en')} hreflang=en-GB>English</a> <a href={at('de')} hreflang=de-CH>Deutsch</a>"
        f" <a href={at('x')} hreflang=tlh>Klingon</a>",
    )
    for name in ("en", "de", "x"):
        web.add(at(name), f"<p>{GERMAN} Auch hier geht es um Orgeln.")
    crawled = crawl(
        "best_first", web, settings={"FOCUS_LANGUAGES": setting}, seeds=at("root"), keywords="Orgel,Orgelbauer"
    )
    assert {url for (url,) in crawled.sql("SELECT url FROM page")} == set(map(at, fetched.split()))
    ((why,),) = crawled.sql("SELECT why FROM link WHERE anchor = 'English'")
    assert ("its hreflang says English (FOCUS_LANGUAGES)" in str(why)) is (setting != "de")


def test_search_finds_all_forms_of_a_word_in_its_language(crawl):
    crawled = crawl("best_first", mixed_web(), seeds=at("root"), keywords="Orgel,Orgelbauer")
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    answer = Index.complete(store).search(Query.of("alte Orgel"))
    store.close()
    assert {hit.url for hit in answer.hits} == {at("root"), at("de"), at("behind")}


def test_pages_in_many_languages_do_not_fill_the_memory():
    judge = KeywordJudge({"Orgel": 1})
    for code in NAMES:
        judge.cosine(["orgel"], code)
    assert len(judge._by_language) <= words.LANGUAGES
    assert words._stems_in.cache_info().currsize <= words.LANGUAGES


def test_stop_words_of_other_languages_say_nothing_to_adaptive():
    found = Reader().read(page(GERMAN)).vector.words
    orgel, und = hashes(["de:orgel", "de:und"])
    assert orgel in found
    assert und not in found


def test_adaptive_finds_keywords_inside_compounds_in_pages_and_links():
    reader = Reader(KeywordJudge({"Orgel": 1}))
    (orgel,) = hashes(["de:orgel"])
    source = "Die Kirchenorgel wurde in der Stadt erneuert, und alle kamen. <a href='/x'>Zur Orgelpfeife</a>"
    reading = reader.read(page(source))
    assert orgel in reading.vector.words
    assert reading.vector.coverage > 0
    assert orgel in reading.links.features  # as a word of the anchor, the first kind of feature


def test_adaptive_finds_a_keyword_of_one_character_in_pairs():
    reading = Reader(KeywordJudge({"茶": 1})).read(page("毎日お茶を飲みます。<a href='/x'>茶道の話</a>"))
    (tea,) = hashes(["ja:茶"])
    assert tea in reading.vector.words
    assert tea in reading.links.features
