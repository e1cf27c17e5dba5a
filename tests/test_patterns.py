"""No regular expression of the package takes more than linear time, whatever it is given."""

from __future__ import annotations

import importlib
import pkgutil
import re
from time import process_time

import pytest

import focuscrawl

#: Characters of one attack on a pattern; those that a pattern itself is made of are tried, too.
SIZE = 20_000


def all_patterns() -> dict[str, re.Pattern]:
    """The compiled patterns of every module, by module and name."""
    found = {}
    for module in pkgutil.walk_packages(focuscrawl.__path__, "focuscrawl."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                found[f"{module.name}.{name}"] = value
    return found


PATTERNS = all_patterns()


def attacks(pattern: re.Pattern) -> list[str]:
    """Long texts that make a pattern try again and again: its own characters, repeated, with an end that fails."""
    plain = re.sub(
        r"\\.|[\[\](){}?*+|^$]", " ", pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    )
    words = {
        *re.findall(r"\S+", plain),
        *"a0 /-.%&;=<>\"'(\t\n",
        "a0",
        "a-",
        "0/",
        "a/",
        "%4",
        "--",
        "a.",
        "?a",
        "&a=",
        "<!--",
        "x y",
    }
    return [word * (SIZE // len(word)) + end for word in words for end in ("", "!")]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_linear_time(name):
    pattern = PATTERNS[name]
    for text in attacks(pattern):
        given = text if isinstance(pattern.pattern, str) else text.encode()
        began = process_time()
        pattern.match(given)
        pattern.search(given)
        pattern.sub("" if isinstance(given, str) else b"", given)
        # what is linear takes a millisecond or two, what is quadratic seconds
        assert process_time() - began < 0.5, f"{pattern.pattern!r} on {text[:20]!r}…"


def test_they_are_all_found():
    assert len(PATTERNS) > 40
    assert "focuscrawl.manners.traps._CODE" in PATTERNS
