"""What a user may write into a search box."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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
    with pytest.raises(FocusError, match="only says what to leave out; add a word"):
        Query.of('-heap -"bubble sort"')


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
