"""The embedded web is as varied as it claims."""

from __future__ import annotations

from collections import Counter, deque

import pytest

from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.topic import load_topic
from focuscrawl.web.demo import TOPICS, demo_web
from focuscrawl.web.source import plain, read_subject
from focuscrawl.words import stem


@pytest.fixture(scope="module")
def pages():
    return {url: read_html(Page(url), answer.body, answer.content_type) for url, answer in demo_web().pages()}


@pytest.fixture(scope="module")
def reached():
    """What can be reached from the seeds, by how many steps."""
    web = demo_web()
    depth = dict.fromkeys(load_topic("sorting").seeds, 0)
    queue = deque(depth)
    while queue:
        url = queue.popleft()
        answer = web.get(url)
        page = read_html(Page(url), answer.body, answer.content_type)
        for target in [answer.location] if answer.location else [link.url for link in page.links]:
            if target not in depth:
                depth[target] = depth[url] + 1
                queue.append(target)
    return depth


def test_it_is_large_enough(pages):
    web = demo_web()
    assert len(pages) >= 1500
    assert len(web.hosts()) >= 40
    counts = Counter(label for labels in web.page_labels.values() for label in labels)
    assert all(counts[topic] >= 100 for topic in TOPICS)
    assert len(TOPICS) == 12


def test_nearly_all_of_it_can_be_reached_from_the_seeds(pages, reached):
    missing = [url for url in pages if url not in reached and not url.endswith("/robots.txt")]
    assert len(missing) < 40


def test_every_page_has_its_labels_listed(pages):
    assert set(demo_web().page_labels) == set(pages)


def test_it_is_built_the_same_each_time():
    subjects = demo_web.__wrapped__()
    assert subjects.answers == demo_web().answers


def test_there_are_dead_links_redirects_traps_and_files_that_are_no_pages(pages, reached):
    web = demo_web()
    statuses = Counter(web.get(url).status for url in reached)
    assert statuses[404] > 30
    assert statuses[301] > 50
    assert sum("trap" in labels for labels in web.page_labels.values()) >= 100
    problems = Counter((page.problem or "").partition(":")[0] for page in pages.values())
    assert problems["not HTML"] == 1
    assert problems["binary content declared as text/html"] == 1
    assert problems["empty body"] == 1
    assert any("mirror" in labels for labels in web.page_labels.values())
    assert sum(url.endswith("/robots.txt") for url in pages) >= 10


def test_archives_are_islands_behind_pages_about_other_things(pages):
    web = demo_web()
    for topic, (_, _, archive) in TOPICS.items():
        sources = {url for url, page in pages.items() for link in page.links if f"//{archive}/" in link.url}
        outside = [url for url in sources if f"//{archive}/" not in url]
        assert outside
        assert all(web.labels(url) == ["diary"] for url in outside), topic


def test_anchors_say_where_they_lead(pages):
    web = demo_web()
    telling = total = 0
    for url, page in pages.items():
        for link in page.links:
            target = web.page_labels.get(link.url)
            if target and set(target) & TOPICS.keys() and "sorting-handbook" in url:
                total += 1
                telling += len(link.anchor) > 3
    assert telling / total > 0.95


@pytest.mark.parametrize(
    "query",
    [
        "time bubble sort",
        "sort quick",
        "quick heap space",
        "shell sort time",
        "heap space sort",
        "data sort time shell",
    ],
)
def test_each_query_of_the_paper_has_pages_of_its_own(pages, query):
    web = demo_web()
    found = [url for url, page in pages.items() if all(stem(word) in page.counts for word in query.split())]
    assert sum("sorting" in web.labels(url) for url in found) >= 10


def test_the_source_reads_as_it_is_written():
    subject = read_subject(
        "@topic t\n@title T\n@about About.\n\n= One thing\nText [[Other|to other]]. {{birds|A bird}}\n\n== Part\nMore [[Other]].\n= Other\nx\n"
    )
    article = subject.articles["One thing"]
    assert article.slug == "one-thing"
    assert article.sections[1] == ("Part", ["More [[Other]]."])
    assert article.related == ["Other", "Other"]
    assert article.sentences == ["Text to other.", "A bird", "More Other."]
    assert plain("{{a|b}} [[c]]") == "b c"
