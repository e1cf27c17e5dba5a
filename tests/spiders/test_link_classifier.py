"""The link classifier on the embedded web: its tables, its decision threshold and its stop words."""

from __future__ import annotations

import json

import pytest

from focuscrawl.web.demo import demo_web
from tests.conftest import Crawled

ONE_AT_A_TIME = {"CONCURRENT_REQUESTS": 1}
TABLES = {"Relevant.txt": "relevant_url", "Irrelevant.txt": "irrelevant_url"}
WAITING = "SELECT url FROM frontier WHERE via NOT NULL"


@pytest.fixture(scope="module")
def web():
    return demo_web()


@pytest.fixture
def classify(crawl, web, tmp_path):
    """A crawl that trains its classifier early and soon stops tunnelling."""

    def run(folder: str = "crawl", **options) -> Crawled:
        given = {"topic": "sorting", "max_pages": 120, "training_pages": 30, "level_limit": 1} | options
        return crawl("link_classifier", web, tmp_path / folder, ONE_AT_A_TIME, **given)

    return run


def table(crawled: Crawled, view: str) -> list[str]:
    return [url for (url,) in crawled.sql(f"SELECT url FROM {view}")]


def column(crawled: Crawled, query: str) -> set[str]:
    return {value for (value,) in crawled.sql(query)}


@pytest.mark.parametrize(
    ("classifier", "training"), [("bayes", "fixed"), ("bayes", "updatable"), ("tree", "updatable")]
)
def test_the_tables_hold_urls_by_prediction(classify, classifier, training):
    crawled = classify(classifier=classifier, training=training, max_pages=200)
    relevant, irrelevant = (set(table(crawled, view)) for view in TABLES.values())
    assert relevant
    assert irrelevant
    assert not relevant & irrelevant
    # a waiting URL is in the table that its score says
    for score, urls in ((">", relevant), ("<", irrelevant)):
        assert column(crawled, f"{WAITING} AND score {score} 0.5") <= urls
    # what was fetched stays where its prediction put it, whatever it turned out to be
    fetched = crawled.sql("SELECT url, score, relevant FROM relevant_url WHERE fetched_at NOT NULL")
    assert all(score >= 0.5 for _, score, _ in fetched)
    assert {bool(truth) for _, _, truth in fetched} == {True, False}


def test_ignored_urls_are_in_the_irrelevant_table(classify):
    crawled = classify(level_limit=0)
    ignored = column(
        crawled,
        "SELECT url FROM url WHERE NOT done AND id IN (SELECT url_id FROM link WHERE score IS NULL)"
        " AND id NOT IN (SELECT url_id FROM frontier)",
    )
    assert ignored
    assert ignored <= set(table(crawled, "irrelevant_url"))
    told = "SELECT count(fetched_at) FROM irrelevant_url WHERE url = ?"
    assert all(crawled.sql(told, url) == [(0,)] for url in ignored)


def test_urls_that_a_rule_refuses_are_in_neither_table(crawl, web, tmp_path):
    options = {"topic": "sorting", "max_pages": 120, "training_pages": 30}
    for deny, there in (([], True), (["bird-book.example"], False)):
        place = tmp_path / str(there)
        crawled = crawl("link_classifier", web, place, ONE_AT_A_TIME | {"FOCUS_DENY": deny}, **options)
        tables = [url for view in TABLES.values() for url in table(crawled, view)]
        assert any("bird-book" in url for url in tables) == there


def test_the_files_repeat_the_tables(classify):
    crawled = classify()
    for name, view in TABLES.items():
        assert (crawled.folder / name).read_text("utf-8").splitlines() == table(crawled, view)


@pytest.mark.parametrize("training", ["fixed", "updatable"])
def test_the_tables_of_a_resumed_crawl_are_those_of_an_undisturbed_one(classify, training):
    whole = classify("whole", training=training)
    for pages in (50, 90, 120):
        parts = classify("parts", training=training, max_pages=pages)
    assert parts.urls == whole.urls
    assert [table(parts, view) for view in TABLES.values()] == [table(whole, view) for view in TABLES.values()]


def test_no_prediction_is_made_before_the_classifier_is_trained(classify):
    crawled = classify(max_pages=20)
    assert [table(crawled, view) for view in TABLES.values()] == [[], []]
    assert (crawled.folder / "Relevant.txt").read_text() == ""


def test_a_crawl_whose_tables_held_pages_gets_the_new_ones(classify):
    crawled = classify(max_pages=20)
    for view, which in (("relevant_url", "relevant"), ("irrelevant_url", "NOT relevant AND problem IS NULL")):
        crawled.sql(f"DROP VIEW {view}")
        crawled.sql(
            f"CREATE VIEW {view} AS SELECT url, relevance, score, fetched_at FROM page WHERE {which} ORDER BY id"
        )
    crawled = classify(max_pages=120)
    assert len(crawled.urls) == 120
    assert set(table(crawled, "relevant_url")) - set(crawled.urls)


@pytest.mark.parametrize("classifier", ["bayes", "tree"])
def test_the_cut_decides_what_is_predicted_relevant(classify, classifier):
    options = {"classifier": classifier, "training": "fixed", "level_limit": 100}
    lower, higher = (classify(str(cut), cut=cut, **options) for cut in (0.2, 0.9))
    assert lower.urls == higher.urls  # nothing is ignored, and the order is by probability
    assert set(table(higher, "relevant_url")) < set(table(lower, "relevant_url"))
    assert set(table(lower, "irrelevant_url")) < set(table(higher, "irrelevant_url"))


def test_the_higher_the_cut_the_more_links_are_ignored(classify):
    refused = [classify(str(cut), cut=cut, level_limit=0).stats["focus/links_refused"] for cut in (0.1, 0.5, 0.95)]
    assert refused == sorted(refused)
    assert refused[0] < refused[-1]


def test_the_level_counter_can_go_by_the_prediction(classify):
    crawled = classify(level_by="prediction", training="fixed", level_limit=2)
    rows = crawled.sql(
        "SELECT page.score, page.via IS NULL, link.why FROM link JOIN page ON page.id = link.page"
        " WHERE page.id > 100"  # by then it is trained
    )
    assert rows
    for score, is_seed, why in rows:
        reasons = json.loads(why)
        if not is_seed and "level" in reasons:
            assert reasons["relevant page"] == float(score > 0.5)
            assert reasons["level"] == 0 or score <= 0.5


def test_stop_words_can_come_from_the_example_pages(classify):
    tables = {
        share: json.loads(
            (classify(str(share), stop_share=share, max_pages=5).folder / "link_classifier.json").read_text()
        )
        for share in (0, 0.1, 1)
    }
    words = {share: set(model["words"]) for share, model in tables.items()}
    assert "sort" in words[0]
    assert "sort" not in words[0.1]  # on nearly all pages about it
    assert "the" not in words[0]
    assert words[1] != words[0]
