from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.topic import load_topic, make_topic, parse_keywords, parse_seeds, shipped_topics

GOOD = """
name = "Sorting"
description = "pages about sorting"
seeds = ["http://example.com/"]
keywords = { sort = 3, "bubble sort" = 5, time = 0.5 }
examples = ["pages/*.html", "http://example.com/example"]
counterexamples = ["other.html"]
dewey = ["005"]
targets = ["http://example.com/target"]
"""


@pytest.fixture
def topic_file(tmp_path):
    def write(text: str):
        (tmp_path / "pages").mkdir(exist_ok=True)
        for name in ("pages/a.html", "pages/b.html", "other.html"):
            (tmp_path / name).write_text("<p>x")
        path = tmp_path / "topic.toml"
        path.write_text(text, "utf-8")
        return str(path)

    return write


def test_a_topic_file_says_what_a_crawl_is_about(topic_file, tmp_path):
    topic = load_topic(topic_file(GOOD))
    assert topic.name == "Sorting"
    assert topic.keywords == {"sort": 3.0, "bubble sort": 5.0, "time": 0.5}
    assert topic.examples == [tmp_path / "pages/a.html", tmp_path / "pages/b.html", "http://example.com/example"]
    assert topic.counterexamples == [tmp_path / "other.html"]
    assert (topic.dewey, topic.targets) == (["005"], ["http://example.com/target"])
    assert topic.slug == "sorting"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "not valid TOML"),
        ("description = 'x'", "'name' is missing"),
        ("name = 3", "'name' must be a text"),
        ("name = 'x'\nkeyword = { a = 1 }", "unknown key 'keyword'; did you mean 'keywords'?"),
        ("name = 'x'\nzzz = 1", "unknown key 'zzz'; known keys: name"),
        ("name = 'x'\nkeywords = 'sort'", "'keywords' must be a table"),
        ("name = 'x'\nkeywords = [['a']]", "'keywords' must be a table"),
        ("name = 'x'\nexamples = ['']", "'examples':  matches no file"),
        ("name = 'x'\nexamples = ['**x/y']", "'examples': **x/y matches no file"),
        ("name = 'x'\nkeywords = { sort = 'much' }", "weight of keyword 'sort' must be a number above 0, not 'much'"),
        ("name = 'x'\nkeywords = { sort = -1 }", "weight of keyword 'sort'"),
        ("name = 'x'\nkeywords = { sort = true }", "weight of keyword 'sort'"),
        ("name = 'x'\nkeywords = { '!!' = 1 }", "keyword '!!' has no letter"),
        ("name = 'x'\nseeds = 'http://a'", "'seeds' must be a list of texts"),
        ("name = 'x'\nexamples = ['none/*.html']", "'examples': none/*.html matches no file"),
        ("name = 'x'\ncounterexamples = ['http://[bad']", "'counterexamples': 'http://[bad' is not a valid URL"),
    ],
)
def test_a_wrong_topic_file_is_refused_by_file_key_and_remedy(topic_file, text, says):
    path = topic_file(text)
    with pytest.raises(FocusError) as caught:
        load_topic(path)
    assert says in str(caught.value)
    assert f"topic '{path}'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_topic_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "x.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(FocusError, match="not UTF-8"):
        load_topic(str(tmp_path / "x.toml"))


def test_an_unknown_topic_is_told_from_a_missing_file():
    with pytest.raises(FocusError, match=r"unknown topic 'sortin': did you mean 'sorting'\?"):
        load_topic("sortin")
    with pytest.raises(FocusError, match="no such file"):
        load_topic("nowhere/x.toml")


@pytest.mark.parametrize("name", shipped_topics())
def test_topics_that_ship_are_good(name):
    topic = load_topic(name)
    assert topic.keywords
    assert topic.seeds
    assert topic.label


def test_keywords_may_be_a_list(topic_file):
    assert load_topic(topic_file("name = 'x'\nkeywords = ['a', 'b c']")).keywords == {"a": 1.0, "b c": 1.0}


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("time,bubble,sort", {"time": 1, "bubble": 1, "sort": 1}),
        ('a,b:2,"c d":3', {"a": 1, "b": 2, "c d": 3}),
        ("c d:3 , e", {"c d": 3, "e": 1}),
        ('"one, two":2', {"one, two": 2}),
    ],
)
def test_keywords_on_the_command_line(text, keywords):
    assert parse_keywords(text) == keywords


@pytest.mark.parametrize("text", ["", ",", "a:x", "a:0", "a:-1", "::", "a:nan", "a:inf"])
def test_bad_keywords_on_the_command_line_are_refused(text):
    with pytest.raises(FocusError, match="keywords:"):
        parse_keywords(text)


def test_seeds_on_the_command_line_or_in_a_file(tmp_path):
    assert parse_seeds("http://a/, http://b/") == ["http://a/", "http://b/"]
    (tmp_path / "seeds").write_text("# mine\nhttp://a/x,y\n\n http://b/ \n")
    assert parse_seeds(f"@{tmp_path / 'seeds'}") == ["http://a/x,y", "http://b/"]
    with pytest.raises(FocusError, match="cannot read"):
        parse_seeds("@nowhere")


def test_what_is_given_inline_wins_over_the_file(topic_file):
    topic = make_topic(topic_file(GOOD), seeds="http://b/", keywords="heap")
    assert (topic.name, topic.seeds, topic.keywords) == ("Sorting", ["http://b/"], {"heap": 1.0})


def test_a_topic_without_a_name_is_called_by_its_keywords_or_its_seed():
    assert make_topic(keywords="time,bubble sort").slug == "time-bubble-sort"
    assert make_topic(seeds="http://example.com/x").slug == "example-com"
    assert make_topic().slug == "topic"
