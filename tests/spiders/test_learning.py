"""The strategies that learn, on a small web of gardens and engines."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.store.places import read_crawl
from focuscrawl.strategies.lessons import wide_lessons
from tests.conftest import ROOT, scrapy
from tests.lessons import gardens, lessons_web, topic_file

LEARNERS = ["baseline", "link_classifier", "naive_bayes_threshold"]


@pytest.fixture(scope="module")
def web():
    return lessons_web()


@pytest.fixture
def topic(tmp_path):
    return topic_file(tmp_path / "topic")


@pytest.fixture
def lessons(crawl, web, topic, tmp_path):
    return crawl("baseline", web, tmp_path / "lessons", topic=topic, max_pages=60).folder


def fatal(crawled) -> str:
    return Crawl.of(crawled.crawler).fatal or ""


@pytest.mark.parametrize("spider", LEARNERS)
@pytest.mark.parametrize("judge", ["bayes", "linear"])
def test_what_is_relevant_is_learned_from_examples(crawl, web, topic, spider, judge):
    crawled = crawl(spider, web, topic=topic, max_pages=50, judge=judge)
    assert crawled.matched
    assert all("garden" in url for url in crawled.matched)
    assert gardens(crawled.urls) == len(crawled.matched)
    assert json.loads((crawled.folder / "judge.json").read_text())["kind"] == judge


def test_links_of_relevant_pages_come_first(crawl, web, topic, tmp_path):
    baseline = crawl("baseline", web, tmp_path / "1", topic=topic, max_pages=60)
    for page in baseline.pages[1:]:
        parent = next(other for other in baseline.pages if other["url"] == page["parent"])
        assert page["score"] == parent["relevance"]
    assert baseline.crawler.settings.getint("FOCUS_FRONTIER_SIZE") == 10_000
    assert baseline.crawler.settings.getint("FOCUS_HOSTS_PER_BATCH") == 100


def test_the_papers_table_is_a_query_of_the_crawl(crawl, web, topic):
    page = (ROOT / "docs" / "strategies" / "baseline.md").read_text("utf-8")
    (query,) = re.findall(r"```sql\n(.+?)```", page, re.DOTALL)
    crawled = crawl("baseline", web, topic=topic, max_pages=20)
    rows = crawled.sql(query)
    assert rows == [(page["parent"], page["url"], page["relevance"], "Gardens") for page in crawled.pages[1:]]


def test_the_apprentice_knows_where_links_lead(crawl, web, topic, lessons, tmp_path):
    apprentice = crawl("apprentice", web, tmp_path / "a", topic=topic, max_pages=60, lessons=lessons)
    breadth_first = crawl("breadth_first", web, tmp_path / "b", topic=topic, max_pages=60)
    assert gardens(apprentice.urls) > 1.5 * gardens(breadth_first.urls)
    assert gardens(apprentice.urls) > 50
    told = scrapy("explain", apprentice.folder, apprentice.urls[20])
    assert "gentli" in told.stdout


@pytest.mark.parametrize("options", [{"anchor": "yes"}, {"selection": "mi"}, {"distance": 2}, {"training": "online"}])
def test_it_has_the_papers_options(crawl, web, topic, lessons, tmp_path, options):
    apprentice = crawl("apprentice", web, tmp_path / "a", topic=topic, max_pages=40, lessons=lessons, **options)
    assert gardens(apprentice.urls) > 30


@pytest.mark.parametrize("training", ["offline", "online"])
def test_it_reads_as_many_words_around_a_link_as_it_is_told_to(crawl, topic, tmp_path, training):
    """The lessons of the baseline store ten; the pages are read again for the others."""
    web = lessons_web(apart=14)
    lessons = crawl("baseline", web, tmp_path / "lessons", topic=topic, max_pages=60).folder
    found = {
        distance: crawl(
            "apprentice", web, tmp_path / str(distance), topic=topic, max_pages=60, lessons=lessons, distance=distance,
            training=training,
        )
        for distance in (10, 20)
    }  # fmt: skip
    assert gardens(found[20].urls) > 50
    assert gardens(found[20].urls) > gardens(found[10].urls) + 10


def test_lessons_read_again_have_the_words_of_the_page(lessons, web):
    with read_crawl(lessons) as store:
        stored, wide = (wide_lessons(store, words) for words in (10, 40))
        assert [(one.page, one.label, one.link.url) for one in stored] == [
            (one.page, one.label, one.link.url) for one in wide
        ]
        assert [one.link.before(10) for one in stored] == [one.link.before(10) for one in wide]
        followed = next(one for one in store.links.followed() if one.page == wide[5].page)
        stored_page = store.pages.content(followed.source)
    page = read_html(Page(stored_page.url), web.get(stored_page.url).body, "text/html")
    link = page.links[wide[5].link.position]
    assert (link.before(40), link.after(40)) == (wide[5].link.before(40), wide[5].link.after(40))
    assert len(wide[5].link.before(40)) == 40


def test_the_relevance_of_the_page_is_blended_in(crawl, web, topic, lessons, tmp_path):
    alone, half, parent = (
        crawl("apprentice", web, tmp_path / str(share), topic=topic, max_pages=60, lessons=lessons, parent=share)
        for share in (0, 0.5, 1)
    )
    relevance = {page["url"]: page["relevance"] for page in parent.pages}
    assert all(page["score"] == pytest.approx(relevance[page["parent"]]) for page in parent.pages[1:])
    assert gardens(half.urls) > 50
    assert "relevance of its page" in scrapy("explain", half.folder, half.urls[20]).stdout
    assert "relevance of its page" not in scrapy("explain", alone.folder, alone.urls[20]).stdout


@pytest.mark.parametrize("training", ["offline", "online"])
def test_the_blend_is_the_same_after_a_stop(crawl, web, topic, lessons, tmp_path, training):
    options = {"topic": topic, "lessons": lessons, "parent": 0.5, "distance": 20, "training": training}
    whole = crawl("apprentice", web, tmp_path / "whole", max_pages=80, **options)
    for pages in (33, 57, 80):
        parts = crawl("apprentice", web, tmp_path / "parts", max_pages=pages, **options)
    assert parts.urls == whole.urls
    assert [page["score"] for page in parts.pages] == [page["score"] for page in whole.pages]


def test_without_lessons_it_can_learn_from_what_it_fetches(crawl, web, topic):
    crawled = crawl("apprentice", web, topic=topic, max_pages=100, training="online")
    # by chance half of them would be
    assert gardens(crawled.urls[40:80]) > 24


def test_one_command_does_both(crawl, web, topic):
    crawled = crawl("apprentice", web, topic=topic, max_pages=40, lessons="auto", lesson_pages=60)
    assert gardens(crawled.urls) > 30
    assert len((crawled.folder / "lessons" / "pages.jsonl").read_text().splitlines()) == 60


def test_and_from_the_command_line(tmp_path, web, topic):
    web.save(tmp_path / "web.sqlite")
    result = scrapy(
        "crawl", "apprentice", "-a", f"topic={topic}", "-a", "lessons=auto", "-a", "lesson_pages=50", "-a", "max_pages=30",
        "-s", f"FOCUS_WEB={tmp_path / 'web.sqlite'}", "-s", f"FOCUS_DIR={tmp_path / 'c'}", cwd=ROOT,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    assert len((tmp_path / "c" / "pages.jsonl").read_text().splitlines()) == 30


def test_links_on_the_best_hubs_are_put_in_front(crawl, web, topic, lessons, tmp_path):
    crawled = crawl("apprentice", web, tmp_path / "a", topic=topic, max_pages=40, lessons=lessons, hubs_every=10)
    promoted = [page for page in crawled.pages if page["score"] == 1.0 and page["depth"]]
    assert promoted
    assert not [page for page in crawled.pages[:9] if page["score"] == 1.0 and page["depth"]]


@pytest.mark.parametrize(
    ("options", "spider"),
    [
        ({}, "baseline"),
        ({}, "link_classifier"),
        ({"training_pages": 20}, "link_classifier"),
        ({"training": "fixed", "training_pages": 20}, "link_classifier"),
        ({"classifier": "tree", "training_pages": 20}, "link_classifier"),
        ({"training": "online"}, "apprentice"),
    ],
)
def test_a_crawl_goes_on_with_the_model_it_had(crawl, web, topic, tmp_path, spider, options):
    whole = crawl(spider, web, tmp_path / "whole", topic=topic, max_pages=80, **options)
    crawl(spider, web, tmp_path / "parts", topic=topic, max_pages=40, **options)
    shutil.rmtree(topic.parent / "yes")  # what it was taught with is not needed again
    topic_file(topic.parent, examples=3)
    parts = crawl(spider, web, tmp_path / "parts", topic=topic, max_pages=80, **options)
    assert (parts.folder / "judge.json").read_text() == (whole.folder / "judge.json").read_text()
    assert len(parts.urls) == 80
    if spider == "link_classifier":  # the others begin something anew
        assert parts.urls == whole.urls


@pytest.mark.parametrize(
    ("examples", "counterexamples", "says"),
    [
        (2, 8, "2 of its 2 examples could be read; give at least 3"),
        (8, 1, "1 of its 1 counterexamples could be read"),
    ],
)
def test_too_few_examples_are_told(crawl, web, tmp_path, examples, counterexamples, says):
    topic = topic_file(tmp_path / "t", examples=examples, counterexamples=counterexamples)
    crawled = crawl("baseline", web, topic=topic)
    assert says in fatal(crawled)
    assert crawled.urls == []


@pytest.mark.parametrize(("examples", "counterexamples", "lacks"), [(0, 8, "examples"), (8, 0, "counterexamples")])
def test_examples_of_one_kind_only_are_told(crawl, web, tmp_path, examples, counterexamples, lacks):
    with pytest.raises(FocusError, match=f"has no {lacks}; add {lacks} = "):
        crawl("baseline", web, topic=topic_file(tmp_path / "t", examples=examples, counterexamples=counterexamples))


def test_empty_examples_are_told(crawl, web, topic):
    for path in (topic.parent / "yes").iterdir():
        path.write_text("")
    assert "0 of its 8 examples could be read" in fatal(crawl("baseline", web, topic=topic))


def test_examples_without_words_are_told(crawl, web, topic):
    for kind in ("yes", "no"):
        for path in (topic.parent / kind).iterdir():
            path.write_text("<p>... 1 2 3")
    assert "the examples contain no words" in fatal(crawl("baseline", web, topic=topic))


def test_the_apprentice_says_how_to_get_lessons(crawl, web, topic):
    with pytest.raises(FocusError, match="learns from a finished baseline crawl: run `scrapy crawl baseline"):
        crawl("apprentice", web, topic=topic)


def test_lessons_of_another_topic_are_refused(crawl, web, topic, tmp_path, lessons):
    other = topic_file(tmp_path / "other", name="Flowers")
    crawled = crawl("apprentice", web, tmp_path / "a", topic=other, lessons=lessons)
    assert fatal(crawled) == f"lessons {lessons} are about 'Gardens', not 'Flowers'; give a crawl of the same topic"


def test_lessons_of_another_spider_are_refused(crawl, web, topic, tmp_path):
    other = crawl("naive_bayes_threshold", web, tmp_path / "n", topic=topic, max_pages=30).folder
    assert "are a crawl by 'naive_bayes_threshold'" in fatal(
        crawl("apprentice", web, tmp_path / "a", topic=topic, lessons=other)
    )


def test_lessons_that_are_too_few_or_not_there_are_told(crawl, web, topic, tmp_path):
    few = crawl("baseline", web, tmp_path / "few", topic=topic, max_pages=5).folder
    assert "have 4 followed links" in fatal(crawl("apprentice", web, tmp_path / "a", topic=topic, lessons=few))
    nowhere = crawl("apprentice", web, tmp_path / "b", topic=topic, lessons=tmp_path / "nowhere")
    assert "no such file" in fatal(nowhere)


def test_errors_of_learning_cost_one_line_and_a_status(tmp_path, web):
    web.save(tmp_path / "web.sqlite")
    topic = topic_file(tmp_path / "t", examples=2)
    result = scrapy(
        "crawl", "baseline", "-a", f"topic={topic}", "-s", f"FOCUS_WEB={tmp_path / 'web.sqlite'}",
        "-s", f"FOCUS_DIR={tmp_path / 'c'}",
    )  # fmt: skip
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith("focuscrawl: topic 'Gardens'")


@pytest.mark.parametrize("classifier", ["bayes", "tree"])
@pytest.mark.parametrize("training", ["fixed", "updatable"])
def test_the_link_classifier_prefers_links_that_lead_to_the_topic(crawl, web, topic, classifier, training):
    crawled = crawl(
        "link_classifier", web, topic=topic, max_pages=60, classifier=classifier, training=training, training_pages=20
    )
    assert gardens(crawled.urls) > 45
    told = scrapy("explain", crawled.folder, crawled.urls[-1])
    assert "parents" in told.stdout
    assert "surrounding" in told.stdout


def test_tunnelling_ends_at_the_level_limit(crawl, web, topic, tmp_path):
    refused = {}
    for limit in (0, 2):
        crawled = crawl(
            "link_classifier",
            web,
            tmp_path / str(limit),
            topic=topic,
            level_limit=limit,
            training="updatable",
            training_pages=20,
            max_pages=120,
        )
        refused[limit] = crawled.stats.get("focus/links_refused", 0)
        levels = [
            json.loads(why)["level"]
            for (why,) in crawled.sql("SELECT why FROM link WHERE score IS NULL AND why NOT NULL")
        ]
        assert all(level >= limit for level in levels)
    assert refused[0] > refused[2]


def counted(score: float) -> float:
    return score if score >= 0.6 else 0.0


def test_scores_of_links_below_the_cut_do_not_count(crawl, web, topic):
    crawled = crawl("naive_bayes_threshold", web, topic=topic, cut=0.6, max_pages=60)
    links = [(score, json.loads(why)) for score, why in crawled.sql("SELECT score, why FROM link")]
    assert all(score == why["counted"] == counted(why["words of the link"]) for score, why in links)
    assert {bool(score) for score, _ in links} == {True, False}
    # the links of one page differ, and those that lead to the topic score higher
    assert crawled.sql("SELECT max(n) FROM (SELECT count(DISTINCT score) AS n FROM link GROUP BY page)")[0][0] > 1
    assert gardens(crawled.urls) > 50


def test_a_link_can_be_scored_by_its_page_instead(crawl, web, topic):
    crawled = crawl("naive_bayes_threshold", web, topic=topic, reads="page", cut=0.6, max_pages=60)
    by_url = {page["url"]: page for page in crawled.pages}
    for page in crawled.pages[1:]:
        assert page["score"] == counted(by_url[page["parent"]]["relevance"])


@pytest.mark.parametrize(
    ("spider", "option"),
    [
        ("baseline", {"selection": "chi"}),
        ("baseline", {"features": 0}),
        ("baseline", {"judge": "oracle"}),
        ("baseline", {"rarity": 0}),
        ("apprentice", {"distance": 101}),
        ("apprentice", {"parent": 1.5}),
        ("link_classifier", {"level_limit": -1}),
        ("link_classifier", {"classifier": "forest"}),
        ("link_classifier", {"cut": 1}),
        ("link_classifier", {"stop_share": 2}),
        ("link_classifier", {"level_by": "chance"}),
        ("naive_bayes_threshold", {"reads": "mind"}),
    ],
)
def test_wrong_options_are_refused(crawl, web, topic, spider, option):
    (name,) = option
    with pytest.raises(FocusError, match=f"option {name}="):
        crawl(spider, web, topic=topic, lessons="x", **option) if spider == "apprentice" else crawl(
            spider, web, topic=topic, **option
        )


def test_a_model_that_is_damaged_is_named(crawl, web, topic):
    crawled = crawl("baseline", web, topic=topic, max_pages=5)
    (crawled.folder / "judge.json").write_text("{")
    assert "judge.json cannot be read" in fatal(crawl("baseline", web, topic=topic, max_pages=10))
