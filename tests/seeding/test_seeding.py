from __future__ import annotations

import hashlib
import math
import sqlite3
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from focuscrawl import urls, words
from focuscrawl.errors import FocusError
from focuscrawl.search.index import Index
from focuscrawl.search.query import Query
from focuscrawl.seeding.seeding import (
    MAX_WARNINGS,
    Sources,
    combine,
    negated,
    read_list,
    search_crawl,
    toml,
    without,
)
from focuscrawl.store.store import Store
from focuscrawl.topic import Topic, read_topic
from tests.conftest import at, small_web


def lists(*names: str) -> list[list[str]]:
    """Ranked lists from words: `ab` is a.example, then b.example."""
    return [[f"http://{letter}.example/" for letter in name] for name in names]


def order(found) -> list[tuple[str, int]]:
    return [(entry.url[7], entry.level) for entry in found]


# ---- combining


def test_what_all_lists_hold_comes_before_what_two_hold_and_the_rest():
    assert order(combine(lists("abcd", "bcae", "cabf"), 50)) == [
        ("a", 3),  # 1 + 1/3 + 1/2
        ("b", 3),  # 1/2 + 1 + 1/3, seen later
        ("c", 3),
        ("d", 1),
        ("e", 1),
        ("f", 1),
    ]
    assert order(combine(lists("xya", "ayz", "zqr"), 50)) == [
        ("a", 2),  # 1/3 + 1
        ("z", 2),  # 1/3 + 1, seen later
        ("y", 2),
        ("x", 1),
        ("q", 1),
        ("r", 1),
    ]


@pytest.mark.parametrize(
    ("names", "levels"),
    [
        (("ab", "a"), {"a": 3, "b": 1}),
        (("ab", "ac", "ad", "abe"), {"a": 3, "b": 2, "c": 1, "d": 1, "e": 1}),
        (("ab", "abc", "b", "ba", "b"), {"a": 2, "b": 3, "c": 1}),
    ],
)
def test_two_lists_or_more_than_three_do_too(names, levels):
    assert dict(order(combine(lists(*names), 50))) == levels


def test_only_the_top_of_each_list_counts_and_repetitions_count_once():
    ranked = lists("aabc", "dca")
    assert order(combine(ranked, 2)) == [("a", 1), ("d", 1), ("b", 1), ("c", 1)]
    assert order(combine(ranked, 3))[:2] == [("a", 3), ("c", 3)]


def test_one_page_under_two_urls_is_one_and_written_as_the_best_list_has_it():
    first = ["http://x.example/", "http://www.a.example/p?utm_source=s&b=1&a=2"]
    found = combine([first, ["https://a.example/p?a=2&b=1#part"]], 50)
    assert found[0].url == "https://a.example/p?a=2&b=1#part"
    assert (found[0].level, found[0].lists) == (3, 2)
    assert math.isclose(found[0].score, 1.5)


@given(st.lists(st.text("abcdefghij", max_size=8), min_size=2, max_size=5), st.integers(1, 9))
def test_classes_say_how_many_lists_hold_a_url(names, top):
    found = combine(lists(*names), top)
    tops = [list(dict.fromkeys(name))[:top] for name in names]
    assert {letter for letter, _ in order(found)} == {letter for name in tops for letter in name}
    for letter, level in order(found):
        count = sum(letter in name for name in tops)
        assert level == (3 if count == len(names) else 2 if count > 1 else 1)
    assert found == sorted(found, key=lambda entry: (-entry.level, -entry.score))


def test_counterexamples_are_in_no_positive_list():
    positive = [["http://a.example/"], ["http://b.example/"]]
    negative = combine(
        [["https://www.a.example/", "http://c.example/"], ["http://d.example/", "http://b.example/#x"]], 9
    )
    assert without(negative, positive) == ["http://d.example/", "http://c.example/"]


# ---- queries


def test_the_query_for_off_topic_pages_is_the_words_negated():
    assert negated('sort "bubble sort" -cooking') == '-sort -"bubble sort"'
    assert Query.parse(negated("a b")) == ([], ["a", "b"])


@given(st.text())
@example('"two\twords"')
def test_a_negated_query_has_no_wanted_words(text):
    query = Query.parse(negated(text))
    assert query.wanted == []
    assert query.unwanted == Query.parse(text).keywords()


# ---- lists in files


def test_a_list_is_a_url_a_line_and_bad_lines_are_named(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes(
        "\ufeff# best first\r\n\r\n HTTP://A.example/B \r\nb.example\r\nhttp://c.example/d.pdf\r\nhttp://d.example/#x".encode()
    )
    said: list[str] = []
    assert read_list(path, said.append) == ["http://a.example/B", "http://d.example/"]
    assert said == [
        f"{path}, line 4: left out: 'b.example' is not a URL (did you mean 'http://b.example'?)",
        f"{path}, line 5: left out: 'http://c.example/d.pdf' is a file, not a page",
    ]


def test_a_file_of_something_else_does_not_flood_the_terminal(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("x\n" * 1000)
    said: list[str] = []
    assert read_list(path, said.append) == []
    assert len(said) == MAX_WARNINGS + 1
    assert said[-1] == f"{path}: 990 more lines left out"


def test_lists_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name, says in [
        ("nowhere.txt", "no such file; give a FILE, searxng:URL"),
        ("", "is a directory; to search the crawl in it, write crawl:"),
        ("binary", "not UTF-8 text"),
        ("a\0b", "cannot be read"),
    ]:
        with pytest.raises(FocusError, match=says):
            read_list(tmp_path / name, print)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("http://localhost:8888", "is a URL; if it is a SearXNG instance, write searxng:http://localhost:8888"),
        ("searxng:http://localhost:8888", r"what to search for\? Add \?q="),
        ("crawl:x", r"what to search for\? Give --query"),
    ],
)
def test_sources_that_make_no_sense_are_refused(source, says):
    with pytest.raises(FocusError, match=says):
        Sources("", top=5, timeout=1, warn=print).read(source)


# ---- searching a crawl


WEB = small_web(
    {
        "root": ["sorting", "heap", "twice", "hidden", "cake", "gone"],
        **{name: [] for name in ("sorting", "heap", "cake", "hidden")},
    },
    {
        "root": "Welcome to everybody, here are some pages that may be read.",
        "sorting": "Algorithms that sort an array.",
        "heap": "A heap sorts, says this long page about trees, heaps and many other things that do not matter here.",
        "cake": "Flour and eggs make a cake, and so does butter; 排序.",
        "hidden": "Sorting sorting sorting.</p><meta name=robots content=noindex><p>",
    },
)
WEB.add(
    at("twice"),
    "<title>heap</title><p>A heap sorts, says this long page about trees, heaps and many other things that do not matter here.</p>",
)


@pytest.fixture
def crawled(crawl):
    result = crawl("breadth_first", WEB, seeds=at("root"))
    assert len(result.urls) == 7
    return result.folder


def test_a_crawl_is_searched_by_stems_of_title_and_text(crawled):
    assert search_crawl(crawled, "sorted", 9) == [at("sorting"), at("heap"), at("root")]  # whose links say sorting
    assert search_crawl(crawled, "sorted", 1) == [at("sorting")]
    assert search_crawl(crawled, '"sort an array" heap', 9)[:2] == [at("sorting"), at("heap")]
    assert search_crawl(crawled, "排序", 9) == [at("cake")]
    assert search_crawl(crawled, "zebra", 9) == []


def test_a_negated_query_gives_the_pages_without_the_words(crawled):
    assert search_crawl(crawled, negated("sort heap"), 9) == [at("cake")]
    assert search_crawl(crawled, "sort -heap", 9) == [at("sorting")]
    assert search_crawl(crawled, "-zebra", 2) == [at("root"), at("sorting")]


def test_a_crawl_gives_the_same_list_with_an_index_in_its_file_and_without(crawled):
    queries = ["sorted", '"sort an array" heap', "sort -heap", "-sort -heap", "welcome cake"]
    before = [search_crawl(crawled, query, 9) for query in queries]
    store = Store(crawled / "crawl.sqlite")
    Index(store).update()
    store.close()
    assert [search_crawl(crawled, query, 9) for query in queries] == before


def test_pages_whose_rights_leave_them_out_are_not_seeds(crawled):
    with sqlite3.connect(crawled / "crawl.sqlite") as connection:
        number, *_ = connection.execute("SELECT id FROM page WHERE url = ?", (at("cake"),)).fetchone()
        connection.execute("UPDATE rights SET left_out = 'noai' WHERE page = ?", (number,))
        connection.execute("UPDATE page SET withheld = 'reservation: noai' WHERE id = ?", (number,))
    assert search_crawl(crawled, "cake", 9) == [at("root")]


def test_a_crawl_that_is_searched_is_not_changed(crawled):
    def digest():
        return hashlib.sha256((crawled / "crawl.sqlite").read_bytes()).hexdigest()

    before = digest()
    search_crawl(crawled, "sort", 9)
    assert digest() == before


@pytest.mark.parametrize(
    "query", ['"', "NEAR(a b)", "title:sort*", "a AND", "İ ß ﬁ ½", "x" * 5000, "\ud800", "\0", "̈", "ª²"]
)
def test_any_query_can_be_searched_for(crawled, query):
    assert isinstance(search_crawl(crawled, query, 9), list)


def test_a_directory_that_holds_no_crawl_is_named(tmp_path):
    with pytest.raises(FocusError, match=r"no such file; is .* the directory of a crawl"):
        search_crawl(tmp_path, "sort", 9)


def test_a_damaged_crawl_is_named(crawled):
    with sqlite3.connect(crawled / "crawl.sqlite") as connection:
        connection.execute("UPDATE page SET body = x'00'")
    with pytest.raises(FocusError, match="is damaged or cannot be used"):
        search_crawl(crawled, "sort", 9)


# ---- the topic file


def test_the_file_tells_the_class_of_each_seed():
    topic = Topic(
        "x", seeds=["http://a.example/", "http://b.example/", "http://c.example/"], keywords={"a": 1.0, "b c": 2.5}
    )
    text = toml(topic, {"http://a.example/": "Class 3", "http://b.example/": "Class 2", "http://c.example/": "Class 2"})
    assert '    # Class 3\n    "http://a.example/",\n    # Class 2\n    "http://b.example/",\n    "http://c.' in text
    assert 'keywords = { "a" = 1, "b c" = 2.5 }' in text
    assert "examples = []" in text


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@st.composite
def some_urls(draw):
    """URLs as lists give them: anything that passes the check."""
    found = []
    for text in draw(st.lists(TEXT, max_size=4)):
        try:
            found.append(urls.check(f"http://{draw(st.sampled_from(('a.example', 'bär.example', '[::1]')))}/{text}"))
        except ValueError:
            continue
    return found


@given(
    TEXT.filter(str.strip),
    TEXT,
    some_urls(),
    some_urls(),
    some_urls(),
    st.dictionaries(TEXT.filter(words.tokenize), st.floats(0, 1e308, exclude_min=True)),
)
def test_what_is_written_is_read_back_unchanged(name, description, seeds, examples, counterexamples, keywords):
    topic = Topic(name, description, seeds, keywords, [*examples], [*counterexamples])
    headings = {url: f"Class {number % 3}" for number, url in enumerate(seeds)}
    loaded = read_topic(toml(topic, headings).encode(), "t.toml", Path())
    assert loaded.name == name.strip()
    assert (loaded.description, loaded.seeds, loaded.keywords) == (description, seeds, keywords)
    assert (loaded.examples, loaded.counterexamples) == (examples, counterexamples)


def test_half_a_character_from_the_command_line_does_not_stop_the_writing():
    assert read_topic(toml(Topic("a\udcffb")).encode(), "t.toml", None).name == "a\ufffdb"
