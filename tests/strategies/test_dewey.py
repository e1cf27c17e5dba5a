"""What texts are about, by Dewey numbers: hand-computed galaxies, and the lexicon that ships."""

from __future__ import annotations

import pytest

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.html import read_page
from focuscrawl.page import Page
from focuscrawl.resources import data
from focuscrawl.strategies.dewey import ANCHOR, Dots, Lexicon, covered, galaxy, lexicon, prefixes


def stems(text: str) -> list[str]:
    return words.stems(words.tokenize(text))


SMALL = Lexicon(["# 5 Science", "# 510 Mathematics", "512 ring, matrix", "512.5 matrix", "739 ring", "530 force"])


def test_w_by_hand():
    """W = n times the sum of length times impact: two rings and a matrix."""
    dots = SMALL.dots(stems("ring matrix rings"))
    assert dots.counts == {"512": 3, "739": 2, "5125": 1}
    found = galaxy(dots)
    # first digit: 5 has 4 dots, of lengths 3, 3, 3 and 4; 7 has 2 of length 3
    assert found.weights[0] == pytest.approx({"5": 4 * 13, "7": 2 * 6})
    assert found.weights[1] == pytest.approx({"51": 52})
    assert found.weights[2] == pytest.approx({"512": 52})
    assert found.numbers == ("512",)


def test_words_of_the_anchor_weigh_more():
    dots = SMALL.dots(stems("ring force")).stress(SMALL.dots(stems("force")))
    assert ANCHOR == 1.4
    found = galaxy(dots)
    # 5: ring and force, lengths 3 + 3 * 1.4; 7: ring
    assert found.weights[0] == pytest.approx({"5": 2 * (3 + 4.2), "7": 3})
    assert found.weights[1] == pytest.approx({"51": 3, "53": 4.2})
    assert found.numbers == ("530",)


def test_ties_are_kept():
    found = galaxy(SMALL.dots(stems("ring")))
    assert found.numbers == ("512", "739")
    assert found.weights[2] == pytest.approx({"512": 3, "739": 3})


def test_a_text_without_known_words_has_no_galaxy():
    assert galaxy(Dots()) == ((), ())


def test_a_phrase_wins_over_its_words():
    known = Lexicon(["523 black hole", "535 black", "799 hole"])
    assert known.find(stems("a black hole, black")) == ["black hole", "black"]


def test_a_link_is_looked_up_in_its_paragraph_or_whole_list():
    html = """<p>a ring <a href=/1>here</a></p><ul><li>force <a href=/2>x</a></li><li>force</li><li><a href=/3>ring</a></ul>"""
    page = read_page(Page("http://a.example/"), html.encode(), "text/html")
    first, second, third = SMALL.of_links(page)
    assert first.counts == {"512": 1, "739": 1}
    assert second.counts == third.counts == {"530": 2, "512": 1, "739": 1}
    assert second.sums["512"] == 3
    assert third.sums["512"] == pytest.approx(3 * 1.4)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("51 ring", "'51' is not a Dewey number"),
        ("512", "term is missing"),
        ("512 ring,", "comma"),
        ("51x ring", "'51x'"),
    ],
)
def test_mistakes_in_a_lexicon_are_named(line, says):
    with pytest.raises(FocusError, match=says):
        Lexicon(["# fine", line])


def test_numbers_cover_what_is_below_them():
    assert prefixes(["780", "512.5", "300", "000", "005"]) == ("00", "005", "3", "5125", "78")
    assert covered(["785"], prefixes(["780"]))
    assert not covered(["795"], prefixes(["780"]))
    assert covered(["512"], prefixes(["512.5"]))  # a galaxy has three digits
    with pytest.raises(FocusError, match="'78' is not a Dewey number"):
        prefixes(["78"])


# ---- the lexicon that ships


def test_the_lexicon_is_large_and_every_main_class_has_its_part():
    known = lexicon()
    assert known.entries >= 12_000
    for digit in "0123456789":
        assert sum(number[0] == digit for numbers in known.terms.values() for number in numbers) > 1_000
        assert known.name(digit)


def test_nearly_all_classes_have_terms():
    assert len(lexicon().samples) > 900


def test_a_term_is_in_a_class_once():
    for digit in range(10):
        seen: set[tuple[str, str]] = set()
        for line in data("dewey", f"{digit}.txt").read_text("utf-8").splitlines():
            if line and not line.startswith("#"):
                number, _, rest = line.partition(" ")
                assert number[0] == str(digit), line
                for term in rest.split(", "):
                    assert (number, term) not in seen, (number, term)
                    seen.add((number, term))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The orchestra played a symphony; the violins and cellos followed the conductor", "78"),
        ("Heart disease is treated with surgery; patients with high blood pressure take drugs", "61"),
        ("The parliament passed the bill after the election; the prime minister formed a cabinet", "32"),
        ("Compilers translate source code; the operating system runs programs in memory", "00"),
        ("The daisy and the rose are shrubs or herbs with petals and sepals; evergreen trees keep their foliage", "58"),
    ],
)
def test_what_sentences_are_about(text, number):
    assert {found[:2] for found in galaxy(lexicon().dots(stems(text))).numbers} == {number}
