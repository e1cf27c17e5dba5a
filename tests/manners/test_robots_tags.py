"""What X-Robots-Tag headers and robots meta tags ask of us."""

from __future__ import annotations

import pytest

from focuscrawl.manners.robots_tags import robots_directives
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html

OBEYED = {"noindex", "nofollow"}


def asked(header: str) -> set[str]:
    """What of noindex and nofollow a header asks of us."""
    return robots_directives(header, "focuscrawl") & OBEYED


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", set()),
        ("all", set()),
        ("index, follow", set()),
        ("none", OBEYED),
        ("NoIndex", {"noindex"}),
        ("  noindex  ,nofollow", OBEYED),
        ("noindex,,nofollow,", OBEYED),
        ("noindex nofollow", OBEYED),
        ("noindex; nofollow", OBEYED),
        ("all, noindex", {"noindex"}),
    ],
)
def test_rules_for_everybody(header, expected):
    assert asked(header) == expected


@pytest.mark.parametrize(
    "header",
    [
        "noindex, max-snippet:-1",
        "max-snippet:-1, noindex",
        "max-snippet: -1, max-image-preview: large, noindex, max-video-preview: 0",
        "noindex max-snippet:-1",
        "MAX-SNIPPET : 20 , NOINDEX",
        "unavailable_after: 25 Jun 2010 15:00:00 GMT, noindex",
        "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex",
        "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noindex",
        "unavailable_after: Friday, 25 Jun 2010, noindex",
        "unavailable_after: 2010-06-25T15:00:00+00:00, noindex",
        "noindex, unavailable_after: 2010-06-25T15:00:00+00:00",
        "tdm-reservation: 1, noindex",
        "some-rule: some-value, noindex",
        "some-rule:, noindex",
        ": noindex",
        "noindex: true",
    ],
)
def test_a_rule_with_a_value_takes_nothing_from_the_others(header):
    assert asked(header) == {"noindex"}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("googlebot: noindex", set()),
        ("googlebot:none", set()),
        ("google bot: noindex", set()),
        ("googlebot: noindex, nofollow", set()),
        ("googlebot: max-snippet: 5, noindex", set()),
        ("googlebot: unavailable_after: 25 Jun 2010 15:00:00 GMT, noindex", set()),
        ("focuscrawl: noindex, nofollow", OBEYED),
        ("FocusCrawl:noindex", {"noindex"}),
        ("  focuscrawl  :  noindex", {"noindex"}),
        ("focuscrawl/1.0: noindex", {"noindex"}),
        ("focuscrawl: max-snippet: 5, noindex", {"noindex"}),
        ("focuscrawler: noindex", set()),
        ("otherbot: noarchive, focuscrawl: noindex", {"noindex"}),
        ("otherbot: noindex, focuscrawl: nofollow", {"nofollow"}),
        ("focuscrawl: nofollow, otherbot: noindex", {"nofollow"}),
        ("nofollow, otherbot: noindex", {"nofollow"}),
        ("otherbot: noindex, *: nofollow", {"nofollow"}),
        ("otherbot: noindex, robots: nofollow", {"nofollow"}),
    ],
)
def test_rules_behind_a_name_are_that_crawlers_up_to_the_next_name(header, expected):
    assert asked(header) == expected


def test_rules_with_values_are_kept_and_dates_hold_no_rules():
    header = "max-snippet: -1, noai, unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noml"
    assert robots_directives(header, "focuscrawl") == {"max-snippet:-1", "noai", "unavailable_after:friday", "noml"}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("robots", "noindex, max-snippet:-1", {"noindex", "max-snippet:-1"}),
        (" Robots ", "none", OBEYED | {"none"}),
        ("focuscrawl", "noindex", {"noindex"}),
        ("FocusCrawl", "nofollow", {"nofollow"}),
        ("focuscrawl/2.0", "nofollow", {"nofollow"}),
        ("focuscrawler", "nofollow", set()),
        ("googlebot", "noindex", set()),
    ],
)
def test_a_meta_tag_with_our_name_counts_like_one_for_all(name, content, expected):
    body = f"<meta name='{name}' content='{content}'><p>words".encode()
    assert read_html(Page("http://a.example/"), body, "text/html").robots == expected


def test_the_name_is_the_one_the_crawl_goes_by():
    body = b"<meta name=focuscrawl content=noindex><meta name=OurBot content=nofollow><p>words"
    assert read_html(Page("http://a.example/"), body, "text/html", agent="ourbot").robots == {"nofollow"}
