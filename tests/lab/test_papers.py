"""What is said of a paper's experiment follows from the figures."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from lxml import etree

from focuscrawl.lab.experiment import Results, as_markdown
from focuscrawl.lab.measures import measure
from focuscrawl.lab.orders import Graph
from focuscrawl.lab.papers import EXPERIMENTS
from focuscrawl.lab.tables import Row

KEYWORD, APPRENTICE, CLASSIFIER, NICHE, TREASURE = EXPERIMENTS
RELEVANT = frozenset(range(100))
#: Pages that are relevant by their keywords: those that are relevant by label, and others.
BY_KEYWORDS = frozenset(range(120))


class Crawl(NamedTuple):
    spider: str
    topic: str
    seeds: str


def crawl(spider: str, seeds: str, fetched: list[int], judged: list[bool] | None = None, matched=None) -> Row:
    """A crawl of a web in which the first hundred pages are relevant and the first ten the targets."""
    facts = {"relevant": RELEVANT, "reachable": 100, "targets": set(range(10)), "limit": list(range(100))}
    facts |= {"hosts": dict.fromkeys(RELEVANT, "a.example"), "similarity": [0.5] * 100}
    judged = judged or [page in RELEVANT for page in fetched]
    facts["by_keywords"] = BY_KEYWORDS.__contains__
    measures = measure(fetched, judged, matched, pages=len(fetched), requests=len(fetched), **facts)
    return Row("web", "topic", seeds, spider, 1, measures, 1.0, 1.0)


def results(pages: int, crawls: dict[tuple[str, str], list[int]], matched=None, links: int = 20) -> Results:
    """The results of crawls, by spider and way to begin, that fetched these pages."""

    def rows(survey, trials, outcomes, after):
        return [
            crawl(spider, seeds, fetched[:after], matched=matched and matched[spider][:after])
            for (spider, seeds), fetched in crawls.items()
        ]

    lab = SimpleNamespace(title="web", pages=pages, rows=rows, ways=sorted({seeds for _, seeds in crawls}))
    survey = SimpleNamespace(graph=Graph([[0] * links] * 10))
    outcomes = dict.fromkeys(Crawl(spider, "topic", seeds) for spider, seeds in crawls)
    return Results(lab, survey, [SimpleNamespace(topic="topic")], outcomes)


def found(*at: int, pages: int = 40) -> list[int]:
    """A crawl of so many pages that finds targets, one after the other, at these places."""
    fetched = list(range(1000, 1000 + pages))
    for target, place in enumerate(at):
        fetched[place] = target
    return fetched


def p2(baseline: list[int], apprentice: list[int]) -> Results:
    crawls = {"baseline": baseline, "apprentice": apprentice}
    return results(
        40,
        {
            (f"{name}{how}", way): fetched
            for name, fetched in crawls.items()
            for how in ("DF", "MI")
            for way in ("topic", "generic")
        },
    )


def test_an_apprentice_that_doubles_recall_is_the_papers():
    verdict = APPRENTICE.verdict(p2(found(1, 12, 22), found(1, 2, 11, 12, 21, 22)))
    assert verdict.word == "Reproduced"
    assert "from on-topic seeds, 2.00 times the baseline's after 10 pages and 2.00 times after 40" in verdict.why


def test_an_apprentice_whose_lead_melts_is_the_papers_in_part():
    verdict = APPRENTICE.verdict(p2(found(1, 12, 22, 30), found(1, 2, 3, 11)))
    assert verdict.word == "Reproduced in part"
    assert "The gain shrinks as the web runs out: the baseline ends with 40 % of the targets" in verdict.why


def test_what_is_nothing_cannot_be_doubled():
    verdict = APPRENTICE.verdict(p2(found(12, 22), found(1, 2, 3)))
    assert verdict.word == "Not comparable"
    ways = ("topic", "generic")
    crawls = {("treasure", way): found(1, 2) for way in ways} | {("context_graph", way): found(20) for way in ways}
    assert TREASURE.verdict(results(40, crawls)).word == "Not comparable"


def test_an_apprentice_that_is_no_better_is_not():
    assert APPRENTICE.verdict(p2(found(1, 2, 3), found(1, 12, 22))).word == "Not reproduced"


def fetching(pages: dict[int, int]) -> list[int]:
    """A crawl of forty pages that finds these pages at these places."""
    return [pages.get(place, 1000 + place) for place in range(40)]


RIVALS = {"best_first": fetching({0: 0, 1: 1, 2: 2, 3: 3, 20: 4}), "hits": fetching({0: 0, 1: 1, 2: 2, 3: 3, 4: 4})}


def p4(niche: list[int], **rivals: list[int]) -> Results:
    crawls = RIVALS | rivals | {"niche_genetic": niche}
    return results(40, {(name, "topic"): fetched for name, fetched in crawls.items()})


@pytest.mark.parametrize(
    ("niche", "word", "part"),
    [
        (
            fetching({10: 0, 11: 1, 12: 2} | {place: 30 + place for place in range(13, 40)}),
            "Reproduced",
            "By S, it has 0.0 against 4.0 and 4.0 after 4 pages and 30.0 against 5.0 and 5.0 after 40 pages. By label",
        ),
        (
            fetching({38: 7}),
            "Reproduced in part",
            "Not as in the paper: it ends above both. By S",
        ),
        (
            fetching({20 + page: page for page in range(5)}),
            "Not reproduced",
            "Not as in the paper: it ends above both; HITS and best-first have the most pages in common. By S",
        ),
        (fetching({10 + page: 100 + page for page in range(20)}), "Reproduced", "By label, it does not end above both"),
    ],
)
def test_the_niche_genetic_crawler_must_begin_below_and_end_above_by_its_own_measure(niche, word, part):
    verdict = NICHE.verdict(p4(niche))
    assert verdict.word == word
    assert part in verdict.why


def test_superposition_is_that_of_sets_of_the_same_size():
    figures = p4(fetching({0: 0, 9: 50, 10: 1, 11: 2}), hits=fetching({place: place for place in range(40)}))
    text = as_markdown(NICHE, NICHE.tables(figures), NICHE.verdict(figures))
    # the first four of each: 0 50 1 2, 0 1 2 3 and 0 1 2 3
    assert "the first n relevant pages of each crawler, n = 4.0 on average" in text
    assert "| niche_genetic and hits | 59 % | 60 % |" in text
    assert "| hits and best_first | 85 % | 100 % |" in text
    # each crawler's relevant pages after 4, 10, 20 and 40 pages, and how many it fetched to find four
    assert "| niche_genetic | 1.0 | 2.0 | 4.0 | 4.0 | 12.0 |" in text
    assert "| best_first | 4.0 | 4.0 | 4.0 | 5.0 | 4.0 |" in text


def test_a_wait_queue_that_ran_empty_is_told():
    assert "Its wait queue was empty after 20 pages" in NICHE.verdict(p4(fetching({0: 0})[:20])).why
    assert "wait queue was" not in NICHE.verdict(p4(fetching({0: 0}))).why


def test_why_generations_are_no_choice_is_counted():
    names = ("niche_genetic", "best_first", "hits")
    figures = results(40, {(name, "topic"): found(*range(31 if name == "hits" else 30)) for name in names})
    assert "100 % of all pages with links have more than 15" in NICHE.verdict(figures).why
    assert "almost breadth-first" in NICHE.verdict(figures).why


def test_treasure_is_the_papers_if_it_leads_throughout():
    ways = ("topic", "generic")
    crawls = {("treasure", way): found(1, 2, 3, 12, 22) for way in ways}
    crawls |= {(TREASURE.BY_PAPER, way): found(1, 2, 22) for way in ways}
    crawls |= {(TREASURE.WITHOUT, way): found(1, 22) for way in ways}
    crawls |= {("context_graph", way): found(1, 12, 22) for way in ways}
    verdict = TREASURE.verdict(results(40, crawls))
    assert verdict.word == "Reproduced"
    assert "+200 % after 10 pages" in verdict.why
    assert "After 10 pages, the T-Graph brings +200 % relevant pages; by the paper's rule for priorities, +100 %" in (
        verdict.why
    )
    behind = {
        (spider, way): crawls[other, way]
        for spider, other, way in [
            (one, two, way)
            for way in ways
            for one, two in (("treasure", "context_graph"), ("context_graph", "treasure"))
        ]
    }
    assert TREASURE.verdict(results(40, behind)).word == "Reproduced in part"  # the judge is as good as the paper's


def test_the_keyword_crawler_must_be_more_precise_and_list_less(monkeypatch):
    monkeypatch.setattr(KEYWORD, "EARLY", 4)
    spiders = [spec.text for spec in KEYWORD.spiders(40)]
    fetched = found(*range(20))
    matched = {name: [page in RELEVANT for page in fetched][:15] + [False] * 25 for name in spiders}
    matched["breadth_first"] = [True] * 40
    figures = results(40, {(name, "topic"): fetched for name in spiders}, matched)
    verdict = KEYWORD.verdict(figures)
    assert verdict.word == "Reproduced"
    assert "higher precision on 6 of 6 queries" in verdict.why
    text = as_markdown(KEYWORD, KEYWORD.tables(figures), verdict)
    assert "| time, bubble, sort | 70 / 82 | 80 / 81 | 100 / 4 | 100 / 4 | 50 / 20 | 100 / 15 |" in text


def test_a_paper_without_figures_is_told_what_its_choices_are_worth():
    names = [spec.text for spec in CLASSIFIER.spiders(40)]
    crawls = {(name, "topic"): found(1, 12) for name in names}
    crawls["bayes, updatable, level 3", "topic"] = found(1, 2, 3)
    verdict = CLASSIFIER.verdict(results(40, crawls))
    assert verdict.word == "Not comparable"
    assert "The best variant (bayes, updatable, level 3)" in verdict.why
    assert "perimeter" not in names  # which says nothing of its depth
    assert re.search(r"Perimeter search scores [\d.]+ at depth 1 and [\d.]+ at depth 2\.", verdict.why)


def test_spiders_that_did_not_crawl_are_named():
    figures = results(40, {("niche_genetic", "topic"): found(1), ("hits", "topic"): found(1)})
    assert NICHE.missing(figures) == ["best_first"]


def test_means_are_of_the_topics_that_every_spider_has_crawled():
    complete = results(40, {(name, "topic"): found(1) for name in ("niche_genetic", "best_first", "hits")})
    assert complete.topics == ["topic"]
    assert NICHE.missing(complete) == []
    half = results(
        40, {("hits", "topic"): found(1), ("best_first", "generic"): found(1), ("niche_genetic", "topic"): found(1)}
    )
    assert half.topics == []
    assert NICHE.missing(half) == ["niche_genetic", "best_first", "hits"]
    assert TREASURE.missing(complete) == ["treasure", "context_graph", TREASURE.BY_PAPER, TREASURE.WITHOUT]


def two_topics(one: list[int], other: list[int]) -> Results:
    """The results of the apprentice's experiment on two topics, which fetched these pages in any way."""
    names = [spec.text for spec in APPRENTICE.spiders(40)]
    crawls = {Crawl(name, topic, way): None for name in names for topic in "ab" for way in ("topic", "generic")}

    def rows(survey, trials, outcomes, after):
        return [
            replace(crawl(job.spider, job.seeds, (one if job.topic == "a" else other)[:after]), topic=job.topic)
            for job in crawls
        ]

    lab = SimpleNamespace(title="web", pages=40, rows=rows, ways=["generic", "topic"])
    return Results(lab, SimpleNamespace(), [SimpleNamespace(topic=topic) for topic in "ab"], crawls)


def test_means_over_topics_have_standard_errors_and_curves_have_error_bars(tmp_path):
    figures = two_topics(found(1, 2, 30, 31), found(1, 35))
    table = APPRENTICE.tables(figures)[1]
    assert table.rows[0][1:4] == ("15.0 ± 5.0 %", "15.0 ± 5.0 %", "30.0 ± 10.0 %")
    APPRENTICE.draw(figures, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["paper-2-generic.svg", "paper-2-topic.svg"]
    drawn = etree.parse(tmp_path / "paper-2-topic.svg").getroot()
    bars = list(drawn.iter("{*}path"))
    curves = list(drawn.iter("{*}polyline"))
    assert len(curves) == 4
    assert len(bars) == 8 * 4
    assert "target recall, %" in "".join(drawn.itertext())


def test_a_single_topic_has_no_error(tmp_path):
    figures = p2(found(1, 12, 22), found(1, 2, 11, 12, 21, 22))
    assert APPRENTICE.tables(figures)[1].rows[0][1] == "10.0 %"
    assert not any("<path" in drawn for drawn in APPRENTICE.charts(figures).values())


def test_without_targets_nothing_is_drawn(tmp_path):
    APPRENTICE.draw(p2(found(), found()), tmp_path)
    assert list(tmp_path.iterdir()) == []
