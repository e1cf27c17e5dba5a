"""Which stored pages are worth a visit, in which order, and what is different: by hand."""

from __future__ import annotations

from math import exp, inf

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.recrawl.revisit import (
    BACK,
    CHANGED,
    DAY,
    GONE,
    UNCHANGED,
    UNREACHABLE,
    History,
    changed_fields,
    difference,
    moment,
    parse_age,
    parse_since,
    plan,
    seconds,
    worth,
)
from focuscrawl.store.pages import StoredPage
from focuscrawl.store.store import Store

BEGAN = seconds("2026-01-01T00:00:00.000+00:00")


def history(*outcomes: str, every: float = 10 * DAY) -> History:
    seen = History(BEGAN)
    for number, outcome in enumerate(outcomes, 1):
        seen.note(BEGAN + number * every, outcome)
    return seen


def test_a_page_nobody_has_watched_changes_once_a_month():
    assert history().rate == pytest.approx(1 / (30 * DAY))
    assert history().chance(BEGAN + 30 * DAY) == pytest.approx(1 - exp(-1))
    assert history().chance(BEGAN) == 0


def test_the_rate_is_changes_over_time_with_a_prior():
    # two changes in thirty days, and one in thirty beforehand: (2 + 1) / (30 + 30)
    seen = history(CHANGED, UNCHANGED, CHANGED)
    assert seen.rate * DAY == pytest.approx(3 / 60)
    assert seen.chance(seen.answered + 10 * DAY) == pytest.approx(1 - exp(-0.5))
    # none in thirty days: 1 / 60
    assert history(UNCHANGED, UNCHANGED, UNCHANGED).rate * DAY == pytest.approx(1 / 60)


def test_a_visit_without_an_answer_tells_nothing_of_changes():
    seen = history(CHANGED, UNREACHABLE)
    assert seen.rate == history(CHANGED).rate
    assert seen.answered == BEGAN + 10 * DAY


def test_a_page_gone_is_tried_ever_more_rarely():
    once, thrice = history(GONE), history(GONE, GONE, GONE)
    assert not once.due(once.answered + 1.9 * DAY, 0)
    assert once.due(once.answered + 2 * DAY, 0)
    assert not thrice.due(thrice.answered + 7.9 * DAY, 0)
    assert thrice.due(thrice.answered + 8 * DAY, 0)
    assert [once.chance(inf), thrice.chance(inf)] == [0.05, 0.0125]
    assert history(GONE, BACK).gone == 0


def test_a_page_out_of_reach_is_tried_again_after_a_while():
    seen = history(UNREACHABLE, UNREACHABLE, every=DAY)
    assert not seen.due(seen.asked + 7100, DAY)
    assert seen.due(seen.asked + 7200, DAY)
    often = history(*[UNREACHABLE] * 50, every=DAY)
    assert often.due(often.asked + 7 * DAY, DAY)


def test_what_was_visited_lately_is_left_alone():
    assert not history().due(BEGAN + 6 * DAY, 7 * DAY)
    assert history().due(BEGAN + 7 * DAY, 7 * DAY)


def test_relevance_weighs():
    assert worth(1.0, 0.5) == 0.5
    assert worth(0.5, 0.5) == pytest.approx(0.275)
    assert worth(0.0, 0.5) == pytest.approx(0.05)
    assert worth(None, 0.5) == 0.5


def store_of(path, pages: dict[str, float]) -> Store:
    store = Store(path)
    for number, (url, relevance) in enumerate(pages.items(), 1):
        page = Page(url, relevance=relevance, fetched_at=moment(BEGAN))
        page.url_id = number
        store.pages.add(page, None)
    return store


def test_pages_that_changed_often_long_unvisited_and_relevant_come_first(tmp_path):
    store = store_of(tmp_path / "crawl.sqlite", {"poor": 0.1, "good": 0.9, "lively": 0.9, "lately": 0.9, "gone": 0.9})
    day = [moment(BEGAN + number * DAY) for number in range(31)]
    for number, when, outcome in [(3, 10, CHANGED), (3, 20, CHANGED), (4, 29, UNCHANGED), (5, 20, GONE)]:
        store.visits.add(number, day[when], 200, outcome)
    now = BEGAN + 30 * DAY
    order = [entry.url for entry in plan(store, now, older_than=0)]
    assert order == ["good", "lively", "poor", "gone", "lately"]
    # by hand: 0.91 * (1 - e^-1), 0.91 * (1 - e^-(3/50 * 10)), 0.19 * (1 - e^-1), 0.91 * 0.05, 0.91 * (1 - e^-(1/59))
    assert [round(entry.worth, 4) for entry in plan(store, now, older_than=0)] == [
        0.5752,
        0.4106,
        0.1201,
        0.0455,
        0.0153,
    ]
    assert [entry.url for entry in plan(store, now, older_than=2 * DAY, pages=2)] == ["good", "lively"]
    assert "lately" not in [entry.url for entry in plan(store, now, older_than=2 * DAY)]


def test_pages_that_never_could_be_read_are_not_visited(tmp_path):
    store = Store(tmp_path / "crawl.sqlite")
    page = Page("http://a.example/", 404, fetched_at=moment(BEGAN))
    page.problem = "HTTP 404"
    store.pages.add(page, None)
    assert plan(store, BEGAN + 30 * DAY) == []


def read(text: str) -> Page:
    return read_html(Page("http://a.example/"), text.encode(), "text/html")


def test_other_bytes_with_the_same_words_and_links_are_no_change():
    assert difference(read("<p class=a>one <a href=/x>two</a>"), read("<p class=b>one <a href='/x'>two</a>")) is None


def test_the_share_of_new_words():
    assert difference(read("<p>one two"), read("<p>one two three four")) == {"new_words": 0.5}
    assert difference(read("<p>one two"), read("<p>two")) == {"new_words": 0.0}
    assert difference(read("<a href=/x>one"), read("<a href=/y>one")) == {"new_words": 0.0, "new_links": 1}


def test_what_a_change_makes_different():
    assert changed_fields(
        before("Old", 0.12345), Page("http://a.example/", title="New", relevance=0.5, matched=True)
    ) == {
        "title": ("Old", "New"),
        "relevance": (0.1235, 0.5),
        "matched": (False, True),
    }
    assert changed_fields(before("Old", None), Page("http://a.example/", title="Old")) == {}


def before(title: str, relevance: float | None) -> StoredPage:
    facts = dict.fromkeys(StoredPage._fields) | {"title": title, "relevance": relevance, "matched": False}
    return StoredPage(**facts)


def test_ages_and_dates():
    assert [parse_age(text, "--older-than") for text in ("90s", "2h", "7d", "1.5", "1w", "0")] == [
        90,
        7200,
        7 * DAY,
        1.5 * DAY,
        7 * DAY,
        0,
    ]
    assert parse_since("2026-01-01", 0) == parse_since("2026-01-01T01:00+01:00", 0) == moment(BEGAN)
    assert parse_since("7d", BEGAN + 7 * DAY) == moment(BEGAN)
    with pytest.raises(FocusError, match="--older-than soon: expected an age such as 12h"):
        parse_age("soon", "--older-than")
    for wrong in ("yesterday", "2026-13-01", "99999999", "0001-01-01T00:00+14:00"):
        with pytest.raises(FocusError, match=f"--since {wrong}".replace("+", r"\+")):
            parse_since(wrong, BEGAN)
