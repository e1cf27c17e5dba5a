"""Ten keywords find the relevant pages of a web in the language it is written in, whatever that is."""

from __future__ import annotations

import tomllib

import pytest

from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.spiders import adaptive
from tests.language_webs import (
    LARGE,
    MIXED,
    MIXED_LANGUAGES,
    RELEVANT,
    SMALL,
    Measured,
    language_web,
    measure,
    sites,
    three_relevant,
    topic_file,
)

#: Precision and recall with the default threshold, at least, and average precision, which no threshold changes: of
#: best_first, and of adaptive.
PROMISED = {
    "de": ((0.90, 0.95, 0.95), (0.90, 0.90, 0.95)),
    "fr": ((0.85, 0.95, 0.95), (0.85, 0.90, 0.95)),
    "es": ((0.95, 0.95, 0.95), (0.95, 0.85, 0.95)),
    "ru": ((0.90, 0.90, 0.95), (0.90, 0.90, 0.95)),
    "ar": ((0.90, 0.90, 0.95), (0.90, 0.90, 0.95)),
    "ja": ((0.90, 0.95, 0.95), (0.90, 0.95, 0.95)),
    "zh": ((0.95, 0.90, 0.95), (0.95, 0.95, 0.95)),
    "en": ((0.80, 0.95, 0.95), (0.95, 0.95, 0.95)),
}
#: The least average precision of adaptive if it is given three relevant pages and nothing else.
FROM_THREE_PAGES = {"de": 0.85, "ru": 0.90, "ja": 0.80}


@pytest.mark.slow
@pytest.mark.parametrize("language", PROMISED)
def test_ten_keywords_find_the_relevant_pages(language, tmp_path, monkeypatch):
    monkeypatch.setattr(adaptive, "load_vectors", lambda: None)  # whether the extra is installed or not
    found = {spider: measure(language, tmp_path / spider, spider) for spider in ("best_first", "adaptive")}
    for (spider, one), (precision, recall, average) in zip(found.items(), PROMISED[language], strict=True):
        assert one.precision >= precision, f"{spider} wrongly matched: {one.wrong}"
        assert one.recall >= recall, f"{spider} missed: {one.missed}"
        assert one.average_precision >= average, spider
    if language != "en":
        assert found["adaptive"].average_precision >= found["best_first"].average_precision


@pytest.mark.slow
@pytest.mark.parametrize("language", FROM_THREE_PAGES)
def test_three_pages_are_a_topic_in_any_language(language, tmp_path, monkeypatch):
    monkeypatch.setattr(adaptive, "load_vectors", lambda: None)
    found = measure(language, tmp_path, "adaptive", three_relevant(language))
    assert found.average_precision >= FROM_THREE_PAGES[language]


@pytest.mark.slow
def test_a_topic_in_three_languages_is_as_good_as_three_topics(tmp_path):
    alone = Measured.together(measure(language, tmp_path / language) for language in MIXED_LANGUAGES)
    mixed = measure(MIXED, tmp_path / MIXED)
    assert mixed.pages.keys() == alone.pages.keys()
    assert mixed.precision >= alone.precision, f"wrongly matched: {set(mixed.wrong) - set(alone.wrong)}"
    assert mixed.recall >= alone.recall, f"missed: {set(mixed.missed) - set(alone.missed)}"


@pytest.mark.parametrize("language", LARGE)
def test_a_web_is_large_enough_to_measure_on(language):
    pages = [page for site in sites(language) for page in site.pages]
    assert len(pages) >= 24
    assert 0.4 <= sum(page.relevant for page in pages) / len(pages) <= 0.6
    assert len(sites(language)) >= 3
    assert {"none", "en"} & {page.options.get("lang") for page in pages}, "some declare no language, or the wrong one"


@pytest.mark.parametrize("language", SMALL)
def test_a_small_web_has_as_many_relevant_pages_as_others(language):
    pages = [page for site in sites(language) for page in site.pages]
    assert [page.relevant for page in pages].count(True) == [page.relevant for page in pages].count(False) == 5


@pytest.mark.parametrize("language", [*LARGE, *SMALL])
def test_every_link_of_a_web_leads_somewhere_and_every_page_can_be_read(language):
    web = language_web(language)
    texts = {source.title: source for site in sites(language) for source in site.pages}
    for url, answer in web.pages():
        page = read_html(Page(url), answer.body, answer.content_type)
        assert {link.url for link in page.links if web.get(link.url).status == 404} == set(), url
        assert any(title in page.title for title in texts), f"{url} was decoded wrongly: {page.title}"


@pytest.mark.parametrize("name", [*LARGE, *SMALL])
def test_a_topic_has_ten_keywords_and_seeds_of_its_web(name):
    topic = tomllib.loads(topic_file(name).read_text("utf-8"))
    assert len(topic["keywords"]) == 10
    assert topic["label"] == RELEVANT
    assert set(topic["seeds"]) <= language_web(name).answers.keys()


def test_the_mixed_topic_has_the_keywords_and_seeds_of_the_three():
    mixed = tomllib.loads(topic_file(MIXED).read_text("utf-8"))
    alone = {name: tomllib.loads(topic_file(name).read_text("utf-8")) for name in MIXED_LANGUAGES}
    assert mixed["languages"] == list(MIXED_LANGUAGES)
    assert mixed["keywords"] == {name: topic["keywords"] for name, topic in alone.items()}
    assert mixed["seeds"] == [seed for topic in alone.values() for seed in topic["seeds"]]
