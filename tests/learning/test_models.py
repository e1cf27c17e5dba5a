from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import MultinomialNB

from focuscrawl.learning import texts
from focuscrawl.learning.attributes import Attributes, WeightTable, learn, least_score
from focuscrawl.learning.contexts import SMOOTHING, context, learn_contexts
from focuscrawl.learning.pages import KINDS, LearnedJudge
from focuscrawl.learning.table import WordTable, probability, squash
from focuscrawl.page import Link, Page
from focuscrawl.reading.html import read_html
from tests.lessons import BOTH, ENGINE, GARDEN, text

CHANCE = random.Random(1)


def counts(words: list[str], length: int = 60) -> dict[str, int]:
    return read_html(Page("http://a.example/"), f"<p>{text(CHANCE, words, length)}".encode()).counts


def page(words: list[str]) -> Page:
    return read_html(Page("http://a.example/"), f"<p>{text(CHANCE, words)}".encode())


def test_stop_words_numbers_and_letters_do_not_count():
    rows, names = texts.matrix([{"the": 3, "rose": 1, "42": 1, "x": 2}, {"soil": 2}])
    assert names == ["rose", "soil"]
    assert rows.shape == (2, 2)
    assert texts.matrix([{}, {"the": 1}])[1] == []


def test_stop_words_can_be_those_of_a_collection():
    examples = [{"rose": 1, "the": 1, "page": 1}] * 9 + [{"soil": 1, "the": 1, "page": 1}]
    others = [{"engine": 1, "the": 1, "page": 1}, {"engine": 1, "the": 1}]
    tells = texts.tells_in([examples, others], 0.5)
    # a word of the topic is on half of the pages at most, because each group counts the same
    assert [stem for stem in ("rose", "soil", "engine", "the", "page", "42", "x") if tells(stem)] == [
        "rose",
        "soil",
        "engine",
    ]
    assert texts.tells_in([examples, others], 0.9)("page")
    assert texts.matrix(examples, tells)[1] == ["rose", "soil"]
    assert set(WeightTable.of(examples, others, 9).weights) == {"rose", "soil", "page"}
    assert set(WeightTable.of(examples, others, 9, 0.5).weights) == {"rose", "soil"}


def test_a_probability_that_equals_the_cut_is_enough_for_a_tree_but_not_for_bayes():
    for cut in (0.1, 0.5, 0.9):
        score = squash(np.log(cut / (1 - cut)))
        assert score >= least_score("tree", cut)
        assert score < least_score("bayes", cut)
        assert score + 1e-9 > least_score("bayes", cut)


def test_words_are_chosen_by_how_many_texts_have_them_or_by_what_they_tell():
    rows, names = texts.matrix(
        [{"common": 1, "rose": 1}, {"common": 1, "rose": 1}, {"common": 1}, {"common": 1, "odd": 9}]
    )
    labels = [1, 1, 0, 0]
    assert [names[i] for i in texts.select(rows, labels, 1, "df")] == ["common"]
    assert [names[i] for i in texts.select(rows, labels, 1, "mi")] == ["rose"]
    assert len(texts.select(rows, labels, 50, "mi")) == 3


def test_mutual_information_is_that_of_the_textbook():
    rows, _ = texts.matrix([{"rose": 1}, {"rose": 1}, {"soil": 1}, {"soil": 1}])
    assert texts.mutual_information(rows, [1, 1, 0, 0]).tolist() == pytest.approx([1, 1])
    assert texts.mutual_information(rows, [1, 0, 1, 0]).tolist() == pytest.approx([0, 0])


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_the_order_of_log_odds_survives(one, other):
    assert 0 <= squash(one) <= 1
    if one < other - 1e-3 * max(1, abs(one), abs(other)):
        assert squash(one) < squash(other)


@given(st.floats(-40, 40))
def test_squashed_log_odds_stand_for_a_probability(log_odds):
    assert probability(squash(log_odds)) == pytest.approx(1 / (1 + np.exp(-log_odds)), rel=1e-6)


def test_certain_is_certain():
    assert probability(1.0) == pytest.approx(1)
    assert probability(0.0) == pytest.approx(0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selection", texts.SELECTIONS)
def test_a_judge_tells_the_topic_from_the_rest(kind, selection):
    judge = LearnedJudge.train(
        [counts(GARDEN) for _ in range(8)], [counts(ENGINE) for _ in range(8)], kind=kind, selection=selection
    )
    for _ in range(10):
        assert judge.judge(page(GARDEN), 0.5).relevant
        assert not judge.judge(page(ENGINE), 0.5).relevant
    reasons = judge.judge(page(GARDEN), 0.5).why
    assert reasons
    assert set(reasons) <= {texts.words.stem(word) for word in GARDEN + ENGINE + BOTH}


def test_the_rarer_the_topic_the_surer_a_judge_must_be():
    examples, others = [counts(GARDEN + ENGINE) for _ in range(8)], [counts(ENGINE) for _ in range(8)]
    asked = counts(GARDEN)
    odds = [LearnedJudge.train(examples, others, rarity=rarity).table.log_odds(asked) for rarity in (0.5, 0.05, 0.001)]
    assert odds == sorted(odds, reverse=True)
    assert odds[0] - odds[1] == pytest.approx(np.log(19), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_judge_comes_back_from_json_the_same(kind):
    judge = LearnedJudge.train([counts(GARDEN) for _ in range(5)], [counts(ENGINE) for _ in range(5)], kind=kind)
    again = LearnedJudge.from_json(json.loads(json.dumps(judge.to_json())))
    unknown = page(GARDEN + BOTH)
    assert again.judge(unknown, 0.5) == judge.judge(unknown, 0.5)


def test_examples_without_words_are_refused():
    with pytest.raises(ValueError, match="no words"):
        LearnedJudge.train([{}, {}, {}], [{}, {}, {}])


def test_the_table_says_what_scikit_learn_says():
    contexts = [["gently", "stroll"], ["quickly", "drive"], ["gently", "walk"], ["drive", "far"]] * 5
    labels = [1.0, 0.0, 0.9, 0.2] * 5
    table = learn_contexts(contexts, labels, features=100, selection="df")
    rows, names = texts.matrix(Counter(words) for words in contexts)
    model = MultinomialNB(alpha=SMOOTHING).fit(
        np.vstack([rows.toarray()] * 2),
        [1] * 20 + [0] * 20,
        sample_weight=labels + [1 - label for label in labels],
    )
    for words in (["gently", "drive"], ["walk"], ["unknown"], []):
        row = [[words.count(name) for name in names]]
        no, yes = model.predict_log_proba(row)[0]
        assert table.of_words(words) == pytest.approx(yes - no)


def test_lessons_of_one_kind_teach_nothing():
    assert learn_contexts([["gently"], ["drive"]], [1.0, 1.0], features=5, selection="mi") is None
    assert learn_contexts([["gently"], ["drive"]], [0.0, 0.0], features=5, selection="mi") is None
    assert learn_contexts([[], []], [0.0, 1.0], features=5, selection="df") is None
    assert learn_contexts([["gently"], ["drive"]], [0.1, 0.2], features=5, selection="mi") is not None


def test_the_anchors_own_words_are_left_out_unless_wanted():
    link = Link("http://a.example/", "heap sorting", "one two three", "four five six")
    assert context(link, 2, anchor=False) == ["two", "three", "four", "five"]
    assert context(link, 1, anchor=True) == ["three", "four", "heap", "sort"]


def test_the_weight_table_holds_what_tells_the_topic():
    table = WeightTable.of([counts(GARDEN) for _ in range(5)], [counts(ENGINE) for _ in range(5)], 5)
    assert len(table.weights) == 5
    assert max(table.weights.values()) == 1
    assert set(table.weights) <= {texts.words.stem(word) for word in GARDEN}
    assert table.similarity([]) == 0
    assert table.similarity(["piston"]) == 0
    assert 0 < table.similarity(list(table.weights)) <= 1
    assert WeightTable.of([{}], [{}], 5).weights == {}


def test_a_link_has_four_attributes():
    table = WeightTable({"rose": 1.0, "soil": 0.5})
    link = Link("http://a.example/rose", "soils", "a red rose", "by the sea")
    url, anchor, parents, surrounding = table.attributes(link, 0.7)
    assert url > 0
    assert anchor > 0
    assert parents == 0.7
    assert surrounding > 0
    assert table.attributes(Link("http://a.example/x", "y"), 0.0) == (0, 0, 0, 0)


def pairs(number: int) -> tuple[list[Attributes], list[bool]]:
    chance = random.Random(9)
    labels = [chance.random() < 0.3 for _ in range(number)]
    made = [
        Attributes(0.0, (0.5 if label else 0.1) * chance.random(), 0.8 if label else chance.random() * 0.7, 0.0)
        for label in labels
    ]
    return made, labels


@pytest.mark.parametrize("kind", ["bayes", "tree"])
def test_a_classifier_ranks_links_that_lead_to_relevant_pages_first(kind):
    made, labels = pairs(200)
    classifier = learn(kind, made, labels)
    good, bad = classifier.log_odds([Attributes(0.0, 0.4, 0.8, 0.0), Attributes(0.0, 0.0, 0.1, 0.0)])
    assert good > 0 > bad
    assert len(classifier.log_odds(made)) == 200


@pytest.mark.parametrize("kind", ["bayes", "tree"])
def test_too_few_pairs_of_a_kind_make_no_classifier(kind):
    made, _ = pairs(20)
    assert learn(kind, made, [False] * 20) is None
    assert learn(kind, made, [True] * 4 + [False] * 16) is None
    assert learn(kind, made, [True] * 5 + [False] * 15) is not None


def test_words_that_count_are_told():
    table = WordTable({"rose": 2.0, "piston": -3.0, "soil": 0.1}, 0.5)
    assert list(table.reasons({"piston": 1, "rose": 1, "sky": 5})) == ["piston", "rose"]
    assert table.of_words(["rose", "sky", "rose"]) == 4.5
    assert table.scaled(2, 1).of_words(["rose"]) == 2 * 2.5 + 1
