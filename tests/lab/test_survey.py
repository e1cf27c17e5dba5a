"""A web read as crawlers see it."""

from __future__ import annotations

import sqlite3

import pytest

from focuscrawl.lab.survey import Survey, cosine, topic_vector, web_digest
from focuscrawl.topic import Topic
from focuscrawl.web.webs import Answer, MemoryWeb
from tests.conftest import at, small_web


def links_of(survey: Survey, name: str) -> list[str]:
    return [survey.urls[number] for number in survey.links[survey.number(at(name))]]


def test_redirects_are_followed_dead_links_stay_and_forbidden_ones_do_not():
    web = small_web({"a": ["b", "old", "gone", "shut/x", "shut", "b"], "b": [], "new": [], "shut": [], "shut/x": []})
    web.redirect(at("old"), at("older"))
    web.redirect(at("older"), at("new"))
    web.add("http://shut.example/robots.txt", "User-agent: *\nDisallow: /x", content_type="text/plain")
    survey = Survey.of(web, {})
    assert links_of(survey, "a") == [at("b"), at("new"), at("gone"), at("shut")]
    assert survey.pages == 5  # robots.txt is none
    assert survey.number(at("gone")) >= survey.pages
    assert survey.numbers([at("gone"), at("b"), at("nowhere")]) == [survey.number(at("b"))]


def test_pages_that_ask_for_it_lead_nowhere():
    web = MemoryWeb()
    web.add(at("a"), f"<meta name=robots content=nofollow><a href='{at('b')}'>b</a>")
    web.add(at("b"), f"<a href='{at('a')}' rel=nofollow>a</a>")  # a hint about one link, which crawls follow
    survey = Survey.of(web, {})
    assert links_of(survey, "a") == []
    assert links_of(survey, "b") == [at("a")]


def test_headers_are_read_as_a_crawl_reads_them():
    body = f"<a href='{at('b')}'>b</a>".encode()
    web = small_web({"b": []})
    for name, tag in {"all": "none", "valued": "max-snippet:-1, nofollow", "other": "otherbot: nofollow"}.items():
        web.answers[at(name)] = Answer(200, "text/html", body, headers=(("X-Robots-Tag", tag),))
    survey = Survey.of(web, {})
    assert [links_of(survey, name) for name in ("all", "valued", "other")] == [[], [], [at("b")]]


def test_circles_of_redirects_end():
    web = small_web({"a": ["x"]})
    web.redirect(at("x"), at("y"))
    web.redirect(at("y"), at("x"))
    assert links_of(Survey.of(web, {}), "a") == []


def test_the_generic_start_has_most_links_and_no_label():
    web = small_web({"a": ["b", "c", "d"], "b": ["c", "d"], "c": ["d", "gone", "dead", "lost"], "d": []})
    web.page_labels[at("a")] = ["x"]
    survey = Survey.of(web, {})
    assert survey.generic_start({"x"}) == at("b")  # c has more links, but they lead nowhere
    web.page_labels |= {at("b"): ["x"], at("c"): ["other"], at("d"): ["x"]}
    assert Survey.of(web, {}).generic_start({"x"}) == at("c")  # every page has a label: one of none of the topics
    web.page_labels[at("c")] = ["x"]
    assert Survey.of(web, {}).generic_start({"x"}) is None


def test_similarity_is_the_cosine_with_the_topics_words():
    topic = topic_vector(Topic("t", keywords={"sorting": 3, "bubble sort": 4}))
    assert topic == {"sort": 4, "bubbl": 4}
    assert cosine({"sort": 1, "bubbl": 1}, [topic]) == pytest.approx([1.0])
    assert cosine({"sort": 1, "the": 500}, [topic, {"x": 1.0}]) == pytest.approx([0.5**0.5, 0.0])
    assert cosine({}, [topic]) == [0.0]
    # the description comes first, as in the paper; then the keywords, then the name
    described = Topic("Plants", "pages about the plants", keywords={"leaf": 3})
    assert topic_vector(described) == {"plant": 1.0, "page": 1.0}
    assert topic_vector(Topic("Plants", "of the", keywords={"leaf": 3})) == {"leaf": 3.0}
    assert topic_vector(Topic("Plants")) == {"plant": 1.0}


def test_what_was_read_is_kept(tmp_path):
    survey = Survey.of(
        small_web({"a": ["b", "gone"], "b": []}, {"a": "sort"}), {"t": Topic("t", keywords={"sort": 1.0})}
    )
    path = tmp_path / "web.json"
    survey.save(path, "digest")
    assert Survey.load(path, "digest") == survey
    assert Survey.load(path, "of another web") is None
    path.write_text("[]")
    assert Survey.load(path, "digest") is None
    assert Survey.load(tmp_path / "missing", "digest") is None


def test_a_web_that_changes_has_another_digest(tmp_path):
    path = tmp_path / "web.sqlite"
    small_web({"a": []}).save(path)
    before = web_digest(str(path))
    small_web({"a": ["b"]}).save(path)
    assert web_digest(str(path)) != before
    assert web_digest("demo") != web_digest("synthetic:10")


def test_what_is_in_the_log_of_a_web_is_part_of_it(tmp_path):
    path = tmp_path / "web.sqlite"
    small_web({"a": []}).save(path)
    before = web_digest(str(path))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_checkpoint")
    changed = web_digest(str(path))
    connection.execute("DELETE FROM page")
    connection.commit()
    assert web_digest(str(path)) not in (before, changed)
    connection.close()
