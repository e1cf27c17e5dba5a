from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.options import Option, options_of, set_options


class Thing:
    name = "thing"
    number = Option(3, "a number", at_least=1)
    rate = Option(0.5, "a rate")
    kind = Option("a", "a kind", choices=("a", "b"))
    flag = Option(False, "a flag")
    text = Option("", "a text")


class Special(Thing):
    extra = Option(1, "one more")


def made(cls=Thing, **given):
    thing = cls()
    set_options(thing, given)
    return thing


def test_options_have_defaults_and_are_read_from_text():
    thing = made(number="7", kind="b", flag="yes", text="x")
    assert (thing.number, thing.rate, thing.kind, thing.flag, thing.text) == (7, 0.5, "b", True, "x")


def test_options_are_inherited():
    assert set(options_of(Special)) == {"number", "rate", "kind", "flag", "text", "extra"}
    assert made(Special, number="2", extra="5").extra == 5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"numbr": "1"}, "has no option 'numbr'; did you mean number?"),
        ({"zzz": "1"}, "has no option 'zzz'; it takes flag, kind, number, rate, text"),
        ({"number": "many"}, "option number=many: expected a whole number, at least 1"),
        ({"number": "0"}, "option number=0: expected a whole number, at least 1"),
        ({"rate": "fast"}, "option rate=fast: expected a number"),
        ({"kind": "c"}, "option kind=c: expected a or b"),
        ({"flag": "perhaps"}, "option flag=perhaps: expected yes or no"),
    ],
)
def test_wrong_options_are_refused_by_name(given, says):
    with pytest.raises(FocusError) as caught:
        made(**given)
    assert says in str(caught.value)


def test_arguments_of_scrapyd_are_passed_over():
    assert made(_job="123").number == 3
