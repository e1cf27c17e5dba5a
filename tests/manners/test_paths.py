from __future__ import annotations

from time import process_time

import pytest

from focuscrawl.manners.paths import PathRules, normal_path

PATTERNS = ["/a", "/a/*.html$", "/a/b", "/*b", "/a/b/c.html$"]


@pytest.mark.parametrize(
    ("path", "longest", "shortest", "first"),
    [
        ("/a/b/c.html", "/a/b/c.html$", "/a", "/a"),
        ("/a/b/d.html", "/a/*.html$", "/a", "/a"),
        ("/a/b/c.html?d", "/a/b", "/a", "/a"),
        ("/cab", "/*b", "/*b", "/*b"),
        ("/c", None, None, None),
    ],
)
def test_the_precedence_says_which_of_several_rules_counts(path, longest, shortest, first):
    rules = [(pattern, pattern) for pattern in PATTERNS]
    assert PathRules(rules, precedence="longest").find(normal_path(path)) == longest
    assert PathRules(rules, precedence="shortest").find(normal_path(path)) == shortest
    assert PathRules(rules, precedence="first").find(normal_path(path)) == first


@pytest.mark.parametrize("precedence", ["longest", "shortest", "first"])
def test_of_equal_patterns_the_first_counts(precedence):
    rules = PathRules([("/a*c", 1), ("/a*c", 2), ("/abc", 3), ("/abc", 4)], precedence=precedence)
    assert rules.find(normal_path("/abc")) == 1


def test_without_wildcards_every_character_means_itself():
    rules = PathRules([("/a*", "star"), ("/b$", "dollar")], precedence="longest", wildcards=False)
    found = [rules.find(normal_path(path)) for path in ("/a*b", "/a", "/ab", "/b$c", "/b")]
    assert found == ["star", None, None, "dollar", None]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/%61", "/a", True),
        ("/é", "/%C3%a9", True),
        ("/a b", "/a%20b", True),
        ("/a%2Fb", "/a%2fb", True),
        ("/a%2Fb", "/a/b", False),
        ("/a%3Fb", "/a?b", False),
        ("/a?b=%2F", "/a?b=/", True),
        ("/100%", "/100%25", True),
        ("/A", "/a", False),
    ],
)
def test_paths_are_compared_by_their_octets(one, other, same):
    assert (normal_path(one) == normal_path(other)) is same


@pytest.mark.parametrize(
    "patterns",
    [
        ["/" + "*a" * 200_000 + "*b"],
        ["/" + "*" * 400_000 + "b$"],
        ["/" + "a" * length for length in range(900)],
        [f"/*a*a*{number}$" for number in range(20_000)],
        ["/" + "a" * length + "*b" for length in range(900)],
        ["/*" + "a" * 50 + "b" + "a" * 40] * 100,
    ],
)
def test_half_a_megabyte_of_hostile_patterns_is_matched_in_a_moment(patterns):
    rules = PathRules([(pattern, pattern) for pattern in patterns], precedence="longest")
    path = normal_path("/" + "a" * 16_000)
    begin = process_time()
    rules.find(path)
    assert process_time() - begin < 1
