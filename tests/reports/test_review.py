from __future__ import annotations

import pytest

from focuscrawl.reports.review import border


def test_without_marks_the_border_is_the_threshold():
    assert border(0.3, []) == pytest.approx(0.3, abs=0.01)


def test_relevant_pages_below_the_border_lower_it_and_others_above_raise_it():
    assert border(0.5, [(0.4, True)]) < border(0.5, [])
    assert border(0.5, [(0.6, False)]) > border(0.5, [])
    assert border(0.5, [(0.4, True), (0.2, True), (0.1, True)]) < 0.15


def test_the_border_lies_between_the_marks_of_both_kinds():
    marks = [(0.2, True), (0.15, True), (0.1, True), (0.02, False), (0.03, False), (0.01, False)]
    assert 0.03 < border(0.5, marks) < 0.12


def test_a_relevance_of_0_or_1_is_no_trouble():
    assert 0 < border(0.0, [(0.0, True), (1.0, False)]) < 1
    assert 0 < border(1.0, [(1.0, True)] * 100) < 1
