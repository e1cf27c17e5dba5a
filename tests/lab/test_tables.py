"""Summaries, advice and charts, from crawls made up for the purpose."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from focuscrawl.lab.advice import advise, needs_of
from focuscrawl.lab.charts import bars, curves, over_time, styles, write_charts
from focuscrawl.lab.measures import measure
from focuscrawl.lab.plan import Spec
from focuscrawl.lab.report import lab_report
from focuscrawl.lab.tables import Row, duration, summarise, superpositions
from focuscrawl.spiders.baseline import BaselineSpider
from focuscrawl.spiders.breadth_first import BreadthFirstSpider
from focuscrawl.spiders.treasure import TreasureSpider

RELEVANT = frozenset(range(10))
HOSTS = dict.fromkeys(RELEVANT, "a.example")


def row(
    topic: str,
    spider: str,
    fetched: list[int],
    repeat: int = 1,
    seeds: str = "topic",
    cpu: float | None = 0.1,
    pace: float | None = None,
):
    """A crawl; with *pace*, a page arrives every so many seconds."""
    facts = {"pages": 10, "relevant": RELEVANT, "targets": {0, 1}, "limit": list(range(10)), "hosts": HOSTS}
    if pace is not None:
        facts["times"] = [pace * number for number in range(1, len(fetched) + 1)]
    measures = measure(fetched, [None] * len(fetched), requests=10, similarity=[0.0] * 10, reachable=10, **facts)
    return Row("web", topic, seeds, spider, repeat, measures, cpu, cpu)


def good(number: int) -> list[int]:
    """A crawl of ten pages that begins with so many relevant ones."""
    return [*range(number), *range(100, 110 - number)]


def comparison(topics: int = 8, **spiders: int) -> list[Row]:
    rows = []
    for number in range(topics):
        rows.append(row(f"t{number}", "omniscient", good(10), cpu=None))
        rows += [row(f"t{number}", name, good(found + number % 2)) for name, found in spiders.items()]
        rows.append(row(f"t{number}", "random", good(0), cpu=None))
    return rows


def test_the_limit_is_on_top_and_the_floor_at_the_bottom():
    rows = comparison(keyword=3, breadth_first=7, best_first=5)
    names = [one.spider for one in summarise(rows, 10, "best_first", 1)]
    assert names == ["omniscient", "best_first", "keyword", "breadth_first", "random"]


def test_topics_count_alike_however_often_they_were_crawled():
    rows = [row("one", "x", good(0), repeat) for repeat in range(1, 4)] + [row("other", "x", good(10))]
    (summary,) = summarise(rows, 10, "best_first", 1)
    assert summary.score == 0.5
    assert summary.relevant == 5
    assert summary.curve[-1] == 5
    assert summary.interval[0] < 0.5 < summary.interval[1]
    for name in ("harvest", "relevant", "target_recall"):
        low, high = summary.intervals[name]
        assert low < summary.means[name] < high
    assert summary.means["judged_precision"] is summary.intervals["judged_precision"] is None


def test_a_spider_that_could_not_crawl_every_topic_is_not_ranked_with_those_that_did():
    rows = [*comparison(best_first=5, breadth_first=2), row("t0", "hits", good(10))]
    summaries = summarise(rows, 10, "best_first", 1)
    assert [one.title for one in summaries][:3] == ["omniscient", "best_first", "hits (1 of 8 topics)"]
    assert "best_first does best" in advise(summaries, "the web", 10, {})


def test_spiders_that_no_other_was_compared_with_are_advised_on_all_the_same():
    rows = [row("t0", "omniscient", good(10)), row("t1", "omniscient", good(10)), row("t0", "hits", good(5))]
    assert "hits does best" in advise(summarise(rows, 10, "best_first", 1), "the web", 10, {})


def test_spiders_are_tested_against_the_baseline():
    found = {one.spider: one for one in summarise(comparison(keyword=3, best_first=5, hits=8), 10, "best_first", 1)}
    assert found["best_first"].against is None
    assert found["hits"].against.better == 8
    assert found["keyword"].against.worse == 8
    assert found["hits"].p_holm == pytest.approx(2 * found["hits"].against.p)
    assert found["omniscient"].against is None


def test_superposition_compares_the_same_crawls():
    rows = [row("t", "x", [0, 1, 2]), row("t", "y", [1, 2, 3]), row("u", "x", [0]), row("u", "y", [0])]
    rows += [row("t", "y", [0], seeds="generic")]
    assert superpositions(rows) == {("topic", "x", "y"): pytest.approx(0.75)}


def advice(**spiders: int) -> str:
    return advise(summarise(comparison(**spiders), 10, "best_first", 1), "the web", 10, {})


def test_the_advice_names_the_best_and_how_sure_it_is():
    text = advice(hits=8, best_first=5, breadth_first=2)
    assert text.startswith("On the web, from the topics' own seeds, hits does best: it scores 0.")
    assert "the best possible order finds 10" in text
    assert "breadth_first (ahead on 8 of 8 topics, p = 0.016)" in text  # of two that it could have been better than
    assert "Next is best_first" in text
    assert "little" not in text


def test_the_advice_says_when_nothing_helps():
    assert "no strategy compared here pays off" in advice(breadth_first=8, best_first=2)
    assert "practically the same" in advice(hits=5, best_first=5, breadth_first=1)
    assert "2 topics are not enough" in advice(topics=2, hits=5, best_first=4, breadth_first=1)
    assert "against none by breadth_first" in advise(
        summarise([row("t", "hits", good(3)), row("t", "breadth_first", good(0))], 10, "best_first", 1), "w", 10, {}
    )


def test_the_advice_says_what_the_best_needs_and_what_is_best_without():
    needs = {"learner": ["example pages"], "other": ["example pages"], "shark_search": ["keywords"]}
    rows = comparison(learner=8, other=7, shark_search=6, breadth_first=2)
    text = advise(summarise(rows, 10, "best_first", 1), "the web", 10, needs)
    assert "of 8 topics, p = 0.023), and needs example pages." in text
    assert "Next is other with" in text
    assert re.search(r"Without example pages, the best is shark_search with 0\.\d\d, which needs keywords\.", text)


def test_what_spiders_need_is_told_in_words():
    classes = {Spec.parse(spider.name): spider for spider in (BaselineSpider, TreasureSpider, BreadthFirstSpider)}
    assert needs_of(classes) == {
        "baseline": ["example pages", "pages of other topics"],
        "treasure": ["Dewey numbers"],
        "breadth_first": [],
    }


def test_the_advice_does_not_pass_over_breadth_first_and_chance():
    rows = comparison(best_first=4, hits=1, breadth_first=2)
    assert "Next is breadth_first with 0." in advise(summarise(rows, 10, "best_first", 1), "the web", 10, {})
    rows = [row("t", "best_first", good(2)), row("t", "breadth_first", good(1)), row("t", "random", good(3), cpu=None)]
    text = advise(summarise(rows, 10, "best_first", 1), "the web", 10, {})
    assert "nothing compared here beats chance on this web" in text


def test_the_best_of_many_is_not_called_better_than_chance_has_it():
    spiders = {f"s{number}": 3 for number in range(20)} | {"breadth_first": 2}
    assert "which may be chance" in advice(topics=6, **spiders)


def test_a_crawl_that_ended_by_itself_says_of_how_many_pages_its_harvest_is():
    (summary,) = summarise([row("t", "niche_genetic", [0, 1, 2])], 10, "best_first", 1)
    assert summary.title == "niche_genetic (3 pages)"
    assert summary.means["harvest"] == 1.0


def test_a_strategy_that_costs_far_less_is_mentioned():
    def told(found: int, cpu: float, of: float = 10.0) -> bool:
        rows = [row("t", "hits", good(8), cpu=of), row("t", "keyword", good(found), cpu=cpu * of)]
        return "keyword comes close to it with 10% of the CPU time" in advise(
            summarise(rows, 10, "hits", 1), "w", 10, {}
        )

    assert told(8, 0.1)
    assert not told(8, 0.9)  # hardly cheaper
    assert not told(6, 0.1)  # not near
    assert not told(8, 0.1, of=0.5)  # too short to tell


def test_charts_are_svg_files_that_stand_alone(tmp_path):
    summaries = summarise(comparison(keyword=3, best_first=5), 10, "best_first", 1)
    look = styles([one.spider for one in summaries])
    assert len({look["keyword"].colour, look["best_first"].colour, look["random"].colour}) == 3
    write_charts(tmp_path, summaries, look)
    for name in ("curves-topic.svg", "scores-topic.svg"):
        root = ET.fromstring((tmp_path / name).read_text("utf-8"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "best_first" in {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert ET.fromstring(bars(summaries, look)) is not None
    rows = [*comparison(best_first=5), row("t0", "hits", good(10))]
    partly = summarise(rows, 10, "best_first", 1)
    write_charts(tmp_path, partly, styles([one.spider for one in partly]))
    assert "hits" not in (tmp_path / "curves-topic.svg").read_text("utf-8")
    many = {f"s{number}": [1.0] for number in range(25)}
    root = ET.fromstring(curves(many, styles(list(many)), alone=True))
    assert float(root.get("height")) > max(float(text.get("y")) for text in root.iter() if text.get("y"))
    assert curves({}, {}) == "<p>No relevant pages.</p>"
    assert curves({"x": [0.0, 0.0]}, look) == "<p>No relevant pages.</p>"


def timed(**paces: float) -> list[Row]:
    """Two topics, crawled by spiders that fetch a page every so many seconds; five of ten are relevant, the first."""
    return [row(topic, name, good(5), pace=pace) for topic in ("t0", "t1") for name, pace in paces.items()]


def test_curves_over_the_clock_end_with_the_slowest_spider():
    rows = timed(omniscient=1.0, best_first=2.0, keyword=3.0, breadth_first=50.0, random=70.0)
    summaries = summarise(rows, 10, "best_first", 1)
    series, axis = over_time(summaries)
    assert axis == ("seconds", 30.0)
    assert {len(points) for points in series.values()} == {300}
    assert series["omniscient"][49:51] == [5.0, 5.0]  # flat after the last relevant page, at 5 s
    assert series["keyword"][28:31] == [0.0, 1.0, 1.0]  # the first after 3 s
    assert series["random"][-1] == 0.0
    assert {one.spider: one.speed for one in summaries}["keyword"] == ("600", "30 s")
    assert over_time(summarise(comparison(best_first=5), 10, "best_first", 1)) is None


@pytest.mark.parametrize(
    ("pace", "unit", "end"), [(11, "seconds", 110), (12, "minutes", 2), (700, "minutes", 700 / 6), (900, "hours", 2.5)]
)
def test_the_unit_of_the_clock_follows_its_length(pace, unit, end):
    _, axis = over_time(summarise(timed(best_first=pace), 10, "best_first", 1))
    assert axis == (unit, pytest.approx(end))


def test_means_over_the_clock_are_those_of_the_topics_means():
    rows = [row("t0", "x", good(5), repeat, pace=1.0) for repeat in (1, 2, 3)] + [row("t1", "x", good(5), pace=3.0)]
    (summary,) = summarise(rows, 10, "best_first", 1)
    assert summary.means["seconds"] == 20
    assert summary.means["relevant_per_hour"] == (1800 + 600) / 2
    assert (summary.by(2.9), summary.by(3.0), summary.by(100)) == (1.0, 2.0, 5.0)
    assert summary.ended == 30
    assert summary.intervals["seconds"] == (10, 30)


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (3599.7, "1 h 00 min"),
        (9000, "2 h 30 min"),
    ],
)
def test_durations_are_easy_to_read(seconds, says):
    assert duration(seconds) == says


def test_charts_over_the_clock_are_files_beside_the_others(tmp_path):
    summaries = summarise(timed(best_first=2.0, keyword=3.0), 10, "best_first", 1)
    pictures = write_charts(tmp_path, summaries, styles([one.spider for one in summaries]))
    root = ET.fromstring((tmp_path / "hours-topic.svg").read_text("utf-8"))
    words = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"seconds", "relevant pages", "best_first", "10", "20", "30"} <= words
    assert (tmp_path / "hours-topic.png").exists() == pictures


def test_charts_are_png_where_matplotlib_is(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib, the extra `lab`, is not installed")
    summaries = summarise(comparison(keyword=3, best_first=5), 10, "best_first", 1)
    assert write_charts(tmp_path, summaries, styles([one.spider for one in summaries]))
    assert (tmp_path / "curves-topic.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "scores-topic.png").read_bytes().startswith(b"\x89PNG")


def test_the_report_needs_no_network_and_escapes_what_it_is_given():
    rows = [*comparison(**{"hits:every=<b>": 6, "best_first": 5}), row("<i>", "best_first", good(3))]
    summaries = summarise(rows, 10, "best_first", 1)
    look = styles([one.spider for one in summaries])
    facts = {"web": "<web>", "pages": 10, "baseline": "best_first", "starts": {"topic": []}, "notes": ["<left> out"]}
    facts |= {"needs": {}, "about": "<about>", "command": "scrapy lab --web <web>"}
    text = lab_report(summaries, superpositions(rows), look, **facts)
    assert "<left>" not in text
    assert "<about>" not in text
    assert "&lt;left&gt; out" in text
    assert "every=<b>" not in text
    assert "&lt;i&gt;" in text
    for resource in ("src=", "@import", "url(", "<link"):
        assert resource not in text
