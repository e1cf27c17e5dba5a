"""What kind of web it is, on webs where that can be counted."""

from __future__ import annotations

import pytest

from focuscrawl.lab.character import character
from focuscrawl.lab.survey import Survey
from tests.conftest import small_web


def test_pages_of_a_topic_that_link_to_one_another_hang_together():
    links = {f"good/{n}": [f"good/{(n + 1) % 4}", "other/0"] for n in range(4)}
    links |= {f"other/{n}": [f"other/{(n + 1) % 36}", "gone"] for n in range(36)}
    survey = Survey.of(small_web(links), {})
    found = character(survey, [set(survey.numbers([f"http://good.example/{n}" for n in range(4)]))])
    assert (found.pages, found.hosts, found.links) == (40, 2, 2.0)
    assert found.dead == pytest.approx(36 / 80)
    assert found.relevant == 0.1
    assert (found.within, found.from_any) == (0.5, 4 / 44)
    assert found.hangs_together
    assert found.tell("web") == (
        "web has 40 pages on 2 hosts, with 2 links each, 45% of which are dead. A topic has 10.0% of the pages. 50% of"
        " the links on its pages lead to pages of the topic, against 9.1% of all links: pages of a topic link to one"
        " another."
    )


def test_pages_of_a_topic_that_others_link_to_do_not():
    links = {"hub": [f"good/{n}" for n in range(4)]} | {f"good/{n}": ["hub"] for n in range(4)}
    survey = Survey.of(small_web(links), {})
    found = character(survey, [set(survey.numbers([f"http://good.example/{n}" for n in range(4)]))])
    assert (found.within, found.from_any) == (0.0, 0.5)
    assert not found.hangs_together
    assert found.tell("web").endswith("rarely link to one another, and paths to them lead through other pages.")


def test_a_web_that_is_mostly_the_topic_hangs_together():
    survey = Survey.of(small_web({"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "d"], "d": []}), {})
    found = character(survey, [set(survey.numbers([f"http://{name}.example/" for name in "abc"]))])
    assert found.within == found.from_any == 5 / 6
    assert found.hangs_together


def test_a_web_without_links_has_a_character_too():
    found = character(Survey.of(small_web({"a": []}), {}), [{0}])
    assert (found.links, found.dead, found.within) == (0, 0, 0)
