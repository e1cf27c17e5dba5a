"""Kinds of pages: examples and counterexamples that use the same words in other places, or lie in other places."""

from __future__ import annotations

import random

import numpy as np

from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.strategies.adaptive.beforehand import Known
from focuscrawl.strategies.adaptive.learner import Learner
from focuscrawl.strategies.adaptive.reading import Reader
from focuscrawl.strategies.adaptive.telling import learned, reasons

WORDS = [f"{first}{second}" for first in ("bra", "cle", "dro", "fin", "gra") for second in ("mon", "tel", "sar", "vik")]


def arrived(kind: str, number: int, *links: str) -> Page:
    """A homepage begins with the word, a report mentions it at the end; otherwise both are made of the same words."""
    source = random.Random(f"{kind}{number}")
    text = source.choices(WORDS, k=120)
    text.insert(0 if kind == "home" else 100, "professor")
    url = (
        f"http://h{number}.example/~user{number}/"
        if kind == "home"
        else f"http://h{number}.example/papers/{number}.html"
    )
    anchors = "".join(f"<a href='{link}'>here</a> " for link in links)
    return read_html(Page(url), f"<title>t</title><p>{' '.join(text)}</p>{anchors}".encode(), "text/html")


def taught(reader: Reader, kinds: dict[str, float] | None = None) -> Learner:
    labels = kinds or {"home": 1.0, "report": 0.0}
    return Learner(
        None,
        [
            Known(number, label, reader.read(arrived(kind, number)), [])
            for start, (kind, label) in enumerate(labels.items())
            for number in range(start, 24, 2)
        ],
    )


def test_where_a_word_stands_tells_pages_apart():
    reader = Reader(roles=True)
    learner = taught(reader)
    homes = [learner.relevance(reader.read(arrived("home", number))) for number in range(100, 120)]
    reports = [learner.relevance(reader.read(arrived("report", number))) for number in range(100, 120)]
    assert min(homes) > 0.5 > max(reports)


def test_without_counterexamples_words_count_wherever_they_stand():
    page = arrived("home", 1)
    assert len(Reader(roles=True).read(page).vector.words) > len(Reader().read(page).vector.words)


def test_a_reason_says_where_the_word_stands():
    reader = Reader(roles=True)
    learner = taught(reader)
    page = arrived("home", 100)
    reading = reader.read(page)
    learner.relevance(reading)
    told = reasons(learner.judge, reading, page)
    assert told["professor (at the beginning)"] > 0
    assert "professor (at the beginning)" in dict(learned(learner.evidence)["page for"])


def test_links_to_places_like_those_of_examples_come_first():
    reader = Reader(roles=True)
    learner = taught(reader)
    page = arrived("report", 99, "http://other.example/papers/7.html", "http://other.example/~someone/")
    reading = reader.read(page)
    learner.take_in(1, 10, reading, learner.relevance(reading), np.array([11, 12]), [1011, 1012].__getitem__)
    report, home = learner.log_odds(np.array([11, 12]))
    assert home > report + 0.5


def test_pages_unlike_any_example_are_not_relevant():
    """The border lies between pages that the judge has not learned from: it is sure of those it has learned."""
    reader = Reader(roles=True)
    source = random.Random(1)
    vocabulary = [f"{first}{second}{third}" for first in "bcdfg" for second in "aeiou" for third in WORDS]

    def page(number: int, about: str) -> Page:
        text = " ".join([*source.sample(vocabulary, 30), *([about] * 8)])
        return read_html(Page(f"http://h.example/{number}"), f"<p>{text}</p>".encode(), "text/html")

    known = [
        Known(number, float(number % 2), reader.read(page(number, "granite" if number % 2 else f"kind{number}")), [])
        for number in range(40)
    ]
    learner = Learner(None, known)
    others = [learner.relevance(reader.read(page(number, "weather"))) for number in range(100, 130)]
    granite = [learner.relevance(reader.read(page(number, "granite"))) for number in range(200, 230)]
    assert sum(relevance >= 0.5 for relevance in others) <= 3
    assert sum(relevance >= 0.5 for relevance in granite) >= 24
