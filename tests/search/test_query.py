"""What a user may write into a search box."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.search.query import Query


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("merge sort", [["merge"], ["sort"]], []),
        ('"merge sort" fast', [["merge sort"], ["fast"]], []),
        ('sort -heap -"bubble sort"', [["sort"]], ["heap", "bubble sort"]),
        ("fast merge OR quick sort", [["fast"], ["merge", "quick"], ["sort"]], []),
        ('a OR "b c" OR d', [["a", "b c", "d"]], []),
        ("OR a OR", [["a"]], []),
        ("merge AND sort", [["merge"], ["sort"]], []),
        ("merge or quick", [["merge"], ["or"], ["quick"]], []),
        ("b-tree", [["b-tree"]], []),
        ('merge "sort', [["merge"], ["sort"]], []),
        ("sort - & ++ *", [["sort"]], []),
    ],
)
def test_words_phrases_exclusions_and_alternatives(text, wanted, unwanted):
    assert Query.of(text) == (wanted, unwanted)


@pytest.mark.parametrize("text", ["", "  ", '"', '""', "((", "OR", "AND", "-", "*"])
def test_a_query_without_words_is_refused_in_one_line(text):
    with pytest.raises(FocusError, match="has no word to look for"):
        Query.of(text)


def test_a_query_that_only_leaves_out_is_refused_in_one_line():
    with pytest.raises(FocusError, match="only excludes words; add a word"):
        Query.of('-heap -"bubble sort"')


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("Sorting algorithms", ["sorting", "algorithms"]),
        ('"bubble sort" time -cooking -"wine list"', ["bubble sort", "time"]),
        ("(sort), Sort: bubble-sort", ["sort", "bubble-sort"]),
        ("merge OR quick AND sort", ["merge", "quick", "sort"]),
        ("- -- + … ''", []),
        ("排序 算法", ["排序", "算法"]),
        ('"never  closed', ["never", "closed"]),
        ('"two\twords"', ["two words"]),
    ],
)
def test_the_wanted_words_and_phrases_are_keywords(text, keywords):
    assert Query.parse(text).keywords() == keywords


@given(st.text())
def test_the_keywords_of_any_query_have_words(text):
    assert all(words.tokenize(word) for word in Query.parse(text).keywords())


def test_any_word_of_a_query_can_be_enough():
    assert Query.parse('fast merge OR quick "heap sort" Fast -slow').any_word() == (
        [["fast", "merge", "quick", "heap sort"]],
        ["slow"],
    )
    assert Query.parse("-slow").any_word() == ([], ["slow"])


@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                '"',
                "-",
                "OR",
                "AND",
                "NOT",
                "NEAR(",
                "(",
                ")",
                "*",
                "^",
                ":",
                "title:",
                "+",
                "{",
                "}",
                "'",
                "\\",
                "é",
                "漢字",
                "\x00",
                "\ud800",
                " ",
            ]
        )
    ).map("".join)
    | st.text()
)
@example("a " * 5000)
@example("-a " * 300 + "b")
@example("a OR " * 3000 + "b")
def test_no_text_is_a_syntax_error(text):
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE search USING fts5 (title, headings, text, content = '')")
    try:
        query = Query.of(text)
    except FocusError:
        return
    for expression in (query.expression(), query.expression("title headings")):
        assert index.execute("SELECT rowid FROM search WHERE search MATCH ?", (expression,)).fetchall() == []
