"""Claims of a paper hold or not, by the figures of the crawls and a margin."""

from __future__ import annotations

import pytest

from focuscrawl.lab.claims import SUPERPOSITION, Claim, Figure, at_each, evaluate, reached, settle
from focuscrawl.lab.papers import EXPERIMENTS
from tests.lab.test_papers import found, results

RELEVANT = Figure("relevant", ("new",)), Figure("relevant", ("old",))


@pytest.fixture
def figures():
    """The new crawler finds five pages to the old one's four, but the first of them later."""
    return results(40, {("new", "topic"): found(11, 12, 13, 14, 15), ("old", "topic"): found(1, 2, 21, 22)})


@pytest.mark.parametrize(
    ("relation", "margin", "holds"),
    [(">", 1, True), (">=", 1.25, True), (">", 1.25, False), ("<", 1, False), ("<", 1.5, True)],
)
def test_a_claim_compares_two_figures_by_a_margin(figures, relation, margin, holds):
    new, old = RELEVANT
    assert Claim("more", new, relation, old, margin).holds(figures) is holds
    assert Claim("more", new, relation, old).ratio(figures) == 1.25


def test_a_claim_is_read_off_at_its_step(figures):
    new, old = RELEVANT
    at = {claim.figure.step: claim for claim in at_each(Claim("more", new, ">", old), ["topic"], ["quarter", "end"])}
    assert not at["quarter"].holds(figures)
    assert at["end"].holds(figures)
    assert at["end"].holds(figures, 20)
    assert not at["end"].holds(figures, 5)


def test_a_figure_can_be_a_mean_or_what_two_crawlers_share(figures):
    assert Figure("relevant", ("new", "old")).of(figures) == 4.5
    assert Figure(SUPERPOSITION, ("new", "old")).of(figures) == 0.8
    assert Claim("enough", Figure("relevant", ("new",)), ">=", margin=5).holds(figures)


def test_parts_of_a_claim_are_counted_and_some_can_be_enough(figures):
    new, old = RELEVANT
    shares = evaluate([*at_each(Claim("more", new, ">", old), ["topic"], ["quarter", "half", "end"])], figures)
    assert shares == {"more": pytest.approx(2 / 3)}
    assert reached(shares, [{"more": 1}, {"more": 0.5}])
    assert not reached(shares, [{"more": 1}])
    assert not reached(shares, [])


def test_each_claim_is_reproduced_in_part_or_not_with_its_figures(figures):
    new, old = RELEVANT
    claims = [
        *at_each(Claim("more", new, ">", old), ["topic"], ["quarter", "half", "end"]),
        Claim("twice as many", new, ">=", old, 2),
        Claim("enough", new, ">=", margin=5),
        Claim("more than nobody", new, ">", Figure("relevant", ("nobody",))),
    ]
    assert [(finding.says, finding.word, finding.why) for finding in settle(claims, figures)] == [
        ("more", "Reproduced in part", "2 of 3, 0.00 to 2.50 times"),
        ("twice as many", "Not reproduced", "0 of 1, 1.25 times"),
        ("enough", "Reproduced", "1 of 1, 5.00"),
        ("more than nobody", "Not comparable", "the other crawler found nothing"),
    ]


def test_a_crawler_that_found_nothing_cannot_be_compared_with(figures):
    new, _ = RELEVANT
    assert not Claim("more", new, ">", Figure("relevant", ("nobody",))).comparable(figures)


def test_what_makes_an_experiment_a_part_of_its_paper_is_named_by_its_claims():
    for experiment in EXPERIMENTS:
        assert {says for one in experiment.partly for says in one} <= {claim.says for claim in experiment.claims}
