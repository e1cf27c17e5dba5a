"""What is weak in a topic."""

from __future__ import annotations

import pytest

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.seeding.evidence import Library, gather
from focuscrawl.seeding.topic_check import check
from focuscrawl.store.store import Store
from focuscrawl.topic import Topic
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import at, small_web

SORTS = "sorting an array by comparison in memory"
ROSES = "roses want water and memory"


def web() -> MemoryWeb:
    texts = {f"s{number}": f"{SORTS} {number}" for number in range(4)} | {
        f"r{number}": f"{ROSES} {number}" for number in range(6)
    }
    links = {name: [] for name in texts} | {"hub": ["r0", "s1"], "dull": ["r1"], "s0": ["s1", "s2", "r0"]}
    return small_web(links, texts)


def topic(**parts) -> Topic:
    given = {
        "keywords": {"sort": 3.0, "array": 2.0},
        "examples": [at(f"s{number}") for number in range(4)],
        "counterexamples": [at(f"r{number}") for number in range(6)],
        "seeds": [at("s0")],
    }
    return Topic("Sorting", **given | parts)


def problems(threshold=0.3, **parts) -> list[str]:
    asked, library = topic(**parts), Library(web=web())
    evidence = gather(asked, library)
    return [str(finding) for finding in check(asked, evidence, library, threshold)]


def test_a_good_topic_has_no_problems():
    assert problems() == []


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        (
            {"sort": 3, "sorting": 1},
            "keywords: 'sorting' has the same stem as 'sort', so only one of them counts; remove 'sorting'",
        ),
        ({"sort": 3, "quokka": 1}, "keywords: no page has 'quokka'; check its spelling, or remove it"),
        (
            {"sort": 3, "array memory": 1},
            "keywords: the phrase 'array memory' never occurs, its words do; use one of its words",
        ),
        (
            {"sort": 3, "memory": 1},
            "keywords: 'memory' is on every page (4 of 4 relevant pages and 6 of 6 others); remove it",
        ),
        (
            {"sort": 3, "water": 1},
            "keywords: 'water' leads away from the topic: it is on 0 of 4 relevant pages and 6 of 6 others; remove it",
        ),
        ({"sort": 3, "the": 1}, "keywords: 'the' is on pages about anything; remove it"),
    ],
)
def test_weak_keywords(keywords, says):
    assert says in problems(keywords=keywords)


def test_an_acronym_in_capitals_is_no_common_word():
    assert not any("'IT' is on pages about anything" in said for said in problems(keywords={"sort": 3, "IT": 1}))


def test_an_example_among_the_counterexamples():
    both = [*topic().counterexamples, at("s1")]
    assert f"counterexamples: {at('s1')} is also an example; remove one of them" in problems(counterexamples=both)


def test_an_example_that_says_the_same_as_a_counterexample(tmp_path):
    for name in ("yes", "no"):
        (tmp_path / f"{name}.html").write_text(f"<p>{SORTS}")
    said = problems(
        examples=[*topic().examples, tmp_path / "yes.html"],
        counterexamples=[*topic().counterexamples, tmp_path / "no.html"],
    )
    assert (
        f"counterexamples: {tmp_path / 'no.html'} is the same as example {tmp_path / 'yes.html'}; remove one of them"
        in said
    )


def test_an_example_given_twice_one_that_is_no_page_and_too_few(tmp_path):
    (tmp_path / "a.html").write_bytes(b"\x00\x01\x02" * 99)
    said = problems(examples=[at("s1"), at("s1") + "#top", tmp_path / "a.html"], counterexamples=[at("r1")])
    assert f"examples: {at('s1')}#top is the same page as {at('s1')}; remove one of them" in said
    assert any(f"{tmp_path / 'a.html'} cannot be used: " in one for one in said)
    assert "counterexamples: only 1; spiders that learn need at least 3, better 20; add pages" in said


def test_examples_that_the_keywords_miss_and_counterexamples_that_they_take():
    said = problems(keywords={"rose": 3, "sort": 1}, threshold=0.5)
    start = "examples: 4 of 4 are off topic by the keywords, at threshold 0.5: http://s0.example/ (0."
    assert any(one.startswith(start) for one in said)
    assert any("and 1 more; add keywords that they have; `scrapy topic suggest` finds some" in one for one in said)
    assert any(one.startswith("counterexamples: 6 of 6 are on topic by the keywords") for one in said)


@pytest.mark.parametrize(
    ("seed", "says"),
    [
        ("ftp://x", "correct it, or remove it"),
        (at("s0") + "?utm_source=x", f"is the same page as {at('s0')}; remove one of them"),
        (at("r0"), f"{at('r0')} is also a counterexample; remove one of them"),
        (at("nowhere"), f"{at('nowhere')} is not in the web; give another one"),
        (at("dull"), "is off topic (relevance 0.00), and none of its links leads to a relevant page; give another one"),
    ],
)
def test_weak_seeds(seed, says):
    assert any(one.startswith("seeds: ") and says in one for one in problems(seeds=[at("s0"), seed]))


def test_a_hub_is_a_good_seed_though_it_is_not_about_the_topic():
    assert problems(seeds=[at("hub")]) == []


def test_seeds_by_a_crawl(crawl):
    seeds = [at(name) for name in ("s0", "hub", "dull", "nowhere", "unknown")]
    answers = web()
    answers.add(at("nowhere"), b"\x00\x01\x02" * 99, content_type="image/png")
    crawled = crawl("best_first", answers, seeds=",".join(seeds), keywords="sort:3,array:2")
    asked = topic(seeds=seeds)
    with Library.open(Topic("sort array"), str(crawled.folder), None) as library:
        evidence = gather(asked, library)
        said = [str(one) for one in check(asked, evidence, library, 0.3)]
    assert evidence.sides == ("3 examples", "2 counterexamples and 2 other pages"), (
        "s3 and four others were not fetched"
    )
    assert said == [
        f"seeds: {at('dull')} is off topic (relevance 0.00), and none of its links led to a relevant page; give another one",
        f"seeds: {at('nowhere')} could not be read: not read: an image, which is never read; give another one",
        f"seeds: {at('unknown')} could not be read: HTTP 404; give another one",
    ]


def test_a_seed_that_was_unreachable_in_a_crawl(crawl):
    lost = "http://127.0.0.1:9/"
    crawled = crawl("best_first", web(), seeds=at("s0"), keywords="sort")
    store = Store(crawled.folder / "crawl.sqlite")
    store.urls.add([(99, urls.key(lost), lost, 1)])
    store.failures.add(99, lost, "connection refused", None, "2026-11-16T08:30:00.000+00:00")
    store.connection.commit()
    store.close()
    asked = Topic("sort", seeds=[lost])
    with Library.open(asked, str(crawled.folder), None) as library:
        said = [str(one) for one in check(asked, gather(asked, library), library, 0.3)]
    assert said == [f"seeds: {lost} was unreachable: connection refused; give another one"]


# ---- the pages that a topic is judged by


def test_relevant_pages_of_a_crawl_count_and_what_the_topic_says_counts_more(crawl):
    crawled = crawl("best_first", web(), seeds=f"{at('s0')},{at('hub')},{at('dull')}", keywords="sort:3,array:2")
    asked = Topic("sort array", counterexamples=[at("s1")])
    with Library.open(asked, str(crawled.folder), None) as library:
        evidence = gather(asked, library)
    assert {page.url for page in evidence.relevant} == {at("s0"), at("s2")}
    assert {page.url for page in evidence.others} == {at("s1"), at("r0"), at("r1"), at("hub"), at("dull")}
    assert evidence.sides == ("2 relevant pages", "1 counterexample and 4 other pages")


def test_a_crawl_of_another_topic_is_refused(crawl):
    crawled = crawl("best_first", web(), seeds=at("s0"), keywords="sort")
    with (
        pytest.raises(FocusError, match="is about 'sort', not 'Sorting'"),
        Library.open(topic(), str(crawled.folder), None),
    ):
        pass


def test_without_a_crawl_or_a_web_examples_on_the_web_are_left_alone():
    evidence = gather(topic(), Library())
    assert (evidence.relevant, evidence.others, evidence.sides) == ([], [], ("no pages", "no pages"))
    assert all(example.page is None for example in evidence.examples)
    assert check(topic(), evidence, Library(), 0.3) == []
