"""Dates as pages write them, in ISO 8601."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from focuscrawl.reading.dates import iso_date

LAST = 2027


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2021-03-04", "2021-03-04"),
        (" 2021-03-04\n", "2021-03-04"),
        ("2021-03-04T10:30:00+01:00", "2021-03-04T10:30:00+01:00"),
        ("2021-03-04T10:30:00-0500", "2021-03-04T10:30:00-05:00"),
        ("2021-03-04T10:30+02", "2021-03-04T10:30:00+02:00"),
        ("2021-03-04T10:30:00.123Z", "2021-03-04T10:30:00+00:00"),
        ("2021-03-04T10:30:00+01:00[Europe/Berlin]", "2021-03-04T10:30:00+01:00"),
        ("2021-03-04 10:30:00 +0200", "2021-03-04T10:30:00+02:00"),
        ("2021-03-04 10:30 PM PST", "2021-03-04T22:30:00-08:00"),
        ("20210304", "2021-03-04"),
        ("20210304T103000Z", "2021-03-04T10:30:00+00:00"),
        ("20210304T10:30:00Z", "2021-03-04T10:30:00+00:00"),
        ("2021-03-04T10:30:00:684Z", "2021-03-04T10:30:00+00:00"),
        ("Thu Mar 04 10:30:00 CET 2021", "2021-03-04T10:30:00+01:00"),
        ("Thu Mar  4 10:30:00 2021", "2021-03-04"),
        ("Do., 04.03.2021 - 10:30", "2021-03-04"),
        ("Veröffentlicht am 4. März 2021", "2021-03-04"),
        ("2021/3/4", "2021-03-04"),
        ("2021.03.04", "2021-03-04"),
        ("Thu, 04 Mar 2021 10:30:00 GMT", "2021-03-04T10:30:00+00:00"),
        ("Thu, 4 Mar 2021 10:30:00 +0100", "2021-03-04T10:30:00+01:00"),
        ("1614852000", "2021-03-04T10:00:00+00:00"),
        ("1614852000000", "2021-03-04T10:00:00+00:00"),
        ("March 4, 2021", "2021-03-04"),
        ("Mar. 4th, 2021", "2021-03-04"),
        ("Published: March 4, 2021 at 10:30 am EST", "2021-03-04T10:30:00-05:00"),
        ("Posted on 4 March 2021", "2021-03-04"),
        ("4-Mar-2021", "2021-03-04"),
        ("4. März 2021", "2021-03-04"),
        ("Donnerstag, 4. März 2021", "2021-03-04"),
        ("le 1er juin 2021", "2021-06-01"),
        ("4 de marzo de 2021", "2021-03-04"),
        ("4 марта 2021", "2021-03-04"),
        ("2021年3月4日", "2021-03-04"),
        ("2021년 3월 4일", "2021-03-04"),
        ("04.03.2021", "2021-03-04"),
        ("04.03.2021 10:30", "2021-03-04"),
    ],
)
def test_a_date_is_read_in_the_forms_that_pages_use(text, date):
    assert iso_date(text, last_year=LAST) == date


@pytest.mark.parametrize(
    ("text", "date"), [("2021", "2021"), ("2021-03", "2021-03"), ("2021/3", "2021-03"), ("March 2021", "2021-03")]
)
def test_a_date_keeps_its_precision(text, date):
    assert iso_date(text, last_year=LAST) == date


@pytest.mark.parametrize("text", ["2021-03-04T10:30:00", "2021-03-04 10:30", "March 4, 2021, 10:30", "20210304T1030"])
def test_a_time_without_a_zone_is_dropped_and_the_date_kept(text):
    assert iso_date(text, last_year=LAST) == "2021-03-04"


@pytest.mark.parametrize(
    ("text", "language", "date"),
    [
        ("03/04/2021", "", None),
        ("03/04/2021", "en", None),
        ("03/04/2021", "en-CA", None),
        ("03/04/2021", "zh", None),
        ("03/04/2021", "en-US", "2021-03-04"),
        ("03/04/2021", "en_us", "2021-03-04"),
        ("03/04/2021", "en-GB", "2021-04-03"),
        ("03/04/2021", "fr", "2021-04-03"),
        ("03-04-2021", "nl-NL", "2021-04-03"),
        ("13/04/2021", "", "2021-04-13"),
        ("04/13/2021", "", "2021-04-13"),
        ("04/04/2021", "en", "2021-04-04"),
    ],
)
def test_the_order_of_day_and_month_is_known_or_the_date_is_dropped(text, language, date):
    assert iso_date(text, language, last_year=LAST) == date


@pytest.mark.parametrize(
    "text",
    [
        *("1970-01-01", "0001-01-01T00:00:00", "0000-00-00 00:00:00", "1989-12-31", "2028-01-01", "9999-12-31"),
        *("2021-02-30", "2021-13-01", "2021-03-04T25:00:00Z", "31/31/2021", "0", "-1", "99999999999", "9" * 5_000),
        *("soon", "", " ", "today", "12:30", "4 smarch 2021", "٢٠٢١-٠٣-٠٤", "2021-03-04" * 100, "2021-03-04; drop"),
        *("0000000000", "9999999999", "2021-03-04T10:30:00Zebra"),
    ],
)
def test_what_is_no_date_or_an_absurd_one_is_dropped(text):
    assert iso_date(text, last_year=LAST) is None


def test_an_impossible_zone_leaves_the_date():
    assert iso_date("2021-03-04T10:30:00+99:00", last_year=LAST) == "2021-03-04"


@given(st.one_of(st.text(), st.from_regex(r"[\d/:.TZ+ -]{1,40}")), st.text(max_size=6))
@example("2021-03-04T24:00:00Z", "")
def test_any_text_is_a_date_of_these_years_or_none(text, language):
    date = iso_date(text, language, last_year=LAST)
    assert date is None or (date.isascii() and len(date) in (4, 7, 10, 25) and 1990 <= int(date[:4]) <= LAST)
