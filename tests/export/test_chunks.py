from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from focuscrawl.export.chunks import chunk_id, cut


def test_paragraphs_stay_together_while_they_fit():
    assert list(cut("one\ntwo\n\nthree four", 12)) == ["one\ntwo", "three four"]


def test_long_paragraphs_are_cut_after_sentences_else_words_else_anywhere():
    assert list(cut("One two. Three four. Five", 21)) == ["One two. Three four.", "Five"]
    assert list(cut("alpha beta gamma", 11)) == ["alpha beta", "gamma"]
    assert list(cut("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]


@given(st.text(), st.integers(1, 50))
def test_nothing_is_lost_but_white_space_and_no_chunk_is_too_long(text, size):
    chunks = list(cut(text, size))
    assert all(0 < len(chunk) <= size for chunk in chunks)
    assert "".join("".join(chunks).split()) == "".join(text.split())


def test_a_line_of_ten_megabytes_takes_linear_time():
    began = time.process_time()
    assert sum(map(len, cut("word " * 2_000_000, 1500))) > 9_000_000
    assert time.process_time() - began < 10


def test_ids_differ_by_url_text_and_occurrence():
    ids = {chunk_id(*parts) for parts in (("u", "t"), ("v", "t"), ("u", "s"), ("u", "t", 2))}
    assert len(ids) == 4
    assert chunk_id("u", "t") == chunk_id("u", "t")
