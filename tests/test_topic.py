from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.strategies.dewey import lexicon, prefixes
from focuscrawl.testing import crawl
from focuscrawl.topic import Topic, load_topic, make_topic, parse_keywords, parse_seeds, read_topic, shipped_topics
from focuscrawl.web.demo import TOPICS, demo_web

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
        ("name = 3", "'name' must be a string"),
        ("name = 'x'\nkeyword = { a = 1 }", "unknown key 'keyword'; did you mean 'keywords'?"),
        ("name = 'x'\nzzz = 1", "unknown key 'zzz'; known keys: name"),
        ("name = 'x'\nkeywords = 'sort'", "'keywords' must be a table"),
        ("name = 'x'\nkeywords = [['a']]", "'keywords' must be a table"),
        ("name = 'x'\nexamples = ['']", "'examples':  matches no file"),
        ("name = 'x'\nexamples = ['**x/y']", "'examples': **x/y matches no file"),
        ("name = 'x'\nkeywords = { sort = 'much' }", "weight of keyword 'sort' must be a number above 0, not 'much'"),
        ("name = 'x'\nkeywords = { sort = -1 }", "weight of keyword 'sort'"),
        ("name = 'x'\nkeywords = { sort = true }", "weight of keyword 'sort'"),
        ("name = 'x'\nkeywords = { '!!' = 1 }", "keyword '!!' contains no letter"),
        ("name = 'x'\nseeds = 'http://a'", "'seeds' must be a list of strings"),
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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = 'x'\n[keywords]\nglass = 1\nverrière = 2", 'line 4: the key verrière needs quotes; write "verrière" = 2'),
        ("name = 'x'\n[keywords]\nœuf=2 # egg", 'line 3: the key œuf needs quotes; write "œuf" = 2'),
        ("name = 'x'\n[keywords]\nбереза = 2.5", 'line 3: the key береза needs quotes; write "береза" = 2.5'),
        ("name = 'x'\nkeywords = { glass = 1, verrière = 2 }", 'line 2: the key verrière needs quotes; write "verrière" = 2'),
        ("name = 'x'\nkeywords = { bubble sort = 5, a = 1 }", 'line 2: the key bubble sort needs quotes; write "bubble sort" = 5'),
        ("name = 'x'\n[keywords]\nc++ = 3", 'line 3: the key c++ needs quotes; write "c++" = 3'),
        ("name = 'x'\n[keywords]\nl'eau = 3", 'line 3: the key l\'eau needs quotes; write "l\'eau" = 3'),
        ("name = 'x'\n[keywords]\nverre.clé = 3", 'line 3: the key verre.clé needs quotes; write "verre.clé" = 3'),
        ("name = 'x'\n[keywords]\nverrière", 'line 3: the key verrière needs quotes; write "verrière" = 1'),
        ("name = 'x'\n[keywords]\nverrière = ", 'line 3: the key verrière needs quotes; write "verrière" = 1'),
    ],
)  # fmt: skip
def test_a_key_that_toml_refuses_without_quotes_is_shown_with_them(topic_file, text, says):
    path = topic_file(text)
    with pytest.raises(FocusError) as caught:
        load_topic(path)
    assert str(caught.value) == f"topic '{path}': {says}"


@pytest.mark.parametrize(
    "text",
    ["name = 'x'\nseeds = [é]", "name = 'x", "[[[", "name = 'x'\n= 2", "name = 'x'\nkeywords = { a = 1", "é" * 5000],
)
def test_other_mistakes_are_told_as_toml_tells_them(topic_file, text):
    with pytest.raises(FocusError, match="not valid TOML: "):
        load_topic(topic_file(text))


def test_a_topic_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "x.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(FocusError, match="not UTF-8"):
        load_topic(str(tmp_path / "x.toml"))


def test_an_unknown_topic_is_told_from_a_missing_file():
    with pytest.raises(FocusError, match=r"unknown topic 'sortin'; did you mean 'sorting'\?"):
        load_topic("sortin")
    with pytest.raises(FocusError, match="no such file"):
        load_topic("nowhere/x.toml")


def test_every_topic_of_the_embedded_web_ships():
    assert shipped_topics() == sorted(TOPICS)


def test_the_topic_of_a_paper_is_found_by_name_but_is_not_one_of_the_embedded_web():
    topic = load_topic("call_for_papers")
    assert "call_for_papers" not in shipped_topics()
    assert [*topic.keywords.values()] == [5, 3, 3, 3, 3, 3, 3, 3, 3, 1]
    assert {"call for paper", "IT", "2009"} < set(topic.keywords)
    assert len(topic.seeds) == len({urls.key(urls.check(seed)) for seed in topic.seeds}) == 20
    assert topic.description
    assert prefixes(topic.dewey)


def test_the_topic_of_a_paper_tells_a_call_from_a_page_that_says_it():
    judge = KeywordJudge(load_topic("call_for_papers").keywords)

    def relevance(text: str) -> float:
        page = read_html(Page("http://a.example/"), f"<title>{text}</title><p>{text}".encode(), "text/html")
        return judge.tag_weighted(page, 0.05).relevance

    assert relevance("A walk by the sea, and what it is like") == 0
    assert (
        relevance("Call for Papers: databases and information technology, 2009") > relevance("A network of paths") > 0
    )


@pytest.mark.parametrize("name", shipped_topics())
def test_topics_that_ship_are_good(name):
    topic = load_topic(name)
    assert topic.label == name
    assert topic.description
    assert len(topic.keywords) >= 10
    assert topic.seeds
    assert prefixes(topic.dewey)
    assert len(topic.examples) >= 16
    assert len(topic.counterexamples) >= 30


@pytest.mark.parametrize("name", shipped_topics())
def test_examples_of_topics_that_ship_are_pages_of_the_embedded_web_and_counterexamples_are_of_others(name):
    web, topic = demo_web(), load_topic(name)
    pages = [*topic.seeds, *topic.examples, *topic.counterexamples]
    assert len(set(pages)) == len(pages)
    assert {web.get(url).status for url in pages} == {200}
    assert not any({"mirror", "forbidden"} & set(web.labels(url)) for url in pages)
    assert all(name in web.labels(url) for url in topic.examples)
    assert not any(name in web.labels(url) for url in topic.counterexamples)


@pytest.mark.parametrize("name", shipped_topics())
def test_dewey_numbers_of_topics_that_ship_are_found_in_their_examples(name):
    web, topic = demo_web(), load_topic(name)

    def share(pages: list[Path | str]) -> float:
        return sum(on_topic(str(url)) for url in pages) / len(pages)

    def on_topic(url: str) -> bool:
        answer = web.get(url)
        page = read_html(Page(url), answer.body, answer.content_type)
        return any(number.startswith(prefixes(topic.dewey)) for number in lexicon().of_page(page).galaxies()[0])

    assert share(topic.examples) > 2 * share(topic.counterexamples)


@pytest.mark.slow
def test_topics_that_ship_focus_a_crawl(tmp_path):
    web = demo_web()

    def relevant(spider: str, topic: str) -> int:
        crawled = crawl(spider, web, tmp_path / spider / topic, topic=topic, max_pages=150)
        return sum(topic in web.labels(url) for url in crawled.urls)

    found = {name: (relevant("best_first", name), relevant("breadth_first", name)) for name in shipped_topics()}
    focused, unfocused = map(sum, zip(*found.values(), strict=True))
    assert focused > 1.4 * unfocused
    assert all(one > other for one, other in found.values()), found


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


# ---- properties


def _toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return hex(value) if value > 2**63 else str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(key)} = {_toml(item)}' for key, item in value.items())}}}"
    return str(value)


_TEXTS = st.one_of(
    st.text(max_size=8).filter(lambda text: not set(text) & set("/*")),  # no search through the whole disk
    st.sampled_from(
        ["", " ", "\n", "a\nb", "\x00", "\x1b[2J", "\x85", "\u2028", "http://[", "http://\n/", "://", "a" * 300]
    ),
)
_NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([2**2000, 16**3000, -1, 0, True, 1e308, math.nan, math.inf, -math.inf]),
)
_VALUES = st.recursive(
    st.one_of(_TEXTS, _NUMBERS, st.booleans(), st.datetimes(), st.dates(), st.times()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_LISTS = st.lists(_TEXTS, max_size=3)
_TABLES = st.fixed_dictionaries(
    {},
    optional={
        "name": st.just("x") | _TEXTS | _VALUES,
        "description": _TEXTS | _VALUES,
        "seeds": _LISTS | _VALUES,
        "keywords": st.dictionaries(_TEXTS, _NUMBERS, max_size=3) | _LISTS | _VALUES,
        "examples": _LISTS | _VALUES,
        "counterexamples": _LISTS | _VALUES,
        "dewey": _LISTS | _VALUES,
        "targets": _LISTS | _VALUES,
        "label": _TEXTS | _VALUES,
    },
)


def told(problem: FocusError) -> str:
    """The message, which is one line that can be printed."""
    text = str(problem)
    assert len(text.splitlines()) == 1
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", text)
    text.encode()
    return text


def fits(topic: Topic) -> None:
    """A topic that was accepted can be used."""
    assert topic.slug
    assert len(topic.slug.splitlines()) == 1
    assert topic.lacks("seeds")
    judge = KeywordJudge(topic.keywords)
    assert 0 <= judge.coverage(read_html(Page("http://a.example/"), b"some text", "text/html"), 0.5).relevance <= 1


@given(_TABLES, st.dictionaries(_TEXTS, _VALUES, max_size=1))
def test_any_topic_file_is_a_topic_or_refused_in_one_line_by_file_and_key(tmp_path_factory, table, more):
    folder = tmp_path_factory.getbasetemp()
    table = {**table, **more}
    content = "\n".join(f"{_toml(key)} = {_toml(value)}" for key, value in table.items())
    try:
        fits(read_topic(content.encode(), "my.toml", folder))
    except FocusError as problem:
        message = told(problem)
        assert message.startswith("topic 'my.toml': ")
        shown = str(FocusError("\n".join(table)))  # as messages show it
        assert "not valid TOML" in message or any(key in message for key in ["name", "keyword", *shown.split()])


@given(st.text() | st.binary())
def test_any_text_is_a_topic_or_refused_in_one_line_by_file(text):
    content = text.encode() if isinstance(text, str) else text
    try:
        fits(read_topic(content, "my.toml", None))
    except FocusError as refusal:
        message = told(refusal)
        assert message.startswith("topic 'my.toml': ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = 'x'\nkeywords = { sort = " + hex(16**5000) + " }", "the weight of keyword 'sort' must be a number"),
        ("name = 'x'\nkeywords = { sort = " + "9" * 5000 + " }", "not valid TOML"),
        ("name = " + "[" * 100_000, "not valid TOML"),
        ("name = 'x'\nexamples = ['" + "a/" * 5000 + "']", "'examples': "),
        ("name = 'x'\nexamples = ['" + "a" * 5000 + "']", "'examples': "),
        ('name = "x"\nexamples = ["a\\nb"]', "'examples': a b matches no file"),
        ('name = "x"\nexamples = ["a\\u0000b"]', "'examples': a b matches no file"),
        ('name = "x"\nexamples = ["http://a\\u2028 b/"]', "'examples': 'http://a  b/' is not a valid URL"),
        ('name = "x"\n"a\\nb" = 1', "unknown key 'a b'"),
    ],
)
def test_a_strange_topic_file_is_refused_in_one_line(topic_file, text, says):
    path = topic_file(text)
    with pytest.raises(FocusError) as caught:
        load_topic(path)
    assert told(caught.value).startswith(f"topic '{path}': ")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "name", ["", "a\nb", "\x00", "\x00.toml", "\ud800", "\udcff.toml", "x" * 5000, "x" * 5000 + ".toml", "/"]
)
def test_a_strange_name_of_a_topic_is_refused_in_one_line(name):
    with pytest.raises(FocusError, match="topic '"):
        load_topic(name)


def test_a_topic_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    (tmp_path / "x.toml").write_text("name = 'x'")

    def denied(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(FocusError, match=r"x\.toml': cannot be read: .*Permission denied"):
        load_topic(str(tmp_path / "x.toml"))


_ANY = st.text(st.characters(), max_size=30)  # surrogates too: what the shell passes on need not be text


@given(st.one_of(_ANY, st.lists(_ANY | st.sampled_from(["a", ":", ",", '"', "'", "2", "1e400", "\n"])).map("".join)))
def test_any_keywords_on_the_command_line_are_read_or_refused_in_one_line(text):
    try:
        fits(make_topic(keywords=text))
    except FocusError as refusal:
        message = told(refusal)
        assert message.startswith("keywords: ")


@given(_ANY | _ANY.map("@{}".format))
def test_any_seeds_on_the_command_line_are_read_or_refused_in_one_line(text):
    try:
        fits(make_topic(seeds=text))
    except FocusError as refusal:
        message = told(refusal)
        assert message.startswith("seeds: ")


@pytest.mark.parametrize("name", ["\x00", "\ud800", "a\nb", "x" * 5000, ""])
def test_strange_names_of_a_file_of_seeds_are_refused_in_one_line(name):
    with pytest.raises(FocusError) as caught:
        parse_seeds(f"@{name}")
    assert told(caught.value).startswith("seeds: cannot read ")
