"""X-Robots-Tag headers and robots meta tags: any text gives a set of rules."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from focuscrawl.manners.robots_tags import robots_directives

PIECES = st.one_of(
    st.sampled_from(
        [
            *("noindex", "nofollow", "none", "all", "NoIndex", "noarchive", "max-snippet", "unavailable_after", "*"),
            *("focuscrawl", "FocusCrawl/1.0", "otherbot", "robots", "tdm-reservation", "-1", "25-Jun-10 15:00:00 GMT"),
            *(":", ":", ",", ",", ", ", ";", " ", "\t", "/", "", "\x00", "\xa0", "é", "\u0130"),
        ]
    ),
    st.text(max_size=5),
)
HEADERS = st.lists(PIECES, max_size=25).map("".join)


@given(HEADERS)
def test_any_header_is_read_and_twice_the_same(header):
    rules = robots_directives(header, "focuscrawl")
    assert rules == robots_directives(header, "focuscrawl")
    assert all(isinstance(rule, str) and rule and "," not in rule for rule in rules)


@given(HEADERS, HEADERS)
@example("noindex", "otherbot: all")
@example("noindex, max-snippet:", "-1")
@example("focuscrawl: none", "focuscrawl: all")
def test_more_rules_never_take_any_back(header, more):
    assert robots_directives(header, "focuscrawl") <= robots_directives(f"{header}, {more}", "focuscrawl")


@given(HEADERS)
def test_a_rule_behind_our_name_is_obeyed_whatever_stands_before(header):
    assert "noindex" in robots_directives(f"{header}, focuscrawl: noindex", "focuscrawl")


@given(HEADERS)
def test_a_rule_for_all_in_front_is_obeyed_whatever_follows(header):
    assert "noindex" in robots_directives(f"noindex, {header}", "focuscrawl")


@pytest.mark.parametrize("piece", [",", ":", " ", "a", "a:", "a,", "a ", "noindex:", "focuscrawl:", "otherbot: all, "])
def test_a_long_header_takes_no_longer_than_its_length(piece):
    began = process_time()
    robots_directives(piece * (500_000 // len(piece)), "focuscrawl")
    assert process_time() - began < 3
