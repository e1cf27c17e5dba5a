from __future__ import annotations

import time

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.export.where import FIELDS, Condition, days, parse
from focuscrawl.store.exports import compile_condition


def test_conditions_are_separated_by_commas_and_alternatives_by_bars():
    assert parse(["matched, relevance>=0.5,language = de|French|pt-BR".replace("French", "fr"), "!marked"]) == [
        Condition("matched", "=", (True,)),
        Condition("relevance", ">=", (0.5,)),
        Condition("language", "=", ("de", "fr", "pt")),
        Condition("marked", "!=", ("any",)),
    ]


def test_values_may_be_quoted():
    assert parse(['licence="CC BY, 4.0"|"a|b",title!="x=y"']) == [
        Condition("licence", "=", ("CC BY, 4.0", "a|b")),
        Condition("title", "!=", ("x=y",)),
    ]


def test_dates_are_days_months_and_years():
    assert days("2026-11-30") == ("2026-11-30", "2026-12-01")
    assert days("2026-12") == ("2026-12-01", "2027-01-01")
    assert days("2026") == ("2026-01-01", "2027-01-01")
    for wrong in ("2026-13", "2026-02-30", "9999", "26", "2026-1-1", "now", ""):
        with pytest.raises(ValueError):  # noqa: PT011 - the message is made elsewhere
            days(wrong)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mached", "unknown field 'mached'; did you mean matched?"),
        ("frobnicate=1", "unknown field 'frobnicate'; known fields: matched,"),
        ("relevance", "'relevance' needs a value"),
        ("relevance>=high", "relevance>=high: expected a number"),
        ("relevance>=nan", "expected a number"),
        ("relevance~0.5", "after 'relevance' expected one of"),
        ("language>de", "language is compared with = or !=, not with >"),
        ("language=klingon", "language=klingon: expected a language code"),
        ("host=http://a.example/", "expected a host name"),
        ("date>=2026-02-30", "expected a day, month or year"),
        ("rights=all", "expected a reservation: "),
        ("marked=maybe", "expected yes, no, unsure or any"),
        ("depth>1|2", "depth> takes one value, not 2"),
        ("!relevance>1", "write relevance!="),
        ('title="open', "a quote in the value of title is not closed"),
        ("", "expected a condition"),
        ("matched,", "expected a condition"),
        ("x" * 20_000, "characters; at most"),
        ("depth=" + "|".join(["1"] * 300), "more than 200 values"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(text, told):
    with pytest.raises(FocusError) as error:
        parse([text])
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_values_are_parameters_and_never_sql():
    hostile = "'); DROP TABLE page; --"
    for name in ("url", "title", "licence", "topic", "problem"):
        sql, values = compile_condition(Condition(name, "=", (hostile,)))
        assert hostile in values
        assert "DROP" not in sql


def test_parsing_takes_linear_time():
    began = time.process_time()
    for text in ("matched " * 1200, '"' * 9000, "title=" + "|" * 9000, " " * 9999, "title=" + '"' * 9000):
        with pytest.raises(FocusError):
            parse([text])
    assert time.process_time() - began < 2


def test_every_field_compiles():
    values = {"date": ("2026-01-01", "2027-01-01"), "published": ("2026-01-01", "2027-01-01"), "rights": "tdm"}
    for name, field in FIELDS.items():
        for operator in field.operators:
            sql, parameters = compile_condition(Condition(name, operator, (values.get(name, "1"),)))
            assert sql.count("?") == len(parameters)
