"""What texts are about, by Dewey numbers: hand-computed galaxies, and the lexicon that ships."""

from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.resources import data
from focuscrawl.strategies.dewey import ANCHOR, Lexicon, covered, dotted, lexicon, prefixes
from focuscrawl.words import tokenize

SMALL = Lexicon(["# 5 Science", "# 510 Mathematics", "512 ring, matrix", "512.5 matrix", "739 ring", "530 force"])


def galaxy(text: str, anchor: str = "") -> tuple[str, ...]:
    (found,) = SMALL.dots(tokenize(text), anchor).galaxies()
    return found


def test_w_by_hand():
    """W = n times the sum of length times impact: two rings and a matrix."""
    dots = SMALL.dots(tokenize("ring matrix rings"))
    assert dots.counts() == {"512": 3, "739": 2, "5125": 1}
    # first digit: 5 has 4 dots, of lengths 3, 3, 3 and 4; 7 has 2 of length 3
    assert dots.weights()[0] == pytest.approx({"5": 4 * 13, "7": 2 * 6})
    assert dots.weights()[1] == pytest.approx({"51": 52})
    assert dots.weights()[2] == pytest.approx({"512": 52})
    assert dots.galaxies() == [("512",)]


def test_words_of_the_anchor_weigh_more():
    dots = SMALL.dots(tokenize("ring force"), "force")
    assert ANCHOR == 1.4
    # 5: ring and force, lengths 3 + 3 * 1.4; 7: ring
    assert dots.weights()[0] == pytest.approx({"5": 2 * (3 + 4.2), "7": 3})
    assert dots.weights()[1] == pytest.approx({"51": 3, "53": 4.2})
    assert dots.galaxies() == [("530",)]


def test_ties_are_kept():
    assert galaxy("ring") == ("512", "739")
    assert SMALL.dots(tokenize("ring")).weights()[2] == pytest.approx({"512": 3, "739": 3})


def test_a_galaxy_has_as_many_digits_as_its_dots():
    """512.5 is not 512: beyond three digits, the dots of the division itself are compared with its subdivisions."""
    algebra = Lexicon(["512 ring, field", "512.5 matrix, vector", "512.56 determinant"])

    def focus(text: str) -> list[str]:
        (found,) = algebra.dots(tokenize(text)).galaxies()
        return [dotted(number) for number in found]

    assert focus("ring field matrix") == ["512"]
    assert focus("ring matrix vector") == ["512.5"]
    # at the fourth digit, 512.5 has three dots; at the fifth, two of them end there
    assert focus("ring matrix vector determinant") == ["512.5"]
    assert focus("ring determinant determinants matrix") == ["512.56"]


def test_the_example_of_the_paper():
    """The word "clothing" has dots at three numbers, of which two have decimals."""
    assert {"391", "15595", "74692"} <= set(lexicon().dots(tokenize("clothing")).counts())


def test_a_text_without_known_words_has_no_galaxy():
    dots = SMALL.dots(tokenize("nothing"))
    assert dots.galaxies() == [()]
    assert dots.weights() == []
    assert dots.share(("5",)) == 0


def test_a_phrase_wins_over_its_words():
    known = Lexicon(["523 black hole", "535 black", "799 hole"])
    assert known.find(tokenize("a black hole, black")) == ["black hole", "black"]


def test_a_link_is_looked_up_in_its_paragraph_or_whole_list():
    html = """<p>a ring <a href=/1>here</a></p><ul><li>force <a href=/2>x</a></li><li>force</li><li><a href=/3>ring</a></ul>"""
    page = read_html(Page("http://a.example/"), html.encode(), "text/html")
    # in the list, 530 has two dots and 512 and 739 one each; the anchor of the third link weighs more, but not enough
    assert SMALL.focuses(page) == [("512", "739"), ("530",), ("530",)]


def test_links_of_a_page_share_its_dots():
    """The focus of a link, found with those of all others, is that of its topical boundary alone."""
    rows = "".join(
        f"<h2>force</h2><p>{'ring ' * n}force <a href=/{n}>{'force' if n % 2 else 'x'}</a></p>" for n in range(9)
    )
    page = read_html(Page("http://a.example/"), f"<title>force</title>{rows}".encode(), "text/html")
    alone = [galaxy(link.block, link.anchor) for link in page.links]
    assert SMALL.focuses(page) == alone
    assert len(set(alone)) > 1


def test_a_picture_has_the_focus_of_its_description():
    page = read_html(Page("http://a.example/"), b"<p><a href=/1><img alt=force></a></p>", "text/html")
    assert SMALL.focuses(page) == [("530",)]


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
    assert covered(["5125", "739"], prefixes(["512"]))
    assert not covered(["512"], prefixes(["512.5"]))
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
    (focus,) = lexicon().dots(tokenize(text)).galaxies()
    assert {found[:2] for found in focus} == {number}
